"""Several writers change a text apart from each other; the woven text depends on their changes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.base.values import sha256
from looseleaf.text.weave import Change, Weave, change_between, find_base, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Logs = dict[str, list[Change]]

WRITERS = ("anna", "bert", "cleo")


class Writer:
    """A writer with a copy of the text: it changes it, and takes in the changes of others."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known: Logs = {each: [] for each in WRITERS}
        self.text = ""
        self.unseen: dict[str, str] = {}

    def change(self, text: str, id: str) -> None:
        if text == self.text:
            return
        change = change_between(id, self.text, text, dict(self.unseen), sha256(self.text.encode()))
        self.known[self.name].append(change)
        self.unseen = {}
        assert Weave(self.known).text() == text, "what a writer wrote is what it reads"
        self.text = text

    def take(self, other: Mapping[str, Sequence[Change]]) -> None:
        for name, changes in other.items():
            if len(changes) > len(self.known[name]):
                self.known[name] = list(changes)
                if name != self.name:
                    self.unseen[name] = changes[-1].id
        self.text = Weave(self.known).text()


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "- x: 1\n", "- x: 2\n", "\n", "end"]), max_size=6).map(
    joined
)
acts = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(WRITERS), lines),
        st.tuples(st.sampled_from(WRITERS), st.sampled_from(WRITERS)),
    ),
    max_size=14,
)


def played(story: list[tuple[str, str]]) -> dict[str, Writer]:
    writers = {name: Writer(name) for name in WRITERS}
    for number, (name, act) in enumerate(story):
        if act in writers:
            writers[name].take(writers[act].known)
        else:
            # Clocks differ: the ids do not tell which change came first.
            writers[name].change(act, f"{(number * 7) % 10}{number:03d}{name}")
    return writers


@core
@given(acts, st.permutations(WRITERS), st.permutations(WRITERS))
def test_whoever_takes_in_the_same_changes_has_the_same_text(
    story: list[tuple[str, str]], one: list[str], other: list[str]
) -> None:
    texts = set()
    for order in (one, other):
        for reader in WRITERS:
            writers = played(story)
            for name in (*order, *order):
                writers[reader].take(writers[name].known)
            texts.add(writers[reader].text)
    assert len(texts) == 1


@core
@given(acts)
def test_a_line_that_one_writer_put_in_and_none_took_out_stands(story: list[tuple[str, str]]) -> None:
    writers = played(story)
    everything: Logs = {name: writers[name].known[name] for name in WRITERS}
    weave = Weave(everything)
    standing = {line.key for line in weave.lines()}
    for name in WRITERS:
        # What stands in the last text of its writer is gone only if another took it away.
        for line in Weave(writers[name].known).lines():
            if line.key not in standing and line.text.strip():
                taken = next(each for each in weave._lines if each.key == line.key)
                assert any(writer != name for writer, _ in taken.gone)


def test_two_writers_add_lines_in_one_place_and_both_stand() -> None:
    start = [change_between("1", "", "# T\n- a\n", {})]
    anna = [*start, change_between("2", "# T\n- a\n", "# T\n- a\n- b\n", {})]
    bert = [change_between("3", "# T\n- a\n", "# T\n- a\n- c\n- d\n", {"anna": "1"})]
    assert Weave({"anna": anna, "bert": bert}).text() == "# T\n- a\n- c\n- d\n- b\n"


def test_a_changed_line_and_a_removed_one_leave_the_change() -> None:
    start = [change_between("1", "", "a\nb\nc\n", {})]
    anna = [*start, change_between("2", "a\nb\nc\n", "a\nc\n", {})]
    bert = [change_between("3", "a\nb\nc\n", "a\nB\nc\n", {"anna": "1"})]
    assert Weave({"anna": anna, "bert": bert}).text() == "a\nB\nc\n"


def test_a_change_of_another_text_is_put_where_its_neighbors_stand() -> None:
    """Words of the first text were forgotten after the second writer had seen them."""
    anna = [change_between("1", "", "a\nc\n", {})]
    before = "a\nsecret\nc\n"
    bert = [change_between("2", before, before + "d\n", {"anna": "1"}, sha256(before.encode()))]
    weave = Weave({"anna": anna, "bert": bert}, lambda change: {"2": "a\nsecret\nc\n"}[change])
    assert weave.text() == "a\nc\nd\n"


def test_logs_that_contradict_each_other_give_a_text_all_the_same() -> None:
    anna = [change_between("1", "", "a\n", {"bert": "2"})]
    bert = [change_between("2", "", "b\n", {"anna": "1"})]
    assert sorted(Weave({"anna": anna, "bert": bert}).text()) == sorted("a\nb\n")


def test_a_text_is_made_of_the_version_that_has_its_lines_and_not_of_an_older_one_that_lacks_others_too() -> (
    None
):
    first, second, third = "one\n", "one\ntwo\nthree\nfour\n", "one\nother\n"
    versions = [third, second, first]
    assert find_base(versions, "one\nfour\n") == second
    assert find_base(versions, "one\nfour\nmine\n") == second
    assert find_base(versions, "one\r\nmine\r\n") == first
    assert find_base(["one\nlate\n", "one\nearly\n"], "one\nmine\n") == "one\nlate\n"
    assert find_base([], "mine\n") == ""
