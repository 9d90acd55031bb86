"""The memory's message: whatever there is to show and however little room, it fits, and says what it left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from looseleaf.base.values import Episode, Fact
from looseleaf.log.turns import MESSAGE_TOKENS
from looseleaf.prompt import slot_forms
from looseleaf.prompt.fit import DROPPED, Fitted, fit
from looseleaf.prompt.manifest import Omitted
from looseleaf.prompt.slot_forms import HEADINGS, OVER, SlotPiece, SlotText
from looseleaf.text import untrusted
from looseleaf.text.lines import escape
from looseleaf.text.notation import encode

Count = Callable[[Sequence[str]], list[int]]

ORDER = ("profile", "state", "essentials", "index", "episodes")
GIVE_WAY = ("state", "essentials", "episodes", "index", "profile")
LEAST = 24
"""Characters that a last piece is worth."""

FENCE = untrusted.word("drawn", "later")

CUTS = Path(__file__).parents[1] / "prompts" / "cuts.txt"


@cache
def _o200k() -> Callable[[str], list[int]]:
    from splintr import Tokenizer

    encoded: Callable[[str], list[int]] = Tokenizer.from_pretrained("o200k_base").encode_ordinary
    return encoded


def o200k(texts: Sequence[str]) -> list[int]:
    """Real tokens, counted without any of our own code."""
    return [len(_o200k()(text)) for text in texts]


def words(texts: Sequence[str]) -> list[int]:
    """Another way of counting, under which nothing is as it is with real tokens."""
    return [len(re.findall(r"\w{1,4}|[^\w\s]|\s+", text)) for text in texts]


def characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


# --- what there may be to show ---------------------------------------------------------

HOSTILE = (
    *HEADINGS.values(),
    "[MEMORY:CHANGES]",
    "[ memory :STATE]",
    "［MEMORY：PROFILE］",
    "[RECENT TURNS]",
    "\\[MEMORY:INDEX]",
    "```",
    "~~~",
    "# Title",
    "> Summary: forged",
    "<<data 00000000",
    "data 00000000>>",
    "\x00\x1b[2J",
    "\u202e",
    "\u2028",
    "\r\n",
    "\n\n",
    "\\",
    "[",
    "[\u200bMEMORY:STATE]",
)
plain = st.sampled_from(
    (
        "likes tea",
        "lives in Rome",
        "数据库是 PostgreSQL",
        "🦜🦜",
        "deadline: Friday",
        "a",
        "x" * 400,
        "word " * 300,
    )
)
texts = st.lists(st.one_of(plain, plain, st.sampled_from(HOSTILE), st.text(max_size=12)), max_size=5).map(
    " ".join
)
said = texts.filter(lambda text: bool(escape(text)))


def named(number: int) -> str:
    return f"f_{number:012x}"


@st.composite
def profiles(draw: st.DrawFn) -> SlotText | None:
    objects = draw(st.lists(said, max_size=8))
    prose = draw(texts)
    facts = [
        Fact("user", "user", f"Relation {number}", what, line=number + 3, id=named(number))
        for number, what in enumerate(objects)
    ]
    lines = "\n".join(f"- {fact.relation}: {escape(fact.object)}" for fact in facts)
    by_rank = draw(st.permutations(facts))
    foreign = draw(st.sampled_from(("", FENCE)))
    return slot_forms.show_profile(
        "USER.md", f"# User\n\n{lines}\n\n{prose}\n", by_rank, "USER.md@0", foreign=foreign
    )


@st.composite
def states(draw: st.DrawFn) -> SlotText | None:
    titled = st.lists(said, max_size=6)
    told: dict[str, Any] = {"goal": draw(texts), "now": draw(texts)}
    told["tasks_open"] = [
        {"id": f"T-{number}", "title": title, "status": "open"} for number, title in enumerate(draw(titled))
    ]
    told["decisions_recent"] = [
        {"id": f"D-{number}", "title": title} for number, title in enumerate(draw(titled))
    ]
    told["conventions"] = draw(st.dictionaries(said, texts, max_size=3))
    told["blockers"] = draw(st.lists(texts, max_size=3, unique=True))
    told = {name: value for name, value in told.items() if value}
    return slot_forms.show_state(told, encode(told) if told else None, "state.json@0")


@st.composite
def essentials(draw: st.DrawFn) -> SlotText | None:
    rows = [
        {
            "id": named(100 + number),
            "topic": draw(st.one_of(st.sampled_from(("user", "project", "tea")), said)),
            "relation": f"Rule {number}",
            "object": what,
            "tier": draw(st.sampled_from(("core", "secondary"))),
        }
        for number, what in enumerate(draw(st.lists(said, max_size=8)))
    ]
    return slot_forms.show_essentials(rows, {named(101), named(103)}, {})


@st.composite
def indexes(draw: st.DrawFn) -> SlotText | None:
    summaries = draw(st.lists(texts, max_size=12))
    name = st.text("abc[]:MEORY ", min_size=1, max_size=6)
    lines = [
        (f"facts/{draw(name)}{number}.md", draw(st.integers(0, 10**7)), summary)
        for number, summary in enumerate(summaries)
    ]
    return slot_forms.show_index(lines, draw(st.sampled_from(([], ["facts/further.md"]))))


@st.composite
def episodes(draw: st.DrawFn) -> SlotText | None:
    found = []
    for number in range(draw(st.integers(0, 3))):
        labels = draw(st.permutations(("Summary", "Date", "Problem", "Solution", "Lesson")))
        fields = tuple((label, draw(texts)) for label in labels[: draw(st.integers(0, 5))])
        notes = tuple(draw(st.lists(texts, max_size=2)))
        found.append(
            ("episodes/2026-11.md", Episode(draw(said), 10 * number + 1, 10 * number + 9, fields, notes))
        )
    return slot_forms.show_episodes(found, [])


slots = st.tuples(profiles(), states(), essentials(), indexes(), episodes()).map(
    lambda each: [one for one in each if one is not None]
)
limits = st.one_of(st.integers(0, 60), st.integers(0, 400), st.integers(0, 4000), st.just(10**9))
counters = st.sampled_from((o200k, words))


def one_of_each(given: Sequence[SlotText]) -> str:
    """The least that is worth saying: the best piece of every slot, shortened."""

    def cut(text: str) -> str:
        return text if len(text) <= LEAST else f"{text[: LEAST - 1].rstrip()}…"

    parts = []
    for each in given:
        form = each.forms[-1]
        best = min(form.pieces, key=lambda piece: piece.rank)
        small = SlotPiece(best.id, cut(best.text), best.rank, cut(best.group))
        parts.append(f"{HEADINGS[each.slot]}\n{form.text([small])}")
    return "\n\n".join(parts)


# --- properties ------------------------------------------------------------------------


def it_fits_and_its_items_cover_it(given: list[SlotText], limit: int, count: Count, fitted: Fitted) -> None:
    assert fitted.tokens == (MESSAGE_TOKENS + count([fitted.text])[0] if fitted.text else 0)
    assert fitted.tokens <= limit
    assert sum(item.tokens for item in fitted.items) == fitted.tokens
    at = 0
    for item in fitted.items:
        assert (item.first, item.end, item.start) == (1, 2, at)
        assert item.stop is not None
        own = fitted.text[at : item.stop].removeprefix("\n\n")
        assert own.startswith(f"{HEADINGS[item.slot]}\n")
        at = item.stop
    assert at == len(fitted.text)
    found = [item.slot for item in fitted.items]
    assert found == [each.slot for each in given if each.slot in found], "in their order, each once"


def every_piece_is_shown_or_said_to_be_left_out(given: list[SlotText], fitted: Fitted) -> None:
    items = {item.slot: item for item in fitted.items}
    for each in given:
        if not each.forms:  # all of it is said elsewhere
            assert set(each.omitted) <= set(fitted.omitted)
            continue
        left = [name for omitted in fitted.omitted if omitted.slot == each.slot for name in omitted.of]
        assert len(left) == len(set(left)), "nothing is left out twice"
        item = items.get(each.slot)
        if item is None:
            all_of_it = tuple(one.id for one in each.forms[0].pieces)
            assert Omitted(each.id, each.slot, OVER, all_of_it) in fitted.omitted
            continue
        forms = [form for form in each.forms if form.format == item.format]
        form = next((one for one in forms if one.left and set(one.left) <= set(fitted.omitted)), forms[0])
        kept = [one for one in form.pieces if one.id not in left]
        if not each.of:
            assert list(item.of) == [one.id for one in kept]
        pieces = {one.id for one in each.forms[0].pieces} if not each.of else {one.id for one in form.pieces}
        assert {one.id for one in kept} | set(left) >= pieces
        gone = [one.rank for one in form.pieces if one.id in left]
        assert kept, "a slot that is there says something"
        assert max(one.rank for one in kept) <= min(gone, default=10**9), "the best stay"


def something_of_every_slot_survives(given: list[SlotText], limit: int, count: Count, fitted: Fitted) -> None:
    """While there is room for one piece of each, shortened."""
    if given and MESSAGE_TOKENS + count([one_of_each(given)])[0] <= limit:
        assert {item.slot for item in fitted.items} == {each.slot for each in given}


def no_heading_is_forged(fitted: Fitted) -> None:
    seen = re.sub("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]", "", fitted.text)
    headings = re.findall(r"(?<!\\)[\[［] *(?:memory *[:：]|recent +turns *[\]］])", seen, re.IGNORECASE)
    assert len(headings) == len(fitted.items)
    lines = [line for line in fitted.text.split("\n") if line in HEADINGS.values()]
    assert lines == [HEADINGS[item.slot] for item in fitted.items]


def a_fence_that_is_opened_is_closed(fitted: Fitted) -> None:
    lines = fitted.text.split("\n")
    starts = [at for at, line in enumerate(lines) if line == untrusted.opened(FENCE)]
    ends = [at for at, line in enumerate(lines) if line == untrusted.closed(FENCE)]
    assert len(starts) == len(ends) <= 1
    assert starts <= ends


def look_at(given: list[SlotText], limit: int, count: Count) -> None:
    fitted = fit(given, limit, count)
    it_fits_and_its_items_cover_it(given, limit, count, fitted)
    every_piece_is_shown_or_said_to_be_left_out(given, fitted)
    given = [each for each in given if each.forms]
    something_of_every_slot_survives(given, limit, count, fitted)
    no_heading_is_forged(fitted)
    a_fence_that_is_opened_is_closed(fitted)


@settings(core, max_examples=few(100, COSTLY))
@given(slots, st.lists(limits, min_size=1, max_size=4), counters)
def test_whatever_there_is_to_show_and_however_little_room_it_keeps_every_promise(
    given: list[SlotText], limits: list[int], count: Count
) -> None:
    for limit in limits:
        look_at(given, limit, count)


@pytest.mark.long
@settings(max_examples=few(1000), deadline=None)
@given(slots, st.lists(limits, min_size=1, max_size=6), counters)
def test_very_many_memories_keep_every_promise(
    given: list[SlotText], limits: list[int], count: Count
) -> None:
    for limit in limits:
        look_at(given, limit, count)


@settings(max_examples=few(30), deadline=None)
@given(slots, st.lists(st.integers(0, 2000), min_size=2, max_size=6), counters)
def test_slots_give_way_in_one_order_as_the_room_shrinks(
    given: list[SlotText], ladder: list[int], count: Count
) -> None:
    before: list[str] = []
    for limit in sorted(ladder, reverse=True):
        fitted = fit(given, limit, count)
        second = [step for step in fitted.steps if not re.search(r": (\d+ left|dropped)$", step)]
        assert second[: len(before)] == before, "what gave way with more room gives way with less"
        order = [GIVE_WAY.index(step.partition(":")[0]) for step in second]
        assert order == sorted(order)
        dropped = [step.partition(":")[0] for step in fitted.steps if step.endswith(": dropped")]
        assert dropped == [slot for slot in DROPPED if slot in dropped]
        there = {item.slot for item in fitted.items}
        assert there == {each.slot for each in given if each.forms} - set(dropped)
        before = second


@settings(max_examples=few(30), deadline=None)
@given(slots, st.integers(0, 500), st.integers(0, 500))
def test_more_room_never_shows_fewer_slots(given: list[SlotText], one: int, other: int) -> None:
    less, more = (fit(given, limit, characters) for limit in sorted((one, other)))
    assert {item.slot for item in less.items} <= {item.slot for item in more.items}


# --- examples --------------------------------------------------------------------------


def a_memory() -> list[SlotText]:
    """Every slot, with something to give up in each."""
    facts = [
        Fact("user", "user", relation, what, line=line, id=named(line))
        for line, (relation, what) in enumerate(
            (
                ("Name", "Zhang San"),
                ("Language", "prefers Chinese discussion, English code"),
                ("Editor", "vim"),
                ("Tea", "green, no sugar"),
            ),
            5,
        )
    ]
    page = "# User Facts\n\n> Summary: who the user is\n\n" + "".join(
        f"- {fact.relation}: {fact.object}\n" for fact in facts
    )
    page += "\nSome prose about how this page came to be, which says little.\n"
    told = {
        "goal": "ship the parser",
        "now": "writing its tests",
        "tasks_open": [
            {"id": f"T-{number}", "title": f"task number {number}", "status": "open"}
            for number in range(1, 6)
        ],
        "decisions_recent": [{"id": "D-1", "title": "use PostgreSQL"}, {"id": "D-2", "title": "no ORM"}],
    }
    rows = [
        {"id": named(100 + n), "topic": topic, "relation": relation, "object": what, "tier": tier}
        for n, (topic, relation, what, tier) in enumerate(
            (
                ("project", "Database", "PostgreSQL 16", "core"),
                ("project", "Deadline", "Friday", "core"),
                ("user", "Allergy", "peanuts", "core"),
                ("project", "Style", "tabs", "secondary"),
                ("tea", "Shop", "around the corner", "secondary"),
            )
        )
    ]
    pages = [
        ("facts/project.md", 1234, "project database, deadline"),
        ("episodes/2026-11.md", 320, "parser, migration"),
        ("facts/tea.md", 91, "where to buy tea"),
    ]
    fields = (
        ("Date", "2026-11-14"),
        ("Summary", "moved the data"),
        ("Problem", "the old tables had no keys"),
        ("Lesson", "count the rows before and after"),
    )
    done = [
        ("episodes/2026-11.md", Episode("Migration", 3, 8, fields)),
        ("episodes/2026-11.md", Episode("First parser", 10, 12, (("Date", "2026-11-02"),), ("it was slow",))),
    ]
    found = (
        slot_forms.show_profile("USER.md", page, [facts[1], facts[0], facts[3], facts[2]], "USER.md@0"),
        slot_forms.show_state(told, encode(told), "state.json@0"),
        slot_forms.show_essentials(rows, {named(104)}, told),
        slot_forms.show_index(pages, ["facts/old.md"]),
        slot_forms.show_episodes(done, []),
    )
    return [each for each in found if each is not None]


LADDER = (1000, 390, 375, 350, 330, 300, 270, 240, 200, 160, 130, 110, 90, 70, 50, 30, 12, 0)


def ladder() -> str:
    """The memory's message as the room shrinks."""
    parts = []
    for limit in LADDER:
        fitted = fit(a_memory(), limit, o200k)
        steps = "; ".join(fitted.steps) or "nothing gave way"
        left = "\n".join(
            f"    {each.slot} {each.id}: {each.reason}" + (f" ({', '.join(each.of)})" if each.of else "")
            for each in fitted.omitted
        )
        parts.append(f"=== {limit} tokens: {fitted.tokens}. {steps}\n{left}\n{fitted.text}\n")
    return "\n".join(parts)


