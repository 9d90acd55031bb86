"""The settings file of Claude Code: our hooks put in, and taken out again, with every other byte left as it is.

The text is changed where something is added or removed, and nowhere else: order, spacing and unknown members stay.
Invariant: whatever was in the file means the same afterwards; what cannot be done so is refused.
"""

from __future__ import annotations

import json
import os
import re

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import PREFIX
from looseleaf.pages.folder import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


# Who distills, written into `looseleaf.toml`: one line, with every other left as it is.

_LINE = re.compile(r"^[ \t]*distiller[ \t]*=.*$", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def path_in(memory: str) -> str:
    return os.path.join(memory, SETTINGS)


def with_distiller(path: str, text: str, name: str) -> str:
    """The settings with this distiller. `rules` is what holds without a line."""
    import tomllib

    try:
        before = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"it could not be read ({error}). Mend it first") from error
    if before.get("distiller", "rules") == name:
        return text
    wanted = {key: value for key, value in before.items() if key != "distiller"}
    wanted |= {} if name == "rules" else {"distiller": name}
    for made in _edit_candidates(text, name):
        try:
            if tomllib.loads(made) == wanted:
                return made
        except ValueError:
            continue
    raise _refused(
        path, f'it is written in a way that is not known here. Write `distiller = "{name}"` yourself'
    )


def _edit_candidates(text: str, name: str) -> list[str]:
    """Behind the last line that is in no table, or in the place of the line that is there."""
    line = f'distiller = "{name}"'
    found = _LINE.search(text)
    if found is not None and name == "rules":
        return [text[: found.start()] + text[found.end() :].removeprefix("\n")]
    if found is not None:
        return [text[: found.start()] + line + text[found.end() :]]
    table = _TABLE.search(text)
    at = table.start() if table is not None else len(text)
    head = text[:at].rstrip("\n")
    gap = "\n" if table is not None else ""
    return [f"{head}\n{line}\n{gap}{text[at:]}" if head else f"{line}\n{gap}{text[at:]}"]


EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreToolUse": "pre-tool",
    "PreCompact": "pre-compact",
    "Stop": "stop",
    "SessionEnd": "stop",
}
"""Events of Claude Code, and what is called at each. At the end of a session once more what is called after an answer:
the transcript is often written after that."""

MATCHERS = {
    "PreToolUse": f"{PREFIX}(remember|memory_write|memory_patch|memory_append|memory_state|memory_forget)"
}
"""Of which tools: only of ours that write, because for every other the agent would wait for nothing."""

SECONDS = 30
"""After which the coding agent does not wait for a hook any longer. Most take a tenth of one; the first one of a long
transcript takes some."""

_OURS = re.compile(
    r"(?:^|[\s/\\\"'])looseleaf(?:\.exe)?[\"']?\s.*?hook (?:session-start|user-prompt|pre-tool|pre-compact|stop)\s*$"
)


# --- JSON with places ------------------------------------------------------------------


