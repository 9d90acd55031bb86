"""The verb that git runs to merge a page, and what tells git to: `hook install --git`, `init --git-log`."""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import NotFound, Refused
from looseleaf.cli.output import PROBLEMS, ask, find_memory, plain, print_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions

_LARGEST = 1024 * 1024
"""The most bytes of a file that is merged here: as many as a page may have."""


# --- merge-file --------------------------------------------------------------------------


def merge_file(options: CliOptions) -> int:
    """Merge two versions of a page into the first of them, or leave both alone: git then merges them."""
    base, ours, theirs = (_read(path) for path in (options.base, options.current, options.other))
    path = str(options.path)
    try:
        merged, contested = _merged(_in_memory(path), base, ours, theirs)
    except Refused as refused:
        why = f"{path} was not merged by its facts: {refused}"
        if options.json:
            print_json({"error": why})
        print(f"looseleaf: {plain(why)}", file=sys.stderr)
        return PROBLEMS
    if merged != ours:
        _replace(options.current, merged)
    if options.json:
        print_json({"path": path, "contested": contested})
        return 0
    both = f"; contested: {contested} lines, marked with (from git-…)" if contested else ""
    say(f"{plain(path)} has the changes of both sides{both}.")
    return 0


def _merged(path: str, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, int]:
    """Return the merged file, and how many lines of it are newly contested. Refused if a version is not text, or
    unsound."""
    if ours == theirs or theirs == base:
        return ours, 0
    if ours == base:
        return theirs, 0
    if max(map(len, (base, ours, theirs))) > _LARGEST:
        raise Refused("it is too large.")
    if path == "state.json":
        return _merged_state(base, ours, theirs), 0
    from time import gmtime, strftime

    from looseleaf.base import ids as clock
    from looseleaf.facts.three_way import merge_pages
    from looseleaf.pages.held import find_markers
    from looseleaf.text.lines import is_said_on

    try:
        texts = before, mine, other = base.decode(), ours.decode(), theirs.decode()
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text.") from None
    if any("\0" in text for text in texts):
        raise Refused("it has zero bytes.")
    if any(find_markers(each) for each in (ours, theirs)):
        raise Refused("it has conflict markers already.")
    merged = merge_pages(path, before, mine, other, strftime("%Y-%m-%d", gmtime(clock.now())))
    known = {line for text in texts for line in text.splitlines()}
    contested = [line for line in merged.splitlines() if is_said_on(line) and line not in known]
    return merged.encode(), len(contested)


