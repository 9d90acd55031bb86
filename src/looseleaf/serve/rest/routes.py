"""Routes of the API, each with what a token must be allowed to do.

Invariant: before a byte of a body is looked at, it is known that the token sees the memory and may do what it asks.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from fastapi import Depends, Header, Path
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.immutable import frozen
from looseleaf.serve.access import Token
from looseleaf.serve.once import mark_of
from looseleaf.serve.pool import in_address, name_in
from looseleaf.serve.problems import NotAllowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import TypeVar

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.serve.serving import Serving

    _T = TypeVar("_T")
    _E = TypeVar("_E", bound=Callable[..., Any])

NOT_THERE = "There is no memory of this name."

PROBLEMS = {
    401: ("NoToken", "The token is missing, wrong or has ended."),
    403: ("NotAllowed", "The token may not do this."),
    404: ("NotFound", "There is no such thing, or the token does not see it."),
    409: ("Refused", "It cannot be done as things are."),
    412: ("Stale", "The page is no longer what was read; `current` is its hash now."),
    413: ("TooLarge", "The content is too large."),
    415: ("WrongType", "The content is not JSON."),
    422: ("Invalid", "A value makes no sense; `errors` says which."),
    428: ("NoCondition", "The hash of what was read is missing."),
    429: (
        "TooMany",
        "Too many requests, or the ceiling of the day is reached. `Retry-After` says how long to wait.",
    ),
    500: ("Failed", "A file cannot be read, or the program has a bug."),
    502: ("ModelFailed", "The model that should answer did not."),
    503: ("Busy", "Something else is at work on the memory. `Retry-After` says how long to wait."),
    507: ("Unwritten", "The disk refused the write."),
}
"""The answers that refuse: each with its name in the description, and what it means."""
_ALWAYS = (401, 403, 404, 409, 422, 429, 500, 503)


_KIND = re.compile(":[a-z]+}")


@frozen
class RouteSpec:
    """What a route needs and gives. `scope`: what the token must be allowed; "" for any token. `writes`: it
    leaves a line in the audit, also where it was done."""

    method: str
    path: str
    scope: str
    status: int
    answer: Any
    writes: bool
    more: dict[str, Any]

    @property
    def template(self) -> str:
        """The path as the description has it."""
        return _KIND.sub("}", self.path)


ROUTES: list[tuple[RouteSpec, Any]] = []
"""All routes, in the order in which they are tried, with their functions."""


def route(
    method: str,
    path: str,
    scope: str,
    answer: Any = None,
    *,
    status: int = 200,
    writes: bool | None = None,
    problems: tuple[int, ...] = (),
    **more: Any,
) -> Callable[[_E], _E]:
    """Add a function as a route."""
    is_write = method != "GET" if writes is None else writes
    told = _ALWAYS + problems + ((413, 415, 507) if method in ("POST", "PUT", "PATCH") else ())
    more.setdefault("responses", {})
    more["responses"] = more["responses"] | {
        number: {"$ref": f"#/components/responses/{PROBLEMS[number][0]}"} for number in sorted(set(told))
    }

    def add(function: _E) -> _E:
        ROUTES.append((RouteSpec(method, path, scope, status, answer, is_write, more), function))
        return function

    return add


class Answer(Response):  # type: ignore[misc]
    """JSON. A text with half a character, which UTF-8 cannot hold, is written with escapes."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            return json.dumps(content, separators=(",", ":")).encode()


class GuardedRoute(APIRoute):
    """A route that looks at the token before it reads what else was sent."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        spec = next(spec for spec, function in ROUTES if function is self.endpoint)

        async def guarded(request: Request) -> Response:
            token: Token = request.state.token
            serving: Serving = request.app.state.serving
            request.state.spec = spec
            if "memory" in request.path_params:
                name = request.path_params["memory"] = name_in(request.path_params["memory"])
                if not token.sees(name):
                    raise NotFound(NOT_THERE)
                token = request.state.token = token.at(name)
                await serving.pool.find(name)  # one that is not there is not found, whatever else was sent
            if spec.scope and not token.may(spec.scope):
                raise NotAllowed(f"Nothing was done: this needs a token that may {spec.scope}.")
            if spec.writes:
                serving.audit.require()
            return await answer(request)

        return guarded


class Asking:
    """A request: who asks, and of which memory."""

    def __init__(self, request: Request, key: str | None = None) -> None:
        self.request = request
        self.serving: Serving = request.app.state.serving
        self.token: Token = request.state.token
        self.memory: str = request.path_params.get("memory", "")
        self.key = key

    @property
    def is_person(self) -> bool:
        """True for a token that decides as a person does."""
        return self.token.may("review")

    @property
    def has_voice(self) -> bool:
        """True for a token whose user's words are believed."""
        return self.token.voice == "user"

    async def read(self, act: Callable[[Memory], _T]) -> _T:
        """Ask the memory, as the agent of the token."""
        return await self.serving.ask(self.memory, act, token=self.token)

    async def write(
        self, act: Callable[[Memory], _T], again: Callable[[Memory, list[Record]], _T | None]
    ) -> _T:
        """Change the memory, once for each key. `again` makes the answer from what the request wrote when it came
        before; None if it was cut off before all was written: then `act` completes it."""
        if self.key is None:
            return await self.read(act)
        mark = mark_of(self.token.id, self.key, await self._asked())

        def run(memory: Memory) -> _T:
            def repeat(found: list[Record]) -> _T:
                made = again(memory, found)
                return made if made is not None else act(memory)

            return self.serving.once(self.memory)(memory, mark, lambda: act(memory), repeat)

        return await self.read(run)

    async def _asked(self) -> bytes:
        request = self.request
        conditions = [f"{name}: {request.headers.get(name, '')}" for name in ("if-match", "if-none-match")]
        head = [request.method, request.url.path, request.url.query, *conditions, ""]
        body: bytes = await request.body()
        return "\n".join(head).encode() + body

    def made(self, name: object) -> None:
        """Say what was made, for the audit."""
        self.request.state.made = name

    def job(self, kind: str, spec: dict[str, Any]) -> Response:
        """Start a job, and say where it is."""
        key = f"{self.token.id} {self.key}" if self.key is not None else ""
        job = self.serving.jobs.start(self.memory, kind, spec, key)
        self.made(job.id)
        where = f"/v1/memories/{in_address(self.memory)}/jobs/{job.id}"
        return Answer(job.to_dict(), 202, {"location": where})


def _asking(request: Request) -> Asking:
    return Asking(request)


_KEY = Header(
    alias="Idempotency-Key",
    min_length=1,
    max_length=200,
    pattern=r"^[\x21-\x7e]+$",
    description="A name of your choice for this request, new for each: if the answer was lost, send the same again. "
    "What was written is then not written twice, and the answer is the same. Kept for 24 hours.",
    examples=["5e1c9a54-7a0b-4c3e-9d2b-0f4e1f6c8a11"],
)


def _writing(request: Request, key: Annotated[str | None, _KEY] = None) -> Asking:
    if len(request.headers.getlist("idempotency-key")) > 1:
        raise Invalid("Nothing was done: there are two Idempotency-Keys. Send one.")
    return Asking(request, key)


Read = Annotated[Asking, Depends(_asking)]
Write = Annotated[Asking, Depends(_writing)]
Name = Annotated[
    str,
    Path(
        description="The name of the memory, with `:` in place of `/`.",
        max_length=200,
        examples=["mira"],
        alias="memory",
    ),
]
