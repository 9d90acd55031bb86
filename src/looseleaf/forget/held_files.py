"""Held files and conflict copies lose the lines that hold what goes (FORMAT §5.6, §17.2).

They are not what the journal says, so living it again does not change them; and what was forgotten must not come back
when a person settles them.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.pages.settle import find_log_copies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.forget.plan import Needs
    from looseleaf.forget.probe import Needles
    from looseleaf.store.documents import Switch


def cut_held(parts: Needs, needles: Needles, switch: Switch) -> None:
    """Stage what held pages, and copies of pages and logs, become without the lines that hold what goes, with the other
    files that change."""
    store, held, changed = parts.context.store, parts.pages.absorb.held, switch.paths
    for path in (*held, *(copy for copy, _ in find_log_copies(store))):
        document = store.get(path)
        found = document is not None and needles.hits(document.data)
        # Without a line, or beside a shorter head, a page that is cut off may look like what a person saved.
        if path in held and held[path].why == "cut" and (found or path in changed):
            raise _unsettled_error(path)
        if document is not None and found:
            lines = document.data.splitlines(keepends=True)
            left = b"".join(line for line in lines if not needles.hits(line))
            if needles.hits(left):  # across the end of a line
                raise _unsettled_error(path)
            switch.put(path, left, document.sha256, is_page=True)


def _unsettled_error(path: str) -> Refused:
    return Refused(
        f"Nothing was forgotten: {path} waits for a person's word, and what is to go cannot be cut out of it. Decide "
        "on it with `looseleaf settle`, and repeat this."
    )
