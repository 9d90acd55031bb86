"""Long texts beside the log: a member too long for a line becomes a file named by its hash (FORMAT §3.4)."""

from __future__ import annotations

import json
import re

from looseleaf.base.hashing import sha256
from looseleaf.store.records import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Record
    from looseleaf.store.root import Root

BODIES = "log/bodies"
HASH = r"[0-9a-f]{64}"
_SMALL = 1024
"""Members shorter than this stay in the line however long it is: ids and times must be readable there."""


class Bodies:
    def __init__(self, root: Root, limit: int) -> None:
        self._root = root
        self._limit = limit

    def take_out(self, record: Record) -> Record:
        """The record with its longest members moved to files, until the rest fits. Files are durable first."""
        sizes = {name: len(to_json(value)) for name, value in record.items()}
        total = sum(sizes.values())
        kept = dict(record)
        bodies: dict[str, dict[str, object]] = {}
        for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
            if total <= self._limit or sizes[name] < _SMALL:
                break
            data, form = _bytes_of(kept.pop(name))
            bodies[name] = {"sha256": self._keep(data), "bytes": len(data), "as": form}
            total -= sizes[name]
        if bodies:
            kept["bodies"] = bodies
        return kept

    def _keep(self, data: bytes) -> str:
        digest = sha256(data)
        path = f"{BODIES}/{digest}"
        found = self._root.read(path)
        if found is None or sha256(found) != digest:
            self._root.replace(path, data)
        else:  # whoever put it there may have died, or failed, before its name was on disk
            self._root.make(BODIES)
            self._root.sync(BODIES)
        return digest

    def put_in(self, record: Record) -> tuple[Record | None, str]:
        """The record as it was given; None and the reason when one of its bodies is missing or damaged.

        Refused when a body is there and cannot be read: that is not known to be a loss.
        """
        whole = {name: value for name, value in record.items() if name != "bodies"}
        try:
            for name, body in record["bodies"].items():
                digest = str(body["sha256"])
                if not re.fullmatch(HASH, digest):
                    return None, "it names a body by something that is no hash"
                data = self._root.read(f"{BODIES}/{digest}")
                if data is None:
                    return None, f"its body {digest} is missing"
                if sha256(data) != digest:
                    return None, f"its body {digest} is damaged"
                whole[name] = data.decode() if body["as"] == "text" else json.loads(data)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None, "its list of bodies makes no sense"
        return whole, ""


def _bytes_of(value: object) -> tuple[bytes, str]:
    """Text as itself, so that a person can read the file; anything else, or broken text, as JSON."""
    if isinstance(value, str):
        try:
            return value.encode(), "text"
        except UnicodeEncodeError:
            pass
    return to_json(value), "json"
