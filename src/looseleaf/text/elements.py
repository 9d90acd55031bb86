"""Marked stretches of a text: elements (`<name>…</name>`) and fences (`<<data 1 … data 1>>`)."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_NAME = r"([A-Za-z][\w:.-]{0,80})"
_TAG = rf"<\s{{0,8}}(?:/\s{{0,8}}{_NAME}\s{{0,8}}>|{_NAME}(?=[\s/>]))"
_FENCE = r"data ([0-9]+)>>|<<data ([0-9]+)"
# Compiled only on use: a hook starts a process for every prompt.


def elements_in(text: str, names: Collection[str] | None = None) -> list[tuple[int, int, str]]:
    """Return the place and name (in small letters) of each closed element, or of those with one of these names. One
    reaches from the first tag of its name to the last end of it: the text between may contain a false end."""
    return list(_spans(text, _TAG, names, to_end=False)) if "<" in text else []


def fences_in(text: str) -> list[tuple[int, int, str]]:
    """Return the place of each fence; one that does not end reaches to the end of the text."""
    return list(_spans(text, _FENCE, None, to_end=True)) if "<<data " in text else []


def without(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Return a text without these stretches; a blank is left for each."""
    kept, at = [], 0
    for start, end, _ in spans:
        kept.append(text[at:start])
        at = end
    return " ".join((*kept, text[at:]))


def _spans(
    text: str, pattern: str, names: Collection[str] | None, *, to_end: bool
) -> Iterator[tuple[int, int, str]]:
    found = list(re.finditer(pattern, text))
    ends = {mark[1].casefold(): mark.end() for mark in found if mark[1]}
    at = 0
    for mark in found:
        name = (mark[2] or "").casefold()
        end = max(ends.get(name, 0), len(text) if to_end and name not in ends else 0)
        if name and at <= mark.start() < end and (names is None or name in names):
            yield mark.start(), end, name
            at = end
