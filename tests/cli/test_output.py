"""Tables and bars: rich on a terminal, plain columns in a pipe; no text in a cell steers either."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from cli.test_main import SCRIPT, STEERING
from looseleaf.base.errors import Refused
from looseleaf.cli import output as cli_progress
from looseleaf.cli.main import main
from looseleaf.cli.output import Progress, ask, bar, cell, columns, filled, progress, table
from looseleaf.memory import Memory

if TYPE_CHECKING:
    from conftest import Run

HEADS = ("time", "id", "lines", "why")
ID = "01KA5V8QZ3M5N7P9R1T3V5X7Z9"
HOSTILE = "[bold]x[/] :smile: \x1b[31mred\x07 back\rover \u202egnp.exe [link=http://x]y[/link] \x9b2J"
WORDS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\t[]\x1b你好e\u0301"), max_size=60
)


class Screen(io.StringIO):
    """A terminal that remembers; as wide as COLUMNS says."""

    def isatty(self) -> bool:
        return True


def printed(
    rows: Sequence[tuple[str, ...]], *, width: int | None = None, colour: bool = False, **more: object
) -> str:
    """What a table prints, on a terminal of that width or in a pipe."""
    out = io.StringIO() if width is None else Screen()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", str(width or 80))
        patch.delenv("NO_COLOR", raising=False) if colour else patch.setenv("NO_COLOR", "1")
        table(HEADS, rows, right=("lines",), **more)  # type: ignore[arg-type]
    return out.getvalue()


# --- in a pipe ---------------------------------------------------------------------------


def test_a_pipe_gets_aligned_columns_and_loads_no_rich() -> None:
    rows = [("08:33", ID, "+2 -1", "her whole name"), ("09:00", "x", "+10 -0", "你好")]
    assert printed(rows) == (
        f"time   id                           lines  why\n"
        f"08:33  {ID}   +2 -1  her whole name\n"
        f"09:00  x                           +10 -0  你好\n"
    )
    assert printed(rows, lines=["as it", "was"]) == "as it\nwas\n"


def test_wide_letters_keep_the_columns_of_a_pipe() -> None:
    first, second = printed([("你好", "a", "1", "x"), ("e\u0301", "b", "2", "y")]).splitlines()[1:]
    assert columns(first.partition("a")[0]) == columns(second.partition("b")[0])


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=3))
@example([(HOSTILE, HOSTILE, HOSTILE, HOSTILE)])
def test_no_cell_breaks_a_line_of_a_pipe_or_steers_it(rows: list[tuple[str, ...]]) -> None:
    out = printed(rows)
    assert len(out.split("\n")) == len(rows) + 2
    assert not STEERING.search(out.replace("\n", ""))


# --- on a terminal ------------------------------------------------------------------------


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=3),
    st.sampled_from([30, 60, 80, 200]),
)
@example([(HOSTILE, ID, HOSTILE, HOSTILE)], 80)
@example([("08:33", ID, "+1 -0", "你好世界" * 30)], 40)
def test_no_cell_steers_a_terminal_or_leaves_its_width(rows: list[tuple[str, ...]], width: int) -> None:
    out = printed(rows, width=width)
    assert not STEERING.search(out.replace("\n", ""))
    assert max(cell_len(line) for line in out.split("\n")) <= width


@pytest.mark.parametrize("width", [200, 100, 80, 40])
def test_everything_is_there_at_every_width_and_an_id_on_one_line(width: int) -> None:
    why = "because [bold]this[/] was :smile: what the user said, in so many words that they do not fit " * 2
    out = printed([("2026-11-16 08:33:00", ID, "+2 -1", why)], width=width)
    assert ID in out
    assert "".join(why.split()) in "".join(out.split())
    assert ("time" in out) == (width >= 80)  # where it is narrow, words stand under the rest


def test_colours_are_ours_and_go_away_when_they_are_not_wanted() -> None:
    rows = [("ok", "a", "1", "ok \x1b[32m"), ("broken", "b", "2", "x")]
    out = printed(rows, width=80, colour=True)
    assert set(re.findall(r"\x1b\[[0-9;]*m", out)) == {"\x1b[1m", "\x1b[0m", "\x1b[32m", "\x1b[31m"}
    assert "ok \\x1b[32m" in out
    assert "\x1b" not in printed(rows, width=80)


@pytest.mark.parametrize("columns", ["100", "44"])
def test_verbs_print_tables_on_a_real_terminal(folder: Path, columns: str) -> None:
    with Memory(folder) as memory:
        memory.record(user=f"My name is Ann {HOSTILE}.")
        memory.distill()
        memory.pages.edit("facts/tea.md", "- Likes: [bold]tea[/]\n", reason=HOSTILE, author="person")
        receipt = next(memory.history.edits("facts/tea.md"))
    seen = {}
    for verb in ("log", "facts"):
        child = pexpect.spawn(
            str(SCRIPT),
            ["--memory", str(folder), verb],
            env=os.environ | {"TERM": "xterm-256color", "COLUMNS": columns, "LINES": "50"},
            dimensions=(50, int(columns)),
            encoding="utf-8",
            timeout=60,
            use_poll=True,
        )
        seen[verb] = str(child.read())
        child.close()
    for verb, sent in seen.items():
        without = re.sub(r"\x1b\[(?:[0-9]{1,2})?m", "", sent).replace("\r\n", "\n")
        without = re.sub(r"\r[^\r\n]* \d+ s(?=\r)|\r +\r", "", without)
        assert not STEERING.search(without.replace("\n", "")), verb
        table_lines = [line for line in without.splitlines() if not line.startswith("Next: ")]
        assert max(map(cell_len, table_lines)) <= int(columns), verb
    assert receipt.id in seen["log"]
    assert "[bold]tea[/]" in "".join(seen["facts"].split())


class Tty(io.TextIOWrapper):
    """Standard output, as a terminal that remembers."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        self.seek(0)
        return self.read()


