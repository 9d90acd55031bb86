"""The page: rendered here, with links and forms; a script only adds keys, the slider and live updates.

`render` makes HTML, `forms` reads what was posted, `screens` has a module for each screen.
"""

from __future__ import annotations

from looseleaf.serve.web.routes import handlers, routes

__all__ = ["handlers", "routes"]
