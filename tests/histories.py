"""Random histories of two or three machines that begin with one memory, and what must hold when they become one again:
it does not matter which is merged into which, nothing acknowledged is lost, and no level rises.

    python tests/histories.py FROM TO    plays these seeds, and prints what fails

A history follows from its seed: clocks and ids too.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory, Refused
from looseleaf.base import ids
from looseleaf.base.origins import LEVELS
from looseleaf.base.values import Fact
from looseleaf.facts.ledger import address_of
from looseleaf.store import root
from looseleaf.store.this_machine import VARIABLE
from looseleaf.text.lines import undoubted
from machines import FIRST, NAMES, STATUSES, Machines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.memory.merge import Merged

ANIMALS = ("quokka", "tapir", "ocelot", "narwhal")
"""What is forgotten; every fourth history has them."""

SAID = (
    "My name is Ana.",
    "My name is Bea.",
    "I live in Lyon.",
    "I live in Rome.",
    "I like tea.",
    "I work at Acme.",
    "My sister is Zoe.",
    "Never use tabs.",
    "My favorite color is blue.",
    "My favorite color is red.",
)
BEGIN = 1_790_000_000.0
WRONG = (0.0, 0.0, 0.0, 0.2, -3_000.0, 3_000.0)
"""By how many days the clock of a machine may be wrong."""

TOKEN = re.compile(r"\b(?:ed|wr)\d+[a-z]\b")
"""What an editor or a model put on a page, each once."""

WORK = "facts/work.md"
Value = tuple[str, str, str]
"""What a fact says."""
Known = tuple[dict[str, bytes], list[dict[str, Any]]]
"""The pages and the state, and the facts of every status."""


class Chance:
    """The clock and the chance of the program: each machine's clock may be wrong, and goes on with each process."""

    def __init__(self, seed: int) -> None:
        self.off = 0.0
        self._seed = seed
        self._processes = 0
        self.start()

    def start(self) -> None:
        """Begin another process."""
        self._processes += 1
        self._random = random.Random(f"{self._seed} {self._processes}")
        ids._last[0] = 0

    def time(self) -> float:
        return BEGIN + self._processes * 3.7 + self.off * 86_400

    def time_ns(self) -> int:
        return int(self.time() * 1e9)

    def urandom(self, count: int) -> bytes:
        return self._random.randbytes(count)


