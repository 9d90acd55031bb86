"""The settings files of coding agents, read and replaced whole, and which of those agents are on this machine.

A file that we make says by the empty lines at its end how many folders were made for it: they go with it.
"""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.integrations import agent_settings as forms
from looseleaf.integrations.agent_settings import AGENTS, CodingAgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    What = Literal["hooks", "server", "trust"]


@frozen
class Change:
    """A settings file, its text now and wanted (None: no file), and what of which agents the change is about."""

    path: str
    old: str | None
    new: str | None
    parts: tuple[tuple[str, What], ...]


def found_agents() -> list[CodingAgent]:
    """Return the agents on this machine: their program is on PATH, or their folder is there."""
    from shutil import which

    at = _folders()
    return [
        each
        for each in AGENTS.values()
        if which(each.program) is not None or os.path.isdir(each.folder.format_map(at))
    ]


def _folders() -> dict[str, str]:
    return forms.folders(os.path.expanduser("~"), os.getcwd(), sys.platform, os.environ)


def hooks_path(agent: CodingAgent, *, user: bool) -> str:
    """Return the file of an agent's hooks: of the user, or the local one for this project, since settings that a team
    shares would name a path of this machine."""
    assert agent.hooks is not None
    return (agent.hooks.user if user else agent.hooks.project).format_map(_folders())


def server_path(agent: CodingAgent, *, user: bool) -> tuple[str, tuple[str, ...]] | None:
    """Return the file that names an agent's servers, and the members above ours; None if there is none."""
    server, at = agent.server, _folders()
    place = server.user if user else server.project
    if place is None:
        return None
    path = place.format_map(at)
    if path.endswith("opencode.json") and os.path.exists(f"{path}c"):
        path += "c"
    above = server.above if user else server.project_above or server.above
    return path, tuple(each.format_map(at) for each in above)


class Plan:
    """The changes that connect agents, or disconnect them: nothing is written yet. What was connected last is to be
    disconnected first."""

    def __init__(self, *, user: bool, remove: bool = False) -> None:
        self._user, self._remove = user, remove
        self._old: dict[str, str | None] = {}
        self._new: dict[str, str | None] = {}
        self._parts: dict[str, list[tuple[str, What]]] = {}

    def changes(self) -> list[Change]:
        """Return the changes in the order in which they are to be written."""
        return [
            Change(path, old, self._new[path], tuple(self._parts[path])) for path, old in self._old.items()
        ]

    def hooks(self, agent: CodingAgent, command: str) -> None:
        hooks = agent.hooks
        assert hooks is not None
        path = hooks_path(agent, user=self._user)
        old = self._text(path)
        by_hand = "Fix it first, or write the hooks into it yourself"
        if self._remove:
            self._edit(path, agent, "hooks", lambda text: forms.without_hooks(text, hooks), by_hand)
        else:
            self._edit(path, agent, "hooks", lambda text: forms.with_hooks(text, hooks, command), by_hand)
        if agent.name == "codex":
            self._trust(agent, path, forms.trust_keys(old, path, hooks))

    def _trust(self, agent: CodingAgent, path: str, keys: list[str]) -> None:
        """Codex runs a hook only after its user has trusted it: say so in its settings, or take that back."""
        from looseleaf.integrations.codex_trust import trusted_hashes

        settings = server_path(agent, user=True)
        assert settings is not None
        assert agent.hooks is not None
        by_hand = "Fix it first, or trust the hooks when Codex asks"
        if self._remove:
            self._edit(settings[0], agent, "trust", lambda text: forms.without_trust(text, keys), by_hand)
            return
        hashes = trusted_hashes(self._new[path] or "", path, agent.hooks)
        if hashes:
            self._edit(settings[0], agent, "trust", lambda text: forms.with_trust(text, hashes), by_hand)

    def server(self, agent: CodingAgent, command: list[str]) -> None:
        found = server_path(agent, user=self._user)
        if found is None:
            return
        path, above = found
        entry, is_toml = forms.entry_of(agent.server, command), path.endswith(".toml")
        by_hand = f"Name the server in it yourself: the command is `{' '.join(command)}`"
        if self._remove:
            self._edit(
                path,
                agent,
                "server",
                lambda text: forms.without_server(text, above, is_toml=is_toml),
                by_hand,
            )
        else:
            self._edit(
                path,
                agent,
                "server",
                lambda text: forms.with_server(text, above, entry, is_toml=is_toml),
                by_hand,
            )

    def _edit(
        self,
        path: str,
        agent: CodingAgent,
        what: What,
        edit: Callable[[str | None], str | None],
        by_hand: str,
    ) -> None:
        old = self._text(path)
        try:
            self._new[path] = edit(old)
        except (ValueError, RecursionError) as error:
            raise refusal(path, f"{_why(error)}. {by_hand}") from error
        if self._new[path] != old:
            self._parts[path].append((agent.name, what))

    def _text(self, path: str) -> str | None:
        if path not in self._old:
            self._old[path] = self._new[path] = read(path)
            self._parts[path] = []
        return self._new[path]


