"""Fit the prompt's slots into a budget, by counting (seed 000).

If there is not enough room, slots give way in turn: the state becomes TOON (if that is smaller), secondary essentials
go, episodes become summaries, the index names, the profile its best facts. After that the caller compacts the window.
If that is still too much, each slot keeps its best pieces, at least one; then the last ones are shortened; only then
do whole slots go. The charter and the task are never cut.
"""

from __future__ import annotations

from itertools import pairwise

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Message, ToolResultPayload
from looseleaf.log.turns import MESSAGE_TOKENS, guard, texts_of
from looseleaf.prompt.manifest import ManifestItem, Omitted
from looseleaf.prompt.slot_forms import OVER, SHOWN, TYPES, SlotForm, SlotPiece
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Record
    from looseleaf.prompt.manifest import Slot
    from looseleaf.prompt.slot_forms import SlotText
    from looseleaf.window.window import Window

    Count = Callable[[Sequence[str]], list[int]]


STEPS: tuple[Slot, ...] = ("state", "essentials", "episodes", "index")
"""Slots that take their second form, in this order; after them the profile gives up facts."""

SQUEEZED: tuple[Slot, ...] = ("index", "episodes", "essentials", "state")
"""Slots that keep fewer pieces, in this order, once the profile has one left."""

DROPPED: tuple[Slot, ...] = ("episodes", "index", "essentials", "state", "profile")
"""Slots that go, in this order, if one shortened piece of each is too much."""

_LEAST = 24
"""Fewest characters of a last piece before its slot goes: less says nothing."""

_GAP = "\n\n"


