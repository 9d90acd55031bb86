"""Receipts: what was really written (`writes.py`), whether what was promised was (`promises.py`), and who wrote which
line (`lines.py`). Holds names only; each is loaded when it is asked for: to list writes, no words have to be read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.explain.promises import Flag, Promise, Reconciled, reconcile
    from looseleaf.explain.sources import Signed, who
    from looseleaf.explain.writes import Written, receipts

__all__ = ["Flag", "Promise", "Reconciled", "Signed", "Written", "receipts", "reconcile", "who"]


def __getattr__(name: str) -> Any:
    module: Any
    match name:
        case "Written" | "receipts":
            from looseleaf.explain import writes as module
        case "Signed" | "who":
            from looseleaf.explain import sources as module
        case "Flag" | "Promise" | "Reconciled" | "reconcile":
            from looseleaf.explain import promises as module
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
