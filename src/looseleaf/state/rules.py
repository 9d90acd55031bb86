"""Rules of the working state (`state.json`): goal, decisions and tasks, how talk and people change them, and its text.

Unknown members are kept as they are. Nothing is lost when the state is full: the `StateChange` names what leaves it, so
that the caller writes that on a page first. Repeating a change has no effect.

The text is read strictly (FORMAT §11.4). Invariant: what is read can be written and read again unchanged; anything else
gives one `Unsound`, with the line and column (from 1) of the fault. Time grows linearly with the text, however it is
nested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.text.lines import escape
from looseleaf.text.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    State = dict[str, Any]
    Item = dict[str, Any]
    _Said = tuple[tuple[str, ...], bool]


VERSION = 1
RECENT = 10
"""Decisions in the state; older ones are facts on pages."""

OPEN = 20
"""Tasks in the state: a longer list is not a plan."""

TITLE = 160
WORD = 40
"""Characters of a title (two lines of a terminal), and of a name or a status."""

CLOSED = frozenset("done closed completed complete finished resolved cancelled canceled dropped".split())
"""Statuses of a task that is no longer open, as people write them."""

_DECISIONS = "decisions_recent"
_TASKS = "tasks_open"

LISTS = {_DECISIONS: "D", _TASKS: "T"}
"""The lists of a state whose rows have ids, and the letter of these."""


@frozen
class StateChange:
    """The new state, and what left it: settled decisions, tasks without room, and tasks that are done."""

    state: State
    settled: tuple[Item, ...] = ()
    parked: tuple[Item, ...] = ()
    done: tuple[Item, ...] = ()


@frozen
class Room:
    """The size limits of a state. `size` counts its tokens as a prompt carries it."""

    size: Callable[[State], int]
    most: int
    least: int


def empty(ts: float) -> State:
    return {
        "schema_version": VERSION,
        "updated_at": moment(ts),
        "goal": "",
        "now": "",
        _DECISIONS: [],
        _TASKS: [],
        "conventions": {},
        "blockers": [],
    }


def moment(ts: float) -> str:
    """Return a time to the second: these times are in every prompt, and microseconds decide nothing."""
    return f"{written(ts)[:19]}Z"


# --- what a prompt carries -----------------------------------------------------------------


def for_prompt(state: State) -> State:
    """Return what helps with the next decision, always in this order, without empty members. Rows have the same
    members, so that they are a table."""
    conventions = state.get("conventions")
    shown: State = {
        "goal": _text_of(state, "goal"),
        "now": _text_of(state, "now"),
        _DECISIONS: _rows_of(state, _DECISIONS, ("id", "title", "ts")),
        _TASKS: _rows_of(state, _TASKS, ("id", "title", "status")),
        "conventions": {
            name: value
            for name, value in (conventions.items() if isinstance(conventions, dict) else ())
            if isinstance(value, (str, int, float)) and value != ""
        },
        "blockers": [text for text in map(blocker_text, _list_of(state, "blockers") or ()) if text],
    }
    return {name: value for name, value in shown.items() if value}


def blocker_text(blocker: Any) -> str:
    return blocker if isinstance(blocker, str) else title_of(blocker)


def compact(state: State) -> str:
    """Return the JSON that a prompt carries."""
    return json.dumps(for_prompt(state), ensure_ascii=False, separators=(",", ":"))


def _text_of(state: State, name: str) -> str:
    value = state.get(name)
    return value if isinstance(value, str) else ""


def _rows_of(state: State, name: str, members: Sequence[str]) -> list[Item]:
    items = (each for each in _list_of(state, name) or () if title_of(each))
    return [{member: _text_of(each, member) for member in members} for each in items]


# --- changes ----------------------------------------------------------------------------


def move(
    state: State,
    ts: float,
    *,
    decided: Iterable[tuple[str, str]] = (),
    tasks: Iterable[tuple[str, str]] = (),
    is_done: Callable[[Item], bool] = lambda task: False,
    is_outdated: Callable[[str], bool] = lambda decision: False,
    room: Room | None = None,
    highest: Callable[[str], int] = lambda name: 0,
    aims: Mapping[str, str] | None = None,
) -> StateChange:
    """Add decisions (with reasons) and tasks (with status), each once; drop what is done or outdated; fit the room.

    `highest`: the highest id number a list ever had. `aims`: the `goal` and the current work (`now`), as far as talk
    says so.
    """
    new = dict(state) | {name: short(text, TITLE) for name, text in (aims or {}).items() if text}
    now = moment(ts)
    finished: list[Item] = []
    holding = [(title, {"why": why, "ts": now}) for title, why in decided if not is_outdated(title)]
    taken = [(title, {"status": status, "updated_at": now}) for title, status in tasks]
    said = {
        _DECISIONS: _add(new, _DECISIONS, "D", holding, highest),
        _TASKS: _add(new, _TASKS, "T", taken, highest),
    }
    for each in items_of(new, _DECISIONS):
        if is_outdated(title_of(each)):
            new = _without(new, _DECISIONS, each)
    for each in items_of(new, _TASKS):
        is_closed = title_of(each) and _text_of(each, "status").strip().casefold() in CLOSED
        if is_closed or (title_of(each) and is_done(each)):
            new = _without(new, _TASKS, each)
            finished.append(each)
    settled, parked = _cut_lists(new, said, room)
    new = state if new == state else new | {"updated_at": now}
    return StateChange(new, settled, parked, tuple(finished))


def is_said_of(sentences: Iterable[str], task: Item) -> bool:
    """True if a sentence speaks of a task: it has the whole title, and at least one of its words as written."""
    from looseleaf.facts.gate import mentions  # loading it costs more than reading a state

    title = title_of(task)
    words = [title] if not title.isascii() else title.casefold().split()
    return any(
        mentions(title, said) and any(word in said.casefold() or not word.isascii() for word in words)
        for said in sentences
        if title
    )


def _add(
    state: State, name: str, letter: str, said: Iterable[tuple[str, Item]], highest: Callable[[str], int]
) -> _Said:
    """Append these to a list of the state, each once. Return the keys of all, in order, and whether any was new."""
    items = _list_of(state, name)
    if items is None:
        return (), False
    given = {short(title).casefold(): (short(title), more) for title, more in said if short(title)}
    known = {title_of(each).casefold() for each in items}
    for key, (title, more) in given.items():
        if key not in known:
            number = max(highest_id(items), highest(name)) + 1
            items.append({"id": f"{letter}-{number}", "title": title} | more)
            state[name] = items
    return tuple(given), not known.issuperset(given)


def _cut_lists(state: State, said: dict[str, _Said], room: Room | None) -> Iterator[tuple[Item, ...]]:
    """Remove and return what is too much: first what was not just said, then the oldest; never the newest. A list
    that nothing was added to is cut only where there is no room."""
    gone: dict[str, list[Item]] = {_DECISIONS: [], _TASKS: []}
    for name, most in ((_DECISIONS, RECENT), (_TASKS, OPEN)):
        items = items_of(state, name)
        keys, is_new = said[name]
        for item in _leaving_order(items, keys)[: max(len(items) - most, 0)] if is_new else ():
            without = _without(state, name, item)
            if room is None or room.size(without) >= room.least:
                state[name] = without[name]
                gone[name].append(item)
    if room is not None and room.size(state) > room.most:
        _shrink(state, said, room, gone)
    return map(tuple, gone.values())


def _shrink(state: State, said: dict[str, _Said], room: Room, gone: dict[str, list[Item]]) -> None:
    """Remove decisions, then tasks, until there is room. If there never is, something else is too large, and they
    stay: moving them would not help."""
    small = dict(state)
    left: list[tuple[str, Item]] = []
    for name in (_DECISIONS, _TASKS):
        while room.size(small) > room.most:
            items = _leaving_order(items_of(small, name), said[name][0])[:-1]
            if not items:
                break
            # Do not go below the least size while there is a choice.
            spare = (each for each in items if room.size(_without(small, name, each)) >= room.least)
            item = next(spare, items[0])
            small = _without(small, name, item)
            left.append((name, item))
    if room.size(small) <= room.most:
        state.update(small)
        for name, item in left:
            gone[name].append(item)


def _leaving_order(items: Sequence[Any], said: Sequence[str]) -> list[Item]:
    """Return the items in the order in which they leave the list. Those just said leave in the order said, so that
    repeating them ends with the same list."""
    titled = [each for each in items if title_of(each)]
    place = {key: at for at, key in enumerate(said)}
    return sorted(titled, key=lambda each: place.get(title_of(each).casefold(), -1))


def _without(state: State, name: str, item: Item) -> State:
    return state | {name: [each for each in items_of(state, name) if each is not item]}


def _list_of(state: State, name: str) -> list[Any] | None:
    """Return a list of the state; None if a person made it something else, which stays."""
    found = state.get(name, [])
    return list(found) if isinstance(found, list) else None


def items_of(state: State, name: str) -> list[Any]:
    return _list_of(state, name) or []


def title_of(each: Any) -> str:
    title = each.get("title", "") if isinstance(each, dict) else ""
    return title if isinstance(title, str) else ""


def short(text: str, most: int = TITLE) -> str:
    """Return one line, cut if too long."""
    text = escape(text)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def highest_id(items: Sequence[Any]) -> int:
    """Return the highest id number in a list."""
    numbers = [str(each.get("id", ""))[2:] for each in items if isinstance(each, dict)]
    short = [each for each in numbers if each.isascii() and each.isdecimal() and len(each) < 9]
    return max(map(int, short), default=0)


# --- a task or blocker by its name ------------------------------------------------------


def find_task(tasks: Sequence[Item], name: str) -> Item:
    """Return the task with this id, title, or beginning of a title."""
    wanted = short(name).casefold()

    def listed(found: Sequence[Item]) -> str:
        return ", ".join(f"{each.get('id') or '?'} ({short(title_of(each), WORD)})" for each in found)

    ways: tuple[Callable[[Item], bool], ...] = (
        lambda task: str(task.get("id", "")).casefold() == wanted,
        lambda task: title_of(task).casefold() == wanted,
        lambda task: title_of(task).casefold().startswith(wanted),
    )
    titled = [each for each in tasks if title_of(each)]
    for way in ways if wanted else ():
        found = [each for each in titled if way(each)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Invalid(
                f"No task was marked done: {name!r} could be any of {listed(found)}. "
                "Give an id that only one of them has."
            )
    known = listed(titled) or "none"
    raise NotFound(f"No task was marked done: no open task is called {short(name)!r}. Open tasks: {known}.")


def find_blocker(blockers: Sequence[Any], name: str) -> int:
    wanted = short(name).casefold()

    def names_of(each: Any) -> tuple[str, str]:
        name = str(each.get("id", "")) if isinstance(each, dict) else ""
        return blocker_text(each).casefold(), name.casefold()

    found = [at for at, each in enumerate(blockers) if wanted in names_of(each)]
    if not found and wanted.isascii() and wanted.isdecimal() and 0 < int(wanted[:9]) <= len(blockers):
        found = [int(wanted[:9]) - 1]
    if len(found) != 1 or not wanted:
        texts = [f"{at} {short(blocker_text(each), WORD)}" for at, each in enumerate(blockers, 1)]
        kind = Invalid if wanted and found else NotFound
        raise kind(
            f"Nothing was unblocked: {short(name)!r} names no single blocker. There are: {'; '.join(texts) or 'none'}."
        )
    return found[0]


# --- values for the state: each cleaned to one line, or Refused -----------------------------------

SENTENCE = 300
"""Characters of a goal, a reason, a convention."""


class StateText:
    """The texts of one change. `clean` removes secrets; `said` gets a sentence for each text that was cut."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._clean = clean
        self.said: list[str] = []

    def line(self, text: object, what: str, most: int = SENTENCE) -> str:
        """Return one line without secrets, cut if too long."""
        line = escape(self._clean(_require_text(text, what)))
        if len(line) > most:
            self.said.append(
                f"The {what} was cut after {most} characters: it had {len(line)}, and {STATE} is in every prompt. "
                "Write the rest on a page."
            )
        return short(line, most)

    def aims(self, goal: object, now: object) -> dict[str, str]:
        """Return the goal and the current work, as far as they are given."""
        given = {"goal": goal, "now": now}
        return {name: self.line(text, name) for name, text in given.items() if text is not None}

    def title(self, title: object, what: str) -> str:
        line = self.line(title, what, TITLE)
        if not line:
            raise Invalid(f"{STATE} was not changed: the {what} is empty. Give a few words.")
        return line

    def word(self, text: object, what: str) -> str:
        return short(self._clean(_require_text(text, what)), WORD)

    def which(self, name: object, what: str) -> str:
        """Return a name as the journal may show it."""
        return short(self._clean(_require_text(name, what)))

    def conventions(self, given: object) -> dict[str, str | int | float | bool | None]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise Invalid(
                f"{STATE} was not changed: conventions are {_kind_of(given)}. Give them by name, as in "
                '{"branch": "main"}.'
            )
        return {self._name(name): self._value(name, value) for name, value in given.items()}

    def _name(self, name: object) -> str:
        line = escape(self._clean(_require_text(name, "name of a convention")))
        if not line or len(line) > WORD:
            raise Invalid(
                f"{STATE} was not changed: {short(line, WORD)!r} is not a name for a convention. Give a word or two."
            )
        return line

    def _value(self, name: str, value: object) -> str | int | float | bool | None:
        if isinstance(value, str):
            return self.line(value, f"convention {short(name, WORD)}")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        raise Invalid(
            f"{STATE} was not changed: the convention {short(name, WORD)!r} is {_kind_of(value)}. Give a text, "
            "a number, or true or false."
        )

    def blockers(self, given: object) -> list[Any] | None:
        if given is None:
            return None
        blockers: list[Any] = []
        for each in require_list(given, "blockers"):
            if isinstance(each, Mapping):
                kept: dict[str, Any] = self._clean(dict(each))
                blockers.append(kept | {"title": self.title(blocker_text(kept), "blocker")})
            else:
                blockers.append(self.line(each, "blocker", TITLE))
        return blockers


