"""Apply an edit to the page as it would have been: line by line, and the state value by value.

Lines that an edit removed go where they are; lines that it added follow the line they followed. A page's date and
summary, which the program keeps, count as one line each, whatever they say.
"""

from __future__ import annotations

import re
from collections import Counter

from looseleaf.language.relations import relation_of, slot
from looseleaf.pages.grammar import drawer, parse, remove_line
from looseleaf.place import placer as review_page
from looseleaf.state.rules import Unsound, empty, format_state, highest_id, parse_state, title_of
from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.base.values import Fact, Record

    State = dict[str, Any]

_KEPT = ("updated", "summary")
_OWN_ID = re.compile(r"[DT]-[0-9]+\Z")
_TELLS_OF = re.compile(r"; entry ([0-9A-HJKMNP-TV-Z]{26})\)?\s*\Z")
_MEMBERS = {*empty(0.0), "blockers", "decisions_recent", "tasks_open", "conventions", "goal", "now"}
_ROWS = {"decisions_recent": "D", "tasks_open": "T", "blockers": ""}


def merge_text(base: str, mine: str, theirs: str) -> str:
    """Return `theirs` with the change from `base` to `mine`."""
    if base in (theirs, mine):
        return mine if base == theirs else theirs
    # A last line without an end is the same line once something follows it.
    made = _merge_lines(*map(_end_line, (base, mine, theirs)))
    for text in (theirs, mine):
        if text and not text.endswith("\n") and split_lines(made)[-1:] == split_lines(_end_line(text))[-1:]:
            return made.removesuffix("\n")
    return made


def _end_line(text: str) -> str:
    return f"{text}\n" if text and not text.endswith("\n") else text


def _merge_lines(base: str, mine: str, theirs: str) -> str:
    place = _match_lines(base, theirs)
    lines = split_lines(theirs)
    count = len(split_lines(base))
    gone: set[int] = set()
    come: dict[int, list[str]] = {}
    for hunk in diff(base, mine):
        end = hunk.at + len(hunk.removed)
        there = sorted(place[at] for at in range(hunk.at, end) if at in place)
        gone.update(there)
        if there:
            at = there[0]
        else:
            before = next((place[each] for each in range(hunk.at - 1, -1, -1) if each in place), None)
            after = next((place[each] for each in range(end, count) if each in place), None)
            at = before + 1 if before is not None else after if after is not None else len(lines)
        come.setdefault(at, []).extend(hunk.added)
    made: list[str] = []
    for at, line in enumerate((*lines, "")):
        made += come.get(at, ())
        made += [line] if at not in gone else []
    return "".join(made)


def _match_lines(base: str, theirs: str) -> dict[int, int]:
    """Map each line of `base` to its place in `theirs`; also a moved line, if it is unique in both."""
    old, new = split_lines(base), split_lines(theirs)
    found: dict[int, int] = {}
    at = shift = 0
    for hunk in diff(base, theirs):
        found |= {each: each + shift for each in range(at, hunk.at)}
        at = hunk.at + len(hunk.removed)
        shift += len(hunk.added) - len(hunk.removed)
    found |= {each: each + shift for each in range(at, len(old))}
    there = set(found.values())
    often, seldom = Counter(old), Counter(new)
    elsewhere = {line: at for at, line in enumerate(new) if at not in there and seldom[line] == 1}
    for at, line in enumerate(old):
        if at not in found and line in elsewhere and line.strip() and often[line] == 1:
            found[at] = elsewhere[line]
    there = set(found.values())
    others = {_identity_of(line): at for at, line in enumerate(new) if at not in there and line.strip()}
    for at, line in enumerate(old):
        if at not in found and (same := others.get(_identity_of(line))) is not None and new[same] != line:
            found[at] = same
    return found


def _identity_of(line: str) -> str:
    """Return what identifies a line whose text changed: for a day's line its entry, for any other the line without its
    "may have changed" mark."""
    told = _TELLS_OF.search(line)
    return told[1] if told else undoubted(line.rstrip())


def merge_page(path: str, base: str, mine: str, theirs: str) -> str:
    """Merge a page: its date and summary are the edit's, or what they were."""
    if drawer(path) not in ("facts", "episodes"):
        return merge_text(base, mine, theirs)
    own = {role: _find_line(path, theirs, role) for role in _KEPT}
    for role in _KEPT:
        theirs = _replace_line(path, theirs, role, _find_line(path, base, role))
    made = merge_text(base, mine, theirs)
    for role in _KEPT:
        if _find_line(path, base, role) == _find_line(path, mine, role):
            made = _replace_line(path, made, role, own[role])
    return made


