"""A TOML text with a key or a table set or removed.

Invariant: everything else means the same afterwards, which is checked by reading the result; a change that cannot
promise this raises ValueError. `without_tables` takes out exactly what `with_table` put in.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Name = tuple[str, ...]

_HEAD = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)
_LONG = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'', re.DOTALL)
"""Strings of several lines, in which a line is no table."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> dict[str, Any]:
    """Parse a text; ValueError says what is wrong with it."""
    import tomllib

    return tomllib.loads(text.removeprefix("\ufeff"))


def with_key(text: str, key: str, value: str | None) -> str:
    """Return the text with a key at the top set, or without it."""
    wanted = {name: each for name, each in parse(text).items() if name != key}
    wanted |= {} if value is None else {key: value}
    return text if wanted == parse(text) else _checked(_edit_key(text, key, value), wanted)


def _edit_key(text: str, key: str, value: str | None) -> str:
    """Return the text with the line replaced, or added before the first table."""
    line = f"{key} = {_literal(value)}"
    found = re.search(rf"^[ \t]*{key}[ \t]*=.*$", text, re.MULTILINE)
    if found is not None:
        before, after = text[: found.start()], text[found.end() :]
        return before + after.removeprefix("\n") if value is None else before + line + after
    table = _HEAD.search(text)
    at = table.start() if table is not None else len(text)
    head = text[:at].rstrip("\n")
    gap = "\n" if table is not None else ""
    return f"{head}\n{line}\n{gap}{text[at:]}" if head else f"{line}\n{gap}{text[at:]}"


def with_table(text: str | None, name: Name, values: dict[str, Any]) -> str:
    """Return the text with these values in a table: in its lines if it is there, else in a table at the end."""
    before = parse(text or "")
    wanted = _nested(name, _at(before, name) | values)
    merged = _merged(before, wanted)
    if merged == before:
        return text or ""
    end = "\r\n" if text is not None and "\r\n" in text else "\n"
    span = next((each for each in _tables(text or "") if each[0] == name), None)
    if span is None:
        lines = [
            f"[{'.'.join(map(_key, name))}]",
            *(f"{key} = {_literal(each)}" for key, each in values.items()),
        ]
        made = end.join([*lines, ""])
        return _checked(made if text is None else f"{text}{end}{made}", merged)
    _, start, stop = span
    body = (text or "")[start:stop]
    for key, each in values.items():
        line = f"{key} = {_literal(each)}"
        found = re.search(rf"^{key}[ \t]*=.*?(?=\r?$)", body, re.MULTILINE)
        if found is not None:
            body = body[: found.start()] + line + body[found.end() :]
        else:
            body += f"{'' if body.endswith(end) else end}{line}{end}"
    return _checked(f"{(text or '')[:start]}{body}{(text or '')[stop:]}", merged)


def without_tables(text: str, is_ours: Callable[[Name], bool]) -> str | None:
    """Return the text without these tables. None: no file, since it had nothing else."""
    wanted = parse(text)
    found = [each for each in _tables(text) if is_ours(each[0])]
    made = text
    for name, start, stop in reversed(found):
        wanted = _without(wanted, name)
        before = made[:start].removesuffix("\n").removesuffix("\r")
        made = before + made[stop:] if start else re.sub(r"\A\r?\n", "", made[stop:])
    if found and found[0][1] == 0 and not made.strip():
        return None
    return _checked(made, wanted) if found else text


def _tables(text: str) -> list[tuple[Name, int, int]]:
    """Return the name of each table, and where its lines begin and end, without what stands before the next."""
    found = []
    heads = list(_HEAD.finditer(_LONG.sub(lambda long: "x" * len(long[0]), text)))
    stops = [*(head.start() for head in heads[1:]), len(text)]
    for head, stop in zip(heads, stops, strict=False):
        start = head.start()
        lines = text[start:stop].splitlines(keepends=True)
        while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
            lines.pop()
        try:
            found.append((_path(parse(head[0].strip())), start, start + len("".join(lines))))
        except ValueError:
            continue  # a line of something else
    return found


def _path(value: Any) -> Name:
    """Return the names on the way down a table that has nothing but one."""
    if isinstance(value, dict) and len(value) == 1:
        [(key, inner)] = value.items()
        return (key, *_path(inner))
    return ()


def _at(value: Any, name: Name) -> dict[str, Any]:
    for each in name:
        value = value.get(each) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _nested(name: Name, value: Any) -> dict[str, Any]:
    for each in reversed(name):
        value = {each: value}
    return dict(value)


def _merged(one: Any, other: Any) -> Any:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return one | {key: _merged(one[key], each) if key in one else each for key, each in other.items()}


def _without(value: dict[str, Any], name: Name) -> dict[str, Any]:
    first, *rest = name
    if first not in value:
        return value
    if rest and isinstance(value[first], dict):
        return value | {first: _without(value[first], tuple(rest))}
    return {key: each for key, each in value.items() if key != first}


def _pruned(value: Any) -> Any:
    """Return a value without empty tables: a header above others may stand there or not."""
    if not isinstance(value, dict):
        return value
    inner = {key: _pruned(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}


def _checked(text: str, wanted: Any) -> str:
    try:
        if _pruned(parse(text)) == _pruned(wanted):
            return text
    except ValueError:
        pass
    raise ValueError("its layout is not supported")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _literal(name)


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
