"""Claude Code's settings file, with our hooks added or removed, and the distiller in `looseleaf.toml`.

Only the added or removed text changes: order, spacing and unknown members stay. Invariant: everything else in the file
means the same afterwards; a change that cannot promise this is refused.
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
    from typing import Any


# --- the distiller in looseleaf.toml -----------------------------------------------------

_LINE = re.compile(r"^[ \t]*distiller[ \t]*=.*$", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def path_in(memory: str) -> str:
    return os.path.join(memory, SETTINGS)


def with_distiller(path: str, text: str, name: str) -> str:
    """Return the settings with this distiller. `rules` is the default, and needs no line."""
    import tomllib

    try:
        before = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refusal(path, f"it cannot be read ({error}). Fix it first") from error
    if before.get("distiller", "rules") == name:
        return text
    wanted = {key: value for key, value in before.items() if key != "distiller"}
    wanted |= {} if name == "rules" else {"distiller": name}
    made = _edit_distiller(text, name)
    try:
        if tomllib.loads(made) == wanted:
            return made
    except ValueError:
        pass
    raise _refusal(path, f'its layout is not supported. Write `distiller = "{name}"` into it yourself')


def _edit_distiller(text: str, name: str) -> str:
    """Return the text with the line replaced, or added before the first table."""
    line = f'distiller = "{name}"'
    found = _LINE.search(text)
    if found is not None:
        before, after = text[: found.start()], text[found.end() :]
        return before + after.removeprefix("\n") if name == "rules" else before + line + after
    table = _TABLE.search(text)
    at = table.start() if table is not None else len(text)
    head = text[:at].rstrip("\n")
    gap = "\n" if table is not None else ""
    return f"{head}\n{line}\n{gap}{text[at:]}" if head else f"{line}\n{gap}{text[at:]}"


EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreToolUse": "pre-tool",
    "PreCompact": "pre-compact",
    "Stop": "stop",
    "SessionEnd": "stop",
}
"""Claude Code's events, and the hook of each. The end of a session calls `stop` again: the transcript is often written
after the last answer."""

MATCHERS = {
    "PreToolUse": f"{PREFIX}(remember|memory_write|memory_patch|memory_append|memory_state|memory_forget)"
}
"""The tools that `pre-tool` covers: only ours that write, since the agent waits for a hook."""

SECONDS = 30
"""The time limit of a hook. Most take a tenth of a second; the first of a long transcript takes a few."""

_OURS = re.compile(
    r"(?:^|[\s/\"'])looseleaf[\"']?\s.*?hook (?:session-start|user-prompt|pre-tool|pre-compact|stop)\s*$"
)


# --- JSON with places ------------------------------------------------------------------


@frozen
class Node:
    """A value of a JSON text, and its place. `keys`: an object's, each with its start."""

    value: Any
    start: int
    end: int
    parts: tuple[Node, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()

    def member(self, name: str) -> Node:
        """Return a member, ABSENT if there is none; of several, the last, as JSON readers do."""
        found = [part for (key, _), part in zip(self.keys, self.parts, strict=False) if key == name]
        return found[-1] if found else ABSENT


ABSENT = Node(None, 0, 0)

_decoder = json.JSONDecoder()


def parse_json(text: str, at: int = 0) -> Node:
    """Parse the value that starts at a place. The text is known to be JSON."""
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
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def _add_member(text: str, node: Node, depth: int, value: Any, key: str | None = None) -> str:
    """Return the text with a member or element added at the end of an object or list."""
    indent = re.match(r"\s*\{\r?\n([ \t]+)", text)
    unit, end = indent[1] if indent else "  ", "\r\n" if "\r\n" in text else "\n"
    gap = end + unit * (depth + 1)
    made = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", gap)
    made = f"{json.dumps(key)}: {made}" if key is not None else made
    if node.parts:
        at = node.parts[-1].end
        return f"{text[:at]},{gap}{made}{text[at:]}"
    return f"{text[: node.start + 1]}{gap}{made}{end}{unit * depth}{text[node.end - 1 :]}"


def _remove_member(text: str, node: Node, number: int) -> str:
    """Return the text without one member or element."""
    starts = [at for _, at in node.keys] or [part.start for part in node.parts]
    if number > 0:
        return text[: node.parts[number - 1].end] + text[node.parts[number].end :]
    if len(node.parts) > 1:
        return text[: starts[0]] + text[starts[1] :]
    return text[: node.start + 1] + text[node.end - 1 :]


def installed(text: str, command: str) -> str:
    """Return the settings with our hooks: existing ones get this command, missing ones are added."""
    text = text if text.strip() else "{}\n"
    for event, ours in EVENTS.items():
        wanted = f"{command} hook {ours}"
        groups = parse_json(text).member("hooks").member(event).parts
        entries = (entry for group in groups for entry in group.member("hooks").parts)
        own = [entry.member("command") for entry in entries if _is_ours(entry.value)]
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
    """Return the settings without our hooks, and without groups that this leaves empty."""
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


def _is_ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None


def path_of(*, user: bool) -> str:
    """Return the path of the user's settings, or of the local ones for this project: settings that a team shares would
    name a path of this machine."""
    if user:
        return os.path.join(os.path.expanduser("~"), ".claude", "settings.json")
    return os.path.join(os.getcwd(), ".claude", "settings.local.json")


def read(path: str) -> str | None:
    """Return the settings; None if there are none. Refused where our hooks cannot be added safely."""
    text = read_text(path)
    if text is None or not text.strip():
        return text
    try:
        value = json.loads(text)
        parse_json(text)
    except (ValueError, RecursionError) as error:
        raise _refusal(path, f"it is not JSON ({error}). Fix it first") from error
    hooks = value.get("hooks", {}) if isinstance(value, dict) else None
    groups = [hooks.get(event, []) for event in EVENTS] if isinstance(hooks, dict) else [None]
    for each in groups:
        if not isinstance(each, list) or not all(
            isinstance(group, dict) and isinstance(group.get("hooks", []), list) for group in each
        ):
            raise _refusal(path, "its `hooks` do not have Claude Code's form. Fix them first")
    return text


def read_text(path: str) -> str | None:
    """Return the text of a file to be changed; None if there is none."""
    if os.path.islink(path):
        raise _refusal(path, "it is a link. Replace it with the file that it leads to")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _refusal(path, f"it cannot be read ({error}). Fix that first") from error


def write(path: str, old: str | None, new: str | None) -> None:
    """Replace the old text with the new, whole; None deletes the file."""
    if read_text(path) != old:
        raise _refusal(path, "it was changed meanwhile. Repeat the command")
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
        raise _refusal(path, f"{error.strerror or error}. Check the folder's permissions") from error


def _replace_file(path: str, text: str, mode: int | None) -> None:
    """Write a file whole or not at all, with this mode."""
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


def _refusal(path: str, why: str) -> Refused:
    return Refused(f"The settings were not changed: {path}: {why}.")
