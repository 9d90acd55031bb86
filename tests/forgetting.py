"""For tests of forgetting: histories that can be lived with and without a source, and what must be the same then."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from looseleaf import Memory
from looseleaf.base.ids import at
from looseleaf.base.policy import Policy
from looseleaf.memory.memory import as_agent
from looseleaf.pages.grammar import drawer, new_page
from looseleaf.text.spellings import drop_sentences_with, is_nothing_else

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from looseleaf.base.values import Fact

THEN = 1_760_000_000.0
"""When a history begins: 2025-10-09, 08:53 UTC."""

SESSIONS = 5
STATUSES = ("current", "superseded", "pending", "rejected")

POLICY = Policy(settle_seconds=0.01, quiet_seconds=0.0, late_seconds=3600.0)
"""Nobody saves pages in these histories while they are read."""

PLACES = ("Berlin", "Paris", "Lisbon", "Quillan")
THINGS = ("zebrafish tea", "latex", "birch pollen", "heirloom tomatoes", "sourdough")
TOOLS = ("Postgres", "Redis", "Kafka", "SQLite")
FIRMS = ("Acme", "Initech", "Umbrella Labs")
SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("I live in {}.", PLACES),
    ("I moved to {}.", PLACES),
    ("I am allergic to {}.", THINGS),
    ("I am no longer allergic to {}.", THINGS),
    ("I work at {}.", FIRMS),
    ("My name is {}.", ("Zhang San", "Ada Moreau")),
    ("We decided to use {}.", TOOLS),
    ("TODO: write the {} importer.", TOOLS),
    ("The {} importer is done.", TOOLS),
    ("I prefer {} for notes.", ("Markdown", "plain text")),
    ("My dog is called {}.", ("Biscuit", "Rolf")),
    ("We usually deploy {} on fridays because the cluster is quiet then.", TOOLS),
    ("Actually we deploy {} on mondays now.", TOOLS),
    ("We stopped using {}, it was too slow for us.", TOOLS),
    ("Can you help me set up {} for the importer?", TOOLS),
    ("Nothing else today, thanks.", ("",)),
)


class Op(NamedTuple):
    """One thing that happens. What belongs to a session does not happen where that session was never there."""

    kind: str
    session: str = ""
    texts: tuple[str, ...] = ()
    origin: str = ""


def a_history(seed: int, *, compacts: bool = True) -> list[Op]:
    """Talk in several sessions, and what a person does in between."""
    chance = random.Random(seed)
    ops: list[Op] = []
    for number in range(SESSIONS):
        session = f"session-{number}"
        texts = tuple(_sentence(chance) for _ in range(chance.randint(1, 4)))
        ops.append(Op("talk", session, texts))
        if chance.random() < 0.3:
            ops.append(Op("tool", session, (f"He said: {_sentence(chance)}",)))
        if chance.random() < 0.3:
            ops.append(Op("answer", session, (f"So I note: {_sentence(chance)}",)))
        if chance.random() < 0.8:
            ops.append(Op("distill"))
        if compacts and chance.random() < 0.3:  # another agent, whose window is compacted
            texts = tuple(_sentence(chance) for _ in range(6))
            ops += [Op("help", f"helper-{number}", texts), Op("compact", f"helper-{number}")]
        ops += [_of_person(chance) for _ in range(chance.randint(0, 2))]
    return [*ops, Op("distill")]


def _sentence(chance: random.Random) -> str:
    form, values = chance.choice(SENTENCES)
    return form.format(chance.choice(values))


def _of_person(chance: random.Random) -> Op:
    value = chance.choice((*THINGS, *PLACES, *FIRMS))
    kinds: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("append", (chance.choice(("USER.md", "facts/garden.md", "PROJECT.md")), f"- Note: {value} again")),
        ("save", (chance.choice(("facts/garden.md", "PROJECT.md")), f"- Grows: {value}")),
        ("pin", (value,)),
        ("score", (value,)),
        ("reject", (value,)),
        ("correct", (value, chance.choice(PLACES))),
        ("task", (f"water the {value}",)),
        ("decide", (f"plant {value}",)),
        ("goal", (f"a house full of {value}",)),
        ("strike", (value,)),
        (
            "write",
            (f"A note on {value}. I am allergic to {value}. We decided to use {chance.choice(TOOLS)}.",),
        ),
        ("prompt", ()),
        ("approve", (value,)),
        ("forbid", (f"Please don't remember that I live in {chance.choice(PLACES)}.",)),
    )
    kind, texts = chance.choice(kinds)
    return Op(kind, "", texts)


def without_words(ops: Sequence[Op], words: str) -> list[Op | None]:
    """The history in which nobody said or wrote these words: of talk the other sentences, of a person's acts the
    others."""
    found: list[Op | None] = []
    for op in ops:
        if words not in " ".join(op.texts):
            found.append(op)
        elif op.kind in ("talk", "help", "write"):
            texts = tuple(
                "" if is_nothing_else(left) else left
                for left in (drop_sentences_with(each, [words.casefold()]) for each in op.texts)
            )
            found.append(Op(op.kind, op.session, texts) if any(texts) else None)
        else:
            found.append(None)
    return found


# --- living it -------------------------------------------------------------------------


def open_memory(folder: Path, **given: Any) -> Memory:
    if not folder.exists():
        with at(THEN, "init"):
            return Memory(folder, policy=POLICY, **given)
    return Memory(folder, policy=POLICY, **given)


_lived: dict[str, int] = {}
"""How many things have happened in each memory: no two happen at the same time."""


def live(
    memory: Memory,
    ops: Sequence[Op | None],
    without: Collection[str] = (),
    origins: Collection[str] = (),
    idle: Collection[int] = (),
) -> set[int]:
    """What happens, but for what belongs to these sessions, or has one of these origins, and the acts in `idle`. The
    numbers of a person's acts that met nothing to act on."""
    met_nothing: set[int] = set()
    begin = _lived.get(memory.path, 0)
    _lived[memory.path] = begin + len(ops)
    for number, op in enumerate(ops, begin + 1):
        if op is None or number in idle or (op.session and op.session in without):
            continue
        if _meets_nothing(memory, op):
            met_nothing.add(number)
        _do(memory, op, THEN + 1000.0 * number, f"op{number}", origins)
    return met_nothing


