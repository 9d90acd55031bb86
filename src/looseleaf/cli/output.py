"""Shared by all verbs: opening a memory, reading input, naming a fact, and printing text, tables and facts.

Invariant: no text of a memory can steer a terminal. The level and the page of a fact come last on its line, after its
words, so that no text of a fact can claim another level or place.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time

from looseleaf.base.errors import Invalid, NotFound, Refused, is_there, to_get
from looseleaf.base.paths import REVIEW, is_address
from looseleaf.store.context import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Edit, Fact
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.facts.placement import Outcome
    from looseleaf.memory import Memory


# --- progress ---------------------------------------------------------------------------

PATIENCE = 1.0
"""Seconds before progress is shown."""

OFTEN = 0.1
"""Seconds between two drawings: as often as an eye can follow."""

_LONGEST, _SHORTEST = 40, 10
"""Columns of the bar. Without room for the shortest, none is drawn."""


class Progress:
    """A progress line: `with progress("importing", unit="conversations") as step:` and in it `step(done, total)`; an
    unknown total is 0. Without calls it shows the seconds so far."""

    def __init__(self, what: str, unit: str = "") -> None:
        self._what, self._unit = what, unit
        self._since = time.monotonic()
        self._drawn = 0.0
        self._done = self._total = 0
        self._shown = 0
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._clock: Any = None

    def __enter__(self) -> Progress:
        if self._is_terminal:
            import threading

            self._ended, self._drawing = threading.Event(), threading.Lock()
            self._clock = threading.Thread(target=self._watch, daemon=True)
            self._clock.start()
        return self

    def __call__(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        now = time.monotonic()
        if self._clock is not None and now - self._since >= PATIENCE and now - self._drawn >= OFTEN:
            self._draw()

    def __exit__(self, *_: object) -> None:
        if self._clock is None:
            return
        self._ended.set()
        self._clock.join()
        self._clock = None
        self._write("")

    def _watch(self) -> None:
        """Draw in a thread of its own: the work may call nothing for a long time."""
        wait = PATIENCE
        while not self._ended.wait(wait):
            self._draw()
            wait = OFTEN

    def _draw(self) -> None:
        with self._drawing:
            self._drawn = time.monotonic()
            self._write(self._line(_stderr_columns()))

    def _write(self, line: str) -> None:
        """Overwrite the line with spaces: every terminal can do that."""
        wiped = f"\r{' ' * self._shown}\r" if len(line) < self._shown else "\r" if line else ""
        self._shown = len(line)
        try:
            sys.stderr.write(f"{wiped}{line}")
            sys.stderr.flush()
        except (OSError, ValueError):  # the terminal is gone; the work goes on
            self._ended.set()

    def _line(self, width: int) -> str:
        done, total = self._done, self._total
        unit = f" {self._unit}" if self._unit else ""
        if total <= 0:
            count = f"{done:,}{unit}, " if done else ""
            return f"{self._what} … {count}{time.monotonic() - self._since:.0f} s"[: width - 1]
        count = f"{min(done, total):,} of {total:,}{unit}"
        room = min(_LONGEST, width - len(self._what) - len(count) - 5)
        if room < _SHORTEST:
            return f"{self._what} {count}"[: width - 1]
        filled = room * min(done, total) // total
        return f"{self._what} [{'#' * filled}{' ' * (room - filled)}] {count}"


progress = Progress


def _stderr_columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


# --- a memory, and what the user gives --------------------------------------------------

PROBLEMS = 1
REFUSED = 2
INTERRUPTED = 130

_LISTED = 20
"""Pages that a refusal names."""

_CLIPPED = 160
"""Characters of a text in a list: two lines of a terminal."""

# Characters that move a terminal's cursor, color it, or turn its text around. Spaces of other scripts and the joiners
# inside an emoji are text.
_STEERING = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_END = "\r(?=\n)"


def find_memory(options: CliOptions) -> str | None:
    """Return the folder of the memory that is named, or nearest; None without one: then a hook has nothing to do."""
    from looseleaf.pages.folder import find, is_memory, refuse_lost_log

    path = options.memory if options.memory is not None else find()
    if is_address(path):
        raise Refused(f"Nothing was done: {in_database_sentence(str(path))}")
    if path and is_memory(path):
        return path
    refuse_lost_log(path)
    if options.memory is None and not os.environ.get("LOOSELEAF_HOME"):
        return None
    raise NotFound(
        f"The hook did nothing: there is no memory at {path!r}. Make it with `looseleaf init`, or name another in the "
        "settings that run this hook."
    )


def in_database_sentence(where: str) -> str:
    """Return why hooks and settings of coding agents are not written for an address, and what to do."""
    from looseleaf.store.postgres.address import parse_address

    database = shell_word(parse_address(where).database.shown)
    return (
        f"{shown_name(where)} is in a database, and coding agents reach it through a server. Start one (looseleaf "
        f"serve --postgres {database}), set LOOSELEAF_SERVER to its address with /m/NAME and LOOSELEAF_TOKEN to a "
        "token, and repeat this without the address of the database; docs/HOOKS.md has the steps."
    )


def open_memory(options: CliOptions, session: str | None = None) -> Memory:
    """Open a memory that exists; only `init` makes one."""
    from looseleaf.memory import Memory

    return Memory(existing_path(options), agent=options.agent or "main", session=session)


def existing_path(options: CliOptions) -> str:
    """Return the path of the memory that was named, or else of the nearest one; refuse if there is none."""
    from looseleaf.pages.folder import is_memory, refuse_lost_log

    path = memory_path(options)
    if is_memory(path):
        return path
    refuse_lost_log(path)
    is_named = options.memory is not None or os.environ.get("LOOSELEAF_HOME")
    if not is_named and not os.path.lexists(path):
        raise NotFound(
            "Nothing was done: there is no memory here, above, or at ~/.looseleaf. `looseleaf init` makes one "
            "here; or name one with --memory PATH."
        )
    if is_address(path):
        from looseleaf.pages.in_database import read_address

        address = read_address(path)
        raise NotFound(
            f"Nothing was done: there is no memory of the name {address.namespace} in {address.database.shown}. Name "
            f"another with namespace=NAME in the address, or make this one with: looseleaf init "
            f"{shell_word(address.shown)}"
        )
    raise NotFound(
        f"Nothing was done: there is no memory at {path}. Name another with --memory PATH, or make one there "
        f"(existing pages stay) with: looseleaf init {path}"
    )


def remark_passwords(given: Sequence[str]) -> None:
    """Say so if a command has a password in it."""
    from looseleaf.store.postgres.address import without_password

    if any(is_address(word) and without_password(word) != word for word in given):
        note = "others on this machine can read a password in a command; keep it in ~/.pgpass or PGPASSWORD."
        print(f"looseleaf: {note}", file=sys.stderr)


def require_postgres() -> None:
    """Refuse what needs the packages for a database, where they are missing."""
    if not is_there("postgres"):
        raise Refused(
            f"Nothing was done: a database needs packages that are missing. Install them with {to_get('postgres')}."
        )


def memory_path(options: CliOptions) -> str:
    """Return the path of the memory that was named, or else of the nearest one; it may not exist."""
    from looseleaf.pages.folder import find

    return first_path(options.memory) or find()


def first_path(*paths: str | None) -> str:
    """Return the first given path. An empty one is a mistake: `--memory "$UNSET"`. A `~` that no shell has read, as in
    the settings of a client, is the home folder."""
    path = next((path for path in paths if path is not None), None)
    if path == "":
        raise Invalid("The memory path is empty. Give a folder, or leave it out.")
    return os.path.expanduser(path or "")


def at_least_one(limit: int, default: int) -> None:
    if limit < 1:
        raise Invalid(
            f"Nothing was shown: --limit must be at least 1. Without it, the last {default} are shown."
        )


STDIN = "-"


def read_input(path: str | None, done: str = "recorded") -> bytes:
    """Read a file, or standard input. `done`: what the verb does, for a refusal."""
    name = "standard input" if path in (None, STDIN) else str(path)
    try:
        if path not in (None, STDIN):
            with open(name, "rb") as file:
                return file.read()
        if sys.stdin is not None:
            return sys.stdin.buffer.read()
        why = "it is closed"
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        why = getattr(error, "strerror", None) or str(error)
    raise Refused(f"Nothing was {done}: {name} could not be read ({why}). Give the text another way.")


def read_line(done: str = "recorded") -> str:
    """Read text from standard input, without the line end that `echo` and the like add."""
    text = decode(read_input(STDIN, done), "standard input", done)
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def decode(data: bytes, what: str, done: str = "recorded") -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Invalid(
            f"Nothing was {done}: {what} is not UTF-8 text (at byte {error.start + 1}). Convert it first."
        ) from error


def page_name(memory: Memory, given: str, path: str) -> str:
    """Return a page's path as a person names it here: with its layer."""
    layer, _ = memory.parts.split_place(given)
    return f"{layer.name}:{path}" if layer is not None else path


