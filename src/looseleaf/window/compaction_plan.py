"""Planning a compaction: which blocks leave the window, which are shortened in place, and what that costs.

The order of giving things up, each step only as far as it is needed (but the first, which is what a compaction is):

1. whole turns before the tail are distilled;
2. tool results within the tail become pointers, the oldest first;
3. turns of the tail are distilled, the oldest first;
4. within the current turn, tool results the model has already answered to become pointers, and then their blocks are
   distilled, the oldest first;
5. whatever is still there is shortened in place, the longest first, until it fits.

6. if not even that is enough, what the model has not seen yet is distilled too, the oldest first.

An open tool call is never distilled, nor is the message of the current turn.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.log.trace_messages import MESSAGE_TOKENS
from looseleaf.log.turns import blocks_of, turns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.messages import Block, Flag, TraceType

POINTER_TOKENS = 64
"""The least that is left of a trace in place: where to find it, how long it is, and a few of its identifiers."""

_WORTH_SHORTENING = 2 * POINTER_TOKENS
"""A tool result shorter than this costs hardly more than the pointer to it."""

_KEPT_SHARE = 4
"""A tool result that becomes a pointer keeps this part of its length, for its identifiers."""


@frozen
class Item:
    """One trace of the window, as far as planning needs to know it. `tokens` is what it costs there now.

    `fixed` is what cannot be shortened (pictures), and is told only in a message of its own. `place` is where its
    line begins: segment and byte; `end` is the byte at which the next one does.
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
class Plan:
    """`gone` are distilled; `tail` is shown as text, `held` as messages; `short` to that many tokens each."""

    gone: tuple[str, ...]
    tail: tuple[str, ...]
    held: tuple[str, ...]
    short: tuple[tuple[str, int], ...]
    fits: bool

    @property
    def is_empty(self) -> bool:
        return not self.gone and not self.short


class _Draft:
    """A plan in the making: where each item is, and what all that stays costs."""

    def __init__(self, items: Sequence[Item]) -> None:
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


def plan(items: Sequence[Item], *, current: str | None, tail_turns: int, target: int, room: int) -> Plan:
    """What to do so that what stays costs about `target` tokens, and never more than `room`."""
    draft = _Draft(items)
    turns = turns_of(items)  # type: ignore[arg-type]  # an item has all that a trace is asked for here
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
        _point(draft, blocks[turn_id], target)
    for turn_id in tail:
        _distill(draft, [block for block in blocks[turn_id] if block.settled], target)
    if current is not None:
        used = _used(blocks.get(current, []), items)
        _point(draft, used, target)
        _distill_one_by_one(draft, used, target)
    if draft.total > room:
        _level(draft, room)
        unseen = [block for block in blocks.get(current or "", []) if block.settled]
        _distill_one_by_one(draft, unseen, room)
    return Plan(
        draft.ids("gone"),
        draft.ids("tail"),
        draft.ids("held"),
        tuple((item_id, tokens) for item_id, tokens in draft.short.items() if draft.where[item_id] != "gone"),
        draft.total <= room,
    )


def _point(draft: _Draft, blocks: Iterable[Block], target: int) -> None:
    """Tool results become pointers."""
    for block in blocks:
        for each in block.traces:
            if draft.total <= target:
                return
            tokens = draft.items[each.id].tokens
            if each.trace_type == "tool_result" and tokens > _WORTH_SHORTENING:
                draft.shorten(each.id, max(POINTER_TOKENS, tokens // _KEPT_SHARE))


def _distill(draft: _Draft, blocks: Sequence[Block], target: int) -> None:
    """A whole turn goes, or stays."""
    if draft.total > target:
        for block in blocks:
            for each in block.traces:
                draft.put(each.id, "gone")


def _distill_one_by_one(draft: _Draft, blocks: Iterable[Block], target: int) -> None:
    for block in blocks:
        _distill(draft, [block], target)


def _used(blocks: Iterable[Block], items: Sequence[Item]) -> list[Block]:
    """The settled blocks of the current turn that the model has gone on from. What came last it has not seen yet."""
    order = {item.id: number for number, item in enumerate(items)}
    asked = [order[item.id] for item in items if item.trace_type in ("assistant", "tool_call")]
    last = max(asked, default=-1)
    settled = [block for block in blocks if block.settled]
    return [block for block in settled if all(order[each.id] < last for each in block.traces)]


def _level(draft: _Draft, room: int) -> None:
    """Shorten the longest until all fits: as if water were let out to one level."""
    left = [item_id for item_id in draft.items if draft.where[item_id] != "gone"]
    low, high = POINTER_TOKENS, max((draft.items[item_id].tokens for item_id in left), default=0)

    def total(level: int) -> int:
        return draft.total - sum(
            max(0, draft.short.get(item_id, draft.items[item_id].tokens) - level) for item_id in left
        )

    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if total(middle) <= room else (low, middle - 1)
    for item_id in left:
        if draft.short.get(item_id, draft.items[item_id].tokens) > low:
            draft.shorten(item_id, low)
