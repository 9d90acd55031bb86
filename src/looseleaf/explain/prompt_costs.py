"""Analyze: what prompts cost (seed 003 §5). One of today by slot, what it would cost otherwise, what the last ones
cost and how much of each a provider's cache would have known. And two of them side by side.

Nothing is logged or compacted by looking.
"""

from __future__ import annotations

from itertools import islice

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.log.trace_messages import MESSAGE_TOKENS
from looseleaf.prompt.manifest import Manifest
from looseleaf.text.diff import unified
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.explain.needs import Needs
    from looseleaf.prompt.manifest import Item, Prompt
    from looseleaf.window.window import Count

CACHED_SECONDS = 300
"""For how long a provider keeps a prompt's beginning, at least."""

_MOST = 1_000_000
"""Prompts that can be asked for at once."""

_TALK = ("window", "task")
_DAYS = 2
"""Daily logs that a prompt had before seed 003."""


@frozen
class Row:
    """One prompt of the log. `prefix_tokens` stood at the same places of the one before; of those a cache would have
    known `cached_tokens`, because that one was not long before."""

    id: str
    timestamp: str
    total_tokens: int
    budget_tokens: int
    prefix_tokens: int
    cached_tokens: int
    epoch: str
    cuts: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {name: getattr(self, name) for name in type(self).__match_args__}
        return told | {"cuts": list(self.cuts)}


@frozen
class Analysis:
    """`slots`: a prompt as it would be now. `before`: seed 003's old layout, by part; `everything`: all pages whole.
    `memory_tokens` is what of today's prompt stands against those: all but the talk and the task."""

    agent: str
    total_tokens: int
    budget_tokens: int
    slots: dict[str, int]
    memory_tokens: int
    before: dict[str, int]
    before_tokens: int
    everything_tokens: int
    prompts: tuple[Row, ...]

    @property
    def input_tokens(self) -> int:
        """What all of the listed prompts cost."""
        return sum(row.total_tokens for row in self.prompts)

    @property
    def prefix_share(self) -> float:
        """The share of them that the prompt before had at the same places."""
        return _share(sum(row.prefix_tokens for row in self.prompts), self.input_tokens)

    @property
    def cached_share(self) -> float:
        """The share that a provider's cache would have known, which forgets after some minutes."""
        return _share(sum(row.cached_tokens for row in self.prompts), self.input_tokens)

    def to_dict(self) -> dict[str, Any]:
        members = type(self).__match_args__
        told: dict[str, Any] = {name: getattr(self, name) for name in members if name != "prompts"}
        told |= {name: getattr(self, name) for name in ("input_tokens", "prefix_share", "cached_share")}
        return told | {"prompts": [row.to_dict() for row in self.prompts]}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def analyze(parts: Needs, last: int = 20) -> Analysis:
    if type(last) is not int or last < 1:
        told = "a number below 1" if type(last) is int and last < -_MOST else repr(last)
        raise Refused(f"Nothing was analyzed: {told} is no number of prompts. Give one that is at least 1.")
    if last > _MOST:
        raise Refused(f"Nothing was analyzed: at most {_MOST:,} prompts are listed. Give a smaller number.")
    manifest = parts.prompts(None, None, None, dry_run=True).manifest
    slots: dict[str, int] = {str(slot): tokens for slot, tokens in manifest.by_slot().items()}
    talk = sum(slots.get(name, 0) for name in _TALK)
    texts = dict(_texts(parts))
    count = parts.conversation.counter(None)
    before = _before(texts, count)
    everything = count(list(texts.values())) if texts else []
    return Analysis(
        parts.context.agent,
        manifest.total_tokens,
        manifest.budget_tokens,
        slots,
        manifest.total_tokens - talk,
        before,
        sum(before.values()),
        sum(everything) + MESSAGE_TOKENS * bool(texts),
        tuple(_rows(parts, last)),
    )


# --- what it would cost otherwise ------------------------------------------------------


def _texts(parts: Needs) -> Iterator[tuple[str, str]]:
    """All pages and the state, but for what waits in review: no prompt may have that."""
    for path in parts.pages.paths():
        if path.startswith("review/"):
            continue
        try:
            page = parts.pages.page(path)
        except Refused as refused:
            parts.context.note(str(refused))
            continue
        if page.text.strip():
            yield path, page.text


