"""The rule distiller: it picks what cannot be guessed, never more than there is room for, and fails on nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from growth import LINEAR, growth
from looseleaf.base.messages import TRACE_TYPES, Distilled, Distiller, Noted, Trace
from looseleaf.distill import rules as gather
from looseleaf.distill import rules as noting
from looseleaf.distill.rules import Rules, estimate
from tables import check_rows

AMPLE = 10_000


class Talk:
    """Material in memory; counts how often it is read."""

    def __init__(self, traces: list[Trace]) -> None:
        self.held = traces
        self.reads = 0

    def traces(self) -> Iterator[Trace]:
        self.reads += 1
        return iter(self.held)


def talk(*lines: tuple[Any, ...]) -> Talk:
    """`("user", text)`, `("assistant", text)`, `("call", id, name, args)`, `("result", id, value[, error])`."""
    traces = []
    for number, (kind, *rest) in enumerate(lines, 1):
        members: dict[str, Any] = {"content": "", "trace_type": kind}
        if kind == "call":
            members |= {
                "trace_type": "tool_call",
                "tool_call_id": rest[0],
                "tool_name": rest[1],
                "tool_args": rest[2],
            }
        elif kind == "result":
            members |= {"trace_type": "tool_result", "tool_call_id": rest[0], "tool_result": rest[1]}
            members |= {"tool_error": rest[2]} if len(rest) > 2 else {}
        else:
            members["content"] = rest[0]
            members |= {"media": rest[1]} if len(rest) > 1 else {}
        base: dict[str, Any] = {
            "id": f"t{number}",
            "ts": 0.0,
            "turn_id": "turn_0001",
            "seq": number,
            "source_event": "",
        }
        traces.append(Trace(**(base | {"session_id": "", "origin": ""} | members)))
    return Talk(traces)


def summary(*lines: tuple[Any, ...], tokens: int = AMPLE) -> str:
    return Rules().distill(talk(*lines), tokens).summary


BOOKING = (
    ("user", "Hello! Please change my flight to May 27. Never use my old card."),
    ("assistant", "Could you please provide your user ID?"),
    ("user", "Sure, it's mia_li_3668."),
    ("call", "c1", "get_user", {"user_id": "mia_li_3668"}),
    (
        "result",
        "c1",
        json.dumps({"name": "Mia Li", "cards": ["credit_card_4421486"], "reservations": ["4WQ150"]}),
    ),
    ("call", "c2", "get_reservation", {"id": "4WQ150", "full": True, "page": 2}),
    ("result", "c2", {"flights": [{"number": "HAT069", "origin": "JFK", "price": 523}]}),
    ("call", "c3", "get_reservation", {"id": "ZZZ999"}),
    ("result", "c3", None, "reservation\nnot found"),
    ("call", "c4", "calculate", "523 * 2"),
    ("result", "c4", "1046.0"),
    (
        "assistant",
        "I found your reservation **4WQ150** with one flight. I'll look for seats next. Which seat do you want?",
    ),
    ("user", "A window seat. We decided to pay with the new card from now on. What does it cost?"),
)


def test_a_summary_tells_the_talk_in_its_order() -> None:
    assert summary(*BOOKING) == (
        "User: Please change my flight to May 27. Never use my old card.\n"
        "User: Sure, it's mia_li_3668.\n"
        "get_user(mia_li_3668): Mia Li, credit_card_4421486\n"
        "get_reservation(4WQ150 full=True page=2): HAT069 JFK; (ZZZ999): failed: reservation not found\n"
        "calculate(523 * 2): 1046.0\n"
        "Assistant: I found your reservation 4WQ150 with one flight. I'll look for seats next. "
        "Which seat do you want?\n"
        "User: A window seat. We decided to pay with the new card from now on. What does it cost?"
    )


def test_what_was_settled_ruled_left_and_asked_is_noted_with_its_source() -> None:
    distilled = Rules().distill(talk(*BOOKING), AMPLE)
    distiller: Distiller = Rules()
    assert distiller.name == "rules/1"
    assert distilled == Distilled(
        summary=distilled.summary,
        decisions=(Noted("We decided to pay with the new card from now on.", "t13"),),
        constraints=(Noted("Never use my old card.", "t1"),),
        open_questions=(Noted("What does it cost?", "t13"),),
        next_actions=(Noted("I'll look for seats next.", "t12"),),
        facts=distilled.facts,
    )
    assert [(fact["relation"], fact["object"], fact["source"]) for fact in distilled.facts] == [
        ("note", "Never use my old card", "t1"),
        ("note", "We decided to pay with the new card from now on", "t13"),
    ]


def test_a_question_is_open_until_the_assistant_says_something() -> None:
    asked = ("user", "Why does it fail?")
    call: list[tuple[Any, ...]] = [("call", "c", "look", {}), ("result", "c", "nothing")]
    assert Rules().distill(talk(asked, *call), AMPLE).open_questions == (Noted("Why does it fail?", "t1"),)
    assert Rules().distill(talk(asked, *call, ("assistant", " ")), AMPLE).open_questions != ()
    assert Rules().distill(talk(asked, *call, ("assistant", "A typo.")), AMPLE).open_questions == ()


def test_what_the_assistant_said_it_would_do_counts_until_it_says_something_else() -> None:
    said = (("assistant", "I'll run the tests."), ("user", "Go on."))
    assert [noted.text for noted in Rules().distill(talk(*said), AMPLE).next_actions] == [
        "I'll run the tests."
    ]
    assert Rules().distill(talk(*said, ("assistant", "They pass.")), AMPLE).next_actions == ()


def test_rules_and_decisions_are_never_taken_from_tools_code_or_quotes() -> None:
    words = "Never push to main. We decided to use tabs. TODO: nothing."
    distilled = Rules().distill(
        talk(
            ("user", f"Look:\n> {words}\n```\n{words}\n```"),
            ("call", "c", "read", {"text": words}),
            ("result", "c", words),
            ("assistant", "Never do that again."),
        ),
        AMPLE,
    )
    assert distilled.constraints == distilled.decisions == distilled.tasks == ()


def test_a_decision_of_the_assistant_and_work_left_are_noted_once() -> None:
    distilled = Rules().distill(
        talk(
            ("assistant", "We decided to use tabs."),
            ("user", "TODO: the docs."),
            ("assistant", "We still need to write the tests. We decided to use tabs."),
        ),
        AMPLE,
    )
    assert distilled.decisions == (Noted("We decided to use tabs.", "t3"),)
    assert distilled.tasks == (
        Noted("TODO: the docs.", "t2"),
        Noted("We still need to write the tests.", "t3"),
    )


def test_of_too_many_noted_sentences_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noting, "NOTED", 2)
    lines = [("user", f"Never touch file {number}.") for number in range(5)]
    noted = Rules().distill(talk(*lines), AMPLE).constraints
    assert [each.text for each in noted] == ["Never touch file 3.", "Never touch file 4."]


def test_a_long_sentence_is_cut_and_code_is_only_hinted_at() -> None:
    text = (
        "We "
        + "very " * 200
        + "much agreed.\n```\nTraceback (most recent call last):\n  x\nKeyError: 'a'\n```"
    )
    found = summary(("user", text, {"images": ["a.png", "b.png"], "audio": []}))
    assert "very … very" in found
    assert len(found) < 500
    assert found.endswith("[code: Traceback (most recent call last): … KeyError: 'a'] [media: a.png, b.png]")
    assert summary(("user", "```\n\n```")) == ""


def test_what_went_wrong_is_kept() -> None:
    def check(value: Any, told: str) -> None:
        found = summary(("call", "c", "run", {}), ("result", "c", value))
        assert found.removeprefix("run()").removeprefix(": ") == told

    check_rows(
        check,
        [
            ({"error": "no such row"}, "failed: no such row"),
            ('{"error": {"message": "no such row"}}', "failed: no such row"),
            ("begin\n" * 40 + "ValueError: a bad row\n", "failed: ValueError: a bad row"),
            ("all is well\n" * 40, ""),
            ({"error": None}, ""),
            (["error"], "error"),
            ([], ""),
            ("plain words", "plain words"),
        ],
    )


def test_results_find_their_calls_by_id_and_stand_alone_without_one() -> None:
    found = summary(
        ("call", "c", "one", {"a": "x1"}),
        ("call", "d", "two", {}),
        ("result", "d", "for two"),
        ("result", "c", "for one"),
        ("result", "c", "again"),
        ("result", None, "of nothing"),
    )
    assert found == "one(x1): for one\ntwo(): for two\ntool(): again; (): of nothing"


def test_long_arguments_are_cut() -> None:
    arguments = {"code": "word " * 100, "rows": [f"row-{number}" for number in range(200)], "big": 1 << 4000}
    found = summary(("call", "c", "run", arguments))
    assert found.startswith("run(word word")
    assert found.endswith(" …)")
    assert len(found) < 600
    assert summary(("call", "c", "run", [""] * 1000 + ["x1"])) == "run(x1)"
    assert summary(("call", "c", "run", '{"id": "x1"}')) == "run(x1)"
    assert summary(("call", "c", "run", {"id": 1 << 4000, "none": None, "path": "a"})) == "run(a)"


# --- facts, tasks, episodes ------------------------------------------------------------

SAID: dict[str, Any] = {"origin": "user", "ts": 1771934400.0}
"""Tuesday, 24 February 2026."""


def as_user(*texts: str, **members: Any) -> Talk:
    material = talk(*(("user", text) for text in texts))
    names: tuple[str, ...] = Trace.__match_args__
    held = [{name: getattr(trace, name) for name in names} | SAID | members for trace in material.held]
    return Talk([Trace(**given) for given in held])


def stated(material: Talk) -> list[str]:
    return [f"{fact['relation']}: {fact['object']}" for fact in Rules().distill(material, AMPLE).facts]


def test_what_the_user_states_is_proposed_with_its_source() -> None:
    material = as_user("Hi!", "My name is Zhang San. Answer in Chinese, but write code in English.")
    assert Rules().distill(material, AMPLE).facts == (
        {
            "topic": "user",
            "relation": "Name",
            "object": "Zhang San",
            "kind": "identity",
            "quote": "My name is Zhang San.",
            "source": "t2",
            "time_span": "long_term",
            "salience": 0.9,
        },
        {
            "topic": "user",
            "relation": "Language",
            "object": "Chinese",
            "kind": "preference",
            "quote": "Answer in Chinese, but write code in English.",
            "source": "t2",
            "time_span": "long_term",
            "salience": 0.8,
        },
        {
            "topic": "user",
            "relation": "Code language",
            "object": "English",
            "kind": "preference",
            "quote": "Answer in Chinese, but write code in English.",
            "source": "t2",
            "time_span": "long_term",
            "salience": 0.8,
        },
    )


@pytest.mark.parametrize(
    "members",
    [
        {"tags": ("recalled",)},
        {"trace_type": "assistant"},
        {"trace_type": "tool_result", "tool_result": "I live in Lyon."},
    ],
)
def test_facts_are_only_taken_from_what_a_user_said(members: dict[str, Any]) -> None:
    assert stated(as_user("I live in Lyon.")) == ["Home: Lyon"]
    assert stated(as_user("I live in Lyon.", **members)) == []


def test_wherever_a_users_words_came_from_they_are_proposed_and_the_gate_decides() -> None:
    def check(origin: str) -> None:
        assert stated(as_user("I live in Lyon.", origin=origin)) == ["Home: Lyon"]

    check_rows(check, ["user", "import", "document", "assistant", ""])


def test_a_change_is_proposed_with_what_it_takes_the_place_of() -> None:
    material = as_user("I live in Lyon.", "We moved from MySQL to Postgres.")
    assert stated(material)[:2] == ["Home: Lyon", "Database: Postgres"]
    change = Rules().distill(material, AMPLE).facts[1]
    assert (change["was"], change["correction"]) == ("MySQL", True)


def test_a_fact_that_is_said_again_is_one_fact_with_its_newest_source() -> None:
    material = as_user("I live in Lyon.", "I'm allergic to nuts.", "I live in Lyon.")
    assert stated(material) == ["Allergy: nuts", "Home: Lyon"]
    assert Rules().distill(material, AMPLE).facts[-1]["source"] == "t3"


def test_of_too_many_facts_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "NOTED", 2)
    found = stated(as_user(*(f"I'm allergic to {thing}." for thing in ("nuts", "milk", "eggs"))))
    assert found == ["Allergy: milk", "Allergy: eggs"]


def test_a_task_that_is_said_to_be_done_is_not_open() -> None:
    def check(task: str, done: str, is_open: bool, speaker: str) -> None:
        tasks = Rules().distill(talk(("user", task), (speaker, done)), AMPLE).tasks
        assert (Noted(task, "t1") in tasks) is is_open

    check_rows(
        check,
        [
            (task, done, is_open, speaker)
            for task, done, is_open in [
                ("TODO: the importer tests.", "The importer tests are done.", False),
                ("We still need to fix the date parser.", "I fixed the date parser.", False),
                ("We still need to fix the date parser.", "The date parser is not fixed yet.", True),
                ("We still need to fix the date parser.", "Is the date parser fixed?", True),
                ("We still need to fix the date parser.", "Once the date parser is fixed, we ship.", True),
                ("We still need to fix the date parser.", "The page parser is fixed.", True),
                ("We still need to fix the date parser.", "Done.", True),
                ("Es fehlt noch der Test für den Parser.", "Der Test für den Parser ist erledigt.", False),
                ("还需要写登录页面的文档。", "登录页面的文档完成了。", False),
                ("还需要写登录页面的文档。", "支付模块完成了。", True),
            ]
            for speaker in ["user", "assistant"]
        ],
    )


FIXING: tuple[tuple[Any, ...], ...] = (
    ("user", "Could you please fix the date parser? It crashes on leap days."),
    ("call", "c1", "read", {"path": "dates.py"}),
    ("result", "c1", "x = 1"),
    (
        "assistant",
        (
            "I looked at the code. The root cause was the year 1900, which is no leap year. "
            "I fixed the date parser by asking the calendar module. All tests pass."
        ),
    ),
    ("user", "Great, thanks!"),
)


def test_work_that_was_asked_for_and_finished_is_an_episode() -> None:
    assert Rules().distill(talk(*FIXING), AMPLE).episode == {
        "title": "Fix the date parser",
        "summary": "I fixed the date parser by asking the calendar…",
        "problem": "It crashes on leap days.",
        "solution": "I fixed the date parser by asking the calendar module.",
        "lesson": "The root cause was the year 1900, which is no leap year.",
    }


def test_work_without_a_fault_has_a_task_and_without_a_lesson_none() -> None:
    episode = (
        Rules()
        .distill(
            talk(
                ("user", "Add a changelog entry for the new importer that reads calendars"),
                ("call", "c1", "write", {}),
                ("assistant", "I added the changelog entry."),
            ),
            AMPLE,
        )
        .episode
    )
    assert episode == {
        "title": "Add a changelog entry for the new importer…",
        "summary": "I added the changelog entry",
        "task": "Add a changelog entry for the new importer that reads calendars",
        "solution": "I added the changelog entry.",
    }


def test_without_a_request_work_or_an_end_there_is_no_episode() -> None:
    def check(lines: tuple[tuple[Any, ...], ...]) -> None:
        assert Rules().distill(talk(*lines), AMPLE).episode is None

    check_rows(
        check,
        (
            (lines,)
            for lines in [
                (),
                FIXING[:3],
                FIXING[1:],
                (("user", "Fix the parser."), ("assistant", "It is fixed.")),
                (("user", "I like jazz."), ("call", "c", "x", {}), ("assistant", "Done.")),
                (("user", "Fix the parser."), ("call", "c", "x", {}), ("assistant", "It is not fixed yet.")),
                (("assistant", "Fixed it."),),
            ]
        ),
    )


def test_of_several_pieces_of_work_the_one_that_took_most_is_told() -> None:
    short: tuple[tuple[Any, ...], ...] = (
        ("user", "Rename the file."),
        ("call", "c9", "mv", {}),
        ("assistant", "I renamed the file."),
    )
    both = (*FIXING[:1], ("call", "c0", "look", {}), *FIXING[1:], *short)
    episode = Rules().distill(talk(*both), AMPLE).episode
    assert episode is not None
    assert episode["title"] == "Fix the date parser"
    later = Rules().distill(talk(*short, *both[:-3], ("user", "Why?")), AMPLE).episode
    assert later == episode


# --- room ------------------------------------------------------------------------------


def long_talk(turns: int) -> Talk:
    lines: list[tuple[Any, ...]] = [
        ("user", "The goal is to mend the parser of project P-1. Never push to main.")
    ]
    for number in range(turns):
        rows = [{"row_id": f"R{number:04d}{column}", "state": "open"} for column in range(5)]
        lines += [
            ("user", f"Please look at batch B{number:04d}, which has some rows that matter to me."),
            ("call", f"c{number}", f"tool_{number % 70}", {"batch": f"B{number:04d}"}),
            ("result", f"c{number}", rows),
            (
                "assistant",
                f"Batch B{number:04d} failed because of a wrong date. That is all I know about it.",
            ),
        ]
    lines += [("user", "Now fix row R00011, please.")]
    return talk(*lines)


@pytest.mark.parametrize(
    "tokens",
    [60, pytest.param(200, marks=pytest.mark.long), pytest.param(1000, marks=pytest.mark.long)],
)
def test_short_of_room_the_first_the_last_the_rules_and_the_newest_stay(tokens: int) -> None:
    found = summary_of(long_talk(300), tokens)
    assert 0.8 * tokens < estimate(found) <= tokens
    assert "Now fix row R00011, please." in found
    assert "Never push to main." in found
    assert "B0299" in found
    assert "Assistant:" not in found
    if tokens >= 200:
        assert "The goal is to mend the parser of project P-1." in found
        assert "B0298" in found
    assert "B0010" not in found


def summary_of(material: Talk, tokens: int) -> str:
    return Rules().distill(material, tokens).summary


def test_the_material_is_read_once_and_an_unused_identifier_goes_before_a_used_one() -> None:
    used = [("call", f"u{number}", "use", {"id": "USED77"}) for number in range(8)]
    first: list[tuple[Any, ...]] = [
        ("call", "c0", "list", {}),
        ("result", "c0", ["FREE11", "USED77", "FREE22"]),
    ]
    noise: list[tuple[Any, ...]] = []
    for number in range(300):
        noise += [("call", f"n{number}", "noise", {}), ("result", f"n{number}", [f"NOISE{number:05d}"])]
    material = talk(*first, *used, *noise)
    found = summary_of(material, 800)
    assert material.reads == 1
    assert "USED77" in found
    assert "FREE11" not in found


def test_an_old_failure_is_kept_before_an_old_success() -> None:
    lines: list[tuple[Any, ...]] = []
    for number in range(100):
        value = "Error: no such row" if number == 80 else "fine"
        lines += [("call", f"c{number}", f"tool_{number}", {}), ("result", f"c{number}", value)]
    found = summary(*lines, tokens=100)
    assert "tool_80(): Error: no such row" in found
    assert "tool_81(" not in found
    assert "tool_99(): fine" in found


def test_one_call_that_is_too_long_does_not_keep_out_the_others() -> None:
    found = summary(
        ("call", "c", "short", {"id": "x1"}), ("call", "d", "long", {"code": "word " * 90}), tokens=24
    )
    assert "short(x1)" in found


def test_a_call_whose_result_never_comes_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "NOTED", 1)
    found = summary(
        ("call", "c", "one", {}), ("call", "d", "two", {}), ("result", "c", "late"), ("result", "d", "x")
    )
    assert found == "one()\ntwo()\ntool(): late; (): x"


def test_no_identifier_is_told_twice() -> None:
    found = summary_of(long_talk(20), AMPLE)
    assert all(
        found.count(f"R{number:04d}{column}") == 1 for number in range(1, 20) for column in range(2, 5)
    )
    assert found.count("open") == 1


def test_forgotten_calls_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "HELD", (4, 4))
    monkeypatch.setattr(gather, "TOOLS", 2)
    lines: list[tuple[Any, ...]] = [("call", f"c{number}", f"tool{number}", {}) for number in range(8)]
    assert summary(*lines).startswith("Earlier calls: tool0 ×1, tool1 ×1, other tools ×2\ntool4()")


def test_what_is_kept_does_not_grow_with_the_material(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "HELD", (16, 16))
    kept = gather.Collected(100)
    for trace in long_talk(100).traces():
        kept.take(trace)
    kept.end()
    assert len(kept.calls) == 16
    assert len(kept.names) <= 8 * 16
    assert len(kept.user.ranked()) <= 32
    assert len(kept.assistant.ranked()) <= 32
    assert kept.user.ranked()[0].text == "Never push to main."


def test_reading_takes_linear_time() -> None:
    def work(size: int) -> Callable[[], object]:
        material = long_talk(size)
        return lambda: Rules().distill(material, 50)

    assert growth(work, 10) < LINEAR


@pytest.mark.parametrize(
    "content",
    [
        "never. " * 150_000,
        "x" * 1_000_000,
        pytest.param(json.dumps([{"id": f"A{n}"} for n in range(60_000)]), marks=pytest.mark.long),
    ],
    ids=["words", "one word", "rows"],
)
def test_a_megabyte_is_no_trouble(content: str) -> None:
    found = summary(
        ("user", content),
        ("assistant", content),
        ("call", "c", "t", content),
        ("result", "c", content),
        tokens=300,
    )
    assert 0 < estimate(found) <= 300


# --- anything --------------------------------------------------------------------------

texts = st.text(st.characters(codec=None), max_size=60) | st.sampled_from(
    [
        "We decided. Never!",
        "Why?",
        "I'll do it later.",
        "a.b HAT069 x_1",
        "```\ncode",
        "> q",
        "\ud800",
        "谢谢。不要删除。",
        "User: x\nUser: y",
        "I live in Lyon. Fix the parser.",
        "I fixed the parser because of Lyon.",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=5,
)
ids = st.sampled_from(["c1", "c2", ""])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Also what only a line made by hand could hold: anything, unchecked."""
    optional: dict[str, Any] = {
        "media": draw(st.none() | st.just({"images": ["a.png"] * 5}) | values),
        "tool_name": draw(st.none() | texts | values),
        "tool_call_id": draw(st.none() | ids | values),
        "tool_args": draw(values),
        "tool_result": draw(values | values.map(lambda value: json.dumps(value, default=str))),
        "tool_error": draw(st.none() | texts | values),
    }
    kind = draw(st.sampled_from(TRACE_TYPES))
    origin = draw(st.sampled_from(["", "user"]))
    return Trace(draw(ids), 0.0, "turn_0001", 1, kind, draw(texts), "", "", origin, **optional)


