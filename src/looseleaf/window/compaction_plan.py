"""Plan a compaction: which blocks leave the window, which are shortened in place, and what that saves.

Steps, each only as far as needed (except the first, which always runs):

1. distill whole turns before the tail;
2. turn tool results within the tail into pointers, oldest first;
3. distill turns of the tail, oldest first;
4. in the current turn, turn tool results that the model has already used into pointers, then distill their blocks,
   oldest first;
5. shorten what is left in place, longest first, until it fits;
6. if that is not enough, distill what the model has not seen yet, oldest first.

An open tool call is never distilled, nor is the message of the current turn.
"""

from __future__ import annotations

from bisect import bisect_right

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled, Noted
from looseleaf.log.turns import MESSAGE_TOKENS, blocks_of, guard, turns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Block, Flag, TraceType


# --- the loss report ---------------------------------------------------------------------

CONSTRAINT, DECISION, WORK, QUESTION = "Constraint", "Decision", "Open work", "Open question"

_REPORTED = {
    DECISION: "decisions",
    CONSTRAINT: "constraints",
    WORK: "unresolved work",
    QUESTION: "open questions",
}
_LABELS = {CONSTRAINT: "constraints", DECISION: "decisions", WORK: "tasks", QUESTION: "open_questions"}
"""The members of a distillation that must be kept, most important first."""


@frozen
class Kept:
    """One kind of thing that a compaction may not lose: how many went in, how many are left, which are missing."""

    what: str
    before: int
    after: int
    missing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "in": self.before, "out": self.after, "missing": list(self.missing)}


@frozen
class Loss:
    """What a compaction kept and dropped, and where to find it again."""

    entry: str | None
    level: str
    distiller: str
    tokens_before: int
    tokens_after: int
    turns: int
    traces: int
    tool_results: int
    tokens_dropped: int
    shortened: tuple[tuple[str, int], ...] = ()
    kept: tuple[Kept, ...] = ()
    failures: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        names = ("entry", "level", "distiller", "tokens_before", "tokens_after")
        dropped = {name: getattr(self, name) for name in ("turns", "traces", "tool_results")}
        return {name: getattr(self, name) for name in names} | {
            "dropped": dropped | {"tokens": self.tokens_dropped},
            "shortened": [{"trace": trace, "tokens": tokens} for trace, tokens in self.shortened],
            "kept": [each.to_dict() for each in self.kept],
            "failures": list(self.failures),
            "expand": self.expand,
        }

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Loss:
        """Read an entry's report. Raise KeyError or TypeError for anything else."""
        dropped = raw["dropped"]
        named = ("entry", "level", "distiller", "tokens_before", "tokens_after")
        values: list[Any] = [raw[name] for name in named]
        values += [dropped[name] for name in ("turns", "traces", "tool_results", "tokens")]
        values.append(tuple((each["trace"], each["tokens"]) for each in raw["shortened"]))
        kept = (Kept(each["what"], each["in"], each["out"], tuple(each["missing"])) for each in raw["kept"])
        values += [tuple(kept), tuple(raw["failures"])]
        return cls(*values)

    def __str__(self) -> str:
        return self.text

    @property
    def expand(self) -> str | None:
        return f"looseleaf expand {self.entry.rpartition('/')[2]}" if self.entry else None

    @property
    def text(self) -> str:
        """The report for people."""
        results = _plural(self.tool_results, "tool result")
        dropped = f"{_plural(self.turns, 'turn')}, {_plural(self.traces, 'trace')} ({results})"
        lines = [
            f"window: {self.tokens_before:,} → {self.tokens_after:,} tokens ({self.level}, {self.distiller})",
            f"dropped: {dropped}, {self.tokens_dropped:,} tokens",
        ]
        if self.shortened:
            tokens = sum(tokens for _, tokens in self.shortened)
            lines.append(
                f"shortened in place: {_plural(len(self.shortened), 'trace')}, {tokens:,} tokens left out"
            )
        lines += [f"{each.what}: {each.before} in, {each.after} out" for each in self.kept]
        lines += [f"  no longer mentioned: {text}" for each in self.kept for text in each.missing]
        lines += [f"failed: {failure}" for failure in self.failures]
        if self.expand:
            lines.append(f"everything is still there: {self.expand}")
        return "\n".join(lines)


