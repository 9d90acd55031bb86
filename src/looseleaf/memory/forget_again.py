"""Repair of a journal that is older than the tombstones beside it: a backup was copied over a folder that has forgotten
something since. What was forgotten is found again by its hashes, and forgotten once more."""

from __future__ import annotations

from looseleaf.base.values import Problem
from looseleaf.store import JOURNAL, JOURNAL_SCHEMA
from looseleaf.store.bring import missing_forgets
from looseleaf.store.machines import log_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.memory.parts import Parts

JOURNAL_FILE = "log/journal.jsonl"
OLDER = "is older than what was forgotten: it was put back from a backup"
"""What is wrong, as part of a sentence."""


def check_forgets(parts: Parts) -> Iterator[Problem]:
    """Report journals that lack the record of a tombstone. That of another machine may be on its way."""
    if not parts.store.edited_outside:
        return  # nobody puts single files back
    if missing_forgets(parts.files.root, "log"):
        then = "`looseleaf repair` forgets it again, and keeps what was said since"
        yield Problem(JOURNAL_FILE, None, f"this journal {OLDER}; {then}")
    for machine in parts.files.machines():
        if missing_forgets(parts.files.root, log_of(machine)):
            told = (
                f"this journal is older than what {machine} forgot; the newer one is still to be carried here"
            )
            then = f"if it does not come, `looseleaf repair` on {machine} helps"
            yield Problem(f"{log_of(machine)}/journal.jsonl", None, f"{told}; {then}", "note")


def forget_again(parts: Parts) -> list[str]:
    """Forget what is forgotten, and note in the journal that it knows now; return a sentence. Killed halfway, it is
    done again."""
    from looseleaf.forget.forget import heed_others

    if not parts.store.edited_outside:
        return []
    missing = missing_forgets(parts.files.root, "log")
    if not missing:
        return []
    heed_others(parts, parts.stones.heard())
    told = ("schema", "id", "ts", "kind", "by", "counts")
    again = [{name: stone[name] for name in told if name in stone} for stone in missing]
    with parts.context.store.lock():
        parts.context.store.append(JOURNAL, [each | {"schema": JOURNAL_SCHEMA} for each in again])
    return [f"{parts.files.place(JOURNAL_FILE)}: it {OLDER.partition(':')[0]}; that was forgotten again"]
