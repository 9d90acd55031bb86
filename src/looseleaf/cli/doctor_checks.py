"""The checks of `doctor` on the memory's folder, and around it: hooks, extras, models. Each returns a `Finding`."""

from __future__ import annotations

import os
import re
import stat
import time

from looseleaf.base.errors import EXTRAS, Refused, Unreadable, hint, name_of
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address
from looseleaf.store.context import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from looseleaf.base.policy import Policy

    Verdict = Literal["ok", "look", "broken"]


@frozen
class Finding:
    """The result of a check. `ok`: nothing to do; `look`: it works, but a person should look at it; `broken`: it does
    not work. `then` says what to do."""

    name: str
    verdict: Verdict
    says: str
    then: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "verdict": self.verdict, "says": self.says, "then": self.then}


def finding_of_refusal(name: str, verdict: Verdict, error: Refused, asked: str) -> Finding:
    """Return the finding of a refusal: why, and its last sentence as the next step. `asked`: the beginning of the
    refusal to leave out."""
    says, _, then = str(error).removeprefix(asked).rstrip(".").rpartition(". ")
    return Finding(name, verdict, says, f"{then}.")


def hooks() -> Finding:
    """Check which agents run this program, and whether they would find it."""
    from shutil import which

    from looseleaf.integrations.agent_settings import AGENTS
    from looseleaf.integrations.settings_files import found_agents, our_commands

    calls: dict[str, str] = {}
    others: list[str] = []
    here = found_agents()
    for agent in AGENTS.values():
        if agent.hooks is None:
            continue
        try:
            own = [*our_commands(agent, user=False), *our_commands(agent, user=True)]
        except Refused as error:
            return finding_of_refusal("hooks", "look", error, "The settings were not changed: ")
        for program in map(_program_of, own):
            name = os.path.expandvars(os.path.expanduser(program))
            # A variable that only the coding agent knows cannot be resolved.
            if "$" not in name and which(name) is None:
                said = f"{agent.title} runs {program}, which does not exist"
                return Finding("hooks", "broken", said, f"`looseleaf setup {agent.name}` rewrites them.")
        if own:
            calls[agent.title] = _program_of(own[0])
        elif agent in here:
            others.append(agent.title)
    said = "; ".join(
        [f"{title} runs {program}" for title, program in calls.items()]
        + ([f"not installed for {', '.join(others)}: `looseleaf setup` does it"] if others else [])
    )
    return Finding("hooks", "ok", said or "not installed; `looseleaf setup` connects coding agents")


def servers() -> Finding:
    """Check which agents name our MCP server."""
    from looseleaf.integrations.settings_files import found_agents, names_server

    named = [agent.title for agent in found_agents() if names_server(agent)]
    said = f"set up for {', '.join(named)}" if named else "set up for no agent: `looseleaf setup` does it"
    return Finding("server", "ok", said)


_SETS = re.compile(r"[A-Za-z_]\w*=")
_APART = frozenset({"&&", "||", ";", "|", "&"})


def _program_of(command: str) -> str:
    """Return the program that a shell would start, after assignments and earlier commands on the line."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError:
        return command
    ours = next((at for at, word in enumerate(words) if "looseleaf" in word and not _SETS.match(word)), 0)
    begins = max((at + 1 for at, word in enumerate(words[:ours]) if word in _APART), default=0)
    started = (word for word in words[begins:] if not _SETS.match(word) and word != "env")
    return next(started, command)


def extras() -> Finding:
    has = {extra: _versions(names) for extra, names in EXTRAS.items()}
    there = ", ".join(f"{extra} ({found})" for extra, found in has.items() if found)
    missing = [extra for extra, found in has.items() if not found]
    then = "; ".join(f"for {extra}: {hint(extra)}" for extra in missing)
    return Finding("extras", "ok", there or "none installed, and none needed", then)


def _versions(names: tuple[str, ...]) -> str:
    """Return the version of the first package, if all are installed; nothing is imported."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = [version(name_of(name)) for name in names]
    except PackageNotFoundError:
        return ""
    return found[0]