def _find_line(path: str, text: str, role: str) -> str | None:
    page = parse(path, text)
    return next((line for line, each in zip(page.lines, page.roles, strict=True) if each == role), None)


def _replace_line(path: str, text: str, role: str, line: str | None) -> str:
    """Replace the line of a role, if the page has one and a new one is given."""
    if line is None:
        return text
    page = parse(path, text)
    lines = list(page.lines)
    if role in page.roles:
        at = page.roles.index(role)
        lines[at] = _end_line(line) if lines[at].endswith("\n") else line
    return "".join(lines)


def remove_facts(path: str, old: bytes | None, new: bytes, told: Sequence[Record]) -> bytes:
    """Return a page without the lines of facts that an edit brought; in review, without its proposals."""
    try:
        before, text = (old or b"").decode(), new.decode()
    except UnicodeDecodeError:
        return new
    if path.startswith("review/"):
        return review_page.without(text, {str(each.get("id")) for each in told}).encode()
    there = {(fact.relation, fact.object) for fact in parse(path, before).facts}
    brought = {(each.get("relation"), each.get("object")) for each in told} - there
    gone = [fact.line or 0 for fact in parse(path, text).facts if (fact.relation, fact.object) in brought]
    for line in sorted(gone, reverse=True):
        text = remove_line(text, line)
    return text.encode()


def restore_replaced(
    path: str, old: bytes | None, new: bytes | None, is_gone: Callable[[Fact], bool]
) -> bytes | None:
    """Restore the lines that an edit replaced with values that go: what these replaced is true again. A line replaces
    another if both are of one slot, and the edit put one for each."""
    if drawer(path) != "facts" or old is None or new is None or old == new:
        return new
    try:
        before, after = old.decode(), new.decode()
    except UnicodeDecodeError:
        return new
    was, now = ({(fact.line or 0) - 1: fact for fact in parse(path, each).facts} for each in (before, after))
    if not any(map(is_gone, now.values())):
        return new
    lines, shift = [*split_lines(after)], 0
    for hunk in diff(before, after):
        at = hunk.at + shift
        shift += len(hunk.added) - len(hunk.removed)
        taken = [(each, was[each]) for each in range(hunk.at, hunk.at + len(hunk.removed)) if each in was]
        brought = [(each, now[each]) for each in range(at, at + len(hunk.added)) if each in now]
        for name in {slot("", fact.relation) for _, fact in brought}:
            ours, theirs = (
                [(each, fact) for each, fact in side if slot("", fact.relation) == name]
                for side in (taken, brought)
            )
            for (source, fact), (target, other) in zip(ours, theirs, strict=False):
                if len(ours) == len(theirs) and is_gone(other) and not is_gone(fact):
                    lines[target] = _end_line(hunk.removed[source - hunk.at])
    return "".join(lines).encode()


def added_facts(path: str, old: bytes | None, new: bytes) -> tuple[Record, ...]:
    """Return what a person's edit added: a summary may name it."""
    before, after = (parse(path, (each or b"").decode("utf-8", "replace")).facts for each in (old, new))
    there = {(fact.relation, fact.object) for fact in before}
    return tuple(
        {"relation": fact.relation, "object": fact.object, "level": "confirmed"}
        for fact in after
        if (fact.relation, fact.object) not in there
    )


def is_bare(path: str, data: bytes) -> bool:
    """True if a page says nothing: it is empty, or has only the program's own lines."""
    text = data.decode("utf-8", "replace")
    page = parse(path, text)
    rows = zip(page.lines, page.roles, strict=True)
    own = drawer(path) == "facts" and all(
        role in (*_KEPT, "title") or not line.strip() for line, role in rows
    )
    return own or not text.strip()


def head_of(path: str, old: str, new: str) -> str:
    """Return what an edit finds of a page that would not exist: its title, which the edit left as it was, and what the
    program wrote above a page of review."""
    title = _find_line(path, old, "title")
    if title is None or title != _find_line(path, new, "title"):
        return ""
    help_line = f"{review_page.HELP}\n" if path.startswith("review/") and review_page.HELP in old else ""
    return f"{_end_line(title)}\n{help_line}"


def has_new_summary(path: str, old: bytes | None, new: bytes | None) -> bool:
    texts = [(each or b"").decode("utf-8", "replace") for each in (old, new)]
    before, after = (_find_line(path, text, "summary") for text in texts)
    return drawer(path) == "facts" and before != after


