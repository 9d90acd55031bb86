"""Which files of a memory are carried from copy to copy: logs and pages. Views, locks and what is under way are not."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused
from looseleaf.base.paths import canonical, is_page
from looseleaf.store.machines import OTHERS, as_own, is_name

_ARCHIVE = r"archive/(?:SHA256SUMS|[0-9]{6,}\.jsonl)"
_NAME = r"[^/]+"
_OF_LOG = re.compile(
    rf"log/(?:machine|key|forgetting\.json|journal\.jsonl|{_ARCHIVE}"
    rf"|(?:calls|imports|tombstones)(?:\.jsonl|/{_ARCHIVE})"
    rf"|traces/{_NAME}/(?:raw_traces\.jsonl|{_ARCHIVE})"
    rf"|prompts/(?:{_NAME}\.jsonl|archive/{_NAME}/(?:SHA256SUMS|[0-9]{{6,}}\.jsonl))"
    rf"|bodies/[0-9a-f]{{64}}|entries/{_NAME}/{_NAME}/{_NAME})"
)
_ACTIVE = re.compile(r"log/(?:(?:on/[^/]+/)?(?:[a-z]+|traces/[^/]+/raw_traces|prompts/[^/]+)\.jsonl)")


def is_carried(path: str) -> bool:
    """True for the path of a log or a page, as it lies in a folder."""
    try:
        if canonical(path) != path:
            return False
    except Refused:
        return False
    if path.startswith(f"{OTHERS}/") and not is_name(path.split("/")[2]):
        return False
    return path == "log/key" or is_page(path) or _OF_LOG.fullmatch(as_own(path)) is not None


def stage_of(path: str) -> int:
    """Return when a file is sent: what is written once, then what grows, then the pages."""
    return 2 if is_page(path) else int(_ACTIVE.fullmatch(path) is not None)