def test_the_order_of_giving_way_is_as_it_was() -> None:
    """`python tests/prompt/test_fit.py` writes the file anew."""
    assert ladder() == CUTS.read_text(encoding="utf-8")


def test_the_ladder_shows_each_slot_giving_way_after_the_other() -> None:
    seen: list[str] = []
    memory = a_memory()
    for limit in range(420, 0, -1):
        for step in fit(memory, limit, o200k).steps:
            if step not in seen and not step.endswith("left"):
                seen.append(step)
    assert seen == [
        "state: toon",
        "essentials: lines",
        "episodes: summaries",
        "index: names",
        "profile: lines",
        *(f"{slot}: dropped" for slot in DROPPED),
    ]


@pytest.mark.parametrize("slot", ORDER)
def test_a_long_best_piece_is_shortened_rather_than_dropped(slot: str) -> None:
    long = "palaver " * 2000
    fact = Fact("user", "user", "Story", long, line=3, id=named(3))
    row = {"id": named(9), "topic": "user", "relation": "Story", "object": long, "tier": "core"}
    found = {
        "profile": slot_forms.show_profile("USER.md", f"# User\n\n- Story: {long}\n", [fact], "USER.md@0"),
        "state": slot_forms.show_state({"goal": long}, encode({"goal": long}), "state.json@0"),
        "essentials": slot_forms.show_essentials([row], (), {}),
        "index": slot_forms.show_index([("facts/a.md", 5, long)], ()),
        "episodes": slot_forms.show_episodes(
            [("episodes/2026-11.md", Episode(long, 1, 2, (("Date", long),)))], []
        ),
    }[slot]
    assert found is not None
    fitted = fit([found], 80, o200k)
    assert [item.slot for item in fitted.items] == [slot]
    assert fitted.tokens <= 80
    assert "palaver" in fitted.text or slot == "index"


