"""The measure of the rules: other words for a fact may say neither less nor more, and never the opposite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from looseleaf.distill.shape import made
from test_benchmarks import benchmark

distill = benchmark("distill")


@pytest.mark.parametrize(
    ("relation", "object", "right", "expected"),
    [
        ("Rule", "Never push to main!", "never push to the main", True),
        ("Rule", "never push to main branch", "never push to main", True),
        ("Rule", "push to main", "never push to main", False),
        ("Event", "broke my left wrist on 2026-01-02", "broke left wrist on 2026-01-02", True),
        ("Event", "broke my left wrist on 2026-01-02", "broke left wrist on 2026-01-03", False),
        ("Plan", "fly to Lima", "fly to Lima and hike the Inca trail in peace", False),
        ("Home", "Lyon, France", "Lyon", False),
        ("Home", "the Lyon", "lyon", True),
    ],
)
def test_an_object_may_be_worded_otherwise_where_people_use_many_words(
    relation: str, object: str, right: str, expected: bool
) -> None:
    proposal = made(relation, object, object)
    assert distill.is_right(proposal, {"relation": relation, "objects": [right]}) is expected


def test_only_verdicts_on_what_is_still_proposed_count(tmp_path: Path) -> None:
    right, wrong = made("Likes", "jazz", "jazz"), made("Likes", "rain", "rain")
    lines = [
        {"turn": "c D1:1", "fact": distill.fact_id(fact), "verdict": verdict}
        for fact, verdict in ((right, "right"), (wrong, "wrong"))
    ]
    path = tmp_path / "verdicts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert distill.judged([("c D1:1", "", [right])], path) == {"right": 1}
    assert distill.judged([("c D1:1", "", [right])], tmp_path / "none") == {}


def test_what_was_held_back_is_never_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert distill.main(["--half", "held", "--misses"]) == 2
    assert "not listed" in capsys.readouterr().err