def no_page(memory: Memory, path: str, then: str | None = None) -> NotFound:
    """Say that there is no such page; `home:USER.md` is one of the memory under this one."""
    parts, place = memory.parts.at_place(path)
    layer = path.removesuffix(place)
    edits = list(parts.pages.log(place))
    if edits:
        first, last = when(edits[-1].ts), when(edits[0].ts)
        what = f"{path} did not exist as of {then}" if then else f"{path} no longer exists"
        return NotFound(
            f"Nothing was shown: {what}; its edits are from {first} to {last}. `looseleaf log {path}` shows them."
        )
    pages = [f"{layer}{each}" for each in parts.pages.paths()]
    more = f" and {len(pages) - _LISTED} more" if len(pages) > _LISTED else ""
    known = ", ".join(pages[:_LISTED])
    next_step = f"There are: {known}{more}." if pages else "There is none yet: write one with any editor."
    return NotFound(f"Nothing was shown: there is no page {path}. {next_step}")


# --- printing, and asking ---------------------------------------------------------------


def when(ts: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ts))
    except (OverflowError, ValueError, OSError):
        return f"{ts:g}"  # out of range; the rest of the log is shown all the same


def edit_line(edit: Edit) -> str:
    about = f"{plain(edit.path)}  {plain(edit.author)}: {plain(edit.reason)}"
    return f"{when(edit.ts):>19}  {plain(edit.id)}  {edit_size(edit):>8}  {about}"