def keys(environ: Mapping[str, str] | None = None) -> Finding:
    """Check the names of keys; their values are never printed."""
    from looseleaf.models.choice import ADDRESS, KEY, PROVIDERS

    environ = os.environ if environ is None else environ
    names = [name for each in PROVIDERS.values() for name in (*each.keys, *each.addresses)]
    known = dict.fromkeys((*names, ADDRESS, KEY))
    there = [name for name in known if environ.get(name)]
    empty = [name for name in known if environ.get(name) == ""]
    if empty:
        then = (
            f"Give {'them values' if empty[1:] else 'it a value'}, or unset {'them' if empty[1:] else 'it'}."
        )
        are = "are" if empty[1:] else "is"
        return Finding("keys", "look", f"{', '.join(empty)} {are} set, but empty", then)
    return Finding("keys", "ok", ", ".join(there) or "none in the environment; the rules need none")


_LIKE = "Give one like 127.0.0.1:11434 or https://example.org/v1, or unset it."
_HOST = re.compile(r"[\w.:%-]+")


def _is_address(url: str) -> bool:
    """Return whether a URL names a host."""
    from urllib.parse import urlsplit

    try:
        found = urlsplit(url)
        host, _ = found.hostname or "", found.port
    except ValueError:
        return False
    return found.scheme in ("http", "https") and _HOST.fullmatch(host) is not None


def ollama(environ: Mapping[str, str] | None = None) -> Finding:
    """Check Ollama on this machine; no other host is asked."""
    from looseleaf.models.choice import LOCAL, first_model
    from looseleaf.models.failures import full, is_loopback, safe_address

    environ = os.environ if environ is None else environ
    at = full(environ.get("OLLAMA_HOST") or LOCAL)
    if not _is_address(at):
        return Finding("ollama", "look", "OLLAMA_HOST is not an address", _LIKE)
    if not is_loopback(at):
        says = f"OLLAMA_HOST names another machine, which was not asked ({safe_address(at)})"
        return Finding("ollama", "ok", says)
    first = first_model(at)
    if first is None:
        return Finding("ollama", "ok", f"no Ollama with a model answers at {safe_address(at)}")
    return Finding("ollama", "ok", f"answers at {safe_address(at)}; its first model is {first}")


def model(policy: Policy, environ: Mapping[str, str] | None = None) -> Finding:
    """Check the model that a chat or a distiller would use."""
    from looseleaf.models.choice import ADDRESS, choose_distiller
    from looseleaf.models.failures import full, is_loopback

    environ = os.environ if environ is None else environ
    given = {name: full(environ[name]) for name in (ADDRESS, "OLLAMA_HOST") if environ.get(name)}
    lost = [name for name, at in given.items() if not _is_address(at)]
    if lost and policy.model is None:
        return Finding("model", "look", f"{lost[0]} is not an address", _LIKE)
    far = [name for name, at in given.items() if not is_loopback(at)]
    if far and policy.model is None:
        return Finding("model", "ok", f"one at {far[0]}, another machine, which was not asked for its name")
    try:
        chosen: Any = choose_distiller(policy, environ)
        if hasattr(chosen, "program"):  # others need no preparation
            chosen.ready()
    except Refused as refused:
        then = "Until then the rules distill; `looseleaf chat` needs a model."
        return Finding("model", "look", str(refused), then)
    is_wanted = policy.distiller != "rules"
    if chosen is None:
        then = "Set the key of a provider, or start Ollama, to chat or to distill with a model."
        return Finding("model", "look" if is_wanted else "ok", "no model available; the rules distill", then)
    by = "a model distills" if is_wanted else "the rules distill"
    return Finding("model", "ok", f"{chosen.name} would be asked; {by}")


_LOCKED_SECONDS = 1.0
"""Seconds that a lock must be held to be reported: a write takes milliseconds."""

_MOST = 3
"""Problems that are named; `check` lists all."""

_PRIVATE = ("log", "views", "review", "PROJECT.local.md")


