"""Tidying USER.md: lines go to the other page of their topic; no fact changes, and no prose moves."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from faults import CountedDisk, DyingDisk
from killing import ends
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy, policy_from
from looseleaf.cli.main import main
from looseleaf.facts.ledger import copy_id
from looseleaf.facts.placement import PROFILE
from looseleaf.language.relations import slot
from looseleaf.language.value_keys import key
from looseleaf.pages.grammar import parse
from looseleaf.pages.pages import Rewritten
from looseleaf.place.tidy import REASON, Tidied, Tidy
from looseleaf.place.tidy_plan import PAGE
from looseleaf.store import files
from placing import THEN, journal, stub, tell

LIMIT = 40
"""In these tests a token is a word."""


def words(text: str) -> int:
    return len(text.split())


def policy(limit: int = LIMIT, **more: Any) -> Policy:
    return Policy(settle_seconds=0.01, quiet_seconds=0.001, profile_tokens=limit, **more)


def open_memory(folder: Path, limit: int = LIMIT, **more: Any) -> Memory:
    return Memory(folder, policy=policy(limit, **more), counter=words, distiller=stub(), session="tidy")


def told(relation: str, said: str, **more: Any) -> dict[str, Any]:
    """What the journal knows of a line: mostly the user said it."""
    known = {
        "level": "said",
        "origin": "user",
        "confidence": 0.9,
        "sources": ["t1"],
        "quote": f"It is {said}.",
    }
    return {"id": f"f_{said:0>12}"[:14], "relation": relation, "object": said} | known | more


OWN = "> Summary: who the user is\n\n"


def write(memory: Memory, text: str, *facts: dict[str, Any], path: str = PROFILE) -> None:
    """The program's text, and a summary of a person's own."""
    memory.parts.pages.rewrite(path, lambda _: Rewritten(text.replace(OWN, ""), facts), reason="test")
    if OWN in text:
        memory.parts.pages.edit(path, text, reason="test", author="person")


def known(memory: Memory) -> dict[str, dict[str, Any]]:
    """All that is known of every fact of the user, whatever became of it, but for its place."""
    memory.facts()
    return {fact.id or "": fact.but(path=None, line=None).to_dict() for fact in memory.parts.known.of("user")}


def on(memory: Memory, path: str) -> list[tuple[str, str]]:
    return [(fact.relation, fact.object) for fact in memory.pages.read(path).facts]


def texts(memory: Memory) -> tuple[str, str]:
    return memory.pages.read(PROFILE).text, memory.pages.read(PAGE).text


def moved(tidied: Tidied) -> list[str]:
    return [fact.object for fact in tidied.moved]


LONG = f"# User\n\n{OWN}I wrote this paragraph myself.\n\n" + "".join(
    f"- Uses: tool{number}\n" for number in range(30)
)
USED = [told("Uses", f"tool{number}", kind="trait") for number in range(30)]


def is_prose(path: str, text: str, *made: str) -> list[str]:
    """The lines that are neither moved nor made: without facts, and those of the roles that are `made` by rule."""
    page = parse(path, text)
    return [line for line, role in zip(page.lines, page.roles, strict=True) if role not in ("fact", *made)]


# --- any page ------------------------------------------------------------------------------

RELATIONS = ("Likes", "Uses", "Name", "Home", "Language", "note", "Garden")
SAID = ("tea", "Tea", "a red bicycle", "Lyon", "green", "the old house by the river", "chess", "sums")
OTHERS = (
    "",
    "",
    "## Preferences",
    "## Things",
    "# Title",
    "plain words of a person",
    "  more of the line above",
    "```",
    "- [a](b) \u00e9 *loud*",
    "<!-- aside -->",
    "---",
    "===",
    "> Summary: what is here",
    "- Updated: 2026-01-02",
    "1. numbered",
)

facts_of_pages = st.tuples(
    st.sampled_from(RELATIONS),
    st.sampled_from(SAID),
    st.fixed_dictionaries(
        {},
        optional={
            "user_fact_score": st.sampled_from((0.0, 2.0, 5.0, 7.0, 10.0)),
            "salience": st.sampled_from((0.1, 0.5, 0.95)),
            "tags": st.sampled_from((["pinned"], ["unverified"], ["red"])),
            "level": st.sampled_from(("said", "confirmed", "inferred")),
            "origin": st.sampled_from(("user", "person", "external")),
            "kind": st.sampled_from(("trait", "event", "constraint")),
            "time_span": st.just("short_term"),
        },
    ),
)
marks = st.sampled_from(("- ", "* ", "-   ", "+ "))
lines_of_pages = st.one_of(
    st.tuples(marks, facts_of_pages), st.tuples(marks, facts_of_pages), st.sampled_from(OTHERS)
)
pages_of_any = st.tuples(
    st.lists(lines_of_pages, max_size=25), st.sampled_from(("\n", "\r\n")), st.booleans(), st.booleans()
)


def page_of(drawn: Any, name: str) -> tuple[str, list[dict[str, Any]]]:
    lines, end, is_ended, is_marked = drawn
    text, facts = "", []
    for number, line in enumerate(lines):
        if isinstance(line, str):
            text += line + end
            continue
        mark, (relation, said, more) = line
        label = "" if relation == "note" else f"**{relation}**: " if mark == "* " else f"{relation}: "
        text += f"{mark}{label}{said}{end}"
        if more:  # else only the page tells of it
            facts.append(told(relation, said, id=f"f_{name}{number:011}", **more) | {"relation": relation})
    return ("\ufeff" if is_marked else "") + (text if is_ended else text.removesuffix(end)), facts


@contextmanager
def in_memory() -> Iterator[Path]:
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield Path(folder)


def saying(facts: dict[str, dict[str, Any]]) -> set[tuple[Any, ...]]:
    return {
        (slot("user", each["relation"]), key(each["object"], each["relation"]))
        for each in facts.values()
        if each["status"] == "current"
    }


@settings(max_examples=few(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages_of_any, pages_of_any, st.booleans(), st.integers(1, 60))
def test_tidying_any_page_changes_no_fact_and_no_other_line(
    profile: Any, page: Any, is_hand: bool, limit: int
) -> None:
    results = []
    for _ in range(2):
        with in_memory() as folder, open_memory(folder / "m", limit) as memory:
            text, facts = page_of(profile, "a")
            if is_hand:
                memory.pages.edit(PROFILE, text, reason="by hand", author="person")
            else:
                write(memory, text, *facts)
            if page[0]:
                other, there = page_of(page, "b")
                write(memory, other, *there, path=PAGE)
            before, old = known(memory), texts(memory)
            would = memory.review.tidy(dry_run=True)
            assert texts(memory) == old
            sheet = memory.parts.known.sheet(PROFILE)
            is_by_rule = sheet is not None and sheet.is_summary_by_rule
            done = memory.review.tidy()
            after, new = known(memory), texts(memory)

            assert moved(would) == moved(done)
            assert (done.before, done.after) == (words(old[0]), words(new[0]))
            made = ("summary",) if is_by_rule else ()
            assert is_prose(PROFILE, new[0], *made) == is_prose(PROFILE, old[0], *made)
            assert saying(after) == saying(before)
            ones = {fact.id for fact in done.merged}
            over = {name for name in before if before[name]["status"] == "current" != after[name]["status"]}
            assert len(over) == len(ones)
            assert {after[name]["superseded_by"] for name in over} == ones
            others = before.keys() - ones - over
            assert {name: before[name] for name in others} == {name: after[name] for name in others}
            assert after.keys() == before.keys()
            if done.before <= limit:
                assert not done.edits
            assert done.after <= limit or bool(done.note)
            again = memory.review.tidy()
            assert (again.moved, again.edits, texts(memory)) == ((), (), new)
            assert [each for each in memory.check() if each.severity == "error"] == []
            assert known_anew(memory) == after
            results.append(new)
    assert results[0] == results[1]


@pytest.mark.long
@settings(max_examples=few(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(profile=pages_of_any, page=pages_of_any, is_hand=st.booleans(), limit=st.integers(1, 60))
def test_tidying_very_many_pages_changes_no_fact_and_no_other_line(**drawn: Any) -> None:
    test_tidying_any_page_changes_no_fact_and_no_other_line.hypothesis.inner_test(**drawn)  # type: ignore[attr-defined]


def known_anew(memory: Memory) -> dict[str, dict[str, Any]]:
    """The same, folded from the whole journal."""
    shutil.rmtree(Path(memory.path, "views"), ignore_errors=True)
    with open_memory(Path(memory.path)) as other:
        return known(other)


# --- which lines -----------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "m") as opened:
        yield opened


def test_a_page_within_its_limit_is_left_alone(memory: Memory) -> None:
    write(memory, "# User\n\n- Uses: vim\n", told("Uses", "vim"))
    count = len(journal(memory))
    assert memory.review.tidy().to_dict() | {"moved": []} == {
        "moved": [],
        "merged": [],
        "tokens_before": 5,
        "tokens_after": 5,
        "limit": LIMIT,
        "note": "",
        "edits": [],
    }
    assert len(journal(memory)) == count


def test_there_may_be_no_page_at_all(memory: Memory) -> None:
    if memory.pages.read(PROFILE).exists:
        memory.pages.delete(PROFILE, reason="test")
    assert memory.review.tidy().moved == ()


def test_a_long_page_is_brought_to_its_target_and_no_further(memory: Memory) -> None:
    write(memory, LONG, *USED)
    tidied = memory.review.tidy()
    assert tidied.before == words(LONG)
    assert LIMIT * 0.8 - 3 < tidied.after <= LIMIT * 0.8
    made = [edit for edit in memory.history.edits() if edit.reason.startswith(REASON)]
    assert [(edit.path, edit.author) for edit in made] == [(PROFILE, "program"), (PAGE, "program")]
    assert tuple(edit.id for edit in reversed(made)) == tidied.edits


def test_what_matters_least_goes_first(memory: Memory) -> None:
    facts = [
        told("Uses", "scored0", user_fact_score=1.0),
        told("Name", "Anna"),
        told("Uses", "pinned0", tags=["pinned"]),
        told("Language", "German", kind="preference"),
        told("Event", "party", kind="event", salience=0.6),
        told("Event", "walk", kind="event", salience=0.2),
        told("Rule", "never"),
        told("Uses", "scored9", user_fact_score=9.0),
        told("Uses", "byhand", origin="external", level="confirmed"),
    ]
    write(
        memory, "words\n\n" + "".join(f"- {each['relation']}: {each['object']}\n" for each in facts), *facts
    )
    order: list[str] = []
    for limit in range(words(memory.pages.read(PROFILE).text), 1, -1):
        memory.parts.tidy._policy = policy(limit - 1, tidy_to=1.0)
        order += [said for said in moved(memory.review.tidy(dry_run=True)) if said not in order]
    assert order == ["scored0", "walk", "party", "byhand", "German", "Anna", "never", "scored9", "pinned0"]


def test_what_is_dear_goes_only_as_far_as_it_must(memory: Memory) -> None:
    """Down to the limit, not to the target."""
    rules = [told("Rule", f"never do thing number {number}") for number in range(20)]
    write(memory, "".join(f"- Rule: {each['object']}\n" for each in rules), *rules)
    assert LIMIT - 8 < memory.review.tidy().after <= LIMIT


def test_prose_that_is_too_long_is_said(memory: Memory) -> None:
    prose = "# User\n\n" + "a word of mine " * 30 + "\n\n- Uses: vim\n"
    write(memory, prose, told("Uses", "vim"))
    tidied = memory.review.tidy()
    assert moved(tidied) == ["vim"]
    assert memory.pages.read(PROFILE).text == prose.removesuffix("- Uses: vim\n")
    assert "Shorten it by hand" in tidied.note
    assert memory.review.tidy().edits == ()


def test_a_line_stays_that_others_belong_to(memory: Memory) -> None:
    held = "- Uses: first\n\n- Uses: vim\n  with plugins\n- Uses: ed\n\n    and its manual\n- Uses: cat\nlazily\n"
    twice = "- Uses: less\n- Uses: less\nabove\n- Uses: tr\n---\n"
    write(memory, held + twice + "- Uses: sed\n\n" + "word " * LIMIT)
    assert moved(memory.review.tidy()) == ["sed"]


def test_a_line_keeps_its_looks(memory: Memory) -> None:
    write(memory, "word " * LIMIT + "\n\n* **Uses**: [vim](https://vim.example) *daily*\n")
    memory.review.tidy()
    assert "* **Uses**: [vim](https://vim.example) *daily*\n" in memory.pages.read(PAGE).text


def test_pages_that_are_no_text_are_refused(memory: Memory) -> None:
    Path(memory.path, PROFILE).write_bytes(b"\xff\n" + LONG.encode())
    with pytest.raises(Refused, match=r"USER.md is not UTF-8"):
        memory.review.tidy()


# --- what is known of them ---------------------------------------------------------------------


def test_a_moved_line_keeps_its_fact(memory: Memory) -> None:
    text = LONG + "\n## Preferences\n\n- Tea: green\n"
    green = told("Tea", "green", salience=0.01, user_fact_score=1.0, tags=["hot"], valid_from="2020-01-01")
    write(memory, text, *USED, green)
    before = known(memory)
    tidied = memory.review.tidy()
    assert "green" in moved(tidied)
    assert known(memory) == before
    [fact] = [each for each in memory.facts() if each.object == "green"]
    assert (fact.id, fact.kind, fact.path, fact.tags) == (green["id"], "preference", PAGE, ("hot",))
    assert memory.fact(f"{PAGE}:{fact.line}") == fact


def test_a_kind_has_its_heading_on_the_other_page_too(memory: Memory) -> None:
    write(memory, "# Facts\n\n## Preferences\n\n- Soup: hot\n", told("Soup", "hot"), path=PAGE)
    text = LONG + "\n## Preferences\n\n- Tea: green\n- Ice: none\n"
    write(memory, text, *USED, told("Tea", "green", salience=0.01), told("Ice", "none", salience=0.01))
    memory.review.tidy()
    assert "- Soup: hot\n- Tea: green\n- Ice: none\n" in memory.pages.read(PAGE).text


def test_what_the_user_says_later_supersedes_a_moved_line(memory: Memory) -> None:
    tell(memory, "I live in Berlin", "My name is Zhang San")
    [home] = [fact for fact in memory.facts() if fact.relation == "Home"]
    memory.review.score(home.id or "", 1)
    memory.pages.edit(PROFILE, lambda text: text + "\n" + "word " * LIMIT, reason="by hand", author="person")
    memory.review.tidy()
    assert ("Home", "Berlin") in on(memory, PAGE)
    assert ("Home", "Berlin") not in on(memory, PROFILE)
    tell(memory, "I live in Berlin", at=THEN + 50)
    assert len(memory.fact(home.id or "").sources) == 2
    tell(memory, "I moved from Berlin to Paris", at=THEN + 100)
    assert [fact.object for fact in memory.facts() if fact.relation == "Home"] == ["Paris"]
    assert ("Home", "Berlin") not in on(memory, PAGE)
    assert next((each.id, each.status) for each in memory.history.fact(home.id or "")) == (
        home.id,
        "superseded",
    )


def test_moved_lines_stand_above_what_agents_found_and_change_none_of_it(memory: Memory) -> None:
    found = told("Role", "root (found by main on 2026-04-02, from Bash)", level="tainted", origin="tool")
    line = f"\n## Found by agents\n- Role: {found['object']}\n"
    write(memory, f"# Facts\n\n- Soup: hot\n{line}", told("Soup", "hot"), found, path=PAGE)
    write(memory, LONG, *USED)
    before = known(memory)
    gone = memory.review.tidy().moved
    assert known(memory) == known_anew(memory) == before
    above, _, below = memory.pages.read(PAGE).text.partition("\n## Found by agents\n")
    assert [f"- {fact.relation}: {fact.object}" in above.splitlines() for fact in gone] == [True] * len(gone)
    assert (len(gone) > 3, below) == (True, f"- Role: {found['object']}\n")
    memory.history.undo()
    assert memory.pages.read(PAGE).text.endswith(f"- Soup: hot\n{line}")


@pytest.mark.parametrize("there", ["inferred", "confirmed"])
def test_what_stands_on_the_other_page_already_is_merged(memory: Memory, there: str) -> None:
    write(memory, "# Facts\n\n- uses: Tool3\n", told("uses", "Tool3", level=there, sources=["t9"]), path=PAGE)
    write(memory, LONG, *(each | {"salience": 0.01 if each["object"] == "tool3" else 0.9} for each in USED))
    tidied = memory.review.tidy()
    assert [fact.object for fact in tidied.merged] == ["tool3"]
    current = [fact for fact in memory.facts() if key(fact.object, "Uses") == key("tool3", "Uses")]
    assert [(fact.id, fact.path, fact.sources) for fact in current] == [
        (USED[3]["id"], PAGE, ("t1", "t9")),
    ]
    assert current[0].level == ("confirmed" if there == "confirmed" else "said")
    assert known_anew(memory) == known(memory)


def test_what_is_undone_is_as_it_was(memory: Memory) -> None:
    write(memory, LONG, *USED)
    write(memory, "# Facts\n\n- Soup: hot\n", told("Soup", "hot"), path=PAGE)
    before, old = known(memory), texts(memory)
    memory.review.tidy()
    memory.history.undo()  # both edits
    assert texts(memory) == old
    assert known(memory) == before == known_anew(memory)


def test_undone_page_by_page_it_is_also_as_it_was(memory: Memory) -> None:
    write(memory, LONG, *USED)
    before, old = known(memory), texts(memory)
    memory.review.tidy()
    memory.history.undo(PAGE)
    memory.history.undo(PROFILE)
    assert texts(memory) == old
    assert {name: each["status"] for name, each in known(memory).items()} == {
        name: each["status"] for name, each in before.items()
    }


def test_after_only_one_page_was_undone_a_line_on_both_pages_is_one_fact(memory: Memory) -> None:
    write(memory, LONG, *USED)
    before = known(memory)
    tidied = memory.review.tidy()
    memory.history.undo(PROFILE)
    assert memory.review.tidy().after == tidied.after
    assert known(memory) == before == known_anew(memory)
    memory.history.undo(PROFILE)
    memory.parts.tidy._policy = policy(1000)
    memory.review.tidy()
    assert texts(memory)[0] == LONG
    assert on(memory, PAGE) == []
    assert known(memory) == before == known_anew(memory)


def test_both_edits_of_a_tidying_are_undone_together(memory: Memory) -> None:
    undo = memory.parts.tidy.undo
    write(memory, LONG, *USED)
    before, old = known(memory), texts(memory)
    assert undo("person") is None, "nothing was tidied"
    memory.review.tidy()
    edit, receipt = undo("person") or (None, None)
    assert edit is not None
    assert edit.reason.startswith(REASON)
    assert receipt is not None
    assert receipt.path == PAGE
    assert texts(memory) == old
    assert known(memory) == before == known_anew(memory)
    assert undo("person") is None, "once"
    memory.review.tidy()
    memory.pages.edit("PROJECT.md", "# Project\n", reason="test", author="person")
    assert undo("person") is None, "it was not the last thing"
    memory.history.undo("PROJECT.md", author="person")
    memory.pages.edit(PAGE, memory.pages.read(PAGE).text + "- Soup: hot\n", reason="test", author="person")
    memory.pages.edit(
        PROFILE, memory.pages.read(PROFILE).text + "- Tea: hot\n", reason="test", author="person"
    )
    memory.history.undo(PROFILE, author="person")
    assert undo("person") is None, "the other page was changed since"


def test_a_fact_on_two_pages_is_given_once_and_where_every_prompt_has_it(memory: Memory) -> None:
    write(memory, LONG, *USED)
    before = {(fact.id, fact.path, fact.line) for fact in memory.facts(topic="user")}
    then = time.time()
    memory.review.tidy()
    memory.history.undo(PROFILE)
    assert len(on(memory, PAGE)) + len(on(memory, PROFILE)) > len(USED)
    now = memory.facts(topic="user")
    assert {(fact.id, fact.path, fact.line) for fact in now} == before
    assert {fact.id for fact in memory.facts(topic="user", as_of=then)} == {fact.id for fact in now}
    assert memory.prompt("x", budget=9000).text.count("- Uses: tool7\n") == 1


@pytest.mark.parametrize("by", ["program", "person"])
def test_a_summary_by_rule_is_made_again_and_one_of_a_person_stays(memory: Memory, by: str) -> None:
    text = f"# User\n\n> Summary: user never, uses\n\n{LONG.partition(OWN)[2]}- Never: sugar\n"
    facts = (*USED, told("Never", "sugar", kind="constraint"))
    memory.parts.pages.rewrite(
        PROFILE, lambda _: Rewritten(text, facts if by == "program" else ()), reason="x"
    )
    if by == "person":
        memory.pages.edit(PROFILE, text.replace("never, uses", "by hand"), reason="x", author="person")
    edits = len(list(memory.history.edits(PROFILE)))
    memory.review.tidy()
    page = memory.pages.read(PROFILE)
    is_left = {fact.relation for fact in page.facts}
    assert len(list(memory.history.edits(PROFILE))) == edits + 1
    if by == "program":
        assert page.summary == memory.parts.placer.summary_of(PROFILE, parse(PROFILE, page.text))
        assert page.summary != "user never, uses"
    else:
        assert page.summary == "user by hand"
    assert is_left


def test_where_there_is_no_summary_none_is_made(memory: Memory) -> None:
    write(memory, LONG.replace(OWN, ""), *USED)
    memory.review.tidy()
    assert "Summary" not in memory.pages.read(PROFILE).text


def test_days_are_not_seconds() -> None:
    assert policy_from({"tidy_days": 3650}).tidy_days == 3650
    with pytest.raises(Refused, match="`tidy_days` must be at most 3,650 days, not 100000"):
        policy_from({"tidy_days": 100_000})


# --- the proof ---------------------------------------------------------------------------------


def test_a_plan_that_would_change_a_fact_is_not_carried_out(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(memory, LONG, *USED)
    old = texts(memory)
    monkeypatch.setattr("looseleaf.place.tidy.known", lambda fact: told(fact.relation, fact.object, id="f_0"))
    with pytest.raises(Refused, match=r"was not tidied: “Uses: tool\d+” \(f_.*would not be the same"):
        memory.review.tidy()
    assert texts(memory) == old


def test_leaving_before_arriving_is_refused_by_the_proof(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(memory, LONG, *USED)
    old = texts(memory)
    monkeypatch.setattr(Tidy, "_in_order", leaves_first)
    with pytest.raises(Refused, match="would not be the same fact"):
        memory.review.tidy()
    assert texts(memory) == old


def leaves_first(self: Tidy, arrival: Any, departure: Any) -> Any:
    return departure, arrival


# --- crashes -------------------------------------------------------------------------------------

CHANGES = frozenset("write truncate sync_data sync mkdir unlink rename rename_new exchange".split())


class Calls(CountedDisk):
    def __init__(self) -> None:
        self.seen: list[str] = []
        super().__init__()

    def called(self, name: str, real: Any, args: tuple[Any, ...]) -> Any:
        self.seen.append(name)
        return real(*args)


def tidy_on(folder: Path, disk: Any) -> None:
    real = vars(files)["this_disk"]
    vars(files)["this_disk"] = lambda: disk
    try:
        with open_memory(folder) as memory:
            memory.review.tidy()
    finally:
        vars(files)["this_disk"] = real


def sweep(place: Path, wanted: int, until: str = "") -> list[str]:
    """End the process around calls of a tidying, at about so many of them: what was wrong after that.

    A sweep that is to find something ends where it does.
    """
    with open_memory(place / "start") as memory:
        write(memory, LONG, *USED)
        expected = known(memory)
    shutil.copytree(place / "start", place / "counted")
    disk = Calls()
    tidy_on(place / "counted", disk)
    where = [number for number, name in enumerate(disk.seen, 1) if name in CHANGES]
    wrong: list[str] = []
    fired = halves = 0
    for number in where[:: max(1, len(where) // wanted)]:
        if until and any(until in each for each in wrong):
            break
        for how in ("before", "after"):
            folder = place / "memory"
            shutil.copytree(place / "start", folder)
            fired += ends(partial(tidy_on, folder, DyingDisk(number, how)))
            on_disk = [
                (fact.relation, fact.object)
                for path in (PROFILE, PAGE)
                if (folder / path).exists()
                for fact in parse(path, (folder / path).read_text()).facts
            ]
            halves += len(on_disk) > len(USED)
            lost = len(USED) - len(set(on_disk))
            wrong += [f"{disk.seen[number - 1]} {number} {how}: {lost} lost"] if lost else []
            with open_memory(folder) as memory:
                memory.review.tidy()
                both = Counter(on(memory, PROFILE) + on(memory, PAGE))
                if known(memory) != expected or set(both.values()) != {1} or len(both) != len(USED):
                    wrong.append(f"{disk.seen[number - 1]} {number} {how}: not healed")
            shutil.rmtree(folder)
    assert fired > 10 or until
    print(f"calls={len(where)} fired={fired} on both pages={halves} wrong={len(wrong)}")
    return wrong if halves or wrong else ["the crash between the two pages was never met"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_crash_at_any_moment_leaves_every_fact_on_a_page_and_the_next_tidying_ends_it(place: Path) -> None:
    assert sweep(place, 6) == []


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_crash_around_every_change_leaves_every_fact_on_a_page(place: Path) -> None:
    assert sweep(place, 10_000) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_leaving_before_arriving_fails_the_sweep(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tidy, "_in_order", leaves_first)
    monkeypatch.setattr(Tidy, "_prove", lambda *_: None)
    monkeypatch.setattr(Tidy, "_change_only", lambda self, old, profile, new: lambda text: new)
    with open_memory(place / "undisturbed") as memory:
        write(memory, LONG, *USED)
        memory.review.tidy()
        assert len({*on(memory, PROFILE), *on(memory, PAGE)}) == len(
            USED
        )  # it is only the order that is wrong
    assert any("lost" in each for each in sweep(place, 20, until="lost"))


@contextmanager
def crash_between(memory: Memory) -> Iterator[None]:
    """USER.md cannot be written: what was done to the other page stays."""
    real = memory.parts.pages.rewrite

    def rewrite(path: str, *args: Any, **more: Any) -> Any:
        if path == PROFILE:
            raise KeyboardInterrupt
        return real(path, *args, **more)

    vars(memory.parts.pages)["rewrite"] = rewrite
    with pytest.raises(KeyboardInterrupt):
        yield
    del vars(memory.parts.pages)["rewrite"]


def test_the_next_distilling_ends_what_a_crash_interrupted(memory: Memory) -> None:
    write(memory, LONG, *USED)
    before = known(memory)
    with crash_between(memory):
        memory.review.tidy()
    assert len(known(memory)) > len(before)
    tell(memory, "I like tea")
    after = known(memory)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 1
    assert set(Counter(on(memory, PROFILE) + on(memory, PAGE)).values()) == {1}


def test_after_a_crash_a_page_within_its_limit_is_left_alone(memory: Memory) -> None:
    """Somebody shortened it meanwhile: then the lines on the other page go."""
    write(memory, LONG, *USED)
    with crash_between(memory):
        memory.review.tidy()
    short = "".join(LONG.splitlines(keepends=True)[:8])
    memory.pages.edit(PROFILE, short, reason="by hand", author="person")
    facts = on(memory, PROFILE)
    memory.review.tidy()
    assert memory.pages.read(PROFILE).text == short
    assert not set(facts) & set(on(memory, PAGE))
    assert all(copy_id(name) not in known(memory) for name in known(memory))


def test_what_is_replaced_or_rejected_between_does_not_stay_on_the_other_page(memory: Memory) -> None:
    write(memory, LONG + "- Garden: large\n", *USED, told("Garden", "large", salience=0.01))
    with crash_between(memory):
        memory.review.tidy()
    assert ("Garden", "large") in on(memory, PAGE)
    memory.pages.edit(PROFILE, lambda text: text.replace("large", "small"), reason="by hand", author="person")
    gone = next(
        fact
        for fact in memory.facts()
        if fact.path == PROFILE and fact.object in dict(on(memory, PAGE)).values()
    )
    assert memory.review.reject(gone.id or "").status == "rejected"
    memory.review.tidy()
    assert [fact.object for fact in memory.facts() if fact.relation == "Garden"] == ["small"]
    assert ("Garden", "large") not in on(memory, PAGE)
    assert (gone.relation, gone.object) not in on(memory, PAGE)


# --- a page is saved meanwhile --------------------------------------------------------------------


@pytest.mark.parametrize("moment", [PROFILE, PAGE])
def test_a_person_who_saves_in_the_same_moment_wins(memory: Memory, moment: str) -> None:
    write(memory, LONG, *USED)
    before = known(memory)
    mine = LONG.replace("this paragraph", "another paragraph")
    saved: list[int] = []
    real = memory.parts.pages.rewrite

    def rewrite(path: str, *args: Any, **more: Any) -> Any:
        if path == moment and not saved:
            saved.append(Path(memory.path, PROFILE).write_text(mine))
        return real(path, *args, **more)

    vars(memory.parts.pages)["rewrite"] = rewrite
    tidied = memory.review.tidy()
    assert saved
    assert "I wrote another paragraph myself." in memory.pages.read(PROFILE).text
    assert is_prose(PROFILE, memory.pages.read(PROFILE).text) == is_prose(PROFILE, mine)
    assert known(memory) == before
    assert (tidied.before, tidied.after) == (words(LONG), words(memory.pages.read(PROFILE).text))
    assert len(tidied.edits) == 2


def test_a_page_that_is_saved_without_end_is_given_up(memory: Memory) -> None:
    write(memory, LONG, *USED)
    real = memory.parts.pages.rewrite
    saves: list[int] = []

    def rewrite(path: str, *args: Any, **more: Any) -> Any:
        saves.append(Path(memory.path, PROFILE).write_text(LONG + f"save {len(saves)}\n"))
        return real(path, *args, **more)

    vars(memory.parts.pages)["rewrite"] = rewrite
    with pytest.raises(Refused, match="something else keeps saving it"):
        memory.review.tidy()


# --- by itself --------------------------------------------------------------------------------------


def test_by_itself_nothing_is_tidied_unless_the_settings_say_so(memory: Memory) -> None:
    write(memory, LONG, *USED)
    tell(memory, "I like tea")
    assert not memory.pages.read(PAGE).exists


def test_by_itself_it_is_tidied_once_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_memory(tmp_path / "m", tidy=True) as memory:
        write(memory, LONG, *USED)
        tell(memory, "I like tea")
        assert words(memory.pages.read(PROFILE).text) <= LIMIT
        memory.history.undo(PROFILE)
        tell(memory, "I live in Paris", at=THEN + 100)
        assert words(memory.pages.read(PROFILE).text) > LIMIT
        later = time.time() + 7.1 * 86_400
        monkeypatch.setattr("looseleaf.place.tidy.clock", SimpleNamespace(now=lambda: later))
        tell(memory, "I hate jazz", at=THEN + 200)
        assert words(memory.pages.read(PROFILE).text) <= LIMIT
        assert memory.notes == []


def test_after_a_compaction_it_is_tidied_too(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m", tidy=True) as memory:
        write(memory, LONG, *USED)
        for number in range(12):
            memory.record(user=f"I like tea {number}", ts=THEN + number)
            memory.record(assistant="Fine.", ts=THEN + number)
        memory.window.request_compaction()
        memory.window.messages()
        assert words(memory.pages.read(PROFILE).text) <= LIMIT


def test_what_could_not_be_tidied_by_itself_is_noted(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m", tidy=True) as memory:
        Path(memory.path, PAGE).parent.mkdir(exist_ok=True)
        Path(memory.path, PAGE).write_bytes(b"\xff\n")
        write(memory, LONG, *USED)
        tell(memory, "I like tea")
        assert any("not UTF-8" in note for note in memory.notes)


# --- the command ------------------------------------------------------------------------------------


def test_the_command_says_what_moves_and_moves_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "m"
    with open_memory(folder) as memory:
        write(memory, LONG, *USED)
        write(memory, "# Facts\n\n- uses: Tool29\n", told("uses", "Tool29"), path=PAGE)
    (folder / "looseleaf.toml").write_text("profile_tokens = 80\n")
    assert main(["--memory", str(folder), "tidy", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "would move" in shown
    assert "(stands there already)" in shown
    assert "of at most 80." in shown
    assert main(["--memory", str(folder), "tidy", "--json"]) == 0
    assert '"tokens_before"' in capsys.readouterr().out
    assert main(["--memory", str(folder), "tidy"]) == 0
    assert "nothing to move" in capsys.readouterr().out
    (folder / "looseleaf.toml").write_text("profile_tokens = 3\n")
    assert main(["--memory", str(folder), "tidy"]) == 0
    assert "Shorten it by hand" in capsys.readouterr().out
