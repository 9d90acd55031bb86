"""What a prompt shows of the memory: profile, state, essentials, index and episodes, each in several sizes.

A slot is a list of *forms*, from everything to the least worth saying. A form consists of *pieces* (a fact, a page, an
episode), each with a rank: if even the last form is too long, the best pieces stay. Facts and episodes are plain lines
grouped by topic or date: measured, that costs less than any table notation.
"""

from __future__ import annotations

import json
from collections import Counter

from looseleaf.base.immutable import frozen
from looseleaf.log.turns import guard
from looseleaf.prompt.manifest import Omitted
from looseleaf.text import untrusted
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import escape
from looseleaf.views.essentials import shown_bullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Episode, Fact
    from looseleaf.prompt.manifest import Slot


# --- changes since a conversation's prompt began ----------------------------------------

HEADING = "[MEMORY:CHANGES]"
SAYS, NO_LONGER = "now says", "no longer says"
_KEPT_BY_US = ("- Updated: ", "> Summary: ")
"""Lines that the program maintains: their changes mean nothing."""


def join_changes(parts: Iterable[tuple[str, Iterable[str]]], word: str) -> str:
    """Join the changes into one message, by page; empty if there are none. `word` is the fences' word."""
    lines: list[str] = []
    for name, told in parts:
        own = list(told)
        lines += [f"{guard(escape(name))}:", *own] if own else []
    is_fenced = any(untrusted.opened(word) in line for line in lines)
    return "\n".join((HEADING, *([untrusted.notice(word)] if is_fenced else ()), *lines)) if lines else ""


def diff_page(
    old: str | None,
    new: str | None,
    foreign: Iterable[str],
    word: str,
    elsewhere: Collection[str] = (),
    *,
    is_doubted: bool = False,
) -> Iterator[str]:
    """Yield the lines that came and went. A line that only moved did neither, even to another page: `elsewhere` are
    lines that hold there. `foreign` lines are untrusted and fenced. `is_doubted`: the author of removed lines is
    unknown."""
    if not (new or "").strip():
        yield "- says nothing any more"
        return
    before, after = _read_lines(old), _read_lines(new)
    doubtful = set(_read_lines("\n".join(foreign)))
    for line in _find_extra(after, before):
        shown = guard(line)
        yield f"- {SAYS}: {untrusted.fenced(shown, word) if line in doubtful else untrusted.inert(shown, word)}"
    moved = set(_read_lines("\n".join(elsewhere)))
    for line in _find_extra(before, after):
        if line not in moved:
            shown = guard(line)
            yield f"- {NO_LONGER}: {untrusted.fenced(shown, word) if is_doubted else untrusted.inert(shown, word)}"


def _find_extra(lines: list[str], others: list[str]) -> Iterator[str]:
    """Yield the lines that occur more often than among the others."""
    left = Counter(others)
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            yield line


def _read_lines(text: str | None) -> list[str]:
    found = (escape(line) for line in (text or "").splitlines())
    return [line.removeprefix("- ") for line in found if line and not line.startswith(_KEPT_BY_US)]


