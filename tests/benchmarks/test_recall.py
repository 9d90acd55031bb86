"""The measure of recall: its talk is as recorded and as frequent as speech, both sides find, and its table is whole."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks.test_measures import benchmark
from looseleaf import Memory
from looseleaf.base.messages import Trace

recall = benchmark("recall")


@pytest.fixture(scope="module")
def talk() -> list[str]:
    speaker = recall.Talk()
    return [speaker.text() for _ in range(400)]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    path = tmp_path_factory.mktemp("recall")
    return [recall.Side(path, size) for size in (40, 120)]


def test_the_talk_is_the_same_for_the_same_seed_and_no_two_messages_are_alike(talk: list[str]) -> None:
    speaker = recall.Talk()
    assert [speaker.text() for _ in range(50)] == talk[:50]
    assert len(set(talk)) == len(talk)


def test_words_are_as_frequent_as_in_a_language(talk: list[str]) -> None:
    """About two words of five are stop words, and most of the others are rare."""
    counts = Counter(word for text in talk for word in text.lower().replace(".", "").split())
    stops = sum(counts[word] for word in recall.STOPS)
    assert 0.3 < stops / sum(counts.values()) < 0.5
    assert sum(count == 1 for count in counts.values()) > len(counts) / 3


def test_a_question_has_words_of_its_message_that_tell_something(talk: list[str]) -> None:
    speaker = recall.Talk(6)
    for text in talk[:50]:
        asked = set(speaker.question(text).lower().strip("?").split())
        said = set(text.lower().replace(".", "").split())
        assert len((asked & said) - set(recall.STOPS)) >= min(4, len(said - set(recall.STOPS)))


def test_what_is_written_is_as_if_recorded() -> None:
    made = list(islice(recall.lines(recall.Talk(), 45), 45))
    traces = [Trace.from_record(record) for record in made]
    assert all(traces)
    assert [trace.to_record() for trace in traces if trace] == made
    assert [number for number, record in enumerate(made) if record.get("session_start")] == [0, 20, 40]


def test_both_sides_hold_the_same_texts_and_find_them(sides: list[Any]) -> None:
    side = sides[-1]
    bare = recall.Bare(side.bare)
    with Memory(side.memory) as memory:
        texts = [str(line.record["content"]) for line in memory.parts.context.store.read(recall.STREAM)]
        assert len(texts) == side.size
        assert memory.check() == []
        for text in texts[:5]:
            question = " ".join(text.replace(".", "").split()[:12])
            assert text in bare.ask(question)
            assert any(text.startswith(hit.text[:50]) for hit in memory.recall(question))
    bare.close()


def test_a_side_that_was_kept_is_taken_and_not_made_again(sides: list[Any]) -> None:
    side = sides[0]
    before = side.bare.stat().st_mtime_ns
    again = recall.Side(side.bare.parent.parent, side.size)
    assert side.bare.stat().st_mtime_ns == before
    assert again.bytes == side.bytes


def test_figures_are_ratios_of_what_ran_side_by_side() -> None:
    assert recall.of([2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == 2.0
    assert recall.high([float(each) for each in range(200)]) == 198.0
    assert recall.ms([0.002, 0.004, 0.003]) == "3.0 ms"
    assert recall.ms(0.2) == "200 ms"


@pytest.mark.parametrize("part", ["rebuild", "warm", "cold", "add"])
def test_each_part_gives_rows_of_figures(part: str, sides: list[Any]) -> None:
    rows = list(recall.parts(sides, quick=True)[part]())
    assert rows
    for what, figure, goal in rows:
        assert what
        assert re.match(r"[0-9]", figure)
        assert goal in (recall.NO_GOAL, "0") or re.fullmatch(r"≤ [0-9.]+", goal)
    if part == "add":
        assert [figure for what, figure, _ in rows if "not found" in what] == ["0 of 3"] * 2


def test_the_table_of_all_parts_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "QUICK", (30,))
    recall.main(["--quick", "--keep", str(tmp_path), "--only", "warm", "--only", "rebuild"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| [0-9].* \| .+ \|", line) for line in lines[2:])
    assert len(lines) == 2 + 2 + 3
    assert {path.name for path in tmp_path.iterdir()} == {"30", "bare.py"}