def require_list(given: object, what: str) -> Sequence[Any]:
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, bytearray, Mapping)):
        return list(given)
    why = f"{what} are {_kind_of(given)}. Give a list of them."
    raise Invalid(f"{STATE} was not changed: {why}")


def author_of(author: object) -> str | None:
    if author is None or isinstance(author, str):
        return author
    why = f"the author is {_kind_of(author)}. Use person, program or agent:<name>."
    raise Invalid(f"{STATE} was not changed: {why}")


def _require_text(text: object, what: str) -> str:
    if isinstance(text, str):
        return text
    raise Invalid(f"{STATE} was not changed: the {what} is {_kind_of(text)}. Give a text.")


def _kind_of(value: object) -> str:
    if value is None:
        return "nothing"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


# --- the state as text ------------------------------------------------------------------

DEEPEST = 32
"""Levels of a state: people read it."""

_TOKEN = re.compile(r'[ \t\r\n]*+("(?>(?:[^"\\]|\\.)*)"?|[\[\]{},:]|[^\s\[\]{},:"]++)', re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
_SHOWN = 60
_LONGEST_NUMBER = 300
"""Characters of a number: Python refuses to parse thousands of digits."""


class Unsound(ValueError):
    """A state that cannot be used: why and where. `told`: the reason where only the line is shown beside it."""

    def __init__(
        self, why: str, line: int | None = None, column: int | None = None, told: str | None = None
    ) -> None:
        super().__init__(why)
        self.why = why
        self.told = told or why
        self.line = line
        self.column = column

    @property
    def where(self) -> str:
        if self.line is None:
            return ""
        return f"line {self.line}" if self.column is None else f"line {self.line}, column {self.column}"


def format_state(state: State) -> str:
    """Return the text of a state, for people and line-by-line diffs."""
    return f"{json.dumps(state, ensure_ascii=False, indent=2)}\n"


def parse_state(data: bytes) -> State | None:
    """Parse a file; None if it is empty; Unsound, with the place, if it is no state at all."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        before = data[data.rfind(b"\n", 0, error.start) + 1 : error.start]
        raise Unsound("this is not UTF-8 text", line, len(before.decode(errors="replace")) + 1) from None
    text = text.removeprefix("\ufeff")  # some editors add it
    if not text.strip():
        return None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_object,
            parse_constant=_finite_number,
            parse_float=_finite_number,
            parse_int=_bounded_int,
        )
        _check_values(value)
    except json.JSONDecodeError as error:
        whole = f"this is not JSON ({error})"
        raise Unsound(f"this is not JSON ({error.msg})", error.lineno, error.colno, whole) from None
    except (ValueError, RecursionError):  # a fault that the JSON reader allows or cannot locate
        raise _find_fault(text) from None
    if not isinstance(value, dict):
        raise Unsound("this is not a state: it must be an object, as in {…}", *_line_and_column(text, 0))
    version = value.get("schema_version", VERSION)
    if type(version) is int and version > VERSION:
        why = f"this is a state of version {version}, and this program knows version {VERSION}: use a newer looseleaf"
        raise Unsound(why, *place_of(text, ["schema_version"]))
    return value


def format_path(path: Sequence[str | int]) -> str:
    """Return a path as text, as in `tasks_open[0].title`."""
    name = ""
    for each in path:
        if isinstance(each, int):
            name += f"[{each}]"
        else:
            shown = each if _NAME.fullmatch(each) else json.dumps(each[:_SHOWN], ensure_ascii=False)
            name += f".{shown}" if name else shown
    return name


def place_of(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """Return the line and column of a member, or of what should contain it."""
    text = text.removeprefix("\ufeff")
    wanted, best, depth = tuple(path), 0, -1
    for _, at, member in _walk(text):
        if len(member) > depth and wanted[: len(member)] == member:
            best, depth = at, len(member)
    return _line_and_column(text, best)


# --- faults that the JSON reader allows -----------------------------------------------------------


def _unique_object(pairs: list[tuple[str, Any]]) -> State:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("the same name twice")
    return made


def _finite_number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError("no number")
    return number


def _bounded_int(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("too long")
    return int(text)


def _check_values(value: Any) -> None:
    """ValueError if it is nested too deeply or holds text that cannot be written."""
    level = [value]
    for _ in range(DEEPEST + 1):
        below: list[Any] = []
        for each in level:
            if isinstance(each, str):
                each.encode()
            elif isinstance(each, dict):
                below += each
                below += each.values()
            elif isinstance(each, list):
                below += each
        if not below:
            return
        level = below
    raise ValueError("nested too deeply")


def _find_fault(text: str) -> Unsound:
    """Find the fault in a text, and its place."""
    seen: set[tuple[str | int, ...]] = set()
    for token, at, member in _walk(text):
        why = ""
        if token[0] in "{[" and len(member) >= DEEPEST:
            why = f"this is nested more than {DEEPEST} deep"
        elif token[0] == '"' and _is_broken(token):
            why = "this holds half of a character, which cannot be written"
        elif token[0] not in '{["' and not _is_number(token):
            why = f"this is not JSON ({token[:_SHOWN]} is not a number)"
        elif token[0] == '"' and token.endswith(":"):
            why = f"this is not JSON ({format_path(member[-1:])} is there twice)" if member in seen else ""
            seen.add(member)
        if why:
            return Unsound(why, *_line_and_column(text, at))
    return Unsound("this is not JSON", 1, 1)


def _is_number(token: str) -> bool:
    if token in ("true", "false", "null"):
        return True
    try:
        return len(token) <= _LONGEST_NUMBER and isfinite(float(token))
    except ValueError:
        return False


def _is_broken(token: str) -> bool:
    try:
        _unquote(token.rstrip(":")).encode()
    except UnicodeEncodeError:
        return True
    return False


def _walk(text: str) -> Iterator[tuple[str, int, tuple[str | int, ...]]]:
    """Yield each name and value of a JSON text: its token (a name ends with a colon), its place and its path. Stops
    where the text is no longer JSON, or a little below the deepest allowed level."""
    path: list[str | int] = []
    kinds: list[str] = []
    name: str | None = None
    at = 0
    while found := _TOKEN.match(text, at):
        token, start, at = found[1], found.start(1), found.end()
        if token in "]}":
            if not kinds:
                return
            kinds.pop()
            path.pop()
        elif token == ",":
            if kinds and kinds[-1] == "[":
                path[-1] = int(path[-1]) + 1
        elif token == ":":
            pass
        elif kinds and kinds[-1] == "{" and name is None and token[0] == '"':
            name = _unquote(token)
            path[-1] = name
            yield f"{token}:", start, tuple(path)
            continue
        else:
            yield token, start, tuple(path)
            if token in "[{":
                if len(kinds) > DEEPEST:
                    return
                kinds.append(token)
                path.append(0)
        if token != ":":
            name = None


def _unquote(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token.strip('"')


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
