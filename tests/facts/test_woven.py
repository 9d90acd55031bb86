"""Several machines write on one page; merged, facts stand once, and the page is the same whoever merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.base.values import sha256
from looseleaf.facts.three_way import merge_pages
from looseleaf.facts.woven import Word, judge, put_on, repeats
from looseleaf.pages.grammar import add_fact, new_page, parse, remove_line, replace_fact, set_updated
from looseleaf.text.lines import body, line_end, said_on, undoubted
from looseleaf.text.weave import Change, Weave, change_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from looseleaf.text.weave import Line

MACHINES = ("desk", "lap", "phone")
PATH = "USER.md"

Logs = dict[str, list[Change]]


class Machine:
    def __init__(self, name: str, words: dict[str, Word]) -> None:
        self.name = name
        self.words = words
        self.known: Logs = {each: [] for each in MACHINES}
        self.text = ""
        self._unseen: dict[str, str] = {}
        self._count = 0

    def _id(self) -> str:
        self._count += 1
        return f"{self._count:03d}{self.name}"

    def weave(self) -> Weave:
        return Weave(self.known, shown=shown, hidden=repeats(PATH))

    def write(self, text: str, word: Word) -> None:
        if text == self.text:
            return
        change = change_between(self._id(), self.text, text, self._unseen, sha256(self.text.encode()))
        self.words[change.id] = word
        self._log(change)
        assert unmarked(self.weave().text()) == unmarked(text)  # without a rival, a value has no mark

    def _log(self, change: Change) -> None:
        self.known[self.name].append(change)
        self._unseen = {}
        self.text = self.weave().text()

    def take(self, other: Mapping[str, Sequence[Change]]) -> None:
        for name, changes in other.items():
            if len(changes) > len(self.known[name]):
                self.known[name] = list(changes)
                self._unseen[name] = changes[-1].id
        found = judge(PATH, self.weave(), lambda line: self.words[line.change])
        if found.drops or found.contests:
            self._log(Change(self._id(), (), self._unseen, drops=found.drops, contests=found.contests))
        self.text = self.weave().text()


def unmarked(text: str) -> list[str]:
    return [undoubted(line) for line in text.split("\n")]


def shown(line: Line, past: Mapping[str, int] | None) -> str:
    text = line.text_in(past)
    return said_on(body(text), line.writer, "2026-03-01") + line_end(text)


def with_fact(text: str, relation: str, value: str, day: str) -> str:
    page = text or new_page(PATH)
    old = next((fact for fact in parse(PATH, page).facts if fact.relation == relation), None)
    if old is not None and relation not in ("Likes", "note"):
        page = replace_fact(page, PATH, old.line or 0, relation, value)
    else:
        page = add_fact(page, PATH, relation, value)
    return set_updated(page, PATH, day)


def without_fact(text: str, number: int) -> str:
    facts = parse(PATH, text).facts
    return remove_line(text, facts[number % len(facts)].line or 0) if facts else text


facts = st.tuples(
    st.sampled_from(["Name", "City", "Likes", "note", "Role"]),
    st.sampled_from(["Ana", "Lyon", "Rome", "green tea", "the sea", "a driver"]),
    st.integers(1, 9).map(lambda day: f"2026-03-0{day}"),
    st.booleans(),
    st.integers(1, 5),
)
stories = st.lists(
    st.tuples(
        st.sampled_from(MACHINES),
        st.one_of(facts, facts, facts, st.integers(0, 5), st.sampled_from(MACHINES)),
    ),
    max_size=16,
)


def played(story: list[tuple[str, object]]) -> dict[str, Machine]:
    words: dict[str, Word] = {}
    machines = {name: Machine(name, words) for name in MACHINES}
    for name, act in story:
        machine = machines[name]
        if isinstance(act, str):
            machine.take(machines[act].known)
        elif isinstance(act, int):
            machine.write(without_fact(machine.text, act), Word(True, 3.0))
        else:
            assert isinstance(act, tuple)
            relation, value, day, is_persons, when = act
            machine.write(with_fact(machine.text, relation, value, day), Word(is_persons, when))
    return machines


def merged(story: list[tuple[str, object]], orders: Sequence[tuple[str, str]]) -> set[str]:
    machines = played(story)
    for one, other in orders:
        machines[one].take(machines[other].known)
    return {machine.text for machine in machines.values()}


ALL = [(one, other) for one in MACHINES for other in MACHINES if one != other]


@core
@given(stories, st.permutations(ALL), st.permutations(ALL))
def test_whichever_is_merged_into_which_the_page_is_the_same(
    story: list[tuple[str, object]], one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    first, second = merged(story, [*one, *ALL, *ALL]), merged(story, [*other, *ALL, *ALL])
    assert len(first) == 1
    assert first == second


@core
@given(stories)
def test_merging_again_changes_nothing(story: list[tuple[str, object]]) -> None:
    machines = played(story)
    desk = machines["desk"]
    for other in MACHINES:
        desk.take(machines[other].known)
    text, count = desk.text, len(desk.known["desk"])
    for other in MACHINES:
        desk.take(machines[other].known)
    assert (desk.text, len(desk.known["desk"])) == (text, count)


@core
@given(st.lists(st.tuples(st.sampled_from(MACHINES), facts), max_size=16))
def test_no_fact_is_lost_that_was_written_apart_and_no_person_s_word_beats(
    story: list[tuple[str, tuple[str, str, str, bool, int]]],
) -> None:
    machines = played([(name, (*fact[:3], False, fact[4])) for name, fact in story])
    before = {fact for machine in machines.values() for fact in stated(machine.text)}
    desk = machines["desk"]
    for other in MACHINES:
        desk.take(machines[other].known)
    assert stated(desk.text) == before


def stated(text: str) -> set[tuple[str, str]]:
    return {(fact.relation, undoubted(fact.object)) for fact in parse(PATH, text).facts}


def test_a_line_that_was_shown_without_its_blank_line_stays_so_whatever_comes_to_stand_before_it() -> None:
    desk = Machine("desk", {})
    desk.take({"phone": [change_between("1phone", "", "# User Facts\n\n- Name: Ana\n", {})]})
    desk.known["desk"] = [change_between("1desk", "", "# User Facts\n\n- City: Lyon\n", {})]
    desk.words |= {"1phone": Word(False, 1), "1desk": Word(False, 1)}
    desk.take({})
    name, city = "- Name: Ana\n", "- City: Lyon\n"
    first, second = sorted((name, city), key=desk.text.index)
    assert desk.text == f"# User Facts\n\n{first}{second}", "a list that both went on with is one list"
    desk.write(desk.text.replace(first, "- Role: a driver\n"), Word(False, 2))
    assert desk.text == f"# User Facts\n\n- Role: a driver\n{second}"


# --- a file of an older version ------------------------------------------------------------

some_pages = st.lists(
    st.sampled_from(
        ["- Home: Lyon", "- Home: Oslo", "- Likes: tea", "- Likes: ice", "Prose.", "## Food", ""]
    ),
    max_size=6,
    unique=True,
).map(lambda lines: "\n".join(["# User", "", *lines, ""]))


@given(some_pages, some_pages, some_pages)
def test_what_a_file_changed_is_on_the_page_and_what_only_the_page_changed_stays(
    base: str, page: str, file: str
) -> None:
    made = put_on(PATH, base, page, file)
    assert put_on(PATH, base, page, base) == page
    assert put_on(PATH, base, base, file) == file
    before, mine, theirs, found = (set(text.splitlines()) for text in (base, page, file, made))
    assert theirs - before <= found | {""}
    assert found <= mine | theirs
    assert {each for each in mine - before if "Home" not in each} <= found | {""}


def test_a_value_that_a_file_changed_takes_the_place_of_one_that_was_written_apart() -> None:
    lyon, oslo, genf = (f"# User\n\n- Home: {each}\n- Likes: tea\n" for each in ("Lyon", "Oslo", "Genf"))
    assert put_on(PATH, lyon, oslo, genf) == genf
    assert put_on(PATH, lyon, genf, genf) == genf
    many = lyon.replace("tea", "tea\n- Likes: ice")
    assert put_on(PATH, lyon, many, genf) == many.replace("Lyon", "Genf")


# --- what stands below a line ---------------------------------------------------------------


def woven_of(base: str, *added: str) -> str:
    """What several machines add to the end of a page at once, woven."""
    start = f"# User\n\n{base}"
    logs = {"0": [change_between("0", "", start, {})]}
    logs |= {
        f"{n}": [change_between(f"{n}", start, start + each, {"0": "0"})] for n, each in enumerate(added, 1)
    }
    found = judge(PATH, Weave(logs), lambda line: Word(True, float(line.writer)))
    seen = {name: name for name in logs if name != "0"}
    logs["0"].append(Change("9", (), seen, drops=found.drops, contests=found.contests))
    return Weave(logs).text()


BELOW = (
    "\n- Drinks: milk\n",
    "\nA paragraph of mine.\n",
    "\n```\ncode\n```\n",
    "\n## Work\n\n- Drinks: milk\n",
    "  near the harbour\n",
    "  - only on Sundays\n",
)


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("label", ["City", "Home"])
def test_a_fact_that_gives_way_takes_nothing_along(label: str, below: str) -> None:
    for added in (
        ("- City: Oslo\n", f"- {label}: Oslo\n{below}"),
        (f"- {label}: Oslo\n{below}", "- City: Oslo\n"),
    ):
        made = woven_of("- Likes: tea\n", *added)
        assert below in made
        assert made.count("Oslo") == 1
        if label == "City":
            assert merge_pages(PATH, "", added[0], added[1], "2026-11-19").count(below.strip()) == 1


def test_two_that_say_the_same_and_go_on_differently_both_stand() -> None:
    one, other = "- City: Oslo\n  near the harbour\n", "- City: Oslo\n  third floor\n"
    assert woven_of("", one, other).count("City") == 2
    assert woven_of("", one, one).count("City") == 1


def test_what_goes_on_below_a_value_that_is_beaten_goes_with_it() -> None:
    made = woven_of("", "- City: Rome\n  near the forum\n", "- City: Oslo\n")
    assert "Rome" not in made
    assert "forum" not in made
