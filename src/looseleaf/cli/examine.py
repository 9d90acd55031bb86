"""Everything that is looked at, in order, each for a limited time."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.cli import around, machine
from looseleaf.cli import doctor_checks as folder
from looseleaf.cli.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = 3.0
"""For one look. Most take some milliseconds; a share that does not answer takes forever."""

SOUND_SECONDS = 10.0
"""For re-reading everything, which is done here only if it can be done in this time."""


def examine(path: str, agent: str, named_by: str | None) -> Iterator[Finding]:
    """All findings on the memory at a path. Each comes when it is made."""
    yield within(SECONDS, "python", machine.python)
    yield within(SECONDS, "sqlite", machine.sqlite)
    yield within(SECONDS, "selector", machine.learnt)
    yield within(SECONDS, "disk", lambda: machine.disk(path))
    yield within(SECONDS, "space", lambda: machine.space(path))
    there = within(SECONDS, "memory", lambda: folder.where(path, named_by))
    yield there
    policy = None
    if there.verdict == "ok":
        settings = within(SECONDS, "settings", lambda: folder.settings(path, agent))
        yield settings
        yield within(SECONDS, "permissions", lambda: folder.permissions(path))
        yield within(SECONDS, "lock", lambda: folder.lock(path))
        if settings.verdict == "ok":
            from looseleaf.pages.folder import settings as read

            policy = read(path, agent)
            yield within(SECONDS, "index", lambda: folder.index(path, agent))
            yield within(SOUND_SECONDS, "sound", lambda: folder.sound(path, agent))
        yield within(SECONDS, "git", lambda: folder.git(path))
    yield within(SECONDS, "hooks", around.hooks)
    yield within(SECONDS, "extras", around.extras)
    yield within(SECONDS, "keys", around.keys)
    yield within(SECONDS, "ollama", around.ollama)
    if policy is None:
        from looseleaf.base.policy import Policy

        policy = Policy()
    yield within(SECONDS, "model", lambda: around.model(policy))


def within(seconds: float, name: str, look: Callable[[], Finding]) -> Finding:
    """What a look finds, if it comes to an end in time."""
    import threading

    found: list[Finding] = []
    thread = threading.Thread(target=lambda: found.append(_found(name, look)), daemon=True)
    thread.start()
    thread.join(seconds)
    if found:
        return found[0]
    then = "`looseleaf check` takes the time that it needs." if name == "sound" else "Look at it by hand."
    return Finding(name, "look", f"no answer within {seconds:g} seconds", then)


def _found(name: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Refused as refused:
        return Finding(name, "broken", str(refused), "Do what it says, and look again.")
    except OSError as error:
        why = f"it could not be looked at ({error.strerror or error})"
        return Finding(name, "look", why, "See whether you may read it, and whether the disk answers.")
