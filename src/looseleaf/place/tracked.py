"""Whether git shows the pages of a memory: then others may read them. Asked only before a private line is written.

Any place of a page counts, not only USER.md: one whose pages are ignored in part, or that were committed before they
were ignored, is shown. In doubt (git is not there, or fails) it is.
"""

from __future__ import annotations

import os

from looseleaf.base.ids import now
from looseleaf.base.paths import DRAWERS, PROFILE, PROJECT, STATE, USER
from looseleaf.pages.folder import NAME, above, is_at_home
from looseleaf.text.times import day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_SECONDS = 10.0
_SOME_IGNORED, _NONE_IGNORED = 0, 1
"""What `git check-ignore` returns; anything else is a failure."""

_SHOWN = tuple(drawer for drawer in DRAWERS if drawer != "review")
_LOCAL = "PROJECT.local.md"


def find_repository(path: str) -> str | None:
    """Return the top of the repository around a folder, if any."""
    path = os.path.realpath(path)
    return next(
        (folder for folder in (path, *above(path)) if os.path.lexists(os.path.join(folder, ".git"))), None
    )


def may_be_tracked(path: str) -> bool:
    """True if a repository is around a memory whose pages are not its owner's alone. The home memory is; so is one that
    is a repository of its own, unless it is a project's `.looseleaf`."""
    if is_at_home(path):
        return False
    path = os.path.realpath(path)
    tops = {top for top, _ in _repositories(path)}
    is_alone = (
        tops == {path} and os.path.basename(path) != NAME and find_repository(os.path.dirname(path)) is None
    )
    return bool(tops) and not is_alone


def is_tracked(path: str) -> bool:
    """True if git tracks a page of the memory, or would take one."""
    path = os.path.realpath(path)
    # What was committed before it was ignored is tracked all the same, also if the file is gone now.
    return _takes(path, set(_places(path)), path, _is_page)


def is_file_tracked(path: str) -> bool:
    """True if git tracks a file, or would take it."""
    folder, name = os.path.split(path)
    folder = os.path.realpath(folder)
    return _takes(folder, {name}, os.path.join(folder, name), lambda found: True)


def _takes(folder: str, names: set[str], where: str, counts: Callable[[str], bool]) -> bool:
    """True if git does not ignore one of these files of a folder, or tracks a file at `where` that counts."""
    asked = {os.path.join(folder, name) for name in names}
    for top, env in _repositories(folder):
        ignored = _ask_git(top, env, ("check-ignore", "-z", "--stdin"), sorted(asked))
        if ignored is None or not asked <= ignored:
            return True
        tracked = _ask_git(top, env, ("ls-files", "-z", "--", where))
        if tracked is None or any(
            counts(os.path.relpath(os.path.join(top, each), folder)) for each in tracked
        ):
            return True
    return False


def _repositories(folder: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the work trees whose repository may take the files of a folder, each with the environment that leads git to
    that repository: the one around the folder, and the one that the variables name (dotfiles managers)."""
    top = find_repository(folder)
    if top is not None:
        # A hook of another repository may have said which one git is to look at.
        yield top, {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    repository, tree = os.environ.get("GIT_DIR"), os.environ.get("GIT_WORK_TREE")
    if not repository and tree:
        repository = os.path.join(find_repository(".") or "", ".git")
    if not repository or not (
        os.path.isfile(repository) or os.path.lexists(os.path.join(repository, "HEAD"))
    ):
        return
    tree = os.path.realpath(tree or ".")
    # The files of a repository within its work tree are not its own.
    if tree in (folder, *above(folder)) and (top is None or top in (tree, *above(tree))):
        yield tree, {**os.environ, "GIT_DIR": os.path.abspath(repository), "GIT_WORK_TREE": tree}


def _ask_git(
    top: str, env: Mapping[str, str], words: tuple[str, ...], lines: Iterable[str] = ()
) -> set[str] | None:
    """Return the paths that git names; None if it failed."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-C", top, *words],
            input=b"".join(os.fsencode(line) + b"\0" for line in lines),
            env=env,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode not in (_SOME_IGNORED, _NONE_IGNORED):
        return None
    return {os.fsdecode(each) for each in done.stdout.split(b"\0") if each}


def _places(path: str) -> Iterator[str]:
    """Yield the pages of a memory, and names that further ones may get."""
    today = day(now())
    yield from (PROFILE, STATE, f"facts/{USER}.md", f"facts/{PROJECT}.md", "facts/x.md", "facts/x/x.md")
    yield from (f"days/{today}.md", "days/x.md", f"episodes/{today[:7]}.md", "episodes/x.md")
    for folder in ("", *_SHOWN):
        for at, folders, files in os.walk(os.path.join(path, folder)):
            yield from (
                name for file in files if _is_page(name := os.path.relpath(os.path.join(at, file), path))
            )
            if not folder:
                folders.clear()


def _is_page(name: str) -> bool:
    """True if a file may show what was said, and is not meant to stay out of git anyway."""
    first = name.partition(os.sep)[0]
    is_page = first in _SHOWN or first == name
    return name == STATE or (is_page and name.endswith(".md") and name != _LOCAL)
