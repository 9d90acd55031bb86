"""Who wrote which line of a page, and how far each may be believed."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.page_paths import page_path
from looseleaf.explain.signed import sign
from looseleaf.facts.page_lines import shard_of
from looseleaf.log.heads import EXTERNAL, PERSON, PROGRAM
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import body, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.values import Edit, Level
    from looseleaf.memory import Memory


@frozen
class Signed:
    """A line of a page, from 1: who wrote it, when and why, by which edit (all None where its record is lost), and its
    level: that of the fact which it is, or else what its author is worth. A line that says nothing has none."""

    line: int
    text: str
    author: str | None
    ts: float | None
    edit: str | None
    level: Level | None
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).__match_args__}


def who(memory: Memory, path: str) -> list[Signed]:
    """The lines of a page as it is now, each with its author."""
    path = page_path(path)
    page = memory.page(path)
    if not page.exists:
        raise Refused(f"Nothing was shown: there is no page {path}. `looseleaf log {path}` shows its edits.")

    def after(edit: Edit) -> str | None:
        try:
            data = memory.history.after(edit, page.data)
        except Refused:
            return None
        return None if data is None else data.decode("utf-8", "replace")

    edits = sign(page.text, page.sha256, memory.log(path), after)
    memory._known.catch_up()
    facts = memory._known.of(shard_of(path) or "")
    levels = {fact.line: fact.level for fact in facts if fact.path == path and fact.line is not None}
    trusts = memory.policy.trust_external_edits
    found: list[Signed] = []
    for number, (line, edit) in enumerate(zip(split_lines(page.text), edits, strict=True), 1):
        level = None if is_blank(line) else levels.get(number) or _level(edit, path, trusts=trusts)
        author, ts, name, why = (
            (edit.author, edit.ts, edit.id, edit.reason) if edit is not None else (None, None, None, None)
        )
        found.append(Signed(number, body(line), author, ts, name, level, why))
    return found


def _level(edit: Edit | None, path: str, *, trusts: bool) -> Level:
    """Of a line that is no fact. What the program writes down of talk, it has of the user's words; an episode also of
    what the assistant concluded."""
    author = edit.author if edit is not None else ""
    if author == PERSON or (author == EXTERNAL and trusts):
        return "confirmed"
    return "said" if author == PROGRAM and not path.startswith(("episodes/", "review/")) else "inferred"
