"""One application behind the walls: the page at `/`, REST at `/v1`, MCP at `/mcp`."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Mount, Route

from looseleaf.serve import rest, web
from looseleaf.serve.event_stream import stream_for
from looseleaf.serve.mcp_route import McpRoute
from looseleaf.serve.metrics import Metrics, Watched, live, make_metrics, make_ready
from looseleaf.serve.walls import Walls
from looseleaf.serve.web.forms import Notes
from looseleaf.serve.web.routes import signed_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.serve.http import AllowedHosts
    from looseleaf.serve.metrics import Log
    from looseleaf.serve.serving import Serving


def app(serving: Serving, allowed: AllowedHosts, log: Log | None = None) -> Watched:
    """Return the application of a server. `log`: where each request is logged; None for nowhere."""
    mcp, metrics = McpRoute(serving, allowed), Metrics(serving)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        serving.start()
        try:
            yield
        finally:
            await mcp.close()
            await serving.close()

    api = Mount("/v1", rest.app(serving))
    # An address with a line end in it, too, is answered as one of the API.
    api.path_regex = re.compile(api.path_regex.pattern, re.DOTALL)
    inner = Starlette(
        routes=[
            Route("/live", live, methods=["GET"]),
            Route("/ready", make_ready(serving), methods=["GET"]),
            Route("/metrics", make_metrics(serving, metrics), methods=["GET"]),
            Route("/m/{name}/events", signed_in(serving, _events), methods=["GET"]),
            api,
            *mcp.routes(),
            *web.routes(serving),
        ],
        exception_handlers=web.handlers(serving),
        lifespan=lifespan,
    )
    inner.state.serving, inner.state.notes = serving, Notes()
    return Watched(Walls(inner, allowed, is_https=serving.is_https), metrics, log)


async def _events(request: Request) -> Response:
    name, visit = request.state.memory, request.state.visit
    return stream_for(request.app.state.serving, name, request, asker=f"page {visit}")
