"""What a screen asks of its memory, in the memory's own thread, as a person."""

from __future__ import annotations

from looseleaf.base.ids import new_id
from looseleaf.serve.access import PERSON
from looseleaf.serve.web.naming import naming_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.memory import Memory

    _T = TypeVar("_T")

    Answer = Callable[[Request], Awaitable[Response]]
    Screen = tuple[str, list[str], Answer]
    """A path below a memory's address, its methods, and the function that answers."""


async def ask(request: Request, act: Callable[[Memory], _T]) -> _T:
    """Run `act` on the memory of an address. All of a screen is read in one `act`: nothing changes in between. How many
    facts wait in review is read with it, as the navigation tells it on every screen, and what people are called there.
    What is written from here on is news; and a note that quotes the memory is of its edition now."""
    request.state.since = new_id()

    def act_and_count(memory: Memory) -> tuple[_T, int]:
        request.state.edition = edition_of(memory)
        request.state.naming = naming_of(memory)
        return act(memory), len(memory.review.pending())

    serving = request.app.state.serving
    person = serving.access.person_of(request.state.visit)
    found, request.state.waiting = await serving.ask(
        request.state.memory, act_and_count, token=PERSON.but(person=person)
    )
    return found  # type: ignore[no-any-return]


def edition_of(memory: Memory) -> object:
    """Return a value that changes with each forget in the memory, or in one under it."""
    farther = memory.parts.farther(lambda far: far.context.store.edition())
    return memory.where, memory.parts.context.store.edition(), tuple(farther)
