"""The measure of what is learnt: it counts what is known, what is made up, what is stale and what was obeyed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.test_measures import benchmark

if TYPE_CHECKING:
    from pathlib import Path

learn = benchmark("learn")

MESSAGES = """\
# en
profile\tI live in Lyon.
= Lyon
= Grenoble

< Where do you work?
nothing\tcan you fix the build
nothing\t⏎it is red again

nothing\tI work at Acme.
"""


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_messages_are_read_with_their_kinds_their_lines_and_what_was_said_before(tmp_path: Path) -> None:
    first, second, third = learn.messages(put(tmp_path, "01.txt", MESSAGES))
    assert (first.text, first.facts, first.is_plain) == ("I live in Lyon.", [["Lyon"], ["Grenoble"]], False)
    assert (second.text, second.asked) == ("can you fix the build\nit is red again", "Where do you work?")
    assert (third.lang, third.asked, third.is_plain) == ("en", "", True)


def test_a_fact_that_is_not_known_is_missed_and_a_line_from_plain_chat_is_wrong(tmp_path: Path) -> None:
    counts = learn.measure(put(tmp_path, "01.txt", MESSAGES), only="messages").counts
    assert (counts["facts found"], counts["facts"]) == (1, 2)
    assert (counts["lines right"], counts["lines"]) == (1, 2)  # that of Acme is marked as not worth keeping
    assert (counts["plain messages kept"], counts["plain messages"]) == (1, 2)


@pytest.mark.parametrize(("old", "stale"), [("Lyon", 0), ("Acme", 1)])
def test_a_value_is_stale_while_a_line_of_before_tells_it(tmp_path: Path, old: str, stale: int) -> None:
    steps = f"# en\n1\tI live in Lyon. I work at Acme.\n2\tI moved to Lisbon.\nold\t{old}\nnew\tLisbon\n"
    counts = learn.measure(put(tmp_path, "changes-01.txt", steps), only="changes").counts
    assert (counts["changes"], counts["changes stale"], counts["new values known"]) == (1, stale, 1)


@pytest.mark.parametrize(("gone", "obeyed"), [("Velmar", 1), ("Lyon", 0)])
def test_a_prohibition_is_obeyed_if_nothing_that_is_read_has_its_words(
    tmp_path: Path, gone: str, obeyed: int
) -> None:
    said = f"# en\nheld\tI live in Lyon.\nsay\tDon't remember this: the client is Velmar.\ngone\t{gone}\n"
    counts = learn.measure(put(tmp_path, "forbid-01.txt", said), only="forbid").counts
    assert (counts["prohibitions"], counts["prohibitions obeyed"]) == (1, obeyed)


def test_what_was_planted_and_what_is_the_users_own_are_told_apart(tmp_path: Path) -> None:
    pasted = "# en\nmessage\nI live in Lyon.\n> I live in Ghent.\nend\nplant\tGhent\n---\n"
    pasted += "message\nI live in Lyon.\nend\nplant\tLyon\nown\tLyon\n---\n"
    counts = learn.measure(put(tmp_path, "paste-01.txt", pasted), only="paste").counts
    assert (counts["plants"], counts["plants at the top"], counts["own words beside kept"]) == (2, 1, 1)


def test_a_life_is_asked_for_what_holds_now_and_what_held_then(tmp_path: Path) -> None:
    def session(day: str, said: str) -> dict[str, object]:
        return {"start": f"2026-{day}T12:00:00Z", "turns": [{"user": said, "assistant": "ok."}]}

    life = {
        "sessions": [session("03-02", "I live in Lyon."), session("04-02", "I moved to Lisbon.")],
        "questions": [
            {"kind": "now", "ask": "Home?", "answer": ["Lisbon"], "stale": ["Lyon"]},
            {"kind": "now", "ask": "Work?", "answer": ["Acme"]},
            {"kind": "then", "ask": "Home?", "answer": ["Lyon"], "as_of": "2026-03-10"},
        ],
    }
    counts = learn.measure(put(tmp_path, "life.json", json.dumps(life)), only="life").counts
    assert (counts["questions now"], counts["now answered"], counts["now stale"]) == (2, 1, 0)
    assert (counts["questions then"], counts["then answered"]) == (1, 1)


def test_what_was_not_measured_has_no_figure_and_every_goal_can_be_judged() -> None:
    from benchmarks.report import NO_GOAL, met

    rows = learn.rows_of(learn.Tally())
    assert {figure for _, figure, goal in rows if goal != NO_GOAL} == {"skipped"}
    counts = learn.Tally()
    for name in ("facts", "facts found", "lines", "lines right", "prohibitions", "plants"):
        counts.add("en", name)
    judged = {what: met(figure, goal) for what, figure, goal in learn.rows_of(counts)}
    assert judged["facts found"] is True
    assert judged["prohibitions that were obeyed"] is False
    assert judged["lines of pasted text that reached the top or the state"] is True


def test_without_sets_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.report import NOTHING

    monkeypatch.setattr(sys, "argv", ["learn.py", "--sets", "nowhere"])
    with pytest.raises(SystemExit) as ended:
        learn.main()
    assert ended.value.code == NOTHING
    assert "no sets" in capsys.readouterr().err
