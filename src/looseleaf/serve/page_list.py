"""The pages of a memory as resources, read off its folder.

Clients ask for this list when they start, and some show no tools before they have it: so it opens no memory. Titles
would need one, as a summary may be in words that only a fence should show.
"""

from __future__ import annotations

import os
from itertools import islice
from urllib.parse import quote

from looseleaf.base.paths import PROFILE
from looseleaf.serve.offered import INDEX, MARKDOWN, PAGE
from looseleaf.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LISTED = 200
"""Resources in a list: clients show all of them to a person. The index has the rest."""
_MONTHS = 24


def list_resources(path: str) -> list[dict[str, Any]]:
    """Return the index, the user's profile, the last months, and topic pages of the memory in a folder."""
    about = "What this memory holds, a line for each page"
    found: list[dict[str, Any]] = [{"uri": INDEX, "name": "index", "title": about, "mimeType": MARKDOWN}]
    if not os.path.isdir(path):
        return found  # who reads the index is told
    store = FileStore(path)
    try:
        profile = [each for each in store.list() if each.path == PROFILE]
        months, topics = store.list("episodes")[-_MONTHS:], store.list("facts")
    finally:
        store.close()
    from looseleaf.pages.held import sure_original

    there = (each for each in (*profile, *reversed(months), *topics) if each.path.endswith(".md"))
    pages = (
        each for each in there if sure_original(each.path.rpartition("/")[2]) is None
    )  # no conflict copies
    return found + [
        {"uri": PAGE + quote(each.path), "name": each.path, "mimeType": MARKDOWN, "size": each.size}
        for each in islice(pages, LISTED - len(found))
    ]
