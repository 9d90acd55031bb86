"""Who asks: a program by its token, a person by the cookie of a visit. A token opens no page, a cookie no API."""

from __future__ import annotations

import hashlib
import hmac

from looseleaf.base.errors import Refused
from looseleaf.serve.access import PERSON, VISIT_SECONDS
from looseleaf.serve.problems import NoToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.serve.access import Token
    from looseleaf.serve.serving import Serving


NOBODY = "nobody"
"""Whoever asks without a token: all such requests are counted together."""


async def token_in(serving: Serving, request: Request) -> Token:
    """Return the token that a request shows, and count the request; refuse one without."""
    token = _token_of(serving, request)
    if token is None:
        serving.limits.take(NOBODY)
        await serving.access.look_again()
        token = _token_of(serving, request)
    if token is None:
        raise NoToken(
            "Nothing was done: the token is missing, wrong or has ended. Send `Authorization: Bearer <token>`; "
            "`looseleaf token new` makes one."
        )
    request.state.token = token
    serving.limits.take(token.id)
    return token


def _token_of(serving: Serving, request: Request) -> Token | None:
    given = request.headers.getlist("authorization")
    scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return serving.access.token_of(secret.strip()) if scheme.lower() == "bearer" else None


def is_still_let_in(serving: Serving, request: Request) -> bool:
    """True while a request that was let in, and is still being answered, would be let in again."""
    try:
        if request.state.token is PERSON:
            return bool(visit_of(serving, request))
        found = _token_of(serving, request)
        name = request.path_params.get("memory", "")
        return found is not None and found.at(name) == request.state.token
    except Refused:
        return False


def cookie_name(serving: Serving) -> str:
    # The prefix makes browsers refuse such a cookie from other hosts below ours, and over plain HTTP.
    return "__Host-looseleaf" if serving.is_https else "looseleaf"


def visit_of(serving: Serving, request: Request) -> str:
    """Return the secret of the visit of a person who signed in; "" for nobody."""
    visit = request.cookies.get(cookie_name(serving), "")
    return visit if visit and serving.access.is_visit(visit) else ""


async def find_visit(serving: Serving, request: Request) -> str:
    """Return the same, also of a visit that another server has just begun."""
    visit = visit_of(serving, request)
    if not visit and serving.access.state.is_shared and request.cookies.get(cookie_name(serving)):
        serving.limits.take(NOBODY)
        await serving.access.look_again()
        visit = visit_of(serving, request)
    return visit


def form_token(visit: str) -> str:
    """Return what each form of a visit carries, and no other page can know."""
    return hmac.new(visit.encode(), b"form", hashlib.sha256).hexdigest()


def begin_visit(serving: Serving, answer: Response, visit: str) -> None:
    """Set the cookie of a visit."""
    answer.set_cookie(
        cookie_name(serving),
        visit,
        max_age=int(VISIT_SECONDS),
        path="/",
        secure=serving.is_https,
        httponly=True,
        samesite="strict",
    )


def end_visit(serving: Serving, answer: Response) -> None:
    answer.delete_cookie(
        cookie_name(serving), path="/", secure=serving.is_https, httponly=True, samesite="strict"
    )