def crude(text: str) -> int:
    return (len(text) + 2) // 3


@settings(max_examples=few(40), deadline=None)
@given(st.lists(traces(), max_size=6), st.integers(-5, 400), st.sampled_from([estimate, crude, len]))
def test_whatever_the_traces_hold_the_summary_is_made_fits_and_is_the_same_again(
    held: list[Trace], tokens: int, count: Callable[[str], int]
) -> None:
    found = Rules(count).distill(Talk(held), tokens)
    assert count(found.summary) <= max(tokens, 0)
    assert found == Rules(count).distill(Talk(held), tokens)
    noted = (*found.decisions, *found.constraints, *found.tasks, *found.open_questions, *found.next_actions)
    assert all(
        0 < len(each.text) <= gather.SENTENCE_CHARS and each.source in ("c1", "c2", "") for each in noted
    )
    found.summary.encode()  # no lone surrogates
    json.dumps(found.facts, ensure_ascii=False).encode()
    told = found.episode or {}
    assert all(0 < len(line) <= gather.SENTENCE_CHARS and line.isprintable() for line in told.values())
    assert len(told.get("summary", "").split()) < 10


@settings(max_examples=few(60), deadline=None)
@given(st.lists(traces(), max_size=5))
def test_no_content_begins_a_line_of_its_own(held: list[Trace]) -> None:
    lines = Rules().distill(Talk(held), AMPLE).summary.splitlines()
    users = sum(trace.trace_type == "user" for trace in held)
    assert sum(line.startswith("User: ") for line in lines) <= users
    assert len(lines) <= len(held) + 2


def test_an_estimate_counts_every_script() -> None:
    assert estimate("") == 0
    assert estimate("internationalisation HAT069 42") == 8
    assert estimate("不要") == 2
    assert estimate("ééé") == 1
    assert estimate("🎉") == 2


def test_a_preference_and_a_standing_order_are_no_decisions() -> None:
    def check(text: str, is_settled: bool) -> None:
        assert bool(Rules().distill(talk(("user", text)), AMPLE).decisions) == is_settled

    check_rows(
        check,
        [
            ("I prefer short answers, and please always use pnpm instead of npm.", False),
            ("I prefer tabs rather than spaces.", False),
            ("Use pnpm instead of npm.", False),
            ("We decided to go with pnpm instead of npm.", True),
            ("We decided to always use pnpm instead of npm.", True),
        ],
    )