def find_largest(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number in a range that fits, if every smaller one fits too; `least` is assumed to fit."""
    low, high = least, max(least, most)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


class _SlotCut:
    """How one slot is shown: its form, how many pieces, and their longest length."""

    def __init__(self, shown: SlotText) -> None:
        self.shown = shown
        self.form = shown.forms[0]
        self.left: list[Omitted] = list(shown.omitted)
        self.kept: int | None = None
        self.longest: int | None = None

    @property
    def name(self) -> str:
        return f"{self.shown.layer}:{self.shown.slot}" if self.shown.layer else self.shown.slot

    def to_form(self, form: SlotForm) -> bool:
        """Take a form; return whether that is another one."""
        if form is self.form:
            return False
        self.left += form.left
        self.form = form
        return True

    def pieces(self) -> list[SlotPiece]:
        found = self.form.pieces
        if self.kept is None:
            return list(found)
        best = sorted(range(len(found)), key=lambda at: found[at].rank)[: self.kept]
        return [found[at] for at in sorted(best)]

    def text(self) -> str:
        pieces = self.pieces()
        if self.longest is not None:
            pieces = [_shorten_piece(each, self.longest) for each in pieces]
        return f"{self.shown.heading}\n{self.form.text(pieces)}"

    def omitted(self) -> Iterator[Omitted]:
        yield from self.left
        shown = {each.id for each in self.pieces()}
        gone = tuple(each.id for each in self.form.pieces if each.id not in shown)
        if gone:
            yield Omitted(self.shown.id, self.shown.slot, OVER, gone)
        if self.is_shortened:
            yield Omitted(f"the end of {self.shown.id}", self.shown.slot, OVER)

    @property
    def is_shortened(self) -> bool:
        return self.longest is not None and any(len(each.text) > self.longest for each in self.pieces())


def _shorten_piece(piece: SlotPiece, longest: int) -> SlotPiece:
    def short(text: str) -> str:
        return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"

    return SlotPiece(piece.id, short(piece.text), piece.rank, short(piece.group))


@frozen
class Fitted:
    """The memory's message, its items (without their message), and what it leaves out. `steps`: the slots that gave
    way, in order; `is_squeezed`: more gave way than should before the window is compacted."""

    text: str
    tokens: int
    items: tuple[ManifestItem, ...]
    omitted: tuple[Omitted, ...]
    steps: tuple[str, ...]
    is_squeezed: bool


def fit(slots: Sequence[SlotText], limit: int, count: Count, message: int = 1) -> Fitted:
    """Fit the memory's message into `limit` counted tokens; empty if there is no room at all. `message` is its number
    in the prompt."""
    return _Fitting(slots, limit, count, message).run()


class _Fitting:
    def __init__(self, slots: Sequence[SlotText], limit: int, count: Count, message: int) -> None:
        self._cuts = {(shown.slot, shown.layer): _SlotCut(shown) for shown in slots if shown.forms}
        self._limit = limit
        self._count = count
        self._message = message
        self._gone = [each for shown in slots if not shown.forms for each in shown.omitted]
        self._steps: list[str] = []
        self._squeezed = False

    def run(self) -> Fitted:
        for step in (self._take_smaller_forms, self._cut_profile, self._squeeze, self._shorten):
            if self._fits():
                break
            step()
        return self._build_result()

    def _cuts_of(self, *slots: Slot) -> list[_SlotCut]:
        """Return how these slots are shown, in this order; of each the farthest layer first: it gives way first."""
        return [cut for slot in slots for (name, _), cut in reversed(self._cuts.items()) if name == slot]

    def _join_text(self) -> str:
        return _GAP.join(cut.text() for cut in self._cuts.values())

    def _count_text(self, text: str) -> int:
        return MESSAGE_TOKENS + self._count([text])[0] if text else 0

    def _fits(self) -> bool:
        # Skip counting a text that is longer than almost any text of so many tokens.
        text = self._join_text()
        return len(text) <= self._limit * 64 + 64 and self._count_text(text) <= self._limit

    def _correct_reason(self, omitted: Omitted) -> Iterator[Omitted]:
        """Correct a reason: a cut profile no longer says what was left out because of it."""
        if omitted.reason != SHOWN or omitted.slot != "essentials":
            yield omitted
            return
        profile = self._cuts.get(("profile", ""))
        gone = omitted.of if profile is None else ()
        if profile is not None and profile.form is not profile.shown.forms[0]:
            kept = {piece.id for piece in profile.pieces()}
            lines = {piece.id for piece in profile.shown.forms[-1].pieces}
            gone = tuple(each for each in omitted.of if each in lines and each not in kept)
        said = tuple(each for each in omitted.of if each not in gone)
        for reason, of in ((SHOWN, said), (OVER, gone)):
            if of:
                yield Omitted(omitted.id, omitted.slot, reason, of)

    def _take_smaller_forms(self) -> None:
        for cut in self._cuts_of(*STEPS):
            form = self._find_smaller(cut)
            if form is not None:
                cut.to_form(form)
                self._steps.append(f"{cut.name}: {form.format}")
                if self._fits():
                    return

    def _find_smaller(self, cut: _SlotCut) -> SlotForm | None:
        """Return a slot's second form; for the state TOON, and only if it counts smaller."""
        second = next(iter(cut.shown.forms[1:2]), None)
        if second is None or cut.shown.slot != "state":
            return second
        if second.format != "toon":
            return None
        json, toon = self._count([cut.form.text(cut.form.pieces), second.text(second.pieces)])
        return second if toon < json else None

    def _cut_profile(self) -> None:
        for cut in self._cuts_of("profile"):
            form = cut.shown.forms[-1]
            if cut.to_form(form):
                self._steps.append(f"{cut.name}: {form.format}")
            self._keep_best(cut)
            is_less = cut.is_shortened or (cut.kept or len(form.pieces)) < len(form.pieces)
            if is_less and form is cut.shown.forms[0]:
                self._steps.append(f"{cut.name}: shortened")
            if self._fits():
                break

    def _squeeze(self) -> None:
        self._squeezed = True
        for cut in self._cuts_of(*SQUEEZED):
            cut.to_form(cut.shown.forms[-1])
            self._keep_best(cut)
            if self._fits():
                break
        # The last one may have given up more than needed: others get that back.
        for cut in reversed(self._cuts_of(*SQUEEZED, "profile")):
            if cut.kept is not None and self._fits():
                self._keep_best(cut)
        for cut in self._cuts_of("profile", *SQUEEZED):
            if cut.kept is not None:
                self._steps.append(f"{cut.name}: {cut.kept} left")

    def _keep_best(self, cut: _SlotCut) -> None:
        """Keep as many of the best pieces as fit, at least one. Shorten a piece that takes more than a quarter of the
        room, so that it does not crowd out the others; a single piece gets all the room."""
        if len(cut.form.pieces) == 1:
            most = len(cut.form.pieces[0].text)
            self._apply_largest(min(_LEAST, most), most, lambda longest: setattr(cut, "longest", longest))
            return
        cut.longest = max(_LEAST, self._limit)
        cut.kept = self._apply_largest(1, len(cut.form.pieces), lambda kept: setattr(cut, "kept", kept))

    def _shorten(self) -> None:
        """Show one piece of each slot, as long as fits; drop slots until it does."""
        self._squeezed = True
        for cut in self._cuts.values():
            cut.to_form(cut.shown.forms[-1])
            cut.kept = 1

        def shorten(longest: int) -> None:
            for cut in self._cuts.values():
                cut.longest = longest

        for last in (None, *self._cuts_of(*DROPPED)):
            if last is not None:
                gone = self._cuts.pop((last.shown.slot, last.shown.layer)).shown
                of = tuple(piece.id for piece in gone.forms[0].pieces)
                self._gone += [*gone.omitted, Omitted(gone.id, gone.slot, OVER, of)]
                self._steps.append(f"{last.name}: dropped")
            self._apply_largest(_LEAST, max(_LEAST, 4 * self._limit), shorten)
            if self._fits():
                return

    def _apply_largest(self, least: int, most: int, use: Callable[[int], None]) -> int:
        """Apply and return the largest number in a range that fits, else the smallest."""

        def fits(number: int) -> bool:
            use(number)
            return self._fits()

        found = find_largest(least, most, fits)
        use(found)
        return found

    def _build_result(self) -> Fitted:
        text = self._join_text()
        if not self._fits():  # not even the headings: no room for memory at all
            for cut in self._cuts.values():
                self._gone.append(Omitted(cut.shown.id, cut.shown.slot, OVER))
            self._cuts, text = {}, ""
        ends: list[int] = []
        for cut in self._cuts.values():
            ends.append((ends[-1] + len(_GAP) if ends else 0) + len(cut.text()))
        # A part's cost is what it adds to the text: so the parts add up to the whole.
        upto = [0, *(self._count_text(text[:end]) for end in ends)]
        start, at = 0, self._message
        items: list[ManifestItem] = []
        for number, (cut, end) in enumerate(zip(self._cuts.values(), ends, strict=True)):
            shown = cut.shown
            whole = (shown.of,) if shown.of else tuple(piece.id for piece in cut.pieces())
            kind, form, cost = (
                TYPES.get(shown.slot, shown.slot),
                cut.form.format,
                upto[number + 1] - upto[number],
            )
            items.append(
                ManifestItem(
                    *(shown.id, shown.slot, kind, form, cost, shown.reason, at, at + 1, start, end, whole),
                    layer=shown.layer,
                )
            )
            start = end
        omitted = [*self._gone, *(each for cut in self._cuts.values() for each in cut.omitted())]
        omitted = [each for found in omitted for each in self._correct_reason(found)]
        return Fitted(text, upto[-1], tuple(items), tuple(omitted), tuple(self._steps), self._squeezed)


# --- trimming a window that is not compacted ---------------------------------------------


_LEAST_TRIMMED = 8
"""Fewest characters worth showing."""

_CALL_TOKENS = 16
"""Rough cost of a call's name and id; counted exactly afterwards."""


def trim_window(
    window: Window, asked_at: int | None, room: int, count: Count, sums: Sequence[int] | None = None
) -> tuple[Record | None, int]:
    """Return which messages to show, and what they cost beside the task: the last whole turns that fit; else the task
    alone (never cut), or the end of the last message. None: show all. `sums`: the window's weights, if known."""
    messages = window.messages
    costs = (
        costs_of(messages, count) if sums is None else [after - before for before, after in pairwise(sums)]
    )
    own = costs[asked_at] if asked_at is not None else 0
    total = sum(costs)
    if total - own <= room:
        return None, total - own
    last_start = len(messages) if asked_at is None else asked_at
    left = total - own - sum(costs[: window.begins])
    for first in range(window.begins, min(last_start + 1, len(messages))):
        if left <= room and messages[first].role == "user":
            return {"first": first, "end": len(messages)}, left
        left -= costs[first]
    if asked_at is not None:
        alone: Record = {"first": asked_at, "end": asked_at + 1}
        return _shorten_message(messages, costs, asked_at, room, count) or (alone, 0)
    last = messages[-1]
    # Not the end of a snapshot: its fences would close without opening.
    if last.content and last.tool_payload is None and len(messages) > window.begins:
        text = _cut_end(last.content, room - MESSAGE_TOKENS, count)
        if len(text) >= _LEAST_TRIMMED:
            cost = costs_of([Message(last.role, text)], count)[0]
            return {"first": len(messages) - 1, "end": len(messages), "text": text}, cost
    return {"first": len(messages), "end": len(messages)}, 0


def _shorten_message(
    messages: Sequence[Message], costs: Sequence[int], asked_at: int, room: int, count: Count
) -> tuple[Record, int] | None:
    """Return the current turn with its tool results shortened; None if nothing useful would be left."""
    turn = range(asked_at + 1, len(messages))
    results = [at for at in turn if isinstance(messages[at].tool_payload, ToolResultPayload)]
    each = (room - sum(costs[at] for at in turn if at not in results)) // max(1, len(results))
    short: dict[str, str] = {}
    total = sum(costs[at] for at in turn)
    for at in results:
        if costs[at] > each:
            text = list(texts_of(messages[at]))[-1]
            made = replace_result(messages[at], _cut_beginning(text, each - 2 * _CALL_TOKENS, count))
            if made is None:
                return None
            short[str(at)] = made.tool_payload.tool_result  # type: ignore[union-attr]
            total += costs_of([made], count)[0] - costs[at]
    if not short or total > room:
        return None
    return {"first": asked_at, "end": len(messages), "short": short}, total


def replace_result(message: Message, text: str) -> Message | None:
    """Return a tool message with this text as its result; None without a text."""
    payload = message.tool_payload
    if not text or not isinstance(payload, ToolResultPayload):
        return None
    result = ToolResultPayload(payload.tool_call_id, payload.tool_name, text)
    return Message("tool", None, tool_payload=result)


def _cut_beginning(text: str, tokens: int, count: Count) -> str:
    """Return as much of the beginning of a text as so many tokens hold."""
    size = find_largest(0, _guess_length(text, tokens), lambda size: count([f"{text[:size]}…"])[0] <= tokens)
    return f"{text[:size]}…" if size >= _LEAST_TRIMMED else ""


def _cut_end(text: str, tokens: int, count: Count) -> str:
    """Return as much of the end of a text as so many tokens hold."""

    def end(size: int) -> str:
        # Guarded again: the cut may separate a heading from its backslash.
        return guard(f"…{text[-size:]}")

    size = find_largest(0, _guess_length(text, tokens), lambda size: count([end(size)])[0] <= tokens)
    return end(size) if size else ""


def _guess_length(text: str, tokens: int) -> int:
    """Return the most characters that so many tokens nearly always hold: where the search begins."""
    return min(len(text), max(0, tokens) * 16)
