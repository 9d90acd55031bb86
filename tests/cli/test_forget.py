"""`looseleaf forget`: shows, asks, does, proves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from forgetting import Op, holding, live, open_memory
from looseleaf.cli.main import main

CANARY = "Zebrafish"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_memory(tmp_path / "m") as memory:
        live(
            memory,
            [
                Op("talk", "a", (f"I am allergic to {CANARY} tea. I live in Oslo.", f"{CANARY} are fish.")),
                Op("distill"),
            ],
        )
    return tmp_path / "m"


def run(folder: Path, *words: str) -> int:
    return main(["--memory", str(folder), "forget", *words])


def test_a_dry_run_shows_what_would_go_and_changes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--match", CANARY, "--dry-run") == 0
    out = capsys.readouterr().out
    assert out.startswith("What would go:\n  2 messages and tool calls\n")
    assert f"I am allergic to {CANARY} tea. I live in Oslo." in out
    assert f"Allergy: {CANARY} tea" in out
    assert holding(folder, CANARY)


def test_without_a_terminal_and_without_yes_nothing_goes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(folder, "--match", CANARY) == 2
    assert "there is no terminal to ask at" in capsys.readouterr().err
    assert holding(folder, CANARY)


def test_the_last_export_is_named_as_long_as_it_is_there(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.tar.gz"
    assert main(["--memory", str(folder), "export", str(copy)]) == 0
    assert run(folder, "--match", CANARY, "--yes") == 0
    out = capsys.readouterr().out
    assert f" may still hold it: {copy}. Delete it, and export again.\n" in out
    copy.unlink()
    assert run(folder, "--match", "Oslo", "--yes") == 0
    assert "may still hold it" not in capsys.readouterr().out


def test_with_yes_it_goes_and_every_byte_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--match", CANARY, "--yes") == 0
    out = capsys.readouterr().out
    assert "Forgotten:" in out
    assert ": 0 hits." in out
    assert "are not searched" in out
    assert holding(folder, CANARY) == []
    assert run(folder, "--match", CANARY, "--yes") == 0
    assert "it was forgotten before" in capsys.readouterr().out


def test_json_is_the_receipt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--session", "a", "--yes", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["traces"] == 2
    assert told["probe"]["hits"] == []
    assert len(told["id"]) == 26


def test_other_places_and_files_of_the_user_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_memory(folder) as memory:
        fact = next(fact for fact in memory.facts() if CANARY in fact.object)
        memory.record(user=f"More {CANARY} tea, please.")
    (folder / "recall.tests.toml").write_text(f"# I am allergic to {CANARY} tea.\n")
    assert run(folder, "--fact", fact.id or "", "--yes") == 0
    out = capsys.readouterr().out
    assert "named in 1 other place, which stays: turn_0003 of main." in out
    assert "Still in files of yours: recall.tests.toml" in out


def test_what_is_still_there_is_said_and_is_a_failure(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.store import documents as switch

    real = switch.finish

    def finish(root: object) -> None:
        page = folder / "USER.md"
        page.write_text(f"{page.read_text()}- Note: {CANARY}\n")
        real(root)  # type: ignore[arg-type]

    monkeypatch.setattr(switch, "finish", finish)
    assert run(folder, "--match", CANARY, "--yes") == 1
    assert "it is still in USER.md" in capsys.readouterr().out


def test_a_person_at_the_terminal_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal:
        def __init__(self, answer: str) -> None:
            self._answer = answer

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return self._answer

    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert run(folder, "--match", CANARY) == 2
    assert holding(folder, CANARY)
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert run(folder, "--match", CANARY) == 0
    assert holding(folder, CANARY) == []
    assert "Forget all of this? It cannot be undone. [y/N]" in capsys.readouterr().err


def test_a_dry_run_shows_the_sentence_and_says_what_comes_next(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--match", "Oslo", "--dry-run") == 0
    shown = capsys.readouterr()
    assert "      I live in Oslo.\n" in shown.out
    assert "I like" not in shown.out.partition("entry")[0]
    assert "Replace `--dry-run` with `--yes` to do it." in shown.err


def test_a_name_that_stays_is_called_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(folder) as memory:
        live(memory, [Op("append", "", (f"facts/{CANARY.lower()}.md", "- Grows: slowly"))])
    for _ in range(2):
        assert run(folder, "--match", CANARY, "--yes") == 1
        out = capsys.readouterr().out
        assert "It is a name there, of the topic zebrafish (`looseleaf forget --topic 'zebrafish'`)" in out
        assert "meanwhile" not in out


def test_only_the_first_places_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(folder) as memory:
        fact = next(fact for fact in memory.facts() if CANARY in fact.object)
        for number in range(4):
            memory.record(user=f"More {CANARY} tea, please, for {number}.")
    assert run(folder, "--fact", fact.id or "", "--yes") == 0
    out = capsys.readouterr().out
    assert (
        "other places, which stay: turn_0003 of main, turn_0004 of main, turn_0005 of main and 1 more." in out
    )
    assert "0 hits, not counting the places that stay." in out


def test_nothing_named_names_the_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 2
    assert "`--fact`, `--topic`, `--session`, `--origin` or `--match`" in capsys.readouterr().err


def test_a_fact_is_named_by_its_relation_or_its_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ("allergy", CANARY.lower()):
        assert run(folder, words, "--dry-run") == 0
        assert f"Allergy: {CANARY} tea" in capsys.readouterr().out
    assert run(folder, "allergy", "--yes") == 0
    assert "Forgotten:" in capsys.readouterr().out
    with open_memory(folder) as memory:
        assert [fact.relation for fact in memory.facts()] == ["Home"]


def test_a_word_that_fits_no_fact_is_no_match(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sentences go by `--match` alone: a word that was meant for a fact takes nothing else with it."""
    assert run(folder, "fish", "--yes") == 2
    assert capsys.readouterr().err == (
        "looseleaf: Nothing was forgotten: no fact fits 'fish'. `looseleaf forget --match fish` removes every sentence "
        "and line with these words.\n"
    )
    assert holding(folder, CANARY)
    assert run(folder, "allergy", "--fact", "home", "--yes") == 2
    assert "the fact was given twice" in capsys.readouterr().err
