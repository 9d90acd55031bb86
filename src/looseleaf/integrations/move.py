"""Moving pages as a model may: one appears, then the other goes, and both are journaled.

Invariant: a page that is moved is there under one name or under both, at every moment. What a person or the user put on
it keeps it where it is; and it goes nowhere where one of its lines might not stand.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.base.page_paths import why_sealed
from looseleaf.pages.grammar import topic_of
from looseleaf.place.guard_rules import sentences_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from looseleaf.base.values import Receipt, Record
    from looseleaf.memory import Memory

_REASON = "memory tool: rename"


@frozen
class _Move:
    old: str
    new: str
    base: str | None
    text: str
    summary: str | None


def move_all(memory: Memory, moves: Iterable[tuple[str, str]], old: str, new: str) -> tuple[Receipt, ...]:
    """Move pages; `old` and `new` are what they are called. All of them are looked at before the first is moved."""
    try:
        planned = [_looked_at(memory, *move) for move in moves]
    except Refused as error:
        raise Refused(f"{old} was not renamed. {error}") from error
    receipts: list[Receipt] = []
    for move in planned:
        try:
            receipts += _moved(memory, move)
        except Stale as error:
            why = "already exists" if error.path == move.new else "was changed meanwhile"
            name = new if error.path == move.new else old
            raise Refused(f"{_so_far(old, receipts)}: {name} {why}. View both, and repeat.") from error
        except Refused as error:
            raise Refused(f"{_so_far(old, receipts)}. {error}") from error
    return tuple(receipts)


def _so_far(old: str, receipts: list[Receipt]) -> str:
    done = len(receipts) // 2
    return f"{old} was not renamed" + (f", but {done} of its files were" if done else "")


def _looked_at(memory: Memory, old: str, new: str) -> _Move:
    """What is to be moved, if it may be: nothing has changed yet, and nobody was asked."""
    for path in (old, new):
        why = why_sealed(path)
        if why is not None:
            raise Refused(f"{path} was not changed: {why}.")
    page = memory.page(old)
    try:
        text = page.data.decode()
    except UnicodeDecodeError:
        raise Refused(f"{old} is not UTF-8 text. Save it as UTF-8 with an editor, and repeat.") from None
    # The summary, which the guard keeps off a page that is a model's, moves along by a way of its own.
    lines = zip(page.parsed.lines, page.parsed.roles, strict=True)
    body = text if page.summary is None else "".join(line for line, role in lines if role != "summary")
    guard, author = memory._guard(), f"agent:{memory.agent}"
    guard.look(old, author, text, None)
    made, told = guard.look(new, author, None, body)
    _refuse_held(
        new, [each.removeprefix("waits in review: ") for each in sentences_of(made)]
    )  # nobody is asked
    _refuse_forgetting_who_said_it(memory, old, told)
    return _Move(old, new, page.sha256, body, page.summary)


def _refuse_forgetting_who_said_it(memory: Memory, old: str, told: Iterable[Record]) -> None:
    """On its new page a line is the model's, unless the user said it in this session."""
    again = {(fact["relation"], fact["object"]) for fact in told}
    for fact in memory.facts(topic=topic_of(old)):
        if fact.path == old and is_trusted(fact.level) and (fact.relation, fact.object) not in again:
            raise Refused(
                f"The user said “{fact.relation}: {fact.object}” there, and it would count as yours. "
                "Leave it where it is, or propose that to the user."
            )


def _refuse_held(new: str, held: Collection[str]) -> None:
    if held:
        raise Refused(
            f"Not all of it may stand on {new}: {'; '.join(held)}. Leave it where it is, or ask the user."
        )


def _moved(memory: Memory, move: _Move) -> tuple[Receipt, Receipt]:
    came = memory.propose(move.new, move.text, base=None, reason=_REASON, summary=move.summary)
    try:
        _refuse_held(move.new, came.held)  # a tool may have spoken since it was looked at
        return came, memory.propose(move.old, None, base=move.base, reason=_REASON)
    except Refused as error:
        _take_back(memory, move, came, error)
        raise


def _take_back(memory: Memory, move: _Move, came: Receipt, error: Refused) -> None:
    """The page under its new name goes again, unless somebody has written on it by now."""
    if came.new is None:
        return
    try:
        memory.propose(move.new, None, base=came.new, reason=f"{_REASON}, taken back")
    except Refused as refused:
        raise Refused(
            f"{move.old} stands as it was, and {move.new} beside it: {error} {refused} Delete one of them."
        ) from error
