"""The marks of compactions after a cut: what a window tells of its past, without what went (FORMAT §11.7)."""

from __future__ import annotations

import json
import re

from looseleaf.text.spellings import folded
from looseleaf.text.words import masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.forget.cut import Cut
    from looseleaf.forget.remake_entries import Remade
    from looseleaf.forget.writes import Writes

_HEAD = re.compile(r"\(turns? [0-9]+(?: to [0-9]+)?; looseleaf expand [0-9A-Z]+\)")


class Told:
    """What is known of the traces that go: their ids, whether words were said by them alone, and what an agent wrote
    by them."""

    def __init__(
        self,
        gone: Mapping[str, set[str]],
        masked: Mapping[str, set[str]],
        alone: Callable[[str], bool],
        writes: Writes,
    ) -> None:
        self.gone, self.masked, self.alone, self.writes = gone, masked, alone, writes


def cleaned(record: Record, cut: Cut, made: Remade, told: Told) -> Record:
    """A mark as it would be; the same record if nothing of it went."""
    agent = str(record.get("agent"))
    gone, touched = told.gone.get(agent, set()), told.masked.get(agent, set())
    new = dict(record)
    try:
        for name in ("tail", "held"):
            new[name] = [each for each in record[name] if each not in gone]
        new["far"] = [each for each in record["far"] if each[2] not in gone]
        # A stand-in of a text that changed may hold what went: what is left of the text is told instead.
        new["short"] = [each for each in record["short"] if each[0] not in gone | touched]
        new["episodic"] = [
            row for each in record["episodic"] if (row := _episodic(each, cut, made)) is not None
        ]
        new["semantic"] = [
            each for each in record["semantic"] if not told.alone(each) and not cut.holds(each)
        ]
        if record["entry"] in made.gone:
            new["entry"] = None
    except (KeyError, TypeError, IndexError):
        return record  # it makes no sense, and `check` says so
    return record if new == record else new


def _episodic(row: Any, cut: Cut, made: Remade) -> Any:
    entry, text = row
    if entry in made.gone:
        return None
    if entry not in made.again:
        return [entry, masked(text, cut.words)] if cut.holds(text) else row
    data = made.files.get(f"log/entries/{entry}/summary.json")
    summary = str(json.loads(data or b"{}").get("summary", ""))
    head = _HEAD.match(text)
    whole = f"{head[0] if head else ''} {summary}".strip()
    return [entry, whole[: max(len(text), len(head[0]) if head else 0)]]


def said_alone(gone: str, kept: str) -> Callable[[str], bool]:
    """Whether a sentence was said by what goes and by nothing that stays; both are folded texts."""

    def alone(sentence: str) -> bool:
        words = folded(sentence)
        short = words.partition(": ")[2]
        return any(each and each in gone and each not in kept for each in (words, short))

    return alone