def lived_twice(
    folder: Path, ops: Sequence[Op], others: Sequence[Op | None], **without: Any
) -> tuple[Memory, Memory]:
    """A history as it was, and as it would have been. A person acts on what he sees: an act that meets nothing where
    all was said is none where something was not; and a correction is words of his own, which stay, so one that would
    have met nothing is not made at all."""
    idle: set[int] = set()
    for attempt in range(5):
        memory, other = open_memory(folder / f"whole{attempt}"), open_memory(folder / f"without{attempt}")
        unmet = live(memory, ops, idle=idle)
        missed = live(other, others, idle=idle | unmet, **without)
        missed = {number for number in missed if ops[number - 1].kind == "correct"}
        if not missed:
            return memory, other
        idle |= missed
        memory.close()
        other.close()
    raise AssertionError("no history in which the same corrections are made")


def _meets_nothing(memory: Memory, op: Op) -> bool:
    if op.kind == "strike":
        return f"Allergy: {op.texts[0]}" not in memory.pages.read("USER.md").text
    if op.kind in ("pin", "score", "reject", "correct", "approve"):
        return not _meant(memory, op.texts[0], "pending" if op.kind == "approve" else "current")
    return False


def _meant(memory: Memory, value: str, status: str = "current") -> list[Fact]:
    return [fact for fact in memory.facts(status=status) if fact.object == value and fact.topic == "user"]


def _do(memory: Memory, op: Op, ts: float, name: str, origins: Collection[str]) -> None:
    with at(ts, name):
        match op.kind:
            case "talk":
                _talk(memory, op, ts, name)
            case "help":
                _talk(as_agent(memory, op.session), op, ts, name)
            case "compact":
                as_agent(memory, op.session).window.compact()
            case "answer":
                memory.parts.conversation.recorder.session = op.session
                if "assistant" not in origins:
                    memory.record(assistant=op.texts[0], ts=ts)
            case "tool":
                memory.parts.conversation.recorder.session = op.session
                memory.record(tool_call="web", tool_args={"q": "x"}, tool_call_id=name, ts=ts)
                with at(ts + 1, f"{name}.result"):
                    memory.record(tool_result=op.texts[0], tool_call_id=name, ts=ts + 1)
            case "forbid":
                _talk(memory, op._replace(session="forbidding"), ts, name)
            case "distill":
                memory.distill()
            case "append":
                path, line = op.texts
                memory.pages.edit(
                    path, lambda text: f"{text or _head(path)}{line}\n", reason="mine", author="person"
                )
            case "save":
                _save(memory, *op.texts)
            case "pin" | "score" | "reject" | "approve" | "correct":
                _decide(memory, op)
            case "task":
                memory.state.add_task(op.texts[0], author="person")
            case "decide":
                memory.state.decide(op.texts[0], author="person")
            case "goal":
                memory.state.update(goal=op.texts[0], author="person")
            case "strike":
                _strike(memory, op.texts[0])
            case "write" if op.texts[0]:
                memory.distill(op.texts[0], topic="garden", author="person")[0]
            case "prompt":
                memory.prompt("What next?", budget=6000)
            case other:
                raise AssertionError(other)


