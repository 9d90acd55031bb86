"""What prompts cost (seed 003 §5): today's by slot, other layouts, and the last ones with the share that a provider's
cache would know. And two prompts side by side.

Analyzing logs and compacts nothing.
"""

from __future__ import annotations

from itertools import islice, takewhile

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.log.turns import MESSAGE_TOKENS
from looseleaf.prompt.manifest import Manifest
from looseleaf.text.diff import unified
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.explain.sources import Needs
    from looseleaf.prompt.manifest import ManifestItem, Prompt
    from looseleaf.window.window import Count

CACHED_SECONDS = 300
"""How long a provider keeps a prompt's beginning, at least."""

_MOST = 1_000_000
"""Most prompts to list."""

_DAYS = 2
"""Daily logs in a prompt before seed 003."""


@frozen
class Row:
    """One prompt of the log. `prefix_tokens` were in the same places of the one before; a cache would have known
    `cached_tokens` of them, if that one was recent."""

    id: str
    timestamp: str
    total_tokens: int
    budget_tokens: int
    prefix_tokens: int
    cached_tokens: int
    epoch: str
    cuts: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = members_of(self)
        return told | {"cuts": list(self.cuts)}


@frozen
class Analysis:
    """`slots`: a prompt as it would be now. `before`: seed 003's old layout, by part; `everything`: all pages whole.
    `memory_tokens` compares with those: today's prompt without the talk and the task."""

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
        """The cost of all listed prompts."""
        return sum(row.total_tokens for row in self.prompts)

    @property
    def prefix_share(self) -> float:
        """The share that the prompt before had in the same places."""
        return _share_of(sum(row.prefix_tokens for row in self.prompts), self.input_tokens)

    @property
    def cached_share(self) -> float:
        """The share that a provider's cache would have known, which forgets after some minutes."""
        return _share_of(sum(row.cached_tokens for row in self.prompts), self.input_tokens)

    def to_dict(self) -> dict[str, Any]:
        members = type(self).__match_args__
        told: dict[str, Any] = {name: getattr(self, name) for name in members if name != "prompts"}
        told |= {name: getattr(self, name) for name in ("input_tokens", "prefix_share", "cached_share")}
        return told | {"prompts": [row.to_dict() for row in self.prompts]}


def _share_of(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def analyze(parts: Needs, last: int = 20) -> Analysis:
    if type(last) is not int or last < 1:
        told = "a number below 1" if type(last) is int and last < -_MOST else repr(last)
        raise Invalid(f"{told} is not a number of prompts. Give one of at least 1.")
    if last > _MOST:
        raise Invalid(f"At most {_MOST:,} prompts are listed. Give a smaller number.")
    manifest = parts.prompts(None, None, None, dry_run=True).manifest
    slots: dict[str, int] = {str(slot): tokens for slot, tokens in manifest.by_slot().items()}
    talk = slots.get("window", 0) + slots.get("task", 0)
    texts = dict(_read_texts(parts))
    count = parts.conversation.counter(None)
    before = _count_old_layout(texts, count)
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
        tuple(_read_rows(parts, last)),
    )


def _read_texts(parts: Needs) -> Iterator[tuple[str, str]]:
    """Yield all pages and the state, except what waits in review: no prompt may have that."""
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


def _count_old_layout(texts: dict[str, str], count: Count) -> dict[str, int]:
    """Count the old layout: soul and user whole, the logs of the last two active days whole, and page names."""
    days = sorted(path for path in texts if path.startswith("days/"))[-_DAYS:]
    names = ", ".join(path for path in sorted(texts) if "/" in path and not path.startswith("days/"))
    parts = {path: texts[path] for path in ("SOUL.md", "USER.md", *days) if path in texts}
    parts |= {"names of pages": names} if names else {}
    counted = count(list(parts.values())) if parts else []
    found = dict(zip(parts, counted, strict=True))
    for first in list(found)[:1]:
        found[first] += MESSAGE_TOKENS  # it was all one message
    return found


def _read_rows(parts: Needs, last: int) -> list[Row]:
    """Return the last prompts, oldest first. Read one more, to compare the first with."""
    found: list[tuple[Manifest, float]] = []
    for record in islice(parts.prompts.log.back(), last + 1):
        try:
            found.append((Manifest.from_dict(record), float(record["ts"])))
        except (KeyError, TypeError, ValueError):
            parts.context.note(
                f"A prompt was left out: record {record.get('id')} of log/prompts/{parts.context.agent}.jsonl makes no "
                "sense. `looseleaf check` says more."
            )
    rows: list[Row] = []
    for (each, ts), before in zip(found[:last], [*found[1:], None], strict=False):
        cached = each.prefix_tokens if before is not None and ts - before[1] <= CACHED_SECONDS else 0
        sizes = each.total_tokens, each.budget_tokens, each.prefix_tokens, cached
        rows.append(Row(each.id, each.timestamp, *sizes, each.epoch, each.cuts))
    return rows[::-1]


@frozen
class Compared:
    """Two prompts. Their first `messages` are the same, `tokens` in all. Items that `came` and `went`, and those that
    `changed`: each with its slot, its tokens before and after, and its lines that differ."""

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
    """Compare two prompts; `count` counts what they share."""
    pairs = zip(old.messages, new.messages, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    ours, theirs = ({item.id: item for item in each.manifest.items} for each in (old, new))
    changed: list[Record] = []
    for name in (name for name in ours if name in theirs):
        before, after = old.text_of(ours[name]), new.text_of(theirs[name])
        if before != after:
            lines = unified(f"{before}\n", f"{after}\n", "old", "new").splitlines()[2:]
            lines = [line for line in lines if line.startswith(("+", "-")) and line[1:].strip()]
            tokens = [ours[name].tokens, theirs[name].tokens]
            changed.append({"id": name, "slot": theirs[name].slot, "tokens": tokens, "lines": lines})
    return Compared(
        old.manifest.id,
        new.manifest.id,
        same,
        sum(costs_of(new.messages[:same], count)),
        _list_only(theirs, ours, new.text_of),
        _list_only(ours, theirs, old.text_of),
        tuple(changed),
    )


def _list_only(
    some: dict[str, ManifestItem], others: dict[str, ManifestItem], text_of: Callable[[ManifestItem], str]
) -> tuple[Record, ...]:
    return tuple(
        {"id": item.id, "slot": item.slot, "tokens": item.tokens, "text": text_of(item)}
        for name, item in some.items()
        if name not in others
    )