def edit_size(edit: Edit) -> str:
    return f"+{edit.added} -{edit.removed}" if edit.new is not None else "deleted"


def edit_dict(edit: Edit) -> dict[str, Any]:
    names = ("id", "ts", "path", "author", "reason", "base", "new", "added", "removed", "undoes")
    return {name: getattr(edit, name) for name in names}


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def print_answer(options: CliOptions, data: Any, text: str) -> None:
    """Print the data if JSON was asked for, else the text."""
    if options.json:
        print_json(data)
    else:
        say(text)


def print_bytes(data: bytes) -> None:
    """Print bytes as they are to a pipe or file; to a terminal as text that cannot steer it."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(re.sub(_LINE_END, "", data.decode("utf-8", "backslashreplace")), keep="\n\t"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def say(text: str) -> None:
    """Print text that may hold the words of others, on the lines that it has."""
    print(harmless(text))


def harmless(text: str) -> str:
    """Return text on the lines that it has, unable to steer a terminal."""
    return plain(re.sub(_LINE_END, "", text) if "\r" in text else text, keep="\n\t")


def hung(text: str, indent: int) -> str:
    """Indent further lines, so that none can pass for a line of the program."""
    return f"\n{' ' * indent}".join(text.split("\n"))


def clipped(text: str) -> str:
    """Return text on one line, cut if it is long."""
    line = " ".join(text[: 8 * _CLIPPED].split())
    if len(line) <= _CLIPPED and len(text) <= 8 * _CLIPPED:
        return line
    return f"{line[:_CLIPPED].rstrip()} … ({len(text):,} characters)"


def print_notes(memory: Memory) -> None:
    for note in memory.notes:
        print(f"looseleaf: {plain(note)}", file=sys.stderr)


def next_step(options: CliOptions, text: str) -> None:
    """Print the next step for a person on standard error; none for JSON. Its commands name the memory that was given:
    copied, they use the same one."""
    if not options.json:
        sys.stdout.flush()
        print(f"Next: {plain(_with_memory(options.memory, text))}", file=sys.stderr)


_COMMAND = "`looseleaf(?! --memory| database | [a-z]+ --postgres\\b)(?=[ `])"
"""A command that works on the memory, and does not name it yet."""


def _with_memory(given: str | None, text: str) -> str:
    if not given:
        return text
    option = f"`looseleaf --memory {shell_word(shown_name(given))}"
    return re.sub(_COMMAND, lambda _: option, text)


def shell_word(text: str) -> str:
    """Return a text as one word of a shell command."""
    if re.fullmatch(r"[\w@%+=:,./#-]+", text, re.ASCII) and not text.startswith("#"):
        return text
    from shlex import quote

    return quote(text)


def plain(text: str, keep: str = "") -> str:
    """Return text for a terminal, with characters that could steer it written out."""
    if text.isascii() and "".join(text.split("\n") if "\n" in keep else (text,)).isprintable():
        return text  # most text; no pattern is compiled for it
    return re.sub(_STEERING, lambda match: match[0] if match[0] in keep else _escape_of(match[0]), text)


def _escape_of(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def ask(question: str, *, no_terminal: str, no: str) -> None:
    """Return if the answer is yes; else refuse. `no_terminal`: the sentence where there is none to ask at; `no`: for
    any other answer."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise Refused(no_terminal)
    sys.stderr.write(f"{plain(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused(no)


def ask_which(most: int) -> int | None:
    """Ask for a number from 1 to `most`; None where there is no terminal to ask at, or for any other answer."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    sys.stderr.write(f"Which one? [1-{most}] ")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip()
    is_number = answer.isascii() and answer.isdecimal() and len(answer) < 10
    return int(answer) if is_number and 1 <= int(answer) <= most else None


# --- columns ----------------------------------------------------------------------------

WIDTH = 100
"""Columns where the width of the terminal is unknown."""
_NARROW, _WIDE = 60, 160


def columns(text: str) -> int:
    """Return the columns that a text takes: East Asian letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(each) else 1 + (east_asian_width(each) in "WF") for each in text)


