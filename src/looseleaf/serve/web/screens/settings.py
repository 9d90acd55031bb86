"""The screen Settings: what is set and why, how the page looks, who may come in, and what was done."""

from __future__ import annotations

import ast
import asyncio
import re
import secrets
import time
from functools import cache, partial
from itertools import islice
from pathlib import Path

from looseleaf.base import policy as policies
from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import SETTINGS, is_address
from looseleaf.base.policy import Policy
from looseleaf.serve.access import EVERY, PERSON, SCOPES
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.forms import Form, Note, WrongForm, done, read_form
from looseleaf.serve.web.naming import UNKNOWN, YOU
from looseleaf.serve.web.render import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.memory import Memory
    from looseleaf.serve.access import Token
    from looseleaf.serve.serving import Serving
    from looseleaf.serve.web.ask import Screen

LINES = 50
"""Lines of the audit that are shown."""
_NAME = 60
_MADE = "made-"
_KEY = re.compile(r"[\w-]{16,64}", re.ASCII)
_LONGEST_DAYS = 3650
_DAY = 86_400.0
_HEADING = re.compile(r" *# -+ (.+?) -+")
_ALLOWS = {
    "read": "see pages, facts and its own talk",
    "write": "record, and propose as an agent does",
    "review": "decide as a person does",
    "admin": "forget, import, export, and make tokens",
}
"""What each scope lets a token do."""

PHRASES = {
    "/fact/{fact}/{act}": "You decided on a fact",
    "/review/{fact}/{answer}": "You answered in Review",
    "/review/no-to-source": "You said no to all of a source",
    "/review/vouch": "You vouched for a line",
    "/review/settle": "You decided on a held file",
    "/remember": "You told it something",
    "/undo": "You undid something",
    "/forget": "You looked at what forgetting would take",
    "/forget/{job}": "You had something forgotten",
    "/pages": "You named a page to write",
    "/pages/{path:path}/edit": "You saved a page",
    "/pages/{path:path}/delete": "You removed a page",
    "/pages/{path:path}/undo": "You undid an edit of a page",
    "/pages/{path:path}/history/{edit}": "You made a page say again what it said",
    "/costs/analyze": "You had a prompt counted",
    "/health/{kind}": "You had the memory checked, or its index built",
    "/settings/tokens": "You made a token",
    "/settings/tokens/revoke": "You revoked a token",
}
"""What a person did, by the route below a memory's address."""
_ACTS = {
    "login": "You signed in",
    "sign out": "You signed out",
    "token made": "A token was made",
    "job begun": "A job began",
    "job ended": "A job ended",
    "token revoked": "A token was revoked",
    "/look": "You chose how the page looks",
    "/sign-out": "You signed out",
}


def phrase(line: Mapping[str, Any], *, is_shared: bool = False) -> str:
    """Return a line of the audit as a sentence; of a program's acts, that it was a program. It names no person: in a
    memory that several share (`is_shared`), it may have been any."""
    route, status = str(line.get("route") or ""), line.get("status")
    is_refused = isinstance(status, int) and status >= 400
    if "act" in line:
        told = _ACTS.get(str(line["act"]), str(line["act"]))
    elif line.get("token") != PERSON.id:
        told = "A program asked"
    else:
        told = PHRASES.get(route.removeprefix("/m/{name}")) or _ACTS.get(route, "You did something")
    told = f"{UNKNOWN}{told.removeprefix(YOU)}" if is_shared and told.startswith(f"{YOU} ") else told
    return f"{told}: refused" if is_refused else told


@frozen
class Setting:
    """One number or choice of the policy: its value as the settings file has it, the usual one, and why."""

    name: str
    value: str
    usual: str
    why: str


@cache
def _explained() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return the reasons of all settings, by heading, as the program's own text gives them."""
    text = Path(policies.__file__).read_text(encoding="utf-8")
    body = next(
        each for each in ast.parse(text).body if isinstance(each, ast.ClassDef) and each.name == "Policy"
    ).body
    lines = text.splitlines()
    groups: list[tuple[str, list[tuple[str, str]]]] = [("", [])]
    last = 0
    for each, behind in zip(body, [*body[1:], None], strict=True):
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        headings = map(_HEADING.fullmatch, lines[last : each.lineno])
        groups += [(heading[1], []) for heading in headings if heading is not None]
        last = each.lineno
        is_told = isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)
        why = str(behind.value.value) if is_told else ""  # type: ignore[union-attr]
        groups[-1][1].append((each.target.id, " ".join(why.split())))
    return tuple((heading, tuple(found)) for heading, found in groups if found)


