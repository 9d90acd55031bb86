"""The addresses of the page. Every one needs a visit, except for signing in and our own files."""

from __future__ import annotations

import asyncio
import re
from functools import wraps

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from looseleaf.base.errors import Refused
from looseleaf.serve.access import PERSON
from looseleaf.serve.metrics import route_of
from looseleaf.serve.pool import in_address, name_in
from looseleaf.serve.problems import status_of, wait_for
from looseleaf.serve.rest.gate import Quiet
from looseleaf.serve.sign import NOBODY, begin_visit, end_visit, find_visit
from looseleaf.serve.walls import TooLarge
from looseleaf.serve.web.forms import Note, done, read_form, typed_in
from looseleaf.serve.web.render import HERE, LOOK, THEMES, Look, page, static_address
from looseleaf.serve.web.screens import (
    costs,
    forget,
    health,
    known,
    pages,
    prompt,
    review,
    search,
    settings,
    talk,
    today,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from looseleaf.serve.serving import Serving
    from looseleaf.serve.web.ask import Answer

SCREENS = (today, known, review, search, talk, prompt, forget, pages, costs, health, settings, words)
"""The modules of the screens. Each has `ROUTES`: paths below a memory's address, with their methods and functions."""
_OWN_PATH = re.compile(r"/m/[A-Za-z0-9][A-Za-z0-9._~:%-]{0,599}/[a-z]*(?:#[a-z]+)?")
_YEAR = 365 * 86_400
_UNSEEN = ("token", "back", "after", "note")
"""Fields that nobody typed."""
_SIGNED_OUT = (
    "Nothing was done: you are signed out. What you typed is below: copy it, sign in, and send it again."
)
_FILES = {"looseleaf.css": "text/css", "looseleaf.js": "text/javascript", "icon.svg": "image/svg+xml"}


def routes(serving: Serving) -> list[Route]:
    """Return the routes of the page."""
    found = [
        Route("/", signed_in(serving, _home), methods=["GET"]),
        Route("/login/{code}", _Login(serving), methods=["GET", "POST"]),
        Route("/signed-out", _signed_out, methods=["GET"]),
        Route("/sign-out", signed_in(serving, _make_sign_out(serving)), methods=["POST"]),
        Route("/look", signed_in(serving, _keep_look), methods=["POST"]),
        Route("/static/{hash}/{file}", _static, methods=["GET"]),
    ]
    for screen in SCREENS:
        for path, methods, answer in screen.ROUTES:
            found.append(Route(f"/m/{{name}}{path}", signed_in(serving, answer), methods=methods))
    return [*found, Route("/m/{name}/{rest:path}", signed_in(serving, _nowhere), methods=["GET"])]


def signed_in(serving: Serving, answer: Answer) -> Answer:
    """Return the same for a person who signed in; others are told how to."""

    @wraps(answer)
    async def checked(request: Request) -> Response:
        visit = await find_visit(serving, request)
        if not visit:
            return (
                await _refuse(request) if request.method == "POST" else RedirectResponse("/signed-out", 303)
            )
        serving.limits.take(f"page {visit}")
        request.state.visit, request.state.token = visit, PERSON
        if "name" in request.path_params:
            request.state.memory = name = name_in(request.path_params["name"])
            request.path_params["name"] = in_address(name)  # as addresses on the screens have it
            await serving.pool.find(name)  # one that is not there is not found
        if request.method == "POST":
            return await _written_down(serving, request, answer)
        return await answer(request)

    return checked


async def _written_down(serving: Serving, request: Request, answer: Answer) -> Response:
    """Answer a post, and write down that it came: not what it said."""
    serving.audit.require()
    status = 500
    try:
        made = await answer(request)
        status = made.status_code
    except Refused as refused:
        status = status_of(refused)[0]
        raise
    except TooLarge:
        status = 413
        raise
    finally:
        told = {
            "token": PERSON.id,
            "memory": getattr(request.state, "memory", ""),
            "method": request.method,
            "route": route_of(request.scope),
        }
        serving.audit.write(**told, status=status)
        await serving.audit.written()
    return made


async def _refuse(request: Request) -> Response:
    """Refuse what a person sent after their visit had ended; what they typed is on the screen."""
    typed = [(name, value) for name, value in (await typed_in(request)).items() if name not in _UNSEEN]
    return page(request, "signed_out.html", status=401, error=_SIGNED_OUT, typed=typed)


async def _nowhere(request: Request) -> Response:
    raise HTTPException(404)


async def _home(request: Request) -> Response:
    pool = request.app.state.serving.pool
    await pool.look_again()
    names = pool.names()
    return (
        RedirectResponse(f"/m/{in_address(names[0])}/", 303)
        if len(names) == 1
        else page(request, "memories.html")
    )


class _Login:
    """A link opens a screen with a button: a program that looks at links before a person does spends nothing."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._quiet = Quiet()

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        from starlette.requests import Request

        request = Request(scope, receive, send)
        await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        code = request.path_params["code"]
        if not self._serving.access.is_code(code):
            self._serving.limits.take(NOBODY)
            await self._serving.access.look_again()
        if request.method != "POST":
            return page(request, "login.html", code=code, is_good=self._serving.access.is_code(code))
        visit = await asyncio.to_thread(self._serving.access.spend, code)
        if visit is not None or self._quiet.is_first("login"):
            self._serving.audit.write(act="login", status=303 if visit else 403)
            await self._serving.audit.written()
        if visit is None:
            return page(request, "login.html", status=403, code=code, is_good=False)
        answer = RedirectResponse("/", 303)
        begin_visit(self._serving, answer, visit)
        return answer


async def _signed_out(request: Request) -> Response:
    return page(request, "signed_out.html", typed=[])


def _make_sign_out(serving: Serving) -> Answer:
    async def sign_out(request: Request) -> Response:
        form = await read_form(request)
        whose = None if form["everywhere"] else request.state.visit
        await asyncio.to_thread(serving.access.end_visit, whose)
        serving.audit.write(act="sign out", status=303)
        answer = RedirectResponse("/signed-out", 303)
        end_visit(serving, answer)
        return answer

    return sign_out


async def _keep_look(request: Request) -> Response:
    form = await read_form(request)
    look = Look(form["theme"] if form["theme"] in THEMES else "", form["keys"] == "on")
    back = form["back"] if _OWN_PATH.fullmatch(form["back"]) else "/"
    answer = done(request, back, Note("The page now looks as you chose, in this browser."))
    serving: Serving = request.app.state.serving
    answer.set_cookie(
        LOOK, look.cookie, max_age=_YEAR, path="/", secure=serving.is_https, httponly=True, samesite="strict"
    )
    return answer


async def _static(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in _FILES or static_address(name) != request.url.path:
        raise HTTPException(404)
    headers = {"cache-control": "private, max-age=31536000, immutable"}
    return FileResponse(HERE / "static" / name, media_type=_FILES[name], headers=headers)


# --- what goes wrong -------------------------------------------------------------------


def _show_refused(request: Request, status: int, sentence: str) -> Response:
    """Say what was not done, and show what was typed, to be sent again."""
    typed: dict[str, str] = getattr(request.state, "form", {})
    fields = [(name, value) for name, value in typed.items() if name != "token"]
    heading = (
        "Not done" if request.method == "POST" else "There is nothing here" if status == 404 else "Not shown"
    )
    told = {"heading": heading, "fields": fields, "unseen": _UNSEEN}
    return page(request, "refused.html", status=status, error=sentence, **told)


def handlers(
    serving: Serving,
) -> dict[type[Exception] | int, Callable[[Request, Exception], Awaitable[Response]]]:
    """Return what answers when a screen is refused: the same sentence that the command line gives."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        answer = _show_refused(request, status_of(error)[0], str(error))
        answer.headers.update(wait_for(error))
        return answer

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentence = {404: "There is no such page.", 405: "This cannot be done here."}.get(
            error.status_code, "This did not work."
        )
        return _show_refused(request, error.status_code, sentence)

    async def too_large(request: Request, error: Exception) -> Response:
        return _show_refused(request, 413, "Nothing was changed: that is too large.")

    return {Refused: refused, HTTPException: http, TooLarge: too_large}


__all__ = ["Note", "done", "handlers", "routes"]