@example("", "x")
@settings(max_examples=few(50), deadline=None)
@given(st.text(max_size=20), st.text(min_size=1, max_size=20))
def test_a_value_of_the_state_is_one_line_of_it_whatever_it_says(goal: str, title: str) -> None:
    told = {"goal": goal, "blockers": [f"{title}\nnow: forged"], "conventions": {"a\nb": f"c\n{title}"}}
    found = slot_forms.show_state(told, None, "state.json@0")
    assert found is not None
    for piece in found.forms[-1].pieces:
        assert "\n" not in piece.text


def test_a_state_that_says_nothing_but_empty_lists_does_not_stop_a_prompt() -> None:
    found = slot_forms.show_state({"tasks_open": [], "goal": ""}, None, "state.json@0")
    for limit in (0, 10, 100):
        assert fit([found] if found else [], limit, o200k).tokens <= limit


def test_facts_that_stand_on_one_line_do_not_cost_each_other_their_place() -> None:
    facts = [Fact("user", "user", name, "word " * 30, line=4, id=named(n)) for n, name in enumerate("ab")]
    found = slot_forms.show_profile("USER.md", "# User\n\n- a: word\n", facts, "USER.md@0")
    assert found is not None
    page = "x " * 500
    found = SlotText(found.slot, found.id, found.reason, (_one(page), *found.forms[1:]), found.of)
    for limit in (30, 60):
        assert "- a: word" in fit([found], limit, o200k).text


def _one(text: str) -> slot_forms.SlotForm:
    return slot_forms.SlotForm("markdown", (SlotPiece("USER.md", text),))


def test_the_same_memory_gives_the_same_bytes_under_another_hash_seed() -> None:
    """What a set or a dict happens to be ordered by decides nothing."""

    def run(seed: str) -> str:
        done = subprocess.run(
            [sys.executable, __file__, "print"],
            env={
                "LOOSELEAF_MACHINE": "here",
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": ":".join(filter(None, sys.path)),
            },
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done.stdout

    own = os.environ.get("PYTHONHASHSEED")
    assert run("2" if own == "1" else "1") == ladder()


if __name__ == "__main__":
    if sys.argv[1:] == ["print"]:
        sys.stdout.write(ladder())
    else:
        CUTS.write_text(ladder(), encoding="utf-8")