def cell(text: str, width: int) -> str:
    """Return a text on one line in at most `width` columns, unable to steer the terminal."""
    line = plain(" ".join(text[: 8 * width].split()))
    if columns(line) <= width and len(text) <= 8 * width:
        return line
    left = width - 1
    for at, each in enumerate(line):
        left -= columns(each)
        if left < 0:
            return f"{line[:at]}…"
    return f"{line}…"


def filled(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def terminal_width() -> int:
    """Return the width for a table, within the limits that a person can read."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((WIDTH, 24)).columns, _NARROW), _WIDE)


def bar(part: int, whole: int, width: int = 24) -> str:
    """Return a bar as long as a share; a share above zero is never invisible."""
    return "━" * max(int(part > 0), round(width * part / whole)) if whole else ""


# --- tables: rich on a terminal, aligned plain text in a pipe ---------------------------

_ID = 26
"""Columns up to which a cell stays on one line: the length of an id."""

_LEAST = 24
"""Columns that words need; with fewer, they go under the rest of their row."""

_GAP = 2

_STYLES = {"share": "cyan"}
"""By head, the color of a column."""

MARKS = {"ok": "green", "look": "yellow", "broken": "red"}
"""By first word, the color of a row's first cell."""


def on_terminal() -> bool:
    return sys.stdout.isatty()


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    lines: Iterable[str] | None = None,
) -> None:
    """Print rows under their heads. `right`: heads of right-aligned columns. `lines`: the output in a pipe instead of
    columns, where other programs already read that form."""
    if on_terminal():
        _print_rich(heads, rows, right)
    elif lines is not None:
        say("\n".join(lines))
    else:
        say("\n".join(_align_rows([heads, *rows], [head in right for head in heads])))