def _merged_state(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    from looseleaf.state.file import parse_sound
    from looseleaf.state.rules import Unsound, format_state
    from looseleaf.state.three_way import merge_states

    try:
        before = parse_sound(base)
    except Unsound:  # both sides mended it, or git merged several bases into this one as text
        before = {}
    try:
        mine, other = parse_sound(ours), parse_sound(theirs)
        if before is not None and (mine is None or other is None):
            raise Refused("one side is empty.")
        text = format_state(merge_states(before or {}, mine or {}, other or {}))
        parse_sound(text.encode())
    except Unsound as unsound:
        raise Refused(f"{unsound.why}.") from unsound
    return text.encode()


def _in_memory(path: str) -> str:
    """Return the path of a page in its memory, for its path in the repository."""
    from looseleaf.base.paths import DRAWERS

    folder, _, name = path.rpartition("/")
    drawer = folder.rpartition("/")[2]
    return f"{drawer}/{name}" if drawer in DRAWERS else name


def _read(path: Any) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise NotFound(f"Nothing was merged: {path}: {error.strerror}.") from error


def _replace(path: Any, data: bytes) -> None:
    """Write the whole file or none of it: if this fails, git merges the old one."""
    staged = f"{path}.looseleaf"
    try:
        with open(staged, "wb") as file:
            file.write(data)
        os.replace(staged, path)
    except OSError as error:
        raise Refused(f"Nothing was merged: {path} could not be written ({error.strerror}).") from error


# --- hook install --git, hook remove --git -------------------------------------------------

_DRIVER = "merge.looseleaf"


def attributes_change(options: CliOptions) -> tuple[str, str | None, str | None, str]:
    """Return the memory's `.gitattributes`, its text now and wanted, and what to say if both are the same."""
    from looseleaf.integrations import git_files
    from looseleaf.integrations.settings_files import read

    memory = _memory(options)
    _config_of(memory)  # Refused here, before anything is written
    path = os.path.join(memory, git_files.ATTRIBUTES)
    text = read(path)
    if options.event == "install":
        return path, text, git_files.with_lines(text, git_files.PAGES), "has the lines already"
    return path, text, git_files.without_lines(text, git_files.PAGES), "has no lines of looseleaf"


def change_driver(options: CliOptions, program: list[str]) -> dict[str, Any]:
    """Show the driver, ask, and write it to the repository's settings, or take it out; return what was done."""
    from looseleaf.integrations import git_files

    memory = _memory(options)
    config = _config_of(memory)
    old = _git(memory, "config", "--local", "--default", "", "--get", f"{_DRIVER}.driver")
    new = git_files.driver(program) if options.event == "install" else ""
    if new != old:
        _write_driver(options, memory, config, new, git_files.TITLE)
    elif not options.json:
        say(f"{config} {'names the driver already' if new else 'names no driver of looseleaf'}.")
    if new and not options.json:
        say(
            f"Commit {os.path.join(memory, git_files.ATTRIBUTES)}. Git does not carry the driver itself: each clone "
            "must run `looseleaf hook install --git` once. Without it, git merges as text, and pages with conflict "
            "markers wait for `looseleaf settle`."
        )
    return {"path": config, "event": options.event, "written": new != old}


def _memory(options: CliOptions) -> str:
    memory = find_memory(options)
    if memory is None:
        raise NotFound(
            "The settings were not changed: there is no memory here. Make one with `looseleaf init`."
        )
    return memory


def _config_of(memory: str) -> str:
    return os.path.realpath(os.path.join(memory, _git(memory, "rev-parse", "--git-path", "config")))


def _write_driver(options: CliOptions, memory: str, config: str, driver: str, title: str) -> None:
    if not options.json:
        say(f"{config}: {f'{_DRIVER}.driver = {driver}' if driver else f'without {_DRIVER}'}")
    if not options.yes:
        ask(
            f"Write {config}?",
            no_terminal=f"The settings were not changed: there is no terminal to ask whether to write {config}. "
            "Give --yes to write it.",
            no=f"The settings were not changed: {config} is as it was. Answer `y` to write it.",
        )
    if driver:
        _git(memory, "config", "--local", f"{_DRIVER}.name", title)
        _git(memory, "config", "--local", f"{_DRIVER}.driver", driver)
    else:
        _git(memory, "config", "--local", "--remove-section", _DRIVER)
    options.done = "the settings are written; "


def _git(memory: str, *words: str) -> str:
    """Run git in the repository of a memory; return its answer."""
    import subprocess

    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", memory, *words], env=own, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(
            f"The settings were not changed: git did not run ({error}). Install git first."
        ) from error
    if done.returncode:
        why = done.stderr.partition("\n")[0].removeprefix("fatal: ") or f"git {words[0]} failed"
        raise Refused(f"The settings were not changed: {memory}: {why}. `git init` makes a repository.")
    return done.stdout.removesuffix("\n")


def unmerged(memory: str, paths: Sequence[str]) -> list[str]:
    """Return those pages of which git still has the versions of an unfinished merge."""
    try:
        rows = _git(memory, "ls-files", "-u", "-z", "--", *paths).split("\0")
    except Refused:
        return []
    return sorted({row.partition("\t")[2] for row in rows if row})


# --- init --git-log -------------------------------------------------------------------------


def share_log(path: str) -> bool:
    """Let git track the log of a memory; return whether anything was written."""
    from looseleaf.integrations import git_files
    from looseleaf.integrations.settings_files import read, write

    ignore, attributes = (os.path.join(path, name) for name in (git_files.IGNORE, git_files.ATTRIBUTES))
    wanted = [
        (attributes, read(attributes), git_files.with_lines(read(attributes), git_files.LOG)),
        (ignore, read(ignore), git_files.sharing_log(read(ignore))),  # last: only now does git track the log
    ]
    for file, old, new in wanted:
        if new != old:
            write(file, old, new)
    return any(new != old for _, old, new in wanted)
