"""The server: its memories, its tokens, its audit, and what it can do.

Invariant: nobody gives, sees or ends more than they have. A token of some memories makes tokens for these only.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from itertools import islice
from typing import Annotated, Any

from fastapi import Path, Request
from starlette.responses import Response

from looseleaf.base.errors import NotFound
from looseleaf.base.paths import fold_name, safe_name
from looseleaf.serve.access import EVERY, Token
from looseleaf.serve.pool import in_address
from looseleaf.serve.problems import NotAllowed
from looseleaf.serve.rest import values
from looseleaf.serve.rest.cursors import Listing
from looseleaf.serve.rest.routes import Answer, Name, Read, route

_LOOKED_AT = 50_000
"""Lines of the audit that are read for one request."""


@route("GET", "/openapi.json", "", values.Description)
async def get_openapi(request: Request, asking: Read) -> Answer:
    """Get this description."""
    return Answer(request.app.openapi())


# --- memories ----------------------------------------------------------------------------


@route("GET", "/memories", "", values.listed(values.MemoryName))
async def list_memories(asking: Read, part: Listing) -> Answer:
    """List the memories that the token sees."""
    await asking.serving.pool.look_again()
    names = [name for name in asking.serving.pool.names() if asking.token.sees(name)]
    return Answer(part.of(names, lambda name: [name], lambda name: {"name": name}))


@route("POST", "/memories", "admin", values.MemoryName, status=201)
async def create_memory(asking: Read, body: values.NewMemory) -> Answer:
    """Make a memory. Nothing else makes one."""
    if not asking.token.sees(body.name):
        raise NotAllowed("Nothing was made: the token does not name this memory.")
    await asking.serving.pool.create(body.name)
    asking.made(body.name)
    return Answer({"name": body.name}, 201, {"location": f"/v1/memories/{in_address(body.name)}"})


@route("DELETE", "/memories/{memory}", "admin", status=204, response_class=Response)
async def remove_memory(memory: Name, asking: Read) -> Response:
    """Put a memory aside, for 30 days. Tokens for it alone end: one that is made later by its name is another."""
    await asking.serving.remove(memory)
    asking.made(memory)
    return Response(status_code=204)


# --- tokens ------------------------------------------------------------------------------


def _shown(token: Token) -> dict[str, Any]:
    named: dict[str, Any] = {str(name): getattr(token, name) for name in Token.__match_args__}
    only = {name: list(scopes) for name, scopes in token.only}
    return named | {"memories": list(token.memories), "scopes": list(token.scopes), "only": only}


def _is_within(token: Token, other: Token) -> bool:
    """True if a token sees nothing that the other does not see."""
    return EVERY in other.memories or (
        EVERY not in token.memories and set(token.memories) <= set(other.memories)
    )


def _may_no_more(token: Token, other: Token) -> bool:
    """True if a token may do nothing, in any memory, that the other may not do there."""
    named = {*token.memories, *(name for name, _ in (*token.only, *other.only))}
    seen = [name for name in named if token.sees(name)]
    return all(set(token.at(name).scopes) <= set(other.at(name).scopes) for name in seen)


@route("GET", "/tokens", "admin", values.listed(values.TokenShown))
async def list_tokens(asking: Read, part: Listing) -> Answer:
    """List the tokens for memories that this one sees, without their secrets."""
    found = [token for token in asking.serving.access.tokens() if _is_within(token, asking.token)]
    found.sort(key=lambda token: (token.made, token.id))
    return Answer(part.of(found, lambda token: [token.made, token.id], _shown))


@route("POST", "/tokens", "admin", values.TokenMade, status=201)
async def make_token(asking: Read, body: values.NewToken) -> Answer:
    """Make a token. Its secret is in the answer, and nowhere else."""
    own = asking.token
    safe_name(body.agent, "agent's name")
    only = tuple((name, tuple(scopes)) for name, scopes in body.only.items())
    wanted = Token("", body.name, tuple(body.memories), tuple(body.scopes), only=only)
    if not _is_within(wanted, own) or not _may_no_more(wanted, own):
        raise NotAllowed("No token was made: it would have memories or scopes that yours does not have.")
    if own.person and fold_name(body.person) != fold_name(own.person):
        raise NotAllowed(
            f"No token was made: yours is {own.person}'s, and makes tokens for {own.person} alone."
        )
    if body.voice and body.voice != own.voice:
        raise NotAllowed("No token was made: only a token with a voice can give one.")
    if own.expires is not None and (body.expires is None or body.expires > own.expires):
        raise NotAllowed("No token was made: it would last longer than yours.")
    made, secret = await asyncio.to_thread(
        asking.serving.access.make_token,
        body.name,
        body.memories,
        body.scopes,
        agent=body.agent,
        voice=body.voice,
        expires=body.expires,
        person=body.person,
        only=body.only,
    )
    asking.made(made.id)
    return Answer(_shown(made) | {"token": secret}, 201)


@route("DELETE", "/tokens/{token}", "admin", values.TokenShown)
async def revoke_token(token: Annotated[str, Path(max_length=40)], asking: Read) -> Answer:
    """End a token, by its id."""
    found = next((each for each in asking.serving.access.tokens() if each.id == token), None)
    if found is None or not _is_within(found, asking.token):
        raise NotFound("There is no token with this id.")
    asking.made(found.id)
    return Answer(_shown(await asyncio.to_thread(asking.serving.access.revoke, token)))


# --- the audit ---------------------------------------------------------------------------


@route("GET", "/audit", "admin", values.listed(values.AuditLine))
async def list_audit(asking: Read, part: Listing) -> Answer:
    """List what was written, refused and taken out, the newest first: of the memories that the token sees."""

    def read() -> dict[str, Any]:
        every = EVERY in asking.token.memories
        found = [
            line
            for line in islice(asking.serving.audit.read_back(), _LOOKED_AT)
            if every or (line.get("memory") and asking.token.sees(str(line["memory"])))
        ]
        found.sort(key=_line_key, reverse=True)
        return part.of(found, _line_key, lambda line: line, falls=True)

    return Answer(await asyncio.to_thread(read))


def _line_key(line: dict[str, Any]) -> list[Any]:
    digest = hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()[:16]
    return [float(line["ts"]), digest]
