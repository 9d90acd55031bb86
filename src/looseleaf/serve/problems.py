"""Refusals as answers: RFC 9457 for programs. Each kind of `Refused` has a type, and its sentence is the detail."""

from __future__ import annotations

from starlette.responses import JSONResponse

from looseleaf.base.errors import (
    BudgetTooSmall,
    Busy,
    Cancelled,
    Displaced,
    Invalid,
    ModelFailed,
    NotFound,
    Outdated,
    PromptTooLong,
    Refused,
    SpendingLimit,
    Stale,
    Unreachable,
    Unreadable,
    Unwritten,
)
from looseleaf.memory.thread import Failed
from looseleaf.serve.once import GoneSince, KeyUsed
from looseleaf.serve.pool import Taken
from looseleaf.serve.serving import TooMany

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

MEDIA = "application/problem+json"


class NoToken(Refused):
    """A request without a token that may come in."""


class NotAllowed(Refused):
    """Something that a token may not do."""


class NoCondition(Refused):
    """A change without the hash of what was read."""


_KINDS: tuple[tuple[type[Refused], int, str], ...] = (  # the first that fits: subclasses before their bases
    (NoToken, 401, "no-token"),
    (NotAllowed, 403, "not-allowed"),
    (NoCondition, 428, "no-condition"),
    (Taken, 409, "taken"),
    (KeyUsed, 422, "key-used"),
    (GoneSince, 409, "gone-since"),
    (TooMany, 429, "too-many"),
    (SpendingLimit, 429, "spending-limit"),
    (BudgetTooSmall, 422, "budget-too-small"),
    (Invalid, 422, "invalid"),
    (NotFound, 404, "not-found"),
    (Stale, 412, "stale"),
    (Busy, 503, "busy"),
    (PromptTooLong, 502, "prompt-too-long"),
    (Cancelled, 503, "cancelled"),
    (ModelFailed, 502, "model-failed"),
    (Outdated, 409, "outdated"),
    (Displaced, 503, "displaced"),
    (Unwritten, 507, "unwritten"),
    (Unreachable, 503, "unreachable"),
    (Unreadable, 500, "unreadable"),
    (Failed, 500, "failed"),
    (Refused, 409, "refused"),
)


def status_of(refused: Refused) -> tuple[int, str]:
    """Return the status of an answer that refuses, and its type."""
    return next((status, kind) for each, status, kind in _KINDS if isinstance(refused, each))


def problem(refused: Refused, **more: Any) -> dict[str, Any]:
    """Return the body of an answer that refuses."""
    status, kind = status_of(refused)
    told: dict[str, Any] = {"type": f"/problems/{kind}", "status": status, "detail": str(refused)}
    if isinstance(refused, Stale):
        told["current"] = refused.current
    if isinstance(refused, BudgetTooSmall):
        told["needed"] = refused.needed
    return told | more


def wait_for(refused: Refused) -> dict[str, str]:
    """Return the header that says when to ask again, where that helps."""
    if status_of(refused)[0] not in (429, 503):
        return {}
    seconds = (
        refused.seconds
        if isinstance(refused, TooMany)
        else _AWAY
        if isinstance(refused, Unreachable)
        else 1.0
    )
    return {"retry-after": str(max(1, round(seconds)))}


_AWAY = 2.0
"""Seconds after which a database may be back."""


def refused_answer(refused: Refused) -> Response:
    """Return the answer of the API to what was refused."""
    told = problem(refused)
    headers = wait_for(refused)
    if isinstance(refused, NoToken):
        headers["www-authenticate"] = 'Bearer realm="looseleaf"'
    return problem_answer(told, headers)


def problem_answer(told: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """Return an answer of the API with the body of a problem."""
    return JSONResponse(told, told["status"], headers, MEDIA)