def where(path: str, named_by: str | None) -> Finding:
    """Check where the memory is. `named_by`: the option or variable that names it; None: it was searched for."""
    from looseleaf.pages.folder import JournalLost, LogGone, is_memory, refuse_lost_log

    is_home = os.path.abspath(path) == os.path.join(os.path.expanduser("~"), ".looseleaf")
    place = "the one at home" if is_home else "the nearest one upward from here"
    why = f"named by {named_by}" if named_by else place
    shown = shown_name(path) if is_address(path) else os.path.abspath(path)
    try:
        is_there = is_memory(path)
        if not is_there:
            refuse_lost_log(path)
    except (JournalLost, LogGone) as lost:
        return Finding("memory", "broken", f"{lost.says} ({why})", lost.then)
    except Unreadable as error:
        return Finding("memory", "broken", str(error), "Check the owner and the permissions of the folder.")
    if is_there:
        return Finding("memory", "ok", f"{shown} ({why})")
    if named_by:
        shown = shown_name(path)  # as it was given
        then = f"Make it with `looseleaf init {shown}`, or name another."
        return Finding("memory", "broken", f"there is none at {shown} ({why})", then)
    then = "`looseleaf init` makes one here."
    return Finding("memory", "look", "there is none here, above, or at ~/.looseleaf", then)


def settings(path: str, agent: str) -> Finding:
    from looseleaf.base.paths import SETTINGS
    from looseleaf.pages.folder import settings as read

    try:
        read(path, agent)
    except Refused as error:
        return finding_of_refusal("settings", "broken", error, "The memory was not opened: ")
    has = is_address(path) or os.path.lexists(os.path.join(path, SETTINGS))
    return Finding("settings", "ok", f"{SETTINGS} can be read" if has else "the defaults")


def permissions(path: str) -> Finding:
    """Check that other users cannot read the memory. In a folder of yours alone, pages are safe with any mode."""
    kept = [path, *(os.path.join(path, name) for name in ("log", "views", "review", "log/key"))]
    found = [(each, os.lstat(each)) for each in kept if os.path.lexists(each)]
    if found[0][1].st_uid not in (os.geteuid(), 0):
        then = "Use a memory of your own, or take this one over (chown)."
        return Finding("permissions", "look", f"{path} belongs to another user", then)
    wide = [(each, stat.S_IMODE(of.st_mode)) for each, of in found if stat.S_IMODE(of.st_mode) & 0o077]
    if wide and wide[0][0] == path:
        named = ", ".join(f"{each} ({mode:04o})" for each, mode in wide[:_MOST])
        then = f"Close it with: chmod -R go= {path}"
        return Finding("permissions", "look", f"other users may read {named}", then)
    return Finding("permissions", "ok", "only you may enter it (0700)")


