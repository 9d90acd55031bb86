"""A browser that is on this machine already, and axe-core, which `make test-page` brings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

    from serving import Server

MUST = "LOOSELEAF_PAGE"
"""Set by `make test-page`: what is missing fails the run."""
AXE = Path(
    os.environ.get("LOOSELEAF_AXE") or Path(__file__).parents[3] / ".page/node_modules/axe-core/axe.min.js"
)

Open = Callable[..., Any]


def _lack(what: str) -> NoReturn:
    if os.environ.get(MUST):
        pytest.fail(f"the page was not tested: {what}")
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser; end it with the module: while it lives, no other loop of events runs in this process."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        _lack("no Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lack("no playwright")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.exists():
        _lack(f"no axe-core at {AXE}: `make test-page` brings it where there is npm")
    return AXE.read_text()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Callable[..., Any]:
    """Open a browser's window for a person who signed in. What it asks of anyone else, and what goes wrong in it, is
    noted in `asked` and `wrong`."""

    @contextmanager
    def window(
        server: Server, width: int = 1280, *, dark: bool = False, script: bool = True
    ) -> Iterator[BrowserContext]:
        made = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        made.add_cookies([{"name": "looseleaf", "value": server.visit(), "url": server.address}])
        made.set_default_timeout(60_000)
        yield made
        made.close()

    return window