def count_kept(what: str, before: Sequence[Noted], told: str) -> Kept:
    """Count the sentences whose words still stand in a text."""
    words = _pad_words(told)
    missing = tuple(each.text for each in before if _pad_words(guard(each.text)).strip() not in words)
    return Kept(what, len(before), len(before) - len(missing), missing)


def _plural(count: int, name: str) -> str:
    return f"{count:,} {name}{'s' * (count != 1)}"


def _pad_words(text: str) -> str:
    return f" {' '.join(text.casefold().split())} "


def merge_kept_lines(before: Sequence[str], *found: Distilled) -> tuple[str, ...]:
    """Return each thing once, as a labeled line in the order it was said: the lines kept so far, then new ones."""
    lines = list(before)
    for distilled in found:
        lines += [f"{label}: {' '.join(each.text.split())}" for label, each in _label_notes(distilled)]
    return tuple({_pad_words(line): line for line in lines}.values())


def sort_by_rank(lines: Sequence[str]) -> list[str]:
    """Sort lines, most important first; of equal rank, newest first."""

    ranks = {label: rank for rank, label in enumerate(_LABELS)}
    newest_first = lines[::-1]
    return sorted(newest_first, key=lambda line: ranks.get(line.partition(": ")[0], len(ranks)))


def keep_mentioned(found: Distilled, told: str) -> Distilled:
    """Return only the noted sentences whose words stand in a text."""
    words = _pad_words(told)

    def own(noted: tuple[Noted, ...]) -> tuple[Noted, ...]:
        return tuple(each for each in noted if _pad_words(guard(each.text)).strip() in words)

    kept: dict[str, Any] = {name: own(getattr(found, name)) for name in _LABELS.values()}
    return Distilled("", **kept)


def report_kept(
    found: Distilled,
    before: Sequence[str],
    told: str,
    is_outdated: Callable[[str], bool] = lambda line: False,
) -> list[Kept]:
    """Count per kind what is left after a compaction, except what was taken back meanwhile."""
    split = (line.partition(": ") for line in before)
    every = [*_label_notes(found), *((label, Noted(text, "")) for label, _, text in split)]
    noted: dict[str, dict[str, Noted]] = {label: {} for label in _REPORTED}
    for label, each in every:
        if label in noted and not is_outdated(each.text):
            noted[label][_pad_words(each.text)] = each
    return [count_kept(what, list(noted[label].values()), told) for label, what in _REPORTED.items()]


def _label_notes(distilled: Distilled) -> Iterator[tuple[str, Noted]]:
    for label, name in _LABELS.items():
        for each in getattr(distilled, name):
            yield label, each


POINTER_TOKENS = 64
"""The least that stays of a trace in place: where to find it, its length, and a few of its identifiers."""

_WORTH_SHORTENING = 2 * POINTER_TOKENS
"""A shorter tool result costs hardly more than the pointer to it."""

_KEPT_SHARE = 4
"""A tool result that becomes a pointer keeps this fraction of its length, for its identifiers."""


@frozen
class PlanItem:
    """One trace of the window, with what planning needs. `tokens` is its cost there now.

    `fixed` cannot be shortened (pictures), and counts only in a message of its own. `place` is where its line begins
    (segment and byte), `end` the byte where the next one does.
    """

    id: str
    turn_id: str
    trace_type: TraceType
    tool_call_id: str | None
    flag: Flag | None
    tokens: int
    fixed: int
    lines: int
    place: tuple[int, int]
    end: int
    ts: float


@frozen
class CompactPlan:
    """`gone` are distilled; `tail` is shown as text, `held` as messages; `short` limits traces to so many tokens."""

    gone: tuple[str, ...]
    tail: tuple[str, ...]
    held: tuple[str, ...]
    short: tuple[tuple[str, int], ...]
    fits: bool

    @property
    def is_empty(self) -> bool:
        return not self.gone and not self.short