def _align_rows(rows: Sequence[Sequence[str]], is_right: Sequence[bool]) -> Iterable[str]:
    cleaned = [[plain(" ".join(cell.split("\n"))) for cell in row] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*cleaned, strict=True)]
    for row in cleaned:
        placed = (
            " " * (width - columns(cell)) + cell if right else filled(cell, width)
            for cell, width, right in zip(row, widths, is_right, strict=True)
        )
        yield (" " * _GAP).join(placed).rstrip()


def _print_rich(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str]) -> None:
    from rich.console import Console

    # NO_COLOR turns off colors; bold and dim go with them.
    without: Any = {"color_system": None} if os.environ.get("NO_COLOR") else {}
    out = Console(markup=False, emoji=False, highlight=False, **without)
    cleaned = [[plain(cell, keep="\n") for cell in row] for row in rows]
    widths = [
        max(columns(line) for cell in column for line in cell.split("\n"))
        for column in zip(heads, *cleaned, strict=True)
    ]
    fixed = [width if width <= _ID and at < len(widths) - 1 else 0 for at, width in enumerate(widths)]
    free = [min(width, _LEAST) for width, own in zip(widths, fixed, strict=True) if not own]
    if sum(fixed) + sum(free) + _GAP * (len(widths) - 1) > out.width:
        _print_stacked(out, cleaned)
    else:
        _print_table(out, heads, cleaned, [head in right for head in heads], fixed)


def _print_table(
    out: Any,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_right: Sequence[bool],
    fixed: Sequence[int],
) -> None:
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False)
    for head, right, width in zip(heads, is_right, fixed, strict=True):
        made.add_column(
            Text(head),
            justify="right" if right else "left",
            no_wrap=bool(width),
            min_width=width or None,
            overflow="fold",
            style=_STYLES.get(head),
        )
    for row in rows:
        made.add_row(*(Text(cell, MARKS.get(cell, "") if at == 0 else "") for at, cell in enumerate(row)))
    out.print(made)


def _print_stacked(out: Any, rows: Sequence[Sequence[str]]) -> None:
    """Print for a narrow terminal: the cells of a row on one line, and its words under them."""
    from rich.padding import Padding
    from rich.text import Text

    for *first, last in rows:
        head = (" " * _GAP).join(" ".join(cell.split("\n")) for cell in first if cell)
        if head:
            out.print(Text(head, "dim"), overflow="fold")
        if last:
            out.print(Padding(Text(last, overflow="fold"), (0, 0, 0, _GAP if head else 0)))


# --- facts as lines ---------------------------------------------------------------------

SHORT_ID = 10
"""Characters of an id in a list: among ten thousand facts, one in a million shares them with another."""

ACTS = {
    "add": "added",
    "supersede": "replaced",
    "end": "ended",
    "restate": "known already",
    "older": "kept as past",
    "review": "waits in review",
    "drop": "dropped",
}
"""By outcome of a proposal, the word that people read."""

_MARKS = ("pinned", "unverified", "doubtful")


def line_of(fact: Fact, *more: str) -> str:
    """Return a fact on one line; `more`: further marks."""
    name = (fact.id or "")[:SHORT_ID]
    at = place_of(fact)
    return f"{name}  {words_of(fact)}  ({', '.join((*marks_of(fact), *more))}){f'  {at}' if at else ''}"


def dates_of(fact: Fact) -> Iterator[str]:
    """Yield since when a fact holds, and when it was last repeated. A past fact has its times as a mark."""
    if fact.status == "superseded" or fact.valid_to is not None:
        return
    noted = fact.entry_ts or fact.recorded_at
    if since := _local_time(fact.valid_from) if fact.valid_from else when(noted) if noted else "":
        yield f"since {since[:10]}"
    if fact.person:
        yield f"said by {clipped(fact.person)}"
    if fact.said_at:
        yield f"again {when(fact.said_at)[:10]}"


def words_of(fact: Fact) -> str:
    return clipped(f"{fact.relation}: {fact.object}")