def _talk(memory: Memory, op: Op, ts: float, name: str) -> None:
    memory.parts.conversation.recorder.session = op.session
    for at_, text in enumerate(op.texts):
        if not text:
            continue
        with at(ts + at_, f"{name}.{at_}"):
            memory.record(user=text, ts=ts + at_)


def _save(memory: Memory, path: str, line: str) -> None:
    """With an editor, behind the program's back."""
    file = Path(memory.path, path)
    file.parent.mkdir(exist_ok=True)
    text = file.read_text() if file.exists() else ""
    file.write_text(f"{text or _head(path)}{line}\n")
    memory.pages.absorb()


def _head(path: str) -> str:
    """A person begins a page of facts as the program does."""
    return f"{new_page(path)}\n" if drawer(path) == "facts" else ""


def _strike(memory: Memory, value: str) -> None:
    """A person deletes every line of his page that names something."""

    def change(text: str) -> str:
        return "".join(line for line in text.splitlines(keepends=True) if f"Allergy: {value}" not in line)

    memory.pages.edit("USER.md", change, reason="not so", author="person")


def _decide(memory: Memory, op: Op) -> None:
    value = op.texts[0]
    for fact in _meant(memory, value, "pending" if op.kind == "approve" else "current")[:1]:
        match op.kind:
            case "pin":
                memory.review.pin(fact.id or "")
            case "score":
                memory.review.score(fact.id or "", 7)
            case "reject":
                memory.review.reject(fact.id or "")
            case "approve":
                memory.review.approve(fact.id or "")
            case "correct":
                memory.review.correct(fact.id or "", op.texts[1])


# --- what must be the same -------------------------------------------------------------

_COMPARED = re.compile(
    r"views/(topics/|GLOBAL_MEMORY\.|agents/[^/]+/(episodic|semantic)\.jsonl|state\.toon|state\.schema)"
)


def seen(memory: Memory) -> dict[str, Any]:
    """All that a memory says, and the views that are made of the log alone."""
    memory.views.build()
    views = {path: data for path, data in every_file(Path(memory.path)) if data and _COMPARED.match(path)}
    return {
        "pages": {
            path: memory.pages.read(path).text for path in memory.pages.list() if memory.pages.read(path).text
        },
        "facts": [_told(fact) for status in STATUSES for fact in memory.facts(status=status)],
        "views": views,
        "traces": [_told_trace(trace) for turn in memory.talk.turns(1000) for trace in turn.traces],
    }


def _told(fact: Fact) -> dict[str, Any]:
    return fact.to_dict()


def _told_trace(trace: Any) -> tuple[str, str, str]:
    return trace.id, trace.session_id, trace.content


def every_file(folder: Path) -> Iterator[tuple[str, bytes]]:
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above, name)
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What is not the same, to be read by people."""
    found: list[str] = []
    for part, here in one.items():
        there = other[part]
        if isinstance(here, dict):
            names = [name for name in sorted({*here, *there}) if here.get(name) != there.get(name)]
            found += [f"{part} {name}:\n{here.get(name)}\n--- and not\n{there.get(name)}" for name in names]
        elif here != there:
            only = [each for each in here if each not in there]
            lacks = [each for each in there if each not in here]
            found.append(f"{part}: only here {only}\n--- only there {lacks}")
    return found


_IDS = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b|\b(?:f|sem)_[0-9a-f]{12}\b|\b[0-9a-f]{64}\b")


def without_ids(found: dict[str, Any]) -> dict[str, Any]:
    """What can be compared where entries have other ids, because they were made of other traces: views are in the
    order of ids where nothing else decides."""
    toon = found["views"].get("views/state.toon")
    return {
        "pages": {path: _IDS.sub("<id>", text) for path, text in found["pages"].items()},
        "facts": sorted(_IDS.sub("<id>", repr(each)) for each in found["facts"]),
        "views": {"views/state.toon": toon},
    }


def holding(folder: Path, canary: str) -> list[str]:
    """The files that hold a word in any spelling: the test's own look at every byte."""
    escaped = "".join(f"\\u{ord(each):04x}" if ord(each) > 126 else each for each in canary)
    forms = {canary, canary.lower(), canary.upper(), escaped, escaped.lower()}
    return [
        path
        for path, data in every_file(folder)
        if any(form.encode() in data or form.encode() in path.encode() for form in forms)
    ]
