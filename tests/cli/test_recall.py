"""The commands of recall, as a person runs them: what they print, and how they end."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.cli import output as cli_progress
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from tables import check_rows

if TYPE_CHECKING:
    from conftest import Run

JANUARY = 1_767_261_600
"""2026-01-01, ten o'clock in the morning (UTC)."""

STORY = [
    {"user": "I live in Berlin these days.", "ts": JANUARY},
    {"assistant": "Berlin is noted.", "ts": JANUARY + 1},
    {"user": "I moved to Paris.", "ts": JANUARY + 59 * 86_400},
    {
        "user": "The violet lantern hangs in the old harbour, behind the chandler's shop.",
        "ts": JANUARY + 60 * 86_400,
    },
    {"user": "The q7z ledger\nhas two lines.", "ts": JANUARY + 61 * 86_400},
]
LANTERN = "violet lantern old harbour chandler's shop"


NEXT = (
    r"Next: (?:`looseleaf why f_\w+` shows why it is believed; )?`looseleaf open \S+` shows its context\.\n"
)


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def told(run: Run) -> Run:
    assert run("record", "jsonl", stdin=lines(STORY))[0] == 0
    assert run("distill")[0] == 0
    return run


def printed(run: Run, *arguments: str) -> str:
    code, out, err = run(*arguments)
    assert (code, re.sub(f"^{NEXT}$", "", err)) == (0, "")
    return out


def answer(run: Run, *arguments: str) -> dict[str, Any]:
    code, out, err = run("recall", *arguments, "--json")
    found: dict[str, Any] = json.loads(out)
    assert (code, err) == (0 if found["hits"] else 1, "")
    return found


def refused(run: Run, *arguments: str) -> str:
    """The sentence with which a command is refused."""
    try:
        code, out, err = run(*arguments)
    except SystemExit as error:  # what is no command at all
        return f"looseleaf: usage, {error.code}."
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    return err


def test_a_hit_is_printed_with_its_day_its_speaker_and_where_it_stands(told: Run) -> None:
    first, second, *_ = printed(told, "recall", LANTERN, "--raw").splitlines()
    assert first == "1. The violet lantern hangs in the old harbour, behind the chandler's shop."
    assert re.fullmatch(r"   └ 2026-03-02  user  said  [01]\.\d\d  [0-9A-Z]{26}", second)


def test_what_is_printed_can_be_opened(told: Run) -> None:
    where = printed(told, "recall", LANTERN, "--raw").splitlines()[1].split()[-1]
    out = printed(told, "open", where)
    assert "The violet lantern hangs" in out
    opened = json.loads(printed(told, "open", where, "--json"))
    assert (opened["where"], opened["kind"]) == (where, "trace")
    assert opened["text"].strip() == out.strip()


def test_a_fact_is_printed_with_its_line_and_opens_with_its_source(told: Run) -> None:
    out = printed(told, "recall", "Home Paris", "--kind", "fact")
    assert "Home: Paris" in out
    name, place = re.findall(r"(f_[0-9a-f]{12})  (USER\.md#\d+-\d+)", out)[0]
    assert "I moved to Paris." in printed(told, "open", name)
    assert re.search(r"^> +\d+  - Home: Paris", printed(told, "open", place), re.MULTILINE)


def test_what_was_superseded_is_said_to_be(told: Run) -> None:
    out = printed(told, "recall", "I live in Berlin these days", "--raw")
    assert "I live in Berlin these days." in out
    assert "no longer so; now: Home: Paris" in out


def test_json_holds_every_hit_with_its_parts(told: Run) -> None:
    found = answer(told, LANTERN, "--kind", "trace")
    assert found["why"] == ""
    assert found["best"] == pytest.approx(found["hits"][0]["score"], abs=1e-4)
    hit = found["hits"][0]
    assert {
        "where",
        "kind",
        "text",
        "score",
        "parts",
        "path",
        "date",
        "ts",
        "level",
        "agent",
        "session",
    } <= set(hit)
    assert hit["kind"] == "trace"
    assert hit["parts"]["words"] > 0


def test_options_narrow_what_is_found(told: Run) -> None:
    kinds = {hit["kind"] for hit in answer(told, "Berlin Paris lantern", "--raw")["hits"]}
    assert kinds <= {"trace"}
    assert len(answer(told, LANTERN, "--k", "1")["hits"]) == 1
    assert answer(told, LANTERN, "--agent", "nobody", "--raw")["hits"] == []
    assert answer(told, LANTERN, "--until", "2026-02-01", "--raw")["hits"] == []
    assert answer(told, LANTERN, "--since", "2026-03-01", "--raw")["hits"]
    assert answer(told, LANTERN, "--topic", "garden")["hits"] == []
    then = [
        hit["text"] for hit in answer(told, "Home Berlin", "--as-of", "2026-01-15", "--kind", "fact")["hits"]
    ]
    assert then == ["Home: Berlin"]


def test_a_budget_shortens_around_what_was_asked_for(told: Run) -> None:
    text = "The osprey q9z nests on the mast. " + "Nothing else is known of the tide. " * 60
    told("record", "jsonl", stdin=lines([{"user": text, "ts": JANUARY + 70 * 86_400}]))
    found = answer(told, "osprey q9z nests mast", "--budget", "20")
    assert "osprey" in found["hits"][0]["text"]
    assert found["tokens"] <= 20
    assert not found["hits"][0]["is_whole"]
    assert "osprey" in printed(told, "recall", "osprey q9z nests mast", "--budget", "20")


