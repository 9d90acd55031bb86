"""The screen Search: recall, with its reasons; and a hit, opened."""

from __future__ import annotations

import asyncio
from functools import partial
from urllib.parse import quote, urlencode

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.render import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.memory import Memory
    from looseleaf.recall.hits import Hit, Recalled
    from looseleaf.serve.web.ask import Screen

HITS = 20
LESS_SURE = 0.01
"""How sure the best must be where a person asked for the less sure ones too."""
MUCH = 1 << 20
"""If the index lacks this many bytes of the log, no question waits for it: indexing them takes seconds."""
LONGEST = 2_000
"""Characters of a question."""
KINDS = {
    "": "everything",
    "fact": "facts",
    "trace": "talk",
    "prose": "notes on pages",
    "episode": "episodes",
    "day": "days",
    "entry": "what was distilled",
}
REASONS = {
    "words": "the words of the question",
    "meaning": "what it means",
    "session": "the session it was said in",
    "kind": "the kind of thing that was asked for",
    "recency": "how new it is",
    "substance": "how much it says",
    "neighbours": "what stands beside it",
    "salience": "how much it matters",
}
"""What the parts of a score stand for; others are named as they are."""


@frozen
class Shown:
    """A hit, the address of what it is, and the parts of its score, the weightiest first."""

    hit: Hit
    at: str
    reasons: tuple[tuple[str, str, float], ...]


def show_hit(hit: Hit) -> Shown:
    """Return a hit as it is shown."""
    parts = sorted(hit.parts.items(), key=lambda part: -abs(part[1]))
    reasons = tuple((name, REASONS.get(name, ""), value) for name, value in parts)
    where = quote(hit.where, safe="")
    if hit.kind == "fact":
        return Shown(hit, f"/fact/{where}", reasons)
    if hit.kind == "trace" and not hit.layer:
        agent = f"?{urlencode({'agent': hit.agent})}" if hit.agent else ""
        return Shown(hit, f"/talk/trace/{where}{agent}", reasons)
    return Shown(hit, f"/search/open?{urlencode({'where': hit.where})}", reasons)


async def _search(request: Request) -> Response:
    asked = request.query_params
    told: dict[str, Any] = {
        "q": asked.get("q", ""),
        "as_of": asked.get("as_of", "").strip(),
        "kind": asked.get("kind", ""),
        "less": asked.get("less", "") == "1",
        "hits": None,
        "why": "",
        "job": "",
        "best": 0.0,
        "kinds": KINDS,
    }
    told["address"] = partial(_address, told)

    def find(memory: Memory) -> Recalled | None:
        if memory.parts.recall.keep.missing_bytes() >= MUCH:
            return None
        return memory.recall(
            told["q"],
            k=HITS,
            as_of=told["as_of"] or None,
            kinds=[told["kind"]] if told["kind"] else None,
            sure=LESS_SURE if told["less"] else None,
            quick=True,
        )

    if not told["q"].strip():
        await ask(request, lambda memory: None)
        return page(request, "search.html", **told)
    try:
        if len(told["q"]) > LONGEST:
            raise Invalid(f"Nothing was looked for: a question has at most {LONGEST:,} characters.")
        found = await ask(request, find)
    except Refused as error:
        return page(request, "search.html", status=status_of(error)[0], error=str(error), **told)
    if found is None:
        return await _wait_for_index(request, told)
    told |= {"hits": [show_hit(hit) for hit in found], "why": found.why, "best": found.best}
    return page(request, "search.html", **told)


async def _wait_for_index(request: Request, told: dict[str, Any]) -> Response:
    """Have the index made in a process of its own, so that no screen waits for it; say how far it is."""
    jobs, name = request.app.state.serving.jobs, request.state.memory
    job = await asyncio.to_thread(jobs.start, name, "index", {})
    share = f": {100 * job.done // job.total} %" if job.total else ""
    return page(
        request, "search.html", status=503, error=f"The index is being made{share}.", **told | {"job": job.id}
    )


def _address(told: dict[str, Any], **more: str) -> str:
    given = {"q": told["q"], "as_of": told["as_of"], "kind": told["kind"]} | more
    return "?" + urlencode({name: value for name, value in given.items() if value})


async def _open(request: Request) -> Response:
    where = request.query_params.get("where", "")
    opened = await ask(request, lambda memory: memory.open(where))
    path = where.partition("#")[0] if opened.kind == "page" else ""
    return page(request, "open.html", opened=opened, path=path)


ROUTES: list[Screen] = [
    ("/search", ["GET"], _search),
    ("/search/open", ["GET"], _open),
]
