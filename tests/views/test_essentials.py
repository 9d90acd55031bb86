"""Essentials: tiers, rank, what a topic hands on, and the global memory that stays as large as it is."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from growth import LINEAR, growth
from looseleaf.base.values import KINDS, Fact
from looseleaf.pages.grammar import parse
from looseleaf.views.essentials import (
    CAPS,
    TIERS,
    TYPES,
    Caps,
    Shortlist,
    candidates,
    cut,
    day_of,
    digest,
    global_md,
    global_memory,
    make_shortlist,
    memory_from,
    rank,
    tier,
    update_shortlist,
)
from looseleaf.views.topic_memory import topic_memory
from tables import check_rows

NOW = 1_770_000_000.0
DAY = 86400.0


def fact(relation: str = "Name", said: str = "Zhang San", **members: Any) -> Fact:
    usual: dict[str, Any] = {"level": "said", "recorded_at": NOW, "id": "f1"}
    topic = members.pop("topic", "user")
    return Fact(topic, topic, relation, said, **usual | members)


NUMBERS = st.one_of(st.none(), st.floats(0, 1), st.floats())
FACTS = st.builds(
    fact,
    st.one_of(st.text(max_size=12), st.sampled_from(["Name", "Rule", "note", "Event", "Likes"])),
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(["same", "SAME ", "x" * 900, "# a\n## Topic: b", "<!-- \x1b```", "y (user)"]),
    ),
    topic=st.sampled_from(["user", "project", "garden"]),
    id=st.one_of(st.none(), st.uuids(version=4).map(str)),
    kind=st.one_of(st.none(), st.sampled_from(KINDS)),
    time_span=st.sampled_from([None, "short_term", "long_term", "future"]),
    confidence=NUMBERS,
    salience=NUMBERS,
    user_fact_score=st.one_of(st.none(), st.floats(0, 10), st.floats()),
    tags=st.lists(st.sampled_from(["pinned", "unverified", "x", "y"]), max_size=3).map(tuple),
    recorded_at=st.one_of(st.none(), st.floats(0, 4e9)),
    level=st.sampled_from(["confirmed", "said", "inferred", "tainted", None]),
    status=st.sampled_from(["current", "current", "superseded", "pending", "rejected", "forgotten"]),
)
MANY = st.lists(FACTS, max_size=12)
FEW = Caps(core=(1,) * 7, secondary=(2,) * 7, active_topics=2)


def digests(facts: list[Fact], caps: Caps = CAPS) -> list[dict[str, Any]]:
    by_topic: dict[str, list[Fact]] = {}
    for each in facts:
        by_topic.setdefault(each.topic, []).append(each)
    return [digest(topic_memory(topic, some, []), some, caps=caps) for topic, some in by_topic.items()]


# --- tiers -----------------------------------------------------------------------------


def test_a_fact_has_the_tier_of_the_table() -> None:
    def check(given_fact: Fact, expected: str | None) -> None:
        assert tier(given_fact) == expected

    check_rows(
        check,
        [
            (fact(), "core"),
            (fact("Rule", "never push to main"), "core"),
            (fact("Plan", "run a marathon"), "core"),
            (fact("Prefers", "tabs over spaces"), "core"),
            (fact("Likes", "jazz", salience=0.6), "secondary"),
            (fact("Skill", "plays the cello"), "secondary"),
            (fact("Allergy", "peanuts", salience=0.95), "core"),
            (fact("Event", "adopted a cat"), "secondary"),
            (fact("Event", "adopted a cat", time_span="short_term"), None),
            (fact("Database", "Postgres"), "secondary"),
            (fact("Rule", "answer in French", time_span="short_term"), None),
            (fact("note", "the key is under the mat"), None),
            (fact("Colour of the door", "green"), None),
            (fact("Colour of the door", "green", salience=0.7), "secondary"),
            (fact("Colour of the door", "green", kind="constraint"), "core"),
            (fact("note", "x", kind="commitment"), "core"),
            # the person's word first
            (fact("note", "x", user_fact_score=7), "core"),
            (fact("Event", "x", user_fact_score=10, time_span="short_term", tags=("unverified",)), "core"),
            (fact(user_fact_score=2), None),
            (fact(user_fact_score=0, tags=("pinned",)), None),
            (fact("Likes", "jazz", salience=0.1, user_fact_score=5), None),
            (fact("Likes", "jazz", salience=0.1, tags=("pinned",)), "core"),
            # doubts
            (fact(tags=("unverified",)), None),
            (fact(confidence=0.4), None),
            (fact(confidence=0.5), "core"),
            (fact(salience=float("nan"), confidence=-1.0, user_fact_score=11.0), "core"),
            # levels and status, whatever the score
            (fact(level="confirmed"), "core"),
            (fact(level="inferred", user_fact_score=10), None),
            (fact(level="tainted", tags=("pinned",)), None),
            (fact(level=None), None),
            (fact(status="superseded", user_fact_score=10), None),
            (fact(status="pending"), None),
        ],
    )


def test_every_kind_has_its_place() -> None:
    assert set(TYPES) == set(KINDS)
    assert len(CAPS.core) == len(CAPS.secondary) == len(TYPES)


def test_rank_asks_the_person_first_and_the_clock_last() -> None:
    ranked = [
        fact("note", id="z", user_fact_score=6),
        fact("note", id="y", tags=("pinned",)),
        fact("Rule", id="x"),
        fact(id="w", confidence=1.0, recorded_at=NOW + 1),
        fact(id="a"),
        fact(id="b"),
        fact(id=None, recorded_at=NOW - 1),
        fact(id="c", confidence=0.9, recorded_at=NOW + 9),
        fact("Skill", id="v"),
        fact("Rule", id="u", user_fact_score=4, tags=("pinned",)),
    ]
    shuffled = ranked[::2] + ranked[1::2]
    assert sorted(shuffled, key=rank) == ranked


# --- of one topic ----------------------------------------------------------------------


@given(MANY, st.randoms(use_true_random=False))
def test_candidates_are_few_and_ordered_however_the_facts_are(facts: list[Fact], random: Random) -> None:
    found = candidates(facts, caps=FEW)
    random.shuffle(facts)
    assert json.dumps(candidates(facts, caps=FEW)) == json.dumps(found)
    places = [(TIERS.index(each["tier"]), TYPES.index(each["type"])) for each in found]
    assert places == sorted(places)
    assert all(count <= (FEW.core, FEW.secondary)[at][kind] for (at, kind), count in Counter(places).items())


def test_the_rule_of_tiers_can_be_swapped_but_not_the_gate() -> None:
    facts = [fact("note", "a"), fact("note", "b", level="tainted"), fact("note", "c", status="superseded")]
    found = candidates(facts, tier_of=lambda each: "secondary")
    assert [(each["tier"], each["type"], each["object"]) for each in found] == [("secondary", "trait", "a")]


def test_what_says_the_same_is_told_once_with_the_better_rank() -> None:
    facts = [
        fact("Rule", "Never  push", id="a", salience=0.9),
        fact("rule", "never push", id="b", kind="constraint"),
        fact("Rule", "never push", id="c", salience=0.5, topic="project"),
    ]
    assert [each["id"] for each in candidates(facts[:2])] == ["b"]
    told = global_memory(digests(facts))["do_not_forget"]
    assert [(each["id"], each["tier"]) for each in told] == [("b", "core"), ("c", "secondary")]
    same = [fact("Rule", "x", id="a"), Fact("p", "user", "Rule", "x", id="b", level="said", salience=0.5)]
    assert [each["id"] for each in global_memory(digests(same))["do_not_forget"]] == ["a"]


def test_a_digest_is_small_and_says_what_it_leaves_out() -> None:
    facts = [fact("Likes", "x" * 999, id=f"{i}") for i in range(500)]
    memory = topic_memory("user", facts, [])
    found = digest(memory, facts)
    assert list(found) == [
        "topic",
        "updated_at",
        "summary",
        "open_questions",
        "next_actions",
        "facts_count",
        "candidates",
    ]
    assert found["facts_count"] == 500
    assert len(found["summary"]) <= CAPS.snapshot_chars
    assert len(found["candidates"]) == 1  # all begin alike, and so would be the same line
    assert len(found["candidates"][0]["object"]) == CAPS.object_chars


# --- of all ----------------------------------------------------------------------------


@settings(max_examples=few(60))
@given(MANY, st.randoms(use_true_random=False))
def test_only_what_holds_and_was_said_by_people_is_not_to_be_forgotten(
    facts: list[Fact], random: Random
) -> None:
    memory = global_memory(digests(facts))
    allowed = {
        (each.topic, cut(each.relation, CAPS.object_chars), cut(each.object, CAPS.object_chars))
        for each in facts
        if each.status == "current" and each.level in ("confirmed", "said")
    }
    told = [(each["topic"], each["relation"], each["object"]) for each in memory["do_not_forget"]]
    assert set(told) <= allowed
    assert len(set(told)) == len(told)
    made = digests(facts)
    random.shuffle(made)
    assert json.dumps(global_memory(made)) == json.dumps(memory)


@settings(max_examples=few(60))
@given(MANY)
def test_the_global_memory_of_digests_is_that_of_all_facts(facts: list[Fact]) -> None:
    # Where the same is said twice, one topic may hand on what another has already told.
    said = {" ".join(f"{each.relation}:{each.object}".casefold().split()): each for each in facts}
    distinct = list(said.values())
    whole = global_memory(
        [
            {
                **digest(topic_memory("all", distinct, []), distinct),
                "candidates": candidates(distinct, caps=FEW),
            }
        ],
        caps=FEW,
    )
    assert global_memory(digests(distinct, FEW), caps=FEW)["do_not_forget"] == whole["do_not_forget"]


@settings(max_examples=few(60))
@given(MANY)
def test_no_text_forges_structure_in_the_markdown_of_all(facts: list[Fact]) -> None:
    memory = global_memory(digests(facts))
    text = global_md(memory)
    page = parse("facts/GLOBAL_MEMORY.md", text)
    assert page.unclosed is None
    headings = [line for line in text.splitlines() if line.startswith("#")]
    topics = [f"## Topic: {each['topic']}" for each in memory["active_topics"]]
    essentials = {f"## Do not forget: {each['tier']}, {each['type']}" for each in memory["do_not_forget"]}
    assert headings[0] == "# Global memory"
    assert set(headings[1 : len(essentials) + 1]) == essentials
    assert headings[len(essentials) + 1 :] == topics
    bullets = [line for line in text.splitlines() if line.startswith("- ")]
    has_day = memory["updated_at"] is not None
    told = len(memory["do_not_forget"])
    state = [each["state"] for each in memory["active_topics"]]
    others = sum(len(each["open_questions"]) + len(each["next_actions"]) + 1 for each in state)
    assert len(bullets) == has_day + told + others
    for each, line in zip(memory["do_not_forget"], bullets[has_day:], strict=False):
        assert line.endswith(f" ({each['topic']})")
    assert "\x1b" not in text


def test_the_global_memory_reads_like_this() -> None:
    facts = [
        fact(kind="identity"),
        fact("Rule", "never push to main", id="f2", topic="project"),
        fact("Skill", "cello", id="f3", recorded_at=NOW + DAY),
    ]
    note = {"entry_id": "e1", "ts": NOW, "level": "said", "summary": {"summary": "", "tasks": ["Tune it."]}}
    user = [facts[0], facts[2]]
    made = [
        digest(topic_memory("user", user, [note]), user),
        digest(topic_memory("project", facts[1:2], []), facts[1:2]),
    ]
    memory = global_memory(made, caps=Caps(active_topics=1))
    assert memory["schema"] == "global_memory.v1"
    assert memory["updated_at"] == NOW + DAY
    assert memory["topics_omitted"] == 1
    assert global_md(memory) == (
        "# Global memory\n\n- Updated: 2026-02-03\n\n"
        "## Do not forget: core, identity\n\n- Name: Zhang San (user)\n\n"
        "## Do not forget: core, constraint\n\n- Rule: never push to main (project)\n\n"
        "## Do not forget: secondary, trait\n\n- Skill: cello (user)\n\n"
        "## Topic: user\n\n> Summary: Name: Zhang San; Skill: cello.\n\n- Next: Tune it.\n- Facts: 2\n\n"
        "Topics that are not listed: 1\n"
    )


def test_nothing_is_known_of_nothing() -> None:
    memory = global_memory([])
    assert memory == {
        "schema": "global_memory.v1",
        "updated_at": None,
        "active_topics": [],
        "topics_omitted": 0,
        "do_not_forget": [],
    }
    assert global_md(memory) == "# Global memory\n\n"


def test_active_topics_begin_with_the_newest_day_and_then_with_what_holds_most() -> None:
    def made(topic: str, updated_at: float | None, facts_count: int) -> dict[str, Any]:
        empty: dict[str, Any] = {"summary": "", "open_questions": [], "next_actions": [], "candidates": []}
        return {"topic": topic, "updated_at": updated_at, "facts_count": facts_count, **empty}

    day = NOW // DAY * DAY
    topics = [
        made("never", None, 99),
        made("old", day - 1, 99),
        made("small", day + 9, 1),
        made("large", day, 5),
    ]
    told = global_memory(topics)["active_topics"]
    assert [each["topic"] for each in told] == ["large", "small", "old", "never"]


def test_a_digest_that_somebody_wrote_does_not_pass_the_gate() -> None:
    facts = [fact(level="confirmed"), fact("Home", "Lyon", id="f2")]
    made = digests(facts)
    made[0]["candidates"][0]["level"] = "tainted"
    assert [each["object"] for each in global_memory(made)["do_not_forget"]] == ["Lyon"]


# --- the shortlist ---------------------------------------------------------------------


@settings(max_examples=few(40))
@given(st.lists(st.tuples(MANY, st.sampled_from(["user", "project", "garden", ""])), min_size=1, max_size=8))
def test_whatever_changes_the_shortlist_tells_what_all_digests_tell_or_says_that_it_cannot(
    steps: list[tuple[list[Fact], str]],
) -> None:
    known: dict[str, dict[str, Any]] = {}
    listed = make_shortlist([], caps=FEW)
    for facts, gone in steps:
        new = {each["topic"]: each for each in digests(facts, FEW)}
        known = {topic: each for topic, each in known.items() if topic != gone} | new
        listed = Shortlist.from_record(json.loads(json.dumps(listed.to_record())))
        listed = update_shortlist(listed, {*new, gone}, new.values(), caps=FEW)
        whole = global_memory(known.values(), caps=FEW)
        found = memory_from(listed, len(known), whole["updated_at"], caps=FEW)
        if found is None:  # only where something was left out, and then it is made anew
            assert any(listed.behind.values())
            listed = make_shortlist(known.values(), caps=FEW)
            found = memory_from(listed, len(known), whole["updated_at"], caps=FEW)
        # Where the same is said in many topics, only all digests tell which others there are.
        if found is not None:
            assert json.dumps(found) == json.dumps(whole)
        else:
            said = [
                (each["subject"], each["relation"]) for kept in known.values() for each in kept["candidates"]
            ]
            assert len(set(said)) < len(said)


def test_a_shortlist_bears_that_some_go_and_says_when_too_many_went() -> None:
    many = {
        f"t{i}": [fact("Rule", f"rule {i}", topic=f"t{i}", id=f"{i}", recorded_at=NOW + i)] for i in range(90)
    }
    made = {topic: digests(facts)[0] for topic, facts in many.items()}
    listed = make_shortlist(made.values())
    assert sum(map(len, listed.front.values())) == 60 + 18
    went = 0
    while (found := memory_from(listed, len(made), NOW)) is not None:
        assert json.dumps(found | {"updated_at": None}) == json.dumps(
            global_memory(made.values()) | {"updated_at": None}
        )
        newest = found["do_not_forget"][0]["topic"]
        del made[newest]
        listed = update_shortlist(listed, {newest}, [])
        went += 1
    assert went == 7  # twelve rules have a place, eighteen are listed


# --- size and time ---------------------------------------------------------------------


def history(entries: int, topics: int = 50) -> list[dict[str, Any]]:
    """Digests of so many entries, each of which left two facts of every kind, two tasks and two questions."""
    made = []
    for number in range(topics):
        own = range(number, entries, topics)
        facts = [
            fact(
                "Label",
                f"{kind} number {i:05d} that is worth {salience}",
                kind=kind,
                topic=f"topic-{number:02d}",
                id=f"{kind}-{i:05d}-{salience}",
                salience=salience,
                recorded_at=NOW + i,
                entry_id=f"e{i:05d}",
                entry_ts=NOW + i,
            )
            for i in own
            for kind in KINDS
            for salience in (0.99, 0.55)
        ]
        noted = [
            {
                "entry_id": f"e{i:05d}",
                "ts": NOW + i,
                "level": "said",
                "summary": {
                    "summary": f"User: We decided to build part number {i:05d} at once.",
                    "tasks": [f"Write the {what} of part {i:05d}" for what in ("manual", "tests")],
                    "open_questions": [f"Who {does} for part {i:05d}?" for does in ("pays", "votes")],
                },
            }
            for i in own
        ]
        made.append(digest(topic_memory(f"topic-{number:02d}", facts, noted), facts))
    return made


def test_the_global_memory_is_as_large_after_a_long_history_as_after_a_short_one() -> None:
    memory, later = (global_memory(history(entries)) for entries in (100, 400))
    assert 0.9 < len(json.dumps(later)) / len(json.dumps(memory)) < 1.1
    counts = Counter((each["tier"], each["type"]) for each in memory["do_not_forget"])
    assert [counts["core", kind] for kind in TYPES] == list(CAPS.core)
    assert [counts["secondary", kind] for kind in TYPES] == list(CAPS.secondary)
    assert (len(memory["active_topics"]), memory["topics_omitted"]) == (CAPS.active_topics, 10)


@pytest.mark.long
def test_the_global_memory_is_as_large_after_ten_thousand_entries_as_after_a_hundred() -> None:
    sizes = [len(json.dumps(global_memory(history(entries)))) for entries in (100, 10_000)]
    assert 0.9 < sizes[1] / sizes[0] < 1.1


def test_nobody_can_make_the_global_memory_larger_than_its_caps() -> None:
    # Every text as long as it can be, of characters that JSON writes with twelve.
    wide = "\U0001f4d6" * 500
    facts = [
        Fact(
            "t" * 40,
            wide,
            wide,
            f"{kind} {i} {salience} {wide}",
            kind=kind,
            id=f"{kind} {i} {salience} {wide}",
            entry_id=wide,
            tags=tuple(f"{n}{wide}" for n in range(50)),
            level="said",
            salience=salience,
            valid_from=wide,
            valid_to=wide,
            recorded_at=NOW,
        )
        for kind in KINDS
        for salience in (1.0, 0.6)
        for i in range(17)
    ]
    notes = {name: [f"{n} {wide}?" for n in range(50)] for name in ("tasks", "open_questions", "constraints")}
    entry = {"entry_id": "e", "ts": NOW, "level": "said", "summary": {"summary": wide, **notes}}
    own = digest(topic_memory("t", facts, [entry]), facts)
    memory = global_memory([own | {"topic": f"{n}"} for n in range(100)])
    most = sum(CAPS.core) + sum(CAPS.secondary)
    texts = most * (12 + CAPS.tags) + CAPS.active_topics * (2 + 2 * CAPS.snapshot_items)
    assert len(memory["do_not_forget"]) == most
    assert len(json.dumps(memory)) < texts * (12 * CAPS.object_chars + 50)


def test_cutting_keeps_what_fits_and_says_that_it_cut() -> None:
    assert cut("four", 4) == "four"
    assert cut("fives", 4) == "fiv…"
    assert cut("fi es", 4) == "fi…"


def test_a_day_is_one_also_for_a_time_that_no_calendar_has() -> None:
    assert [day_of(ts) for ts in (NOW, -5.0, 1e300)] == ["2026-02-02", "1970-01-01", "9999-12-31"]


def test_the_global_memory_takes_time_linear_in_topics_and_a_digest_in_facts() -> None:
    own = history(20, 10)

    def topics(size: int) -> Any:
        many = [each | {"topic": f"{each['topic']}-{n}"} for n in range(size) for each in own]
        return lambda: global_memory(many)

    def facts(size: int) -> Any:
        many = [fact("Likes", f"thing {i}", id=f"{i}", recorded_at=NOW + i) for i in range(size)]
        return lambda: candidates(many)

    assert growth(topics, 2) < LINEAR
    assert growth(facts, 200) < LINEAR


@pytest.mark.parametrize("level", ["inferred", "tainted"])
def test_what_nobody_said_is_not_told_though_it_is_pinned_and_scored(level: str) -> None:
    found = "root (found by main on 2026-04-02, from Bash)"
    known = [fact(), fact("Role", found, id="f2", level=level, tags=("pinned",), user_fact_score=10.0)]
    made = global_memory(digests(known))
    assert "root" not in json.dumps(made) + global_md(made)
    assert "Zhang San" in global_md(made)
    sure = global_memory(digests([known[0], known[1].but(level="confirmed")]))
    assert "root" in global_md(sure), "a person said yes"