def marks_of(fact: Fact) -> Iterator[str]:
    if fact.status != "current":
        yield fact.status
    yield fact.level or "unknown"
    if fact.user_fact_score is not None:
        yield f"score {fact.user_fact_score:g}"
    yield from (mark for mark in _MARKS if mark in fact.tags)
    if fact.status == "superseded" or fact.valid_to is not None:
        yield span_of(fact)


def place_of(fact: Fact) -> str:
    layer = f"{fact.layer}:" if fact.layer else ""
    if fact.status == "pending":
        return f"{layer}{REVIEW}"
    return f"{layer}{fact.path}:{fact.line}" if fact.path and fact.line else layer


def span_of(fact: Fact) -> str:
    since = when(fact.recorded_at) if fact.recorded_at else ""
    since = _local_time(fact.valid_from) if fact.valid_from else since
    parts = [f"since {since}"] if since else []
    parts += [f"until {_local_time(fact.valid_to)}"] if fact.valid_to else []
    return " ".join(parts) or "at an unknown time"


def _local_time(text: str) -> str:
    """Return a start or end in local time; a date stays a date."""
    from looseleaf.text.times import moment

    ts = moment(text) if "T" in text else None
    return when(ts) if ts is not None else text


def outcome_line(outcome: Outcome) -> str:
    fact = outcome.fact
    # A known or ended fact keeps the id that it has.
    name = (fact.id or "")[:SHORT_ID] if outcome.act in ("add", "supersede", "review") else ""
    what = ACTS.get(outcome.act, outcome.act)
    return f"{what:<15}  {name:<{SHORT_ID}}  {words_of(fact)}  ({fact.level}): {clipped(outcome.why)}"


# --- naming a fact ---------------------------------------------------------------------

_CHOICES = 20
"""Facts to choose from; if more fit, the words say too little."""


def choose_fact(
    memory: Memory, options: CliOptions, words: str, *, done: str = "done", first: Sequence[str] = ()
) -> Fact:
    """Return the fact that words name. Where several fit, ask which one; without a terminal, refuse.

    `done`: what the verb does, for a refusal. `first`: the statuses to look at, in their order.
    """
    from looseleaf.facts.identity import is_exact

    layer, place = memory.parts.split_place(words)
    if layer is not None and is_exact(place):
        return memory.fact(words)
    found = named_facts(memory, words, first)
    if not found and is_exact(words):
        return memory.fact(words)
    if not found:
        raise NotFound(
            f"Nothing was {done}: no fact fits {clipped(words)!r}. `looseleaf facts` lists them; name one by its id, "
            "`page.md:line`, its relation, or words of it."
        )
    return found[0] if len(found) == 1 else _choose(found, options, words, done)


def name_of(fact: Fact) -> str:
    """Return the name of a fact for commands, with its layer: `home:f_1a2b3c4d5e6f`."""
    return f"{fact.layer}:{fact.id}" if fact.layer else fact.id or ""


def named_facts(memory: Memory, words: str, first: Sequence[str] = ()) -> list[Fact]:
    """Return all facts of a memory that words name."""
    from looseleaf.facts.identity import STATUSES, matching

    every = (fact for status in STATUSES for fact in memory.facts(status=status))
    return matching(every, words, first or STATUSES)


def _choose(found: Sequence[Fact], options: CliOptions, words: str, done: str) -> Fact:
    lines = [line_of(fact) for fact in found[:_CHOICES]]
    if len(found) > _CHOICES:
        lines.append(f"… and {len(found) - _CHOICES:,} more")
    if not options.json:
        for number, line in enumerate(lines, 1):
            print(f"{f'{number}. ' if number <= _CHOICES else ''}{plain(line)}", file=sys.stderr)
        chosen = ask_which(min(len(found), _CHOICES))
        if chosen is not None:
            return found[chosen - 1]
    listed = f": {'; '.join(lines)}" if options.json else ""
    raise Invalid(
        f"Nothing was {done}: {len(found):,} facts fit {clipped(words)!r}{listed}. Give the id of one, or more of its "
        "words."
    )