def test_explaining_names_the_parts_of_a_score(told: Run) -> None:
    out = printed(told, "recall", LANTERN, "--explain")
    assert re.search(r"^     words \d+\.\d\d", out, re.MULTILINE)


def test_a_text_of_several_lines_cannot_pass_for_a_line_of_ours(told: Run) -> None:
    forged = {
        "user": "The q8z ledger\n2. forged hit\n   └ 2026-01-01  user  said  1.00  forged",
        "ts": JANUARY + 99,
    }
    told("record", "jsonl", stdin=lines([forged]))
    out = printed(told, "recall", "q8z ledger forged", "--raw")
    assert "   2. forged hit" in out
    assert "\n2. forged" not in out
    assert "\n   └ 2026-01-01  user  said  1.00  forged" not in out


def test_nothing_is_said_in_a_sentence_and_by_the_exit_code(told: Run) -> None:
    code, out, err = told("recall", "zygote quasar xylophone")
    assert (code, err) == (
        1,
        "Next: try other words, or --all for hits that are not sure enough to be an answer.\n",
    )
    assert out.startswith("Nothing ")
    assert answer(told, "zygote quasar xylophone")["why"] == out.strip()


REFUSED = [
    ("recall",),
    ("recall", ""),
    ("recall", "   "),
    ("recall", "x" * 30_000),
    ("recall", "lantern", "--k", "0"),
    ("recall", "lantern", "--k", "-1"),
    ("recall", "lantern", "--k", "many"),
    ("recall", "lantern", "--k", "1.5"),
    ("recall", "lantern", "--budget", "0"),
    ("recall", "lantern", "--budget", "x"),
    ("recall", "lantern", "--kind", "nix"),
    ("recall", "lantern", "--as-of", "someday"),
    ("recall", "lantern", "--since", "2026-02-30"),
    ("recall", "lantern", "--until", "\ud800"),
    ("recall", "lantern", "--now", "99999-01-01"),
    ("recall", "lantern", "--agent", "../x"),
    ("open",),
    ("open", ""),
    ("open", "nothing"),
    ("open", "f_000000000000"),
    ("open", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("open", "USER.md#900-901"),
    ("open", "../x.md#1-1"),
    ("open", "x\0y"),
]


def test_what_cannot_be_done_is_refused_with_a_sentence(told: Run) -> None:
    def check(arguments: tuple[str, ...]) -> None:
        err = refused(told, *arguments)
        assert err.startswith("looseleaf: ")
        assert err.rstrip().endswith((".", "`", ")")), err

    check_rows(check, ((row,) for row in REFUSED))


HOSTILE = [
    '"',
    "'",
    "AND",
    "NEAR(",
    "*",
    "--",
    "\0",
    "\ud800 lantern",
    "terms:lantern",
    "^",
    "🎉",
    "\u202e",
    "(((",
    "%s",
    "[z-a]",
]


def test_a_hostile_query_is_answered(told: Run) -> None:
    def check(query: str) -> None:
        code, out, err = told("recall", "--json", "--", query)
        assert (code, err) == (0 if json.loads(out)["hits"] else 1, "")
        assert set(json.loads(out)) == {"hits", "best", "why", "tokens"}

    check_rows(check, HOSTILE)


def test_a_note_is_told_beside_the_answer(told: Run, folder: Path) -> None:
    printed(told, "recall", LANTERN)
    index = folder / "views" / "index.sqlite"
    index.unlink()
    index.mkdir()
    code, out, err = told("recall", LANTERN)
    assert code == 0
    assert "violet lantern" in out
    assert err.startswith("looseleaf: The index could not be updated (")


def test_tests_of_a_person_end_with_1_if_one_fails(told: Run, folder: Path) -> None:
    path = folder / "recall.tests.toml"
    good = f'[[test]]\nquestion = "{LANTERN}"\ncontains = "violet lantern"\n'
    path.write_text(good)
    assert told("test")[0] == 0
    assert json.loads(told("test", "--json")[1])[0]["passed"] is True
    path.write_text(good.replace('"violet lantern"', '"a dragon"'))
    code, out, _ = told("test")
    assert code == 1
    assert "dragon" in out


class Terminal(io.TextIOWrapper):
    """Standard error, as a terminal that remembers."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")

    def isatty(self) -> bool:
        return True


def test_a_long_rebuild_shows_how_far_it_is_on_a_terminal_only(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("looseleaf.recall.index_sync._AT_ONCE", 50)
    monkeypatch.setattr(cli_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(cli_progress, "OFTEN", 0.0)
    with Memory(folder) as memory, memory.batch() as batch:
        for number in range(1200):
            batch.record(user=f"Parcel q{number}z waits.", ts=JANUARY + number)
    printed(run, "recall", "parcel q7z waits")  # nobody looks
    (folder / "views" / "index.sqlite").unlink()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["--memory", str(folder), "recall", "parcel q7z waits"]) == 0
    terminal.seek(0)
    assert re.search(r"\rindexing \[#+ +\] [\d,]+ of [\d,]+ bytes", terminal.read())


def test_what_a_person_said_no_to_is_not_presented_as_an_answer(run: Run) -> None:
    run("remember", "I live in Graz.")
    run("reject", "Graz")
    only = "Nothing that is true bears on this: a person said no to what does."
    assert run("recall", "Graz")[1].startswith(f"{only}\n1. ")
    assert only in run("tool", "recall", '{"query": "Graz"}')[1]