@pytest.mark.parametrize("width", [140, 50])
def test_every_list_is_a_table_that_nothing_in_it_steers(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    said = HOSTILE.replace("\r", "").replace("\x07", "")
    with Memory(folder) as memory:
        memory.record(user=f"My name is Ann. I like {said}.")
        memory.record(assistant="I see.")
        memory.distill()
        memory.distill(f"I live in Rome. I like {said}.")[0]
        memory.pages.edit("facts/tea.md", f"- Likes: {said}\n", reason=said)
        memory.prompt("Write it.")
        memory.prompt("Write it again.", budget=700)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    heads = {
        "log": "time",
        "sessions": "session",
        "turns": "turn ",
        "facts": "topic",
        "topics": "facts",
        "receipts": "time",
        "review": "id",
        "recall name is Ann --explain --all": "where",
        "prompt --explain --dry-run": "slot",
        "prompt task --explain --budget 300 --dry-run": "left out",
        "analyze": "share",
    }
    for command, head in heads.items():
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.StringIO())
            patch.setattr(sys, "stdout", out := Tty())
            assert main(["--memory", str(folder), *command.split()]) == 0
            shown = out.shown()
        assert not STEERING.search(shown.replace("\n", "")), command
        assert (head in shown) or width == 50, command
        if "prompt" not in command and command not in ("analyze", "review"):
            assert max(map(cell_len, shown.splitlines())) <= width, command


# --- columns ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a  b\nc", "a b c"),
        ("你好吗", "你…"),
        ("abcdefgh", "abcd…"),
        ("x" + " " * 60, "x…"),  # there is more than is looked at
    ],
)
def test_a_cell_that_is_cut_says_so(text: str, made: str) -> None:
    assert cell(text, 5 if text.isascii() else 4) == made


@given(WORDS, st.integers(2, 40))
def test_a_cell_is_one_line_and_no_wider_than_asked_for(text: str, width: int) -> None:
    made = cell(text, width)
    assert "\n" not in made
    assert columns(made) <= width
    assert columns(filled(made, width)) == width


