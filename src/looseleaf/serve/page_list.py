"""The pages of a memory as resources, read off its folder or its database.

Clients ask for this list when they start, and some show no tools before they have it: so it opens no memory. Titles
would need one, as a summary may be in words that only a fence should show.
"""

from __future__ import annotations

import os
from itertools import islice
from urllib.parse import quote

from looseleaf.base.errors import Refused
from looseleaf.base.paths import PROFILE, is_address
from looseleaf.memory.layers import find_layers
from looseleaf.pages.folder import open_store, settings
from looseleaf.serve.offered import INDEX, MARKDOWN, PAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.base.values import Stat
    from looseleaf.memory.layers import Layer

LISTED = 200
"""Resources in a list: clients show all of them to a person. The index has the rest."""
_MONTHS = 24


def list_resources(path: str, layers: Sequence[Layer] | None = None) -> list[dict[str, Any]]:
    """Return the index, the user's profile, the last months, and topic pages of the memory in a folder, and of
    those under it: of these layers, else of all that its settings name."""
    about = "What this memory holds, a line for each page"
    found: list[dict[str, Any]] = [{"uri": INDEX, "name": "index", "title": about, "mimeType": MARKDOWN}]
    if not (is_address(path) or os.path.isdir(path)):
        return found  # who reads the index is told
    pages = [("", each) for each in _pages_in(path)]
    for layer in _layers_under(path) if layers is None else layers:
        pages += [(f"{layer.name}:", each) for each in _pages_in(layer.where)]
    return found + [
        {
            "uri": PAGE + quote(name + each.path),
            "name": name + each.path,
            "mimeType": MARKDOWN,
            "size": each.size,
        }
        for name, each in islice(pages, LISTED - len(found))
    ]


def _pages_in(path: str) -> list[Stat]:
    store = open_store(path, reads_only=is_address(path))
    try:
        profile = [each for each in store.list() if each.path == PROFILE]
        months, topics = store.list("episodes")[-_MONTHS:], store.list("facts")
    finally:
        store.close()
    from looseleaf.pages.held import sure_original

    there = (each for each in (*profile, *reversed(months), *topics) if each.path.endswith(".md"))
    return [
        each for each in there if sure_original(each.path.rpartition("/")[2]) is None
    ]  # no conflict copies


def _layers_under(path: str) -> list[Layer]:
    """Return the memories under this one. What is wrong with them is told by the verbs that open the memory."""
    try:
        policy = settings(path)
        return find_layers(path, policy, lambda note: None) if policy.layers else []
    except Refused:
        return []