def lock(path: str) -> Finding:
    """Check whether the lock is free, or held longer than any write takes."""
    from looseleaf.store.disk import LOCK, this_disk
    from looseleaf.store.files import locate_in

    here = this_disk()
    try:
        fd = os.open(locate_in(path, LOCK), os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return Finding("lock", "ok", "nothing has been written here yet")
    try:
        until = time.monotonic() + _LOCKED_SECONDS
        while not here.try_lock(fd):
            if time.monotonic() > until:
                then = "Wait for it; if it hangs, end it. What was acknowledged is not lost."
                return Finding("lock", "look", f"held by {_holder(fd)} right now", then)
            time.sleep(0.02)
        here.unlock(fd)
    finally:
        os.close(fd)
    return Finding("lock", "ok", "free")


def _holder(fd: int) -> str:
    """Return the process that holds the lock, where the system tells."""
    number = os.fstat(fd).st_ino
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            rows = [line.split() for line in file]
    except OSError:
        return "another process"
    pid = next((row[4] for row in rows if len(row) > 5 and row[5].endswith(f":{number}")), "")
    return f"process {pid}" if pid.isdecimal() and pid != "0" else "another process"


def index(path: str, agent: str) -> Finding:
    from looseleaf.index.sqlite import VIEW, DamagedIndex
    from looseleaf.memory import Memory
    from looseleaf.store.files import locate_in

    file = locate_in(path, VIEW) if not is_address(path) else ""
    if file and not os.path.lexists(file):
        return Finding("index", "ok", "not built yet; the first recall builds it")
    size = f"{os.lstat(file).st_size / (1 << 20):,.1f} MB" if file else "in the database"
    with Memory(path, agent=agent) as memory:
        memory.pages.list()  # takes in changes by people, as every command that reads does
        try:
            is_current = memory.parts.recall.keep.is_current()
        except DamagedIndex as damaged:
            then = "`looseleaf build --full` rebuilds it, and touches nothing else."
            return Finding("index", "look", f"{size}, and damaged ({damaged})", then)
    is_behind = "up to date" if is_current else "behind; the next recall catches up"
    return Finding("index", "ok", f"{size}, {is_behind}")


def sound(path: str, agent: str) -> Finding:
    """Read and hash everything again, as `check` does."""
    from looseleaf.memory import Memory
    from looseleaf.memory.check import held_problems

    with Memory(path, agent=agent) as memory:
        waiting = set(held_problems(memory.parts))  # `held` names these
        problems = [each for each in memory.check() if each.severity == "error" and each not in waiting]
    if not problems:
        return Finding("sound", "ok", "everything was read and hashed again")
    named = "; ".join(str(each) for each in problems[:_MOST])
    more = f"; and {len(problems) - _MOST} more" if len(problems) > _MOST else ""
    then = "`looseleaf check` lists all, `looseleaf repair` repairs what it can."
    return Finding("sound", "broken", f"{named}{more}", then)


def held(path: str, agent: str) -> Finding:
    """Check for pages that cannot be what a person meant, and for copies that synchronizing programs made."""
    from looseleaf.memory import Memory
    from looseleaf.memory.check import copy_problems
    from looseleaf.pages.settle import find_held

    with Memory(path, agent=agent) as memory:
        pages = [f"{each.path} {each.says}" for each in find_held(memory.parts)]
        others = list(map(str, copy_problems(memory.parts)))
    found = pages + others
    if not found:
        return Finding("held", "ok", "every page is what its file says, and there are no conflict copies")
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    steps = ["`looseleaf settle` shows each page, and what can be done."] if pages else []
    steps += ["Move copies of other files away once you have taken what you need."] if others else []
    then = " ".join(steps)
    return Finding("held", "look", f"{'; '.join(found[:_MOST])}{more}", then)


def git(path: str) -> Finding:
    """Check that a repository ignores the private files."""
    inside = repository_of(path)
    if inside is None:
        return Finding("git", "ok", "the memory is in no repository")
    from looseleaf.pages.folder import shares_log

    is_shared = shares_log(path)
    shown = [name for name in _PRIVATE if not (is_shared and name == "log") and not is_ignored(path, name)]
    if shown:
        then = f"Add to {os.path.join(path, '.gitignore')}: {' '.join(shown)}"
        return Finding("git", "look", f"{inside} would commit {', '.join(shown)}", then)
    log = "; log/ is in it, as `init --git-log` says" if is_shared else ""
    return Finding("git", "ok", f"private files are ignored{log}")


def repository_of(path: str) -> str | None:
    """Return the top of the repository that a folder lies in."""
    if is_address(path):
        return None
    from looseleaf.pages.folder import above

    folders = (path, *above(os.path.realpath(path)))
    return next((each for each in folders if os.path.lexists(os.path.join(each, ".git"))), None)


def is_ignored(path: str, name: str) -> bool:
    """Return whether git ignores a file or folder of a memory."""
    import subprocess

    # Git settings of the calling process do not matter here.
    own = {each: value for each, value in os.environ.items() if not each.startswith("GIT_")}
    try:
        asked = ["git", "-C", path, "check-ignore", "--quiet", "--no-index", name]
        code = subprocess.run(asked, env=own, capture_output=True, timeout=2, check=False).returncode
    except (OSError, subprocess.TimeoutExpired):
        code = -1
    if code in (0, 1):
        return code == 0
    try:  # without git, .gitignore itself is an estimate
        with open(os.path.join(path, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return name in {line.strip().strip("/") for line in file}
    except OSError:
        return False
