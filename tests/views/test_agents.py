"""The views of an agent: a line for each compaction, a line for each thing that had to be kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tables import check_rows
from window.test_compact import opened, talk

FILES = ("episodic.jsonl", "semantic.jsonl")


def views(folder: Path) -> list[list[dict[str, Any]]]:
    return [
        [json.loads(line) for line in (folder / "views/agents/main" / name).read_text().splitlines()]
        for name in FILES
    ]


def test_each_compaction_is_an_episode_and_what_must_be_kept_is_a_fact(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000) as memory:
        memory.record(user="We decided to use vitest. Never touch the generated files.")
        talk(memory, 12)
        first = memory.window.compact()
        talk(memory, 12)
        second = memory.window.compact()
        assert first is not None
        assert second is not None
        episodic, semantic = views(tmp_path / "m")
        assert [list(each)[:6] for each in episodic] == [
            ["id", "ts", "turn_ids", "summary", "tags", "salience"]
        ] * 2
        assert [each["id"] for each in episodic] == ["ep_0001", "ep_0002"]
        assert [each["entry"] for each in episodic] == [first.entry, second.entry]
        assert episodic[0]["turn_ids"][0] == "turn_0001"
        assert isinstance(episodic[0]["ts"], float)
        facts = {each["fact"]: each for each in semantic}
        assert facts["Never touch the generated files."]["tags"] == ["constraint"]
        assert facts["We decided to use vitest."]["tags"] == ["decision"]
        for each in semantic:
            assert list(each)[:6] == ["id", "ts", "fact", "tags", "confidence", "salience"]
            assert 0 < each["confidence"] <= 1
            assert 0 < each["salience"] <= 1
            [source] = memory.talk.traces(each["source"])
            assert each["fact"] in source.content


def test_views_that_are_gone_or_damaged_are_made_again_with_the_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "m/views/agents/main"
    with opened(tmp_path / "m", 2000) as memory:
        memory.record(user="Never touch the generated files.")
        for _ in range(3):
            talk(memory, 10)
            assert memory.window.compact() is not None
        before = [(folder / name).read_bytes() for name in FILES]

        def check(damage: bytes | None) -> None:
            for name in FILES:
                if damage is None:
                    (folder / name).unlink()
                else:
                    (folder / name).write_bytes(damage)
            memory.views.build()
            assert [(folder / name).read_bytes() for name in FILES] == before

        check_rows(check, [None, b"", b"nonsense\n", b"5\n", b'{"entry":"other"}\n'])


def test_a_compaction_after_the_views_were_damaged_makes_them_whole(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000) as memory:
        talk(memory, 10)
        memory.window.compact()
        (tmp_path / "m/views/agents/main/episodic.jsonl").write_bytes(b"{\n")
        talk(memory, 10)
        memory.window.compact()
        assert [each["id"] for each in views(tmp_path / "m")[0]] == ["ep_0001", "ep_0002"]


def test_views_that_cannot_be_written_keep_nobody_from_compacting(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000) as memory:
        (tmp_path / "m/views/agents").mkdir(parents=True, exist_ok=True)
        (tmp_path / "m/views/agents/main").write_bytes(b"a file where a folder should be")
        talk(memory, 12)
        assert memory.window.compact() is not None