def test_a_bar_is_as_long_as_its_share_and_never_nothing_for_something() -> None:
    assert [len(bar(part, 100)) for part in (0, 1, 50, 100)] == [0, 1, 12, 24]
    assert bar(5, 0) == ""


# --- progress -----------------------------------------------------------------------------


def watched(patch: pytest.MonkeyPatch, patience: float = 0.0) -> Screen:
    """Standard error, as a terminal on which a bar is drawn after so many seconds."""
    screen = Screen()
    patch.setattr(sys, "stderr", screen)
    patch.setattr(cli_progress, "OFTEN", 0.0)
    patch.setattr(cli_progress, "PATIENCE", patience)
    return screen


def wiped(sent: str) -> str:
    """What a terminal shows in the end of a line that was written over and over."""
    line: list[str] = []
    at = 0
    for each in sent:
        if each == "\r":
            at = 0
        else:
            line[at : at + 1] = [each]
            at += 1
    return "".join(line).rstrip()


def test_a_bar_is_drawn_after_a_while_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = watched(monkeypatch)
    with progress("importing", unit="conversations") as step:
        for done in (1, 2):
            step(done, 2)
    sent = screen.getvalue()
    assert f"\rimporting [{'#' * 20}{' ' * 20}] 1 of 2 conversations" in sent
    assert f"\rimporting [{'#' * 40}] 2 of 2 conversations" in sent
    assert wiped(sent) == ""


def test_what_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch, 1e6)
    with progress("importing") as step:
        step(1, 2)
    assert screen.getvalue() == ""


def test_what_never_says_how_far_it_is_is_shown_to_be_going_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = watched(monkeypatch)
    drawn = threading.Event()
    draw = Progress._draw

    def and_tell(self: Progress) -> None:
        draw(self)
        drawn.set()

    monkeypatch.setattr(Progress, "_draw", and_tell)
    with progress("compacting"):
        assert drawn.wait(30)
    assert "\rcompacting … 0 s" in screen.getvalue()
    assert wiped(screen.getvalue()) == ""


@pytest.mark.parametrize(
    ("width", "done", "total", "line"),
    [
        (80, 5, 0, "indexing … 5 bytes, 0 s"),
        (80, 9, 4, f"indexing [{'#' * 40}] 4 of 4 bytes"),
        (40, 1, 2, f"indexing [{'#' * 6}{' ' * 7}] 1 of 2 bytes"),
        (20, 1, 2, "indexing 1 of 2 byt"),
    ],
)
def test_a_bar_fits_its_terminal(width: int, done: int, total: int, line: str) -> None:
    step = Progress("indexing", "bytes")
    step(done, total)
    made = step._line(width)
    assert made == line or (width == 40 and len(made) < width and "1 of 2 bytes" in made)


def test_a_pipe_is_told_nothing_and_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", out := io.StringIO())
    before = threading.active_count()
    with progress("building") as step:
        step(1, 2)
        assert threading.active_count() == before
    assert out.getvalue() == ""


def test_a_terminal_that_is_gone_ends_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Screen):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(cli_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Gone())
    with progress("building") as step:
        step(1, 2)


# --- asking -------------------------------------------------------------------------------


class Typed(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["y\n", "YES\n", " yes \n"])
def test_a_yes_goes_on(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Typed(answer))
    ask("Write \x1b[2J?", no_terminal="Nobody.", no="No.")
    assert capsys.readouterr().err == "Write \\x1b[2J? [y/N] "


@pytest.mark.parametrize(
    ("stdin", "sentence"),
    [
        (lambda: Typed("\n"), "No."),
        (lambda: Typed(""), "No."),
        (lambda: Typed("yep\n"), "No."),
        (lambda: io.StringIO("y\n"), "Nobody."),
        (lambda: None, "Nobody."),
    ],
)
def test_anything_but_a_yes_at_a_terminal_is_a_no(
    stdin: Callable[[], io.StringIO | None], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin())
    with pytest.raises(Refused, match=f"^{sentence}$"):
        ask("Write it?", no_terminal="Nobody.", no="No.")