def settings_of(policy: Policy) -> tuple[list[Setting], list[tuple[str, list[Setting]]]]:
    """Return the settings that differ from the usual, and the others by heading."""
    usual = Policy()
    changed: list[Setting] = []
    groups: list[tuple[str, list[Setting]]] = []
    for heading, found in _explained():
        same: list[Setting] = []
        for name, why in found:
            value, normal = getattr(policy, name), getattr(usual, name)
            each = Setting(name, _worded(value), _worded(normal), why)
            (same if value == normal else changed).append(each)
        if same:
            groups.append((heading, same))
    return changed, groups


def _worded(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


async def _settings(request: Request) -> Response:
    notes, visit, name = request.app.state.notes, request.state.visit, request.query_params.get("made", "")
    made = notes.take(visit, name) if name.startswith(_MADE) else None
    if made is not None and request.method == "GET":
        notes.put(visit, Note(""), name)  # it is shown this once
    return await _shown(request, secret=made.text if made is not None else "")


async def _shown(
    request: Request, *, form: Form | None = None, refused: Refused | None = None, secret: str = ""
) -> Response:
    def read(memory: Memory) -> dict[str, Any]:
        changed, groups = settings_of(memory.policy)
        return {
            "changed": changed,
            "groups": groups,
            "path": memory.name,
            "has_folder": not is_address(memory.where),
        }

    serving = _serving(request)
    told = await ask(request, read)
    told |= {"error": str(refused)} if refused is not None else {}
    lines = await asyncio.to_thread(lambda: list(islice(serving.audit.read_back(), LINES)))
    tokens = [(token, _is_over(token)) for token in serving.access.tokens()]
    return page(
        request,
        "settings.html",
        status=200 if refused is None else status_of(refused)[0],
        tokens=tokens,
        allows=_ALLOWS,
        every=EVERY,
        lines=lines,
        phrase=partial(phrase, is_shared=request.state.naming.is_shared()),
        form=form if form is not None else Form({"scope_read": "on", "days": "90", "agent": "main"}),
        secret=secret,
        settings_file=SETTINGS,
        key=secrets.token_urlsafe(16),
        **told,
    )


def _serving(request: Request) -> Serving:
    return request.app.state.serving  # type: ignore[no-any-return]


def _is_over(token: Token) -> bool:
    return token.expires is not None and token.expires <= time.time()


async def _make_token(request: Request) -> Response:
    """Make a token, and show its secret on the next screen, this once."""
    form, notes, visit = Form(), request.app.state.notes, request.state.visit
    try:
        form = await read_form(request)
        if notes.take(visit, _MADE + form["key"]) is not None:  # posted twice
            return done(request, f"{_here(request)}?made={_MADE}{form['key']}#tokens")
        name, scopes = " ".join(form["name"].split()), [each for each in SCOPES if form[f"scope_{each}"]]
        if not name or len(name) > _NAME:
            raise Invalid(f"No token was made: give it a name of up to {_NAME} characters, to know it by.")
        token, secret = await asyncio.to_thread(
            _serving(request).access.make_token,
            name,
            [EVERY] if form["memories"] == EVERY else [request.state.memory],
            scopes,
            agent=form["agent"].strip() or "main",
            voice="user" if form["voice"] else "",
            expires=_end_of(form["days"]),
        )
    except Refused as refused:
        typed = refused.form if isinstance(refused, WrongForm) else form
        return await _shown(request, form=typed, refused=refused)
    _serving(request).audit.write(act="token made", made=token.id)
    made = notes.put(visit, Note(secret), _MADE + (form["key"] if _KEY.fullmatch(form["key"]) else new_id()))
    return done(request, f"{_here(request)}?made={made}#tokens", Note(f"The token {token.name} was made."))


def _end_of(days: str) -> float | None:
    """Return when a token ends that holds for so many days; None: never."""
    if not days.strip():
        return None
    if (
        not days.strip().isascii()
        or not days.strip().isdigit()
        or not 0 < int(days.strip()[:9]) <= _LONGEST_DAYS
    ):
        raise Invalid(
            f"No token was made: it can hold for 1 to {_LONGEST_DAYS:,} days. Leave this out for one that does not end."
        )
    return time.time() + int(days) * _DAY


async def _revoke(request: Request) -> Response:
    form = await read_form(request)
    token = await asyncio.to_thread(_serving(request).access.revoke, form["id"])
    _serving(request).audit.write(act="token revoked", made=token.id)
    return done(request, f"{_here(request)}#tokens", Note(f"The token {token.name} opens nothing any more."))


def _here(request: Request) -> str:
    return f"/m/{request.path_params['name']}/settings"


ROUTES: list[Screen] = [
    ("/settings", ["GET"], _settings),
    ("/settings/tokens", ["POST"], _make_token),
    ("/settings/tokens/revoke", ["POST"], _revoke),
]
