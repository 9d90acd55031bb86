"""Which machine this is, and whose log a folder has.

The name is made once, and kept in the person's home, outside of any memory.
"""

from __future__ import annotations

import os
import re

from looseleaf.base.errors import Invalid
from looseleaf.base.paths import quoted
from looseleaf.store import records
from looseleaf.store.machines import DATABASE, FILE, OTHERS, Machines, is_name, log_of
from looseleaf.store.streams import read_start, segment_name, stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.store.root import Root

SCHEMA = "machine.v1"


def find_machines(root: Root, machine: Machine) -> tuple[Machines, bool]:
    """Return where this machine keeps its log in a folder, and whether the log says so already.

    The log is this machine's if it names it. A machine without a name of its own (a container, a home that was wiped)
    goes on with the log that was begun in this very folder, which it recognizes by its place on the disk. Where the
    file that names the machine has not arrived yet, the journal says who began it.
    """
    first = _read_claim(root, FILE)
    if first is None:
        begun = _begun_by(root) or machine.name
        return Machines(machine.name, begun), False
    if first[0] == machine.name or (machine.is_new and first[1] == _stamp(root, "log")):
        return Machines(first[0], first[0]), True
    for name in filter(is_name, root.names(OTHERS)):
        claim = _read_claim(root, f"{log_of(name)}/machine")
        if name == machine.name or (machine.is_new and claim and claim[1] == _stamp(root, log_of(name))):
            return Machines(name, first[0]), claim is not None
    return Machines(machine.name, first[0]), False


def claim(root: Root) -> None:
    """Write into the log of this machine whose log it is."""
    own = root.machines.own
    is_first = own == root.machines.first
    root.make("log")
    record = {"schema": SCHEMA, "id": own, "place": _stamp(root, "log")}
    root.replace(FILE if is_first else f"{log_of(own)}/machine", records.encode(record))


def _read_claim(root: Root, path: str) -> tuple[str, list[int]] | None:
    raw = records.whole(root.read(path) or b"")
    name = raw.get("id")
    if raw.get("schema") != SCHEMA or not isinstance(name, str) or not is_name(name):
        return None
    return name, raw.get("place") or []


def _begun_by(root: Root) -> str | None:
    """Return the machine that began the journal of the first log, as its first record has it."""
    journal, archive = stream_files("journal")
    for path in (f"{archive}/{segment_name(1)}", journal):
        name = records.whole(read_start(root, path).partition(b"\n")[0]).get("machine")
        if isinstance(name, str) and is_name(name):
            return name if name != DATABASE else None
    return None


def _stamp(root: Root, folder: str) -> list[int]:
    """Return what tells a folder from a copy of it: its inode number, and that of the memory's folder."""
    return [root.disk.fstat(root.fd).st_ino, root.stat(folder).st_ino]


# --- which machine this is ----------------------------------------------------------------

VARIABLE = "LOOSELEAF_MACHINE"
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class Machine:
    """This machine. `is_new`: its name was made just now, or cannot be kept: a container, a home that was wiped."""

    def __init__(self, name: str, *, is_new: bool) -> None:
        self.name = name
        self.is_new = is_new


def this_machine() -> Machine:
    """Return this machine, by the variable or the file in the person's home that names it; made on first use."""
    given = os.environ.get(VARIABLE)
    if given:
        if not is_name(given):
            raise Invalid(
                f"{VARIABLE} is {quoted(given)}. A machine's name has at most 40 small letters, digits and hyphens."
            )
        return Machine(given, is_new=False)
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    path = os.path.join(home, "looseleaf", "machine")
    for _ in range(2):
        try:
            with open(path, encoding="utf-8") as file:
                name = file.read(100).strip()
            if is_name(name):
                return Machine(name, is_new=False)
        except (OSError, ValueError):
            pass
        made = _make_name()
        try:
            _keep_name(path, made)
        except FileExistsError:
            continue  # another process made it just now
        except OSError:
            break
        return Machine(made, is_new=True)
    return Machine(_make_name(), is_new=True)


def _make_name() -> str:
    """Return a short name that a person recognizes: the host's, and four random letters or digits."""
    host = (
        re.sub(r"[^a-z0-9]+", "-", os.uname().nodename.partition(".")[0].lower()).strip("-")[:20].rstrip("-")
    )
    tail = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(4))
    return f"{host or 'machine'}-{tail}"


def _keep_name(path: str, name: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    staged = f"{path}.{os.getpid()}"
    with open(staged, "w", encoding="utf-8") as file:
        file.write(f"{name}\n")
    try:
        os.link(staged, path)  # fails if there is one by now
    finally:
        os.unlink(staged)
