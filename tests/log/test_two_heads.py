"""A journal in which the records of two copies were joined is told apart, however they were joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.ids import id_of
from looseleaf.base.values import sha256
from looseleaf.log.journal import make_edit, record_of
from looseleaf.log.two_heads import find_heads

if TYPE_CHECKING:
    from looseleaf.base.values import Record

PAGES = ("USER.md", "SOUL.md", "facts/garden.md")
steps = st.lists(st.sampled_from((*PAGES, "flag")), max_size=6)


class Writer:
    """Writes a journal, edit by edit; its clock goes on by the second."""

    def __init__(self, name: str, now: int, texts: dict[str, bytes] | None = None) -> None:
        self.name, self.now = name, now
        self.texts: dict[str, bytes] = dict(texts or {})

    def write(self, what: list[str]) -> list[Record]:
        return [self._record(each) for each in what]

    def _record(self, what: str) -> Record:
        self.now += 1
        name = id_of(self.now, bytes.fromhex(sha256(f"{self.name} {self.now}".encode())))
        if what == "flag":
            return {
                "schema": "journal.v1",
                "id": name,
                "ts": self.now,
                "kind": "flag",
                "agent": "main",
                "flag": None,
            }
        old = self.texts.get(what)
        self.texts[what] = (old or b"") + f"{self.name} {self.now}\n".encode()
        return record_of(make_edit(name, self.now, what, "person", "x", old, self.texts[what]))


@given(steps, steps, steps, st.integers(-10, 10))
def test_a_union_of_lines_becomes_the_journals_that_it_was_made_of(
    shared: list[str], here: list[str], there: list[str], late: int
) -> None:
    first = Writer("first", 100)
    begin = first.write([*PAGES, *shared])
    one, two = Writer("one", 200, first.texts), Writer("two", 200 + late, first.texts)
    ours, theirs = one.write(["USER.md", *here]), two.write(["USER.md", *there])
    journal = [*begin, *ours, *theirs]
    heads = [[journal[number] for number in head] for head in find_heads(journal)]
    assert heads[0] == begin + theirs
    assert heads[1:] == [begin + ours]


@given(steps, steps, steps, st.integers(-30, -1))
def test_what_the_other_copy_wrote_before_the_first_conflict_is_its_own_too(
    shared: list[str], here: list[str], there: list[str], late: int
) -> None:
    first = Writer("first", 100)
    begin = first.write([*PAGES, *shared])
    one, two = Writer("one", 200, first.texts), Writer("two", 200 + late, first.texts)
    ours, theirs = one.write(["USER.md", *here]), two.write([*there, "USER.md"])
    journal = [*begin, *ours, *theirs]
    heads = [[journal[number] for number in head] for head in find_heads(journal)]
    assert heads == [begin + theirs, begin + ours]


@given(steps, steps)
def test_no_record_is_lost_and_every_edit_follows_however_the_lines_were_sorted(
    here: list[str], there: list[str]
) -> None:
    first = Writer("first", 100)
    begin = first.write(list(PAGES))
    one, two = Writer("one", 200, first.texts), Writer("two", 200, first.texts)
    journal = begin + sorted(one.write(here) + two.write(there), key=lambda record: str(record["id"]))
    heads = find_heads(journal)
    assert {number for head in heads for number in head} == {*range(len(journal))}
    for head in heads:
        assert head == sorted(head)
        last: dict[str, str | None] = {}
        for record in (journal[number] for number in head):
            if record["kind"] == "edit":
                assert record["base"] == last.get(record["path"])
                last[record["path"]] = record["new"]


@given(steps)
def test_a_journal_of_one_copy_has_one_head(what: list[str]) -> None:
    journal = Writer("one", 100).write(what)
    assert find_heads(journal) == [list(range(len(journal)))]


def test_a_lost_record_and_an_edit_of_a_version_that_never_was_make_no_second_head() -> None:
    one = Writer("one", 100)
    journal = one.write(["USER.md", "USER.md"])
    before = dict(journal[1])
    lost: Record = {"schema": "lost.v1", "id": id_of(103, b"x" * 10), "ts": 103, "kind": "lost"}
    again = before | {"id": id_of(104, b"y" * 10)}
    assert find_heads([*journal, lost, again]) == [[0, 1, 2, 3]]
    assert find_heads([*journal, again | {"base": "0" * 64}]) == [[0, 1, 2]]
    assert len(find_heads([*journal, again])) == 2


def test_an_edit_that_was_declared_void_is_no_version() -> None:
    one = Writer("one", 100)
    journal = one.write(["USER.md", "USER.md"])
    void: Record = {"id": id_of(103, b"x" * 10), "kind": "void", "path": "USER.md", "edit": journal[1]["id"]}
    again = dict(journal[1]) | {"id": id_of(104, b"y" * 10)}
    assert find_heads([*journal, void, again]) == [[0, 1, 2, 3]]