def diff_state(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences of a state: single values as they are now, and what came and went in lists."""
    for name in dict.fromkeys((*new, *old)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if isinstance(before or after, str):
            yield f"- {name}: {guard(escape(str(after or 'nothing any more')))}"
            continue
        was, now = _rows_of(before), _rows_of(after)
        yield from (f"- {name}, {SAYS}: {row}" for row in now if row not in was)
        yield from (f"- {name}, {NO_LONGER}: {row}" for row in was if row not in now)


def _rows_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [guard(escape(f"{key}: {each}")) for key, each in value.items()]
    return [guard(escape(_format_row(each))) for each in value or ()]


def _format_row(each: Any) -> str:
    if not isinstance(each, dict):
        return str(each)
    title = str(each.get("title") or json.dumps(each, ensure_ascii=False))
    name, status = each.get("id"), each.get("status")
    return (f"{name} " if name else "") + title + (f" ({status})" if status else "")


def list_page_changes(new: Iterable[tuple[str, str]], gone: Iterable[str]) -> Iterator[str]:
    """Yield the drawers' new pages with their summaries, and those that are gone."""
    for path, title in new:
        yield guard(f"- can be read now: {path}{f': {escape(title)}' if title else ''}")
    for path in gone:
        yield guard(f"- is gone: {path}")


HEADINGS: dict[Slot, str] = {
    "profile": "[MEMORY:PROFILE]",
    "state": "[MEMORY:STATE]",
    "essentials": "[MEMORY:ESSENTIALS]",
    "index": "[MEMORY:INDEX]",
    "episodes": "[MEMORY:EPISODES]",
}
TYPES: dict[Slot, str] = {"charter": "system", "state": "working_state", "window": "short_term"}
"""A manifest's name for a slot, if seed 000 gave it one; else the slot's own."""

LISTED = "Available memory:"
READ = "Use memory_read to load relevant files before responding."
"""Seed 002 has both."""

OVER = "over_budget"
SHOWN = "already_shown"
FAR = "further_down"
"""Reasons to leave something out: no room, said elsewhere in the prompt, too many of its kind."""


SENTENCE = 3
"""Words from which two texts hardly say the same by chance."""


def plain(text: str) -> str:
    """Return a text's words alone, so that a sentence is the same in JSON, in a table and in a list."""
    return f" {' '.join(''.join(each if each.isalnum() else ' ' for each in text.casefold()).split())} "


def is_said(text: str, said: str) -> bool:
    """True if a sentence stands word for word in `said` (which is `plain`)."""
    words = plain(text)
    return len(words.split()) >= SENTENCE and words in said


@frozen
class SlotPiece:
    """One thing of a slot, as lines. `rank` 0 is the best; `group` is the line above it."""

    id: str
    text: str
    rank: int = 0
    group: str = ""


@frozen
class SlotForm:
    """A slot in one size. `left` is what this size leaves out of the size before."""

    format: str
    pieces: tuple[SlotPiece, ...]
    before: str = ""
    after: str = ""
    joint: str = "\n"
    left: tuple[Omitted, ...] = ()

    def text(self, pieces: Sequence[SlotPiece]) -> str:
        """Render these pieces."""
        lines: list[str] = []
        group = ""
        for piece in pieces:
            if piece.group != group:
                group = piece.group
                lines.append(group)
            lines.append(piece.text)
        return "\n".join(part for part in (self.before, self.joint.join(lines), self.after) if part)


@frozen
class SlotText:
    """A slot and its forms; without a form, all of it is said elsewhere. `of` names the revision it was made from, if
    that is one thing."""

    slot: Slot
    id: str
    reason: str
    forms: tuple[SlotForm, ...]
    of: str = ""
    omitted: tuple[Omitted, ...] = ()
    layer: str = ""
    """The farther memory that it is from; "": the memory itself."""

    @property
    def heading(self) -> str:
        return HEADINGS[self.slot] if not self.layer else f"{HEADINGS[self.slot][:-1]} {self.layer}]"


def fence_slot(shown: SlotText, word: str) -> SlotText:
    """Fence an untrusted slot in each of its forms. The fence is around the pieces, not in them, so that it stays
    closed when they are shortened."""

    def inert(text: str) -> str:
        return untrusted.inert(text, word)

    forms = tuple(
        SlotForm(
            form.format,
            tuple(SlotPiece(each.id, inert(each.text), each.rank, inert(each.group)) for each in form.pieces),
            "\n".join(part for part in (untrusted.notice(word), untrusted.opened(word), form.before) if part),
            "\n".join(part for part in (form.after, untrusted.closed(word)) if part),
            form.joint,
            form.left,
        )
        for form in shown.forms
    )
    return SlotText(shown.slot, shown.id, shown.reason, forms, shown.of, shown.omitted)


def show_profile(
    path: str,
    text: str,
    facts: Sequence[Fact],
    revision: str,
    *,
    foreign: str = "",
    over: Collection[int | None] = (),
) -> SlotText | None:
    """Show the user's page, whole; or its facts, given in order of weight. With `foreign` (a fence's word) the rest of
    the page is untrusted and shown as data. `over`: lines that a farther layer knows better."""
    numbered = (
        [each for each in enumerate(split_lines(text), 1) if each[0] not in over] if over or foreign else []
    )
    if over:
        facts = [fact for fact in facts if fact.line not in over]
        text = "".join(line for _, line in numbered)
    if not text.strip():
        return None
    ranks = {fact.line: number for number, fact in enumerate(facts)}
    lines = ((fact, guard(f"- {shown_bullet(fact.relation, fact.object)}")) for fact in facts)
    pieces = tuple(
        SlotPiece(fact.id or f"{path}:{fact.line}", line, ranks[fact.line])
        for fact, line in sorted(lines, key=lambda each: each[0].line or 0)
    )
    if foreign:
        own = "\n".join(piece.text for piece in pieces)
        own_lines = {fact.line for fact in facts}
        rest = "".join(line for number, line in numbered if number not in own_lines).strip("\n")
        whole = SlotForm("markdown", (SlotPiece(path, own),))
        if rest.strip():
            # Around the piece, not in it: the fence stays closed when the piece is shortened.
            opening = (own, untrusted.notice(foreign), untrusted.opened(foreign))
            before = "\n".join(part for part in opening if part)
            inside = SlotPiece(path, untrusted.inert(guard(rest), foreign))
            whole = SlotForm("markdown", (inside,), before, untrusted.closed(foreign))
    else:
        whole = SlotForm("markdown", (SlotPiece(path, guard(text.strip("\n"))),))
    forms = [whole]
    if pieces:
        forms.append(SlotForm("lines", pieces, left=(Omitted(f"{path}: prose", "profile", OVER),)))
    return SlotText("profile", path, "always_included", tuple(forms), revision)


def show_farther(slot: Slot, layer: str, rows: Sequence[tuple[str, str, str]]) -> SlotText | None:
    """Show lines of a farther layer, weightiest first: each with its fact's name and its topic."""
    if not rows:
        return None
    pieces = [
        SlotPiece(name, f"- {line}", rank, guard(f"{escape(topic)}:") if slot == "essentials" else "")
        for rank, (name, line, topic) in enumerate(rows)
    ]
    pieces.sort(key=lambda piece: piece.group)
    reason = "always_included" if slot == "profile" else "do_not_forget"
    return SlotText(slot, f"{layer}:{slot}", reason, (SlotForm("lines", tuple(pieces)),), layer=layer)


def show_state(told: Mapping[str, Any], toon: str | None, revision: str) -> SlotText | None:
    """Show the state as JSON; as TOON, if given; and as single lines, if there is room for only some."""
    if not told:
        return None
    forms = [SlotForm("json", (SlotPiece("state", guard(_to_json(told))),))]
    if toon is not None:
        forms.append(SlotForm("toon", (SlotPiece("state", guard(toon)),)))
    rows = list(_list_rows(told))
    pieces = tuple(SlotPiece(name, guard(escape(text)), rank) for rank, (name, text) in enumerate(rows))
    forms.append(SlotForm("lines", pieces))
    return SlotText("state", "state", "always_included", tuple(forms), revision)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _list_rows(told: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the rows by importance: the goal, what is done now, what hinders, is open, was decided."""
    order = ("goal", "now", "blockers", "tasks_open", "decisions_recent", "conventions")
    for name in (*order, *(each for each in told if each not in order)):
        value = told.get(name)
        if isinstance(value, list):
            newest = reversed(value) if name == "decisions_recent" else value
            for each in newest:
                title = each.get("title", _to_json(each)) if isinstance(each, dict) else each
                own = each.get("id", title) if isinstance(each, dict) else title
                yield f"{name}/{own}", f"{name}: {title}"
        elif isinstance(value, dict):
            for key, each in value.items():
                yield f"{name}/{key}", f"{name}: {key}: {each}"
        elif value:
            yield name, f"{name}: {value}"


def show_essentials(
    rows: Sequence[Mapping[str, Any]], shown: Collection[str], state: Mapping[str, Any]
) -> SlotText | None:
    """Show `rows` of the global memory's `do_not_forget`, weightiest first; without ids in `shown`, and without
    what the state says in the same words."""
    doing = plain(_to_json(state))
    shown = {*shown, *(row["id"] for row in rows if is_said(row["object"], doing))}
    own = [row for row in rows if row["id"] not in shown]
    if not rows:
        return None
    ranks = {row["id"]: number for number, row in enumerate(own)}
    by_topic = sorted(own, key=lambda row: (row["topic"] != "user", row["topic"], ranks[row["id"]]))

    def form(which: Sequence[Mapping[str, Any]], left: Sequence[Mapping[str, Any]]) -> SlotForm:
        pieces = tuple(
            SlotPiece(
                row["id"],
                guard(f"- {shown_bullet(row['relation'], row['object'])}"),
                ranks[row["id"]],
                guard(f"{escape(row['topic'])}:"),
            )
            for row in which
        )
        ids = tuple(row["id"] for row in left)
        return SlotForm("lines", pieces, left=(Omitted("secondary", "essentials", OVER, ids),) if ids else ())

    core = [row for row in by_topic if row["tier"] == "core"]
    secondary = [row for row in by_topic if row["tier"] != "core"]
    forms = [form(by_topic, ())] if own else []
    if core and secondary:
        forms.append(form(core, secondary))
    seen = tuple(row["id"] for row in rows if row["id"] in shown)
    omitted = (Omitted("profile", "essentials", SHOWN, seen),) if seen else ()
    return SlotText("essentials", "essentials", "do_not_forget", tuple(forms), omitted=omitted)


def show_index(lines: Sequence[tuple[str, int, str]], further: Sequence[str]) -> SlotText | None:
    """Show a line per page: path, bytes and summary, in order of weight; `further`: pages not listed."""
    omitted = (Omitted("pages", "index", FAR, tuple(further)),) if further else ()
    if not lines:
        return SlotText("index", "index", "read_on_demand", (), omitted=omitted) if further else None
    ranks = {path: number for number, (path, _, _) in enumerate(lines)}
    ordered = sorted(lines)
    after = READ if not further else f"{len(further)} more: memory_list. {READ}"

    def piece(path: str, text: str) -> SlotPiece:
        return SlotPiece(path, guard(text), ranks[path])

    full = tuple(
        piece(path, f"- {path} ({size_of(size)}){f': {escape(summary)}' if summary else ''}")
        for path, size, summary in ordered
    )
    names = tuple(piece(path, path) for path, _, _ in ordered)
    left = (Omitted("summaries", "index", OVER),)
    forms = SlotForm("lines", full, LISTED, after), SlotForm("names", names, LISTED, after, ", ", left)
    return SlotText("index", "index", "read_on_demand", forms, omitted=omitted)


def size_of(size: int) -> str:
    """Format a size as seed 002 does: `320B`, `1.2KB`."""
    if size < 1000:
        return f"{size}B"
    return f"{size / 1000:.1f}KB" if size < 1_000_000 else f"{size / 1e6:.1f}MB"


_TOLD = ("summary", "problem", "task", "solution", "lesson")


def show_episodes(found: Sequence[tuple[str, Episode]], omitted: Sequence[Omitted]) -> SlotText | None:
    """Show the last episodes with their pages, newest first."""
    if not found and not omitted:
        return None
    full, short = [], []
    for number, (path, episode) in enumerate(found):
        name, date = f"{path}:{episode.line}", guard(escape(episode.get("Date") or ""))
        title = guard(escape(episode.title))
        fields = {label.casefold(): guard(escape(value)) for label, value in episode.fields}
        summary = fields.get("summary", "")
        told = {title, summary, ""}  # the task of an episode is often its title
        own = [label for label in _TOLD[1:] if fields.get(label, "") not in told]
        more = [f"  {label.capitalize()}: {fields[label]}" for label in own]
        more += [f"  {guard(escape(note))}" for note in episode.notes]
        head = f"- {title}: {summary}" if summary and summary != title else f"- {title}"
        full.append(SlotPiece(name, "\n".join((head, *more)), number, date))
        short.append(SlotPiece(name, head, number, date))
    forms = [SlotForm("lines", tuple(reversed(full)))] if full else []
    if full != short:
        left = (Omitted("details", "episodes", OVER),)
        forms.append(SlotForm("summaries", tuple(reversed(short)), left=left))
    return SlotText("episodes", "episodes", "last_episodes", tuple(forms), omitted=tuple(omitted))
