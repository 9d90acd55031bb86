"""The machines that share a memory: each writes a log and views of its own, and reads those of all (FORMAT §20).

The log of the first machine is `log/`; every other one's is `log/on/<machine>/`, and its views are in
`views/on/<machine>/`. Within the program, a path without `on/` names this machine's own: `log/journal.jsonl` is its
journal, wherever that lies, and `log/on/<machine>/…` is the log of another machine, even of the first. Here, and only
here, such a path is translated into a place in the folder.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "log/machine"
"""Names the machine whose log a folder is."""
OTHERS = "log/on"
DATABASE = "database"
"""In place of a machine's name, where a journal was begun in a database. A folder made of it is its opener's."""
_NAME = r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?"
_SHARED = frozenset({"log/key", FILE, "log/writer", OTHERS})
"""What all machines have in common."""


class Machines:
    """Where things lie for one machine. `own` is its name, `first` that of the machine whose log is `log/`."""

    def __init__(self, own: str = "", first: str = "") -> None:
        self.own = own
        self.first = first
        self.place: Callable[[str], str] = self._place if own != first else _as_it_is

    def _place(self, path: str) -> str:
        """Return where a path lies in the folder."""
        top, slash, rest = path.partition("/")
        if top not in ("log", "views") or path in _SHARED:
            return path
        if not rest.startswith("on/"):
            return f"{top}/on/{self.own}{slash}{rest}"
        machine, _, below = rest.removeprefix("on/").partition("/")
        if machine == self.first:
            return f"{top}/{below}" if below else top
        return path

    def owner(self, place: str) -> str:
        """Return the other machine to whose log or views a file of the folder belongs; "" if to none."""
        top, _, rest = place.partition("/")
        name, first = self.own, self.first
        if top in ("log", "views"):
            first_of = rest.removeprefix("on/").partition("/")
            name, rest = (first_of[0], first_of[2]) if rest.startswith("on/") else (first, rest)
        if name == self.own and rest.startswith("machines/") and top == "views":
            name = rest.split("/")[1]
        return name if name != self.own and place not in _SHARED else ""


def _as_it_is(path: str) -> str:
    return path


ALONE = Machines()


def log_of(machine: str) -> str:
    """Return the folder of another machine's log."""
    return f"{OTHERS}/{machine}"


def log_with(path: str) -> str:
    """Return the log that a file is in."""
    return "/".join(path.split("/", 3)[:3]) if path.startswith(f"{OTHERS}/") else "log"


def as_own(path: str) -> str:
    """Return a path of any machine's log as that machine names it."""
    return f"log{path.removeprefix(log_with(path))}" if path.startswith(f"{OTHERS}/") else path


def stream_of(machine: str, stream: str) -> str:
    """Return the name of a stream of another machine."""
    return f"on/{machine}/{stream}"


def stem_of(machine: str) -> str:
    """Return how the names begin of the logs that a merge makes of what went apart from a machine's (FORMAT §20.7)."""
    return machine[:30].rstrip("-")


def is_branch_of(name: str, machine: str) -> bool:
    """True if a log has such a name: no other machine ever opens it as its own."""
    return re.fullmatch(rf"{re.escape(stem_of(machine))}(?:-[0-9a-f]{{6}})+", name) is not None


def is_name(name: str) -> bool:
    """True if this can be the name of a machine."""
    return re.fullmatch(_NAME, name) is not None
