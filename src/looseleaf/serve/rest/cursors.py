"""Lists, a part at a time. A cursor says after which item the next part begins: an id of the log, or a name. What is
written meanwhile shifts nothing, and nothing comes twice."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Annotated, Any

from fastapi import Depends, Query, Request

from looseleaf.base.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Key = list[Any]

LIMIT, MOST = 50, 500
_WRONG = "Nothing was read: the cursor is not from this list. Leave it out to begin again."


class Part:
    """The part of a list that was asked for."""

    def __init__(self, limit: int, cursor: str | None, about: str) -> None:
        self.limit = limit
        self._about = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        self.after = _read(cursor, self._about) if cursor is not None else None

    def of(
        self,
        items: Iterable[Any],
        key: Callable[[Any], Key],
        show: Callable[[Any], Any],
        *,
        falls: bool = False,
    ) -> dict[str, Any]:
        """Return a part of items that stand in the order of their keys; `falls`: from the highest to the lowest."""
        return self.from_found(self.skip(items, key, falls=falls), key, show)

    def skip(self, items: Iterable[Any], key: Callable[[Any], Key], *, falls: bool = False) -> Sequence[Any]:
        """Return the items after the cursor, one more than the part has."""
        found: list[Any] = []
        for item in items:
            if self.after is not None and not self._is_after(key(item), falls=falls):
                continue
            found.append(item)
            if len(found) > self.limit:
                break
        return found

    def _is_after(self, key: Key, *, falls: bool) -> bool:
        try:
            return bool(key < self.after if falls else key > self.after)  # type: ignore[operator]
        except TypeError:
            raise Invalid(_WRONG) from None

    def from_found(
        self, found: Sequence[Any], key: Callable[[Any], Key], show: Callable[[Any], Any]
    ) -> dict[str, Any]:
        """Return the part, of the items after the cursor."""
        shown = found[: self.limit]
        more = len(found) > self.limit
        return {
            "items": [show(item) for item in shown],
            "next": self._write(key(shown[-1])) if more else None,
        }

    def _write(self, key: Key) -> str:
        return base64.urlsafe_b64encode(json.dumps([self._about, *key]).encode()).decode().rstrip("=")


def _read(cursor: str, about: str) -> Key:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        told = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        raise Invalid(_WRONG) from None
    if not isinstance(told, list) or len(told) < 2 or told[0] != about:
        raise Invalid(_WRONG)
    if not all(isinstance(each, (str, int, float)) and not isinstance(each, bool) for each in told):
        raise Invalid(_WRONG)
    return told[1:]


def _part(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many items, at most.")] = LIMIT,
    cursor: Annotated[
        str | None,
        Query(max_length=2_000, description="`next` from the part before; leave it out for the first one."),
    ] = None,
) -> Part:
    about = sorted((name, value) for name, value in request.query_params.multi_items() if name not in _OWN)
    return Part(limit, cursor, f"{request.url.path}\n{about}")


_OWN = ("limit", "cursor")
Listing = Annotated[Part, Depends(_part)]
