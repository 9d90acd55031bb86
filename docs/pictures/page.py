"""The picture of the page in docs/SERVE.md: what is known of the user of the demo, in a browser.

    PYTHONPATH=tests python docs/pictures/page.py    writes docs/pictures/page.png

It needs a Chromium on this machine. Letters look different on each, so no test compares it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from paging import make_story
from serving import serving

PICTURE = Path(__file__).parent / "page.png"


def main() -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, "there is no Chromium on this machine"
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        make_story(server.root / "mira")
        made = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        context = made.new_context(viewport={"width": 1120, "height": 760}, color_scheme="light")
        context.add_cookies([{"name": "looseleaf", "value": server.visit(), "url": server.address}])
        page = context.new_page()
        page.goto(f"{server.address}/m/mira/memory?as_of=2025-09-01")
        page.screenshot(path=PICTURE)
        made.close()


if __name__ == "__main__":
    main()