class _Draft:
    """A plan being made: where each item is, and what the rest costs."""

    def __init__(self, items: Sequence[PlanItem]) -> None:
        self.items = {item.id: item for item in items}
        self.where: dict[str, str] = {}
        self.short: dict[str, int] = {}
        self.total = 0

    def cost(self, item_id: str) -> int:
        item, where = self.items[item_id], self.where[item_id]
        if where == "gone":
            return 0
        tokens = self.short.get(item_id, item.tokens)
        # As text, each line is indented and the trace has a label; as a message it has a role.
        if where == "tail":
            return tokens + 2 * item.lines * (item_id not in self.short) + 8
        return tokens + item.fixed + MESSAGE_TOKENS

    def put(self, item_id: str, where: str) -> None:
        before = self.cost(item_id) if item_id in self.where else 0
        self.where[item_id] = where
        self.total += self.cost(item_id) - before

    def shorten(self, item_id: str, tokens: int) -> None:
        before = self.cost(item_id)
        self.short[item_id] = tokens
        self.total += self.cost(item_id) - before

    def ids(self, where: str) -> tuple[str, ...]:
        return tuple(item_id for item_id in self.items if self.where[item_id] == where)


def plan(
    items: Sequence[PlanItem], *, current: str | None, tail_turns: int, target: int, room: int
) -> CompactPlan:
    """Plan so that the rest costs about `target` tokens, and never more than `room`."""
    draft = _Draft(items)
    turns = turns_of(items)  # type: ignore[arg-type]  # an item has the members that this reads
    past = [turn for turn in turns if turn.turn_id != current]
    blocks = {turn.turn_id: blocks_of(turn, is_current=turn.turn_id == current) for turn in turns}
    tail = [turn.turn_id for turn in past[max(len(past) - tail_turns, 0) :]] if tail_turns > 0 else []
    for turn in turns:
        for block in blocks[turn.turn_id]:
            if not block.settled or turn.turn_id == current:
                where = "held"
            else:
                where = "tail" if turn.turn_id in tail else "gone"
            for each in block.traces:
                draft.put(each.id, where)
    for turn_id in tail:
        _shorten_results(draft, blocks[turn_id], target)
    for turn_id in tail:
        _distill(draft, [block for block in blocks[turn_id] if block.settled], target)
    if current is not None:
        used = _find_used(blocks.get(current, []), items)
        _shorten_results(draft, used, target)
        for block in used:
            _distill(draft, [block], target)
    if draft.total > room:
        _level_lengths(draft, room)
        for block in blocks.get(current or "", []):
            if block.settled:
                _distill(draft, [block], room)
    return CompactPlan(
        draft.ids("gone"),
        draft.ids("tail"),
        draft.ids("held"),
        tuple((item_id, tokens) for item_id, tokens in draft.short.items() if draft.where[item_id] != "gone"),
        draft.total <= room,
    )


def _shorten_results(draft: _Draft, blocks: Iterable[Block], target: int) -> None:
    """Turn tool results into pointers."""
    for block in blocks:
        for each in block.traces:
            if draft.total <= target:
                return
            tokens = draft.items[each.id].tokens
            if each.trace_type == "tool_result" and tokens > _WORTH_SHORTENING:
                draft.shorten(each.id, max(POINTER_TOKENS, tokens // _KEPT_SHARE))


def _distill(draft: _Draft, blocks: Sequence[Block], target: int) -> None:
    """Distill a whole turn, or keep it."""
    if draft.total > target:
        for block in blocks:
            for each in block.traces:
                draft.put(each.id, "gone")


def _find_used(blocks: Iterable[Block], items: Sequence[PlanItem]) -> list[Block]:
    """Return the settled blocks of the current turn that the model went on from. It has not seen the last yet."""
    order = {item.id: number for number, item in enumerate(items)}
    asked = [order[item.id] for item in items if item.trace_type in ("assistant", "tool_call")]
    last = max(asked, default=-1)
    settled = [block for block in blocks if block.settled]
    return [block for block in settled if all(order[each.id] < last for each in block.traces)]


def _level_lengths(draft: _Draft, room: int) -> None:
    """Shorten the longest items to one common length, so that all fit."""
    left = [item_id for item_id in draft.items if draft.where[item_id] != "gone"]
    longest = max((draft.items[item_id].tokens for item_id in left), default=0)

    def size(item_id: str) -> int:
        return draft.short.get(item_id, draft.items[item_id].tokens)

    def total(level: int) -> int:
        return draft.total - sum(max(0, size(item_id) - level) for item_id in left)

    level = POINTER_TOKENS + bisect_right(range(POINTER_TOKENS + 1, longest + 1), room, key=total)
    for item_id in left:
        if size(item_id) > level:
            draft.shorten(item_id, level)