@frozen
class Node:
    """A value of a JSON text, and where it stands. `keys` are an object's, with where each begins."""

    value: Any
    start: int
    end: int
    parts: tuple[Node, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()

    def member(self, name: str) -> Node:
        """ABSENT if there is none; as JSON readers do, the last of several."""
        found = [part for (key, _), part in zip(self.keys, self.parts, strict=False) if key == name]
        return found[-1] if found else ABSENT


ABSENT = Node(None, 0, 0)

_decoder = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def parse_json(text: str, at: int = 0) -> Node:
    """The value that begins there. The text is known to be JSON."""
    at = _skip_space(text, at)
    if text[at] not in "{[":
        value, end = _decoder.raw_decode(text, at)
        return Node(value, at, end)
    start, parts, keys = at, [], []
    at = _skip_space(text, at + 1)
    while text[at] not in "}]":
        if text[start] == "{":
            key, end = _decoder.raw_decode(text, at)
            keys.append((key, at))
            at = _skip_space(text, end) + 1  # the colon
        parts.append(parse_json(text, at))
        at = _skip_space(text, parts[-1].end)
        at = _skip_space(text, at + 1) if text[at] == "," else at
    value = json.loads(text[start : at + 1])
    return Node(value, start, at + 1, tuple(parts), tuple(keys))


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _indent_of(text: str) -> str:
    """What the file indents by."""
    found = re.match(r"\s*\{\r?\n([ \t]+)", text)
    return found[1] if found else "  "


def _add_member(text: str, node: Node, depth: int, value: Any, key: str | None = None) -> str:
    """The text with one more member or element at the end of an object or a list."""
    unit, end = _indent_of(text), "\r\n" if "\r\n" in text else "\n"
    gap = end + unit * (depth + 1)
    made = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", gap)
    made = f"{json.dumps(key)}: {made}" if key is not None else made
    if node.parts:
        at = node.parts[-1].end
        return f"{text[:at]},{gap}{made}{text[at:]}"
    return f"{text[: node.start + 1]}{gap}{made}{end}{unit * depth}{text[node.end - 1 :]}"


def _remove_member(text: str, node: Node, number: int) -> str:
    """The text without one member or element."""
    starts = [at for _, at in node.keys] or [part.start for part in node.parts]
    if number > 0:
        return text[: node.parts[number - 1].end] + text[node.parts[number].end :]
    if len(node.parts) > 1:
        return text[: starts[0]] + text[starts[1] :]
    return text[: node.start + 1] + text[node.end - 1 :]


# --- our hooks -------------------------------------------------------------------------


def installed(text: str, command: str) -> str:
    """The settings with our hooks: those that are there call this command, those that are missing are added."""
    text = text if text.strip() else "{}\n"
    for event, ours in EVENTS.items():
        wanted = f"{command} hook {ours}"
        own = list(_find_ours(text, event))
        if not own:
            text = _add_hook(text, event, wanted)
        elif all(spot.value != wanted for spot in own):
            said = json.dumps(wanted, ensure_ascii=False)
            text = text[: own[0].start] + said + text[own[0].end :]
    return text


def _add_hook(text: str, event: str, command: str) -> str:
    group: dict[str, Any] = {"matcher": MATCHERS[event]} if event in MATCHERS else {}
    group["hooks"] = [{"type": "command", "command": command, "timeout": SECONDS}]
    root = parse_json(text)
    hooks = root.member("hooks")
    if hooks is ABSENT:
        return _add_member(text, root, 0, {event: [group]}, "hooks")
    groups = hooks.member(event)
    if groups is ABSENT:
        return _add_member(text, hooks, 1, [group], event)
    return _add_member(text, groups, 2, group)


def removed(text: str) -> str:
    """The settings without our hooks, and without what would be left empty by that."""
    while (shorter := _remove_hook(text)) is not None:
        text = shorter
    return text


def _remove_hook(text: str) -> str | None:
    root = parse_json(text)
    hooks = root.member("hooks")
    for event in EVENTS:
        groups = hooks.member(event)
        for at, group in enumerate(groups.parts):
            entries = group.member("hooks")
            ours = [number for number, entry in enumerate(entries.parts) if _is_ours(entry.value)]
            if not ours:
                continue
            if len(entries.parts) > 1 or not group.value.keys() <= {"hooks", "matcher"}:
                return _remove_member(text, entries, ours[0])
            if len(groups.parts) > 1:
                return _remove_member(text, groups, at)
            if len(hooks.parts) > 1:
                return _remove_member(text, hooks, _last_index(hooks, event))
            return _remove_member(text, root, _last_index(root, "hooks"))
    return None


def _last_index(node: Node, name: str) -> int:
    return max(at for at, (key, _) in enumerate(node.keys) if key == name)


def _find_ours(text: str, event: str) -> Iterator[Node]:
    """Where our commands stand, of one event."""
    for group in parse_json(text).member("hooks").member(event).parts:
        for entry in group.member("hooks").parts:
            if _is_ours(entry.value):
                yield entry.member("command")


def _is_ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None


# --- the file --------------------------------------------------------------------------


def path_of(*, user: bool) -> str:
    """The user's settings, or his own of this project: those that a team shares would name a path of this machine."""
    if user:
        return os.path.join(os.path.expanduser("~"), ".claude", "settings.json")
    return os.path.join(os.getcwd(), ".claude", "settings.local.json")


def read(path: str) -> str | None:
    """What the settings say; None: there are none. Refused where our hooks could not be put in without doubt."""
    text = read_text(path)
    if text is not None and text.strip():
        _check_hooks(path, text)
    return text


def read_text(path: str) -> str | None:
    """A file that is going to be changed, as it is; None: there is none."""
    if os.path.islink(path):
        raise _refused(path, "it is a link. Give the file that it leads to, or replace it by that")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _refused(path, f"it could not be read ({error}). Mend that first") from error


def _check_hooks(path: str, text: str) -> None:
    try:
        value = json.loads(text)
        parse_json(text)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"it is no JSON ({error}). Mend it first") from error
    hooks = value.get("hooks", {}) if isinstance(value, dict) else None
    groups = [hooks.get(event, []) for event in EVENTS] if isinstance(hooks, dict) else [None]
    for each in groups:
        if not isinstance(each, list) or not all(
            isinstance(group, dict) and isinstance(group.get("hooks", []), list) for group in each
        ):
            raise _refused(path, "its `hooks` are not as Claude Code has them. Mend them first")


def write(path: str, old: str | None, new: str | None) -> None:
    """Put the new text in the place of the old, whole; None: there is to be no file."""
    if read_text(path) != old:
        raise _refused(path, "it was changed in this moment. Repeat the command")
    folder = os.path.dirname(path)
    try:
        if new is not None:
            os.makedirs(folder, exist_ok=True)
            _replace_file(path, new, os.stat(path).st_mode & 0o7777 if old is not None else None)
            return
        os.unlink(path)
        if not os.listdir(folder):
            os.rmdir(folder)
    except OSError as error:
        raise _refused(path, f"{error.strerror or error}. Look at the folder's permissions") from error


def _replace_file(path: str, text: str, mode: int | None) -> None:
    """Whole, or not at all; with the mode that the file had."""
    staged = f"{path}.looseleaf-{os.getpid()}"
    fd = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(fd)
        if mode is not None:
            os.chmod(staged, mode)
        os.replace(staged, path)
    except BaseException:
        os.unlink(staged)
        raise


def _refused(path: str, why: str) -> Refused:
    return Refused(f"The settings were not changed: {path}: {why}.")
