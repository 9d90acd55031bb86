"""Repair of a journal that has the records of two copies in one file (`log.two_heads`): those of the other become the
log of a machine of its own, as a merge would have brought it, and are taken in."""

from __future__ import annotations

from looseleaf.base.paths import canonical
from looseleaf.log.journal import UNKNOWN
from looseleaf.log.two_heads import find_heads
from looseleaf.pages.history import History
from looseleaf.store import JOURNAL
from looseleaf.store.bring import StreamBytes, branch_name, within
from looseleaf.store.machines import log_of
from looseleaf.store.root import unwritten
from looseleaf.store.streams import stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Record
    from looseleaf.memory.parts import Parts
    from looseleaf.store.root import Root

_FACTS, _TOPICS = "views/facts.json", "views/facts"

TWO_HEADS = "it has the records of two copies in one file"
"""What is wrong, as part of a sentence."""


def part_heads(parts: Parts) -> list[str]:
    """Part the journal, under the lock; return a sentence for each log that was made. Killed halfway, it is done again:
    the other logs are written first."""
    files = parts.files
    journal = StreamBytes(files.root, "log", JOURNAL)
    lines = list(journal.lines())
    rows = list(journal.rows())
    kept, *others = find_heads(rows)
    if not others:
        return []
    done: list[str] = []
    for head in others:
        new = [number for number in head if number not in {*kept}]
        name = branch_name(files.machine, lines[new[0]])
        try:
            path = within(log_of(name), stream_files(JOURNAL)[0])
            _copy_named(files.root, log_of(name), [rows[number] for number in head])
            files.root.replace(canonical(path), b"".join(lines[number] for number in head))
        except OSError as error:
            raise unwritten("A log of its own", error) from error
        count = f"{len(new):,} record{'s' * (len(new) != 1)}"
        target = files.place(log_of(name))
        done.append(f"{files.place(journal.path)}: {TWO_HEADS}; {count} became a log of its own, {target}")
    never_here = _find_never_here(rows, kept, others)
    files.take_out(JOURNAL, {*range(len(lines))} - {*kept} | {*never_here})
    texts = History(files).texts() if never_here else {}
    for path in never_here.values():
        if path in texts and files.get(path) is None:
            files.put(path, texts[path], base=None)
    for view in (_FACTS, *(f"{_TOPICS}/{name}" for name in files.root.names(_TOPICS))):
        files.root.discard(view)  # it is of another journal now
    parts.__dict__.pop("known", None)
    return done


def _find_never_here(rows: list[Record], kept: list[int], others: list[list[int]]) -> dict[int, str]:
    """Return the edits that say that a page is gone, by number with its path, where it only never came: its journal's
    lines were joined with these, and its file was not brought."""
    known = {rows[number].get("path") for head in others for number in head}
    last = {rows[number].get("path"): number for number in kept if rows[number].get("kind") == "edit"}
    return {
        number: str(path)
        for path, number in last.items()
        if path not in known and rows[number].get("author") == UNKNOWN and rows[number].get("new") is None
    }


def _copy_named(root: Root, log: str, rows: list[Record]) -> None:
    """Copy the bodies and entries that records name to the log that these are in."""
    bodies = {str(body["sha256"]) for row in rows for body in row.get("bodies", {}).values()}
    paths = [f"bodies/{name}" for name in sorted(bodies)]
    for entry in sorted({str(row["entry"]) for row in rows if row.get("entry")}):
        paths += (f"entries/{entry}/{name}" for name in root.names(f"log/entries/{entry}"))
    for path in paths:
        data = root.read(f"log/{path}")
        if data is not None:
            root.replace(canonical(f"{log}/{path}"), data)