class History:
    """One history: what its machines did, in words, and what they were told is kept."""

    def __init__(self, seed: int, folder: Path, steps: int = 12) -> None:
        self.chance = random.Random(seed)
        self.clock = Chance(seed)
        self.folder = folder
        self.names = NAMES[: 2 + (seed % 3 == 0)]
        self.log: list[tuple[str, ...]] = []
        self.traces: set[str] = set()
        self.ever: dict[str, set[Value | str]] = {name: set() for name in NAMES}
        self.now: dict[str, set[Value | str]] = {name: set() for name in NAMES}
        self.honest: dict[Value, int] = {}
        """The highest level that a machine gave to a fact by what was done there."""
        self.wrong: list[str] = []
        self.acts = [*ACTS, *[_animal] * 6, *[_forget] * 4] if seed % 4 == 1 else ACTS
        self.forgotten: set[str] = set()
        self.by_text: dict[str, set[Value | str]] = {}
        """What was new on a machine when it said a sentence."""
        self.let_go: set[str] = set()
        """Sentences that a machine forgot with their session: what another says so before it has heard goes too."""
        self.persons: set[str] = set()
        """Pages of which a person wrote, moved or removed the title, the summary or the date."""
        self._has_forgotten = seed % 4 == 1
        self._steps = steps
        self._off = {name: self.chance.choice(WRONG) for name in NAMES}

    # --- playing -------------------------------------------------------------------------

    @contextmanager
    def time(self) -> Iterator[None]:
        """The clock and the chance of this history, for all that has to do with what is kept. Views are written when
        making them took long: the names of their files are of no chance."""
        names = (f"{number:026d}" for number in itertools.count())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ids, "time", self.clock)
            patch.setattr(ids, "os", self.clock)
            patch.setattr(ids, "_last", [0])
            patch.setattr(root, "random_id", names.__next__)
            patch.setenv(VARIABLE, FIRST)
            yield

    @contextmanager
    def open(self, name: str, folder: Path | None = None) -> Iterator[Memory]:
        """Be a machine, in a new process."""
        self.clock.off = self._off[name]
        self.clock.start()
        with self.machines.open(name, folder) as memory:
            yield memory

    def play(self) -> None:
        self.clock.off = self._off[FIRST]
        self.machines = Machines(self.folder)
        for name in self.names:
            self._look(name, honest=True)
        for _ in range(self._steps):
            name = self.chance.choice(self.names)
            if self.chance.random() < 0.15:
                other = self.chance.choice([each for each in self.names if each != name])
                self.log.append((name, "carry", other))
                self.machines.carry(name, other)
                self._look(other, honest=False)
            else:
                self._act(name)

    def _act(self, name: str) -> None:
        act = self.chance.choice(self.acts)
        said: list[str] = []
        self.log.append((name, act.__name__.strip("_")))
        with self.open(name) as memory:
            try:
                said = [str(each) for each in act(self, memory, self.machines[name]) or ()]
            except Refused as error:
                said = ["refused", str(error)[:60]]
                if act is _undo and "damaged" in str(error):
                    self.wrong.append(f"DAMAGED {name}: {error}")
        self.log[-1] += tuple(said)
        before = self.now[name]
        self._look(name, honest=True)
        if act in (_say, _remember) and said:
            self.by_text.setdefault(said[0], set()).update(self.now[name] - before)

    def _look(self, name: str, *, honest: bool) -> None:
        """Learn what a machine holds now. `honest`: it heard of nothing since it last said."""
        with self.open(name) as memory:
            facts, pages = (
                memory.facts(),
                {path: memory.pages.read(path).text for path in memory.pages.list()},
            )
            levels = _levels(memory)
        text = "\n".join(pages.values())
        self._check_frames(
            f"on {name} after {' '.join(self.log[-1]) if self.log else 'the beginning'}", pages
        )
        self.now[name] = {*map(value_of, facts), *TOKEN.findall(text)}
        self.ever[name] |= self.now[name]
        if honest:
            for value, level in levels.items():
                self.honest[value] = max(level, self.honest.get(value, -1))
        else:
            self._check_levels(f"after a carry to {name}", levels)

    def _check_levels(self, when: str, levels: dict[Value, int]) -> None:
        for value, level in levels.items():
            if level > self.honest.get(value, -1):
                before = LEVELS[self.honest[value]] if value in self.honest else "unknown"
                self.wrong.append(f"RISEN {when}: {value} is {LEVELS[level]}, and was {before}")

    def _check_frames(self, when: str, pages: dict[str, str]) -> None:
        """A page has one title, one summary and one date at most, and one title where the program writes."""
        for path, text in pages.items():
            if not path.startswith(("facts/", "USER")) or path in self.persons:
                continue
            lines = text.splitlines()
            often = [sum(map(how, lines)) for how in (_is_title, _is_summary, _is_date)]
            if max(often) > 1:
                self.wrong.append(f"FRAME {when}: {path} has {often} titles, summaries and dates")
            if often[1] and not often[0]:
                self.wrong.append(f"FRAME {when}: {path} has a summary and no title")

    def token(self, kind: str) -> str:
        return f"{kind}{len(self.log)}{self.chance.choice('xyz')}"

    # --- merging -------------------------------------------------------------------------

    def check(self) -> list[str]:
        """Merge in every direction; return what is wrong. What was forgotten is one for all when all have heard."""
        results: dict[str, Known] = {}
        for first, *others in _orders(self.names):
            copy = self._copy(first)
            for other in others:
                self._merge(first, copy, self.machines[other])
            results[" + ".join((first, *others))] = self._known(first, copy)
            before = _bytes(copy, "log")
            for other in others:
                self._merge(first, copy, self.machines[other])
            self._same(f"{first} merged twice", _bytes(copy, "log"), before)
        if len(self.names) > 2:
            one, two, three = self.names
            for a, b, c in ((one, two, three), (two, three, one), (three, one, two)):
                copy, inner = self._copy(a), self._copy(b)
                self._merge(b, inner, self.machines[c])
                self._merge(a, copy, inner)
                results[f"{a} + ({b} + {c})"] = self._known(a, copy)
        for _ in range(3 + self._has_forgotten):
            self.machines.carry_all(self.names)
            for name in self.names:
                with self.open(name) as memory:
                    memory.facts()
        carried = {f"{name}, carried": self._known(name, self.machines[name]) for name in self.names}
        self._all_same(carried)
        if not self._has_forgotten:
            told = (carried | results).items()
            self._all_same({way: (pages, self._told(rows)) for way, (pages, rows) in told})
        for way, known in results.items():
            self._check_forgotten(way, repr(known))
        for name in self.names:
            for path, data in _bytes(self.machines[name], "").items():
                if "/late/" not in path:  # displaced files, for a moment
                    self._check_forgotten(f"{name}: {path}", data.decode("utf-8", "replace"))
        found = carried[f"{FIRST}, carried"]
        self._check_kept(found[1], found[0])
        self._check_levels("merged", {})
        return self.wrong

    def check_dry_runs(self) -> None:
        """A dry run says what the merge then says."""
        for name, other in itertools.permutations(self.names, 2):
            folder = self._copy(name)
            with self.open(name, folder) as memory:
                dry = _told_by(memory.merge(self.machines[other], dry_run=True))
                done = _told_by(memory.merge(self.machines[other]))
            if dry != done:
                self.wrong.append(f"DRY RUN {other} into {name}\n      {dry}\n      {done}")

    def check_machines_and_bytes(self) -> None:
        """When all machines have merged all others: there is no machine that nobody is, and no forgotten word in any
        file."""
        for _ in range(3 + self._has_forgotten):
            for name, other in itertools.permutations(self.names, 2):
                self._merge(name, self.machines[name], self.machines[other])
        for name in self.names:
            for path, data in _bytes(self.machines[name], "").items():
                self._check_forgotten(f"merged {name}: {path}", data.decode("utf-8", "replace"))
            there = {each.name for each in (self.machines[name] / "log" / "on").glob("*")}
            if not there <= {*self.names}:
                self.wrong.append(f"INVENTED on {name}: {sorted(there - {*self.names})}")

    def _all_same(self, results: dict[str, Known]) -> None:
        (way, found), *rest = results.items()
        for other, each in rest:
            self._same(f"{way} | {other}", each, found)

    def _told(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return what facts say, with their levels, and what was said once.

        Only when all have heard from all is the rest one for all: under which id a fact goes on that two machines made
        of the same words, when its line came and went, and which level it has if it was taken away and said again.
        """
        found: set[tuple[str, str, str]] = set()
        for row in rows:
            fact = Fact.from_dict(row)
            found.add((fact.relation, undoubted(fact.object), "known"))
            if fact.status == "current":
                is_back = any(value_of(fact) in self.ever[name] - self.now[name] for name in self.names)
                found.add((fact.relation, fact.object, "" if is_back else str(fact.level)))
        return [{"id": " | ".join(each)} for each in sorted(found)]

    def _copy(self, name: str) -> Path:
        made = Path(tempfile.mkdtemp(dir=self.folder)) / "memory"
        shutil.copytree(self.machines[name], made)
        return made

    def _merge(self, name: str, folder: Path, other: Path) -> None:
        with self.open(name, folder) as memory:
            memory.merge(other)

    def _known(self, name: str, folder: Path) -> Known:
        with self.open(name, folder) as memory:
            facts = [fact for status in STATUSES for fact in memory.facts(status=status)]
            pages = {path: memory.pages.read(path).data for path in memory.pages.list()}
            self._check_levels(f"on {name}", _levels(memory))
            self._check_frames(f"on {name}, merged", {path: data.decode() for path, data in pages.items()})
            for problem in memory.check():
                if problem.severity == "error":
                    self.wrong.append(f"CHECK {name}: {problem}")
            for trace in self.traces if not self._has_forgotten else ():
                if [each.id for each in memory.talk.traces(trace)] != [trace]:
                    self.wrong.append(f"LOST {name}: the trace {trace}")
        state = folder / "state.json"
        pages |= {"state.json": state.read_bytes() if state.exists() else b""}
        files = {path: (folder / path).read_bytes() for path in pages if (folder / path).exists()}
        self._same(
            f"files of {name}", files, {path: data for path, data in pages.items() if data or path in files}
        )
        rows = sorted(
            (fact.but(line=None, sources=tuple(sorted(fact.sources))).to_dict() for fact in facts),
            key=lambda row: str(row.get("id")),
        )
        return pages, rows

    def _same(self, what: str, one: Any, other: Any) -> None:
        if one == other:
            return
        if isinstance(one, tuple):
            for left, right in zip(one, other, strict=True):
                self._same(what, left, right)
            return
        if isinstance(one, dict):
            for name in sorted({*one, *other}):
                if one.get(name) != other.get(name):
                    self.wrong.append(
                        f"DIFFERENT {what}: {name}\n      {other.get(name)}\n      {one.get(name)}"
                    )
        else:
            left = {str(row.get("id")): row for row in one}
            right = {str(row.get("id")): row for row in other}
            for name in sorted({*left, *right}):
                a, b = left.get(name, {}), right.get(name, {})
                if a != b:
                    said = {
                        key: (b.get(key), a.get(key)) for key in sorted({*a, *b}) if a.get(key) != b.get(key)
                    }
                    self.wrong.append(f"FACTS {what}: {name} {a.get('relation')}: {a.get('object')} {said}")

    def _check_forgotten(self, where: str, text: str) -> None:
        for word in self.forgotten:
            if word in text.casefold():
                self.wrong.append(f"NOT FORGOTTEN {word}: {where}")

    def _check_kept(self, rows: list[dict[str, Any]], pages: dict[str, bytes]) -> None:
        """What a machine held, and no machine that held it took away, stands or gave way in its slot to another, which
        stands or was rejected by a machine that knew both."""
        facts = [Fact.from_dict(row) for row in rows]
        rejected = {fact.id for fact in facts if fact.status == "rejected"}
        current = [fact for fact in facts if fact.status == "current"]
        stands, known = {*map(value_of, current)}, {*map(value_of, facts)}
        slots = {value_of(fact)[:2] for fact in current if not address_of(fact).many}
        text = b"\n".join(pages.values()).decode()
        said = " ".join(fact.object for fact in facts)
        gone = {value for text in self.let_go for value in self.by_text.get(text, ())}
        # Also what the sentence would say once another value is gone, which covered it.
        words = [{*text.casefold().rstrip(".").split()} for text in self.let_go]
        held = {value for ever in self.ever.values() for value in ever} - gone
        held = {
            each
            for each in held
            if isinstance(each, str) or not any({*each[2].split()} <= said for said in words)
        }
        for value in sorted(held, key=str):
            if any(word in str(value) for word in self.forgotten):
                continue
            removed = [name for name in self.names if value in self.ever[name] - self.now[name]]
            if isinstance(value, str):  # what is in a fact is looked for there
                if not removed and value not in text and value not in said:
                    self.wrong.append(f"LOST the line with {value}")
                continue
            if not removed and value not in stands:
                fact = next((each for each in facts if value_of(each) == value), None)
                if fact is None or not (value[:2] in slots or fact.superseded_by in rejected):
                    self.wrong.append(f"LOST {value}: {fact}")
            elif value not in known and not any({"undo", "forget"} & {*each} for each in self.log):
                self.wrong.append(f"LOST {value} from the history; removed by {removed}")


def _told_by(merged: Merged) -> list[object]:
    """What a merge says, without the ids that it makes."""

    def of(facts: tuple[Fact, ...]) -> list[tuple[object, ...]]:
        return sorted((fact.topic, fact.relation, fact.object, fact.level, fact.status) for fact in facts)

    replaced = sorted((*of((old,)), *of((new,))) for old, new in merged.replaced)
    held = sorted(each.path for each in merged.held)
    found = [of(merged.added), replaced, of(merged.ended), of(merged.contested)]
    return [*found, merged.forgotten, merged.pages, sorted(merged.machines), merged.talk, merged.edited, held]


def _orders(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    if len(names) == 2:
        return [names, names[::-1]]
    one, two, three = names
    return [(one, two, three), (one, three, two), (two, one, three), (three, two, one)]


def _bytes(folder: Path, below: str) -> dict[str, bytes]:
    root = folder / below
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file() and file.name not in ("lock", "turn")
    }


def value_of(fact: Fact) -> Value:
    at = address_of(fact.but(object=undoubted(fact.object)))
    return at.relation, at.within, at.key


def _is_title(line: str) -> bool:
    return line.startswith("# ")


def _is_summary(line: str) -> bool:
    return line.startswith("> Summary:")


def _is_date(line: str) -> bool:
    return line.startswith("- Updated:")


def _levels(memory: Memory) -> dict[Value, int]:
    found: dict[Value, int] = {}
    for status in STATUSES:
        for fact in memory.facts(status=status):
            level = LEVELS.index(fact.level) if fact.level in LEVELS else -1
            found[value_of(fact)] = max(level, found.get(value_of(fact), -1))
    return found


# --- what a machine may do -----------------------------------------------------------------


def _remember(history: History, memory: Memory, folder: Path) -> list[object]:
    text = history.chance.choice(SAID)
    memory.remember(text)
    return [text]


def _say(history: History, memory: Memory, folder: Path) -> list[object]:
    text = history.chance.choice(SAID)
    for trace in (memory.record(user=text), memory.record(assistant="I see."), memory.record(user="Bye.")):
        history.traces.add(trace.id)
    memory.distill()
    return [text]


def _page(history: History, memory: Memory, folder: Path) -> Path:
    memory.pages.absorb()
    pages = [path for path in memory.pages.list() if path.startswith(("facts/", "USER"))]
    return folder / history.chance.choice(pages or ["USER.md"])


def _edit(history: History, memory: Memory, folder: Path) -> list[object]:
    """A person's editor: puts a line in, takes one away, says one otherwise, or moves one."""
    page = _page(history, memory, folder)
    lines = page.read_text().splitlines() if page.exists() else ["# User", ""]
    before = [line for line in lines if _is_title(line) or _is_summary(line) or _is_date(line)]
    facts = [at for at, line in enumerate(lines) if line.startswith("- ")]
    how = history.chance.choice(("put", "put", "prose", "take", "change", "move"))
    at = history.chance.choice(facts or [0])
    if how == "put":
        lines.insert(
            history.chance.randint(min(2, len(lines)), len(lines)), f"- Likes: {history.token('ed')}"
        )
    elif how == "prose":
        lines += ["", f"The {history.token('ed')} is by the door."]
    elif facts and how == "take":
        if any(
            line.strip() for line in (*lines[:at], *lines[at + 1 :])
        ):  # an emptied page is held on purpose
            del lines[at]
    elif facts and how == "change":
        label, colon, _ = lines[at].partition(":")  # a line without one is a sentence, and may go as such
        lines[at] = f"{label if colon else '- Likes'}: {history.token('ed')}"
    elif facts:
        line = lines.pop(at)
        lines.insert(history.chance.randint(min(2, len(lines)), len(lines)), line)
    if not page.exists() or before != [
        line for line in lines if _is_title(line) or _is_summary(line) or _is_date(line)
    ]:
        history.persons.add(page.relative_to(folder).as_posix())
    page.parent.mkdir(exist_ok=True)
    page.write_text("".join(f"{line}\n" for line in lines))
    memory.facts()
    return [page.name, how]


def _agent(history: History, memory: Memory, folder: Path) -> list[object]:
    token = history.token("wr")
    label = history.chance.choice(("Tool", "Employer"))
    memory.pages.edit(
        WORK, lambda old: (old or "# Work\n\n") + f"- {label}: {token}\n", author="agent:main", reason="found"
    )
    return [label, token]


def _undo(history: History, memory: Memory, folder: Path) -> list[object]:
    """Undo, once or a few times one after the other."""
    times = history.chance.choice((1, 1, 1, 2, 4))
    for _ in range(times):
        memory.history.undo(author=history.chance.choice(("person", None)))
    return [times]


def _decide(history: History, memory: Memory, folder: Path) -> list[object]:
    """A person corrects, approves, rejects, pins or scores a fact."""
    facts = memory.facts()
    if not facts:
        return []
    fact = history.chance.choice(sorted(facts, key=str))
    how = history.chance.choice(("correct", "approve", "reject", "pin", "unpin", "score"))
    name = fact.id or ""
    match how:
        case "correct":
            memory.review.correct(name, history.token("ed"))
        case "approve":
            memory.review.approve(name)
        case "reject":
            memory.review.reject(name)
        case "pin" | "unpin":
            memory.review.pin(name, pinned=how == "pin")
        case "score":
            memory.review.score(name, history.chance.randint(0, 10))
    return [how, fact.relation, fact.object]


def _ask(history: History, memory: Memory, folder: Path) -> list[object]:
    """A fact goes to review, and is said yes or no to later."""
    pending = memory.review.pending()
    if pending:
        fact = pending[0]
        yes = history.chance.random() < 0.5
        (memory.review.approve if yes else memory.review.reject)(fact.id or "")
        return [yes, fact.object]
    known = memory.facts()
    if known:
        fact = history.chance.choice(sorted(known, key=str))
        memory.review.ask(fact.but(id=None, object=history.token("wr"), level="inferred"), "to be sure")
    return []


def _state(history: History, memory: Memory, folder: Path) -> list[object]:
    how = history.chance.choice(("goal", "task", "done", "decide", "block"))
    word = history.chance.choice(("write", "read", "mail"))
    match how:
        case "goal":
            memory.state.update(goal=word)
        case "task":
            memory.state.add_task(word)
        case "done":
            memory.state.done(word)
        case "decide":
            memory.state.decide(word, "It is time.")
        case "block":
            memory.state.block(word)
    return [how, word]


def _gone(history: History, memory: Memory, folder: Path) -> list[object]:
    """A person deletes or moves a page."""
    page = _page(history, memory, folder)
    if not page.exists():
        return []
    if history.chance.random() < 0.5 and page.parent.name == "facts":
        page.replace(page.with_name(f"{history.token('ed')}.md"))
    else:
        page.unlink()
    memory.facts()
    return [page.name]


def _animal(history: History, memory: Memory, folder: Path) -> list[object]:
    """Say or write down something that may be forgotten. What is forgotten is not said again."""
    left = [each for each in ANIMALS if each not in history.forgotten]
    if not left:
        return []
    word = history.chance.choice(left)
    how = history.chance.choice(("remember", "say", "edit", "agent"))
    text = history.chance.choice(
        (f"My pet is a {word}.", f"I saw a {word} at the zoo. It slept.", f"My sister likes the {word}.")
    )
    if how == "remember":
        memory.remember(text)
    elif how == "say":
        memory.record(user=text)
        memory.record(assistant=f"A {word}!")
        memory.distill()
    elif how == "agent":
        line = f"- Tool: {word}\n"  # a page that says a line twice has two facts of which either may end
        memory.pages.edit(
            WORK,
            lambda page: page if line in page else f"{page or '# Work'}\n{line}",
            author="agent:main",
            reason="told",
        )
    else:
        page = _page(history, memory, folder)
        if not page.exists():
            history.persons.add(page.relative_to(folder).as_posix())  # and gets no title
        with page.open("a") as file:
            file.write(f"- Zoo: {word} {history.token('zo')}\n")
        memory.facts()
    return [how, text]


def _forget(history: History, memory: Memory, folder: Path) -> list[object]:
    how = history.chance.choice(("match", "match", "fact", "session"))
    facts, talk = memory.facts(), memory.talk.sessions()
    if how == "fact" and facts:
        fact = history.chance.choice(facts)
        memory.forget(fact=fact.id)
        return [how, fact.relation, fact.object]
    if how == "session" and talk:
        session = history.chance.choice(talk).session_id
        turns = memory.talk.turns(session=session)
        history.let_go |= {str(trace.content) for turn in turns for trace in turn.traces} & {*SAID}
        memory.forget(session=session)
        return [how, session]
    word = history.chance.choice(ANIMALS)
    memory.forget(match=word)
    history.forgotten.add(word)
    return ["match", word]


ACTS: list[Callable[[History, Memory, Path], list[object] | None]] = [
    *[_remember] * 3,
    *[_say] * 3,
    *[_edit] * 4,
    *[_agent] * 2,
    *[_undo] * 2,
    *[_decide] * 3,
    _ask,
    _state,
    _gone,
]


def play(seed: int, steps: int = 12) -> tuple[list[tuple[str, ...]], list[str]]:
    """Play a history; return what was done, and what is wrong."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        history = History(seed, Path(folder), steps)
        with history.time():
            try:
                history.play()
                history.check_dry_runs()
                history.check()
                history.check_machines_and_bytes()
            except Exception:  # noqa: BLE001 - it is what is wrong
                history.wrong.append(f"BROKE {traceback.format_exc()[-2000:]}")
        return history.log, history.wrong


def tell(seed: int, log: list[tuple[str, ...]], wrong: list[str]) -> str:
    return "\n".join(
        [f"seed {seed}:", *(f"    {' '.join(each)}" for each in log), *(f"  ! {each}" for each in wrong)]
    )


def main(first: int, last: int, steps: int) -> None:
    bad = 0
    for seed in range(first, last):
        log, wrong = play(seed, steps)
        if wrong:
            bad += 1
            print(tell(seed, log, [each[:600] for each in wrong[:5]]), flush=True)
    print(f"{bad} of {last - first} histories are wrong")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 12)
