"""Text that is shown to a model which calls in text: nothing in it looks like a call, so that whoever quotes it calls
nothing.

A backslash stands behind the sign that would open or close a block, and in a fence before its word; what has one
already is given another. So a reader takes one away, and has what was there.
"""

from __future__ import annotations

import json
import re
from functools import cache

from looseleaf.text.look_alikes import escaped, spelt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TAGS = {
    "json": ("tool",),
    "xml": ("tool", "invoke", "function", "arg", "param"),
}
_FENCE = re.compile(
    r"(?<=[`~]{3})(?=[ \t\\]*+(?:tool_calls?[ \t\r\n]|"
    r"json[ \t]{0,16}\r?\n\s{0,64}\[?\s{0,64}\{\s{0,64}\"(?:name|arguments|parameters|id)\"))"
)


@cache
def _tags(form: str) -> re.Pattern[str]:
    """Behind each sign that looks as if it began or ended a tag of calls. Made when it is first needed."""
    words = "|".join(map(spelt, _TAGS[form]))
    return re.compile(f"(?<=<)(?=[\\\\/\\x00-\\x20\\x7f]*+(?:{words}))")


def inert_calls(text: str, form: str) -> str:
    """Text in which nothing reads as a block."""
    text = escaped(text, _tags(form), "<")
    if form == "json" and ("```" in text or "~~~" in text):
        text = _FENCE.sub(r"\\", text)
    return text


def inert_json(value: Any, form: str) -> str:
    """JSON in which nothing reads as a block, and which says the same."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if inert_calls(text, form) != text:
        text = text.replace("<", r"\u003c")
    return inert_calls(text, form)