def remove_replaced(path: str, old: bytes | None, new: bytes | None, made: bytes) -> tuple[list[str], bytes]:
    """Remove values that an edit would have replaced, and return them as lines: the replaced value is not there, and
    its stand-in gives way. Nothing does in a slot that holds many."""
    try:
        before, after, text = (each.decode() for each in (old or b"", new or b"", made))
    except UnicodeDecodeError:
        return [], made
    was, now, here = (parse(path, each).facts for each in (before, after, text))
    seen, before_it = ({(fact.relation, fact.object) for fact in facts} for facts in (now, was))
    brought = {relation for relation, _ in seen - before_it if not relation_of(relation).many}
    slots = {slot("", each) for each in brought} & {slot("", each) for each, _ in before_it - seen}
    stale = (fact for fact in here if slot("", fact.relation) in slots)
    gone = [fact for fact in stale if (fact.relation, fact.object) not in seen]
    for fact in reversed(gone):
        text = remove_line(text, fact.line or 0)
    return [f"{fact.relation}: {fact.object}" for fact in gone], text.encode()


def state_of(data: bytes | None) -> State | None:
    """Read a version of the state; None if it is not one."""
    try:
        return parse_state(data) if data is not None else {}
    except Unsound:
        return None


def merge_state(
    base: bytes | None, mine: bytes | None, theirs: bytes | None, *, renumber: Callable[[str], int] | None
) -> bytes | None:
    """Return `theirs` with what an edit made of `base`. `renumber`: the highest id number a list ever had, for ids that
    the program gives."""
    if mine is None:
        return None
    states = [state_of(each) for each in (base, mine, theirs)]
    if states[1] is None:
        return mine  # broken by hand, and may be fixed by hand
    old, new, own = (each or {} for each in states)
    if theirs is None:
        own = empty(0.0)
    made = dict(own)
    for name in {**old, **new}:
        values = was, now, here = old.get(name), new.get(name), own.get(name)
        if name in _ROWS:
            made[name] = _merge_rows(name, was, now, here, renumber)
        elif isinstance(now, dict) or isinstance(here, dict):
            made[name] = _merge_scalars(*(each if isinstance(each, dict) else {} for each in values))
        elif was != now:
            was, now = ({name: each[name]} if name in each else {} for each in (old, new))
            made = _merge_scalars(was, now, made)
    made = {name: made[name] for name in (*new, *(each for each in made if each not in new)) if name in made}
    made = {name: value for name, value in made.items() if value not in ([], {}) or name in new}
    if made == (new if base == theirs else None):
        return mine  # in its author's spelling
    return theirs if made == own else format_state(made).encode()


def _merge_scalars(old: State, new: State, own: State) -> State:
    made = {name: value for name, value in own.items() if name not in old or name in new}
    return made | {name: value for name, value in new.items() if old.get(name) != value}


def _merge_rows(name: str, old: Any, new: Any, own: Any, renumber: Callable[[str], int] | None) -> list[Any]:
    before, after, rows = (_index_by_title(each) for each in (old, new, own))
    made = {title: row for title, row in rows.items() if title not in before or title in after}
    known = [row for row in made.values() if isinstance(row, dict)]
    highest = max(highest_id(known), renumber(name) if renumber else 0)
    for title, row in after.items():
        if before.get(title) == row:
            continue
        if isinstance(row, dict) and title in made and isinstance(made[title], dict):
            row = {**row, "id": made[title].get("id", row.get("id"))} if "id" in row else row
        elif renumber and isinstance(row, dict) and _OWN_ID.match(str(row.get("id"))) and title not in before:
            highest += 1
            row = {**row, "id": f"{_ROWS[name]}-{highest}"}
        made[title] = row
    order = [*(each for each in made if each in rows), *(each for each in after if each in made), *made]
    return [made[each] for each in dict.fromkeys(order)]


def _index_by_title(rows: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows if isinstance(rows, list) else ():
        title = title_of(row) if isinstance(row, dict) else str(row)
        found.setdefault(title.casefold(), row)
    return found


def cut_state(data: bytes, holds: Callable[[Any], bool], before: bytes | None = None) -> bytes:
    """Return a state without what is to go: rows and members go whole, texts become what they were before."""
    state, was = state_of(data), state_of(before) or {}
    if state is None:
        lines = data.splitlines(keepends=True)
        return b"".join(line for line in lines if not holds(line.decode("utf-8", "replace")))
    made: State = {}
    for name, value in state.items():
        if holds(name) and name not in _MEMBERS:
            continue
        if isinstance(value, list):
            made[name] = [row for row in value if not holds(row)]
        elif isinstance(value, dict):
            made[name] = {each: inner for each, inner in value.items() if not holds([each, inner])}
        else:
            made[name] = was.get(name, "") if holds(value) else value
    if made == state:
        return data
    if before is not None and _drop_date(made) == _drop_date(was):
        return before  # everything new about it goes
    return format_state(made).encode()


def _drop_date(state: State) -> State:
    return {name: value for name, value in state.items() if name != "updated_at"}