def names_server(agent: CodingAgent) -> bool:
    """Return whether an agent's settings name our server, in this project or the user's; not if they cannot be read."""
    for found in (server_path(agent, user=True), server_path(agent, user=False)):
        if found is None:
            continue
        path, above = found
        try:
            if forms.has_server(read(path), above, is_toml=path.endswith(".toml")):
                return True
        except (Refused, ValueError, RecursionError):
            continue
    return False


def our_commands(agent: CodingAgent, *, user: bool) -> list[str]:
    """Return the commands of our hooks in an agent's settings."""
    assert agent.hooks is not None
    path = hooks_path(agent, user=user)
    try:
        return forms.our_commands(read(path), agent.hooks)
    except (ValueError, RecursionError) as error:
        raise refusal(path, f"{_why(error)}. Fix it first") from error


def _why(error: Exception) -> str:
    from json import JSONDecodeError

    if isinstance(error, RecursionError | JSONDecodeError):
        return f"it is not JSON ({error})"
    return f"it is not TOML ({error})" if type(error).__name__ == "TOMLDecodeError" else str(error)


# --- files -------------------------------------------------------------------------------


def read(path: str) -> str | None:
    """Return the text of a file to be changed; None if there is none."""
    if os.path.islink(path):
        raise refusal(path, "it is a link. Replace it with the file that it points to")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise refusal(path, f"it cannot be read ({error}). Fix that first") from error


def write(path: str, old: str | None, new: str | None) -> None:
    """Replace the old text with the new, whole; None deletes the file, and the folders that were made for it."""
    if read(path) != old:
        raise refusal(path, "it was changed in the meantime. Run the command again")
    try:
        if new is None:
            os.unlink(path)
            for folder in _above(path, len(old or "") - len((old or "").rstrip("\n")) - 1):
                if os.listdir(folder):
                    break
                os.rmdir(folder)
            return
        missing = [each for each in _above(path) if not os.path.isdir(each)]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        new += "\n" * len(missing)
        _replace_file(path, new, os.stat(path).st_mode & 0o7777 if old is not None else None)
    except OSError as error:
        raise refusal(path, f"{error.strerror or error}. Check the folder's permissions") from error


def _above(path: str, most: int = 64) -> Iterable[str]:
    """Yield the folders above a path, nearest first, without the root."""
    folder = os.path.dirname(path)
    while most > 0 and folder != os.path.dirname(folder):
        yield folder
        folder, most = os.path.dirname(folder), most - 1


def _replace_file(path: str, text: str, mode: int | None) -> None:
    """Write a file whole or not at all, with this mode."""
    staged = f"{path}.looseleaf-{os.getpid()}"
    fd = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644 if mode is None else 0o600)
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


def refusal(path: str, why: str) -> Refused:
    return Refused(f"The settings were not changed: {path}: {why}.")