def _before(texts: dict[str, str], count: Count) -> dict[str, int]:
    """Soul and user whole, the logs of the last two days on which anything happened whole, and the names of pages."""
    days = sorted(path for path in texts if path.startswith("days/"))[-_DAYS:]
    names = ", ".join(path for path in sorted(texts) if "/" in path and not path.startswith("days/"))
    parts = {path: texts[path] for path in ("SOUL.md", "USER.md", *days) if path in texts}
    parts |= {"names of pages": names} if names else {}
    counted = count(list(parts.values())) if parts else []
    found = dict(zip(parts, counted, strict=True))
    for first in list(found)[:1]:
        found[first] += MESSAGE_TOKENS  # all of it was one message
    return found


# --- the last prompts ------------------------------------------------------------------


def _rows(parts: Needs, last: int) -> list[Row]:
    """Oldest first. One more is read than is shown: the first is held against it."""
    found: list[tuple[Manifest, float]] = []
    for record in islice(parts.prompts.log.back(), last + 1):
        try:
            found.append((Manifest.from_dict(record), float(record["ts"])))
        except (KeyError, TypeError, ValueError):
            parts.context.note(
                f"A prompt was left out: record {record.get('id')} of log/prompts/{parts.context.agent}.jsonl makes no "
                "sense. `looseleaf check` says more."
            )
    pairs = zip(found[:last], [*found[1:], None], strict=False)
    return [_row(manifest, ts, before[1] if before else None) for (manifest, ts), before in pairs][::-1]


def _row(manifest: Manifest, ts: float, before: float | None) -> Row:
    is_known = before is not None and ts - before <= CACHED_SECONDS
    return Row(
        manifest.id,
        manifest.timestamp,
        manifest.total_tokens,
        manifest.budget_tokens,
        manifest.prefix_tokens,
        manifest.prefix_tokens if is_known else 0,
        manifest.epoch,
        manifest.cuts,
    )


# --- two of them -----------------------------------------------------------------------


@frozen
class Compared:
    """Two prompts. The first `messages` of both are the same, `tokens` in all; the items that `came` and `went`, and
    those that `changed`: each with its slot, its tokens before and after, and the lines of it that differ."""

    old: str
    new: str
    messages: int
    tokens: int
    came: tuple[Record, ...]
    went: tuple[Record, ...]
    changed: tuple[Record, ...]

    def to_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("old", "new")}
        told["same"] = {"messages": self.messages, "tokens": self.tokens}
        return told | {name: list(getattr(self, name)) for name in ("came", "went", "changed")}


def compare(old: Prompt, new: Prompt, count: Count) -> Compared:
    """`count` counts what they have in common."""
    same = 0
    for before, after in zip(old.messages, new.messages, strict=False):
        if before != after:
            break
        same += 1
    ours, theirs = ({item.id: item for item in each.manifest.items} for each in (old, new))
    changed = [
        _changed(item, theirs[name], old.text_of(item), new.text_of(theirs[name]))
        for name, item in ours.items()
        if name in theirs and old.text_of(item) != new.text_of(theirs[name])
    ]
    return Compared(
        old.manifest.id,
        new.manifest.id,
        same,
        sum(costs_of(new.messages[:same], count)),
        _only(theirs, ours, new.text_of),
        _only(ours, theirs, old.text_of),
        tuple(changed),
    )


def _only(
    some: dict[str, Item], others: dict[str, Item], text_of: Callable[[Item], str]
) -> tuple[Record, ...]:
    return tuple(
        {"id": item.id, "slot": item.slot, "tokens": item.tokens, "text": text_of(item)}
        for name, item in some.items()
        if name not in others
    )


def _changed(old: Item, new: Item, before: str, after: str) -> Record:
    lines = unified(f"{before}\n", f"{after}\n", "old", "new").splitlines()
    return {
        "id": new.id,
        "slot": new.slot,
        "tokens": [old.tokens, new.tokens],
        "lines": [line for line in lines[2:] if line.startswith(("+", "-")) and line[1:].strip()],
    }
