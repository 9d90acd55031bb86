"""How the views that are made from the log grow with it, measured in one run.

    python benchmarks/build.py               prints the table
    python benchmarks/build.py --save        keeps the figures in results.json as well
    python benchmarks/build.py --entries N   with another size of the largest memory (10,000 entries; not below 1,000)
    python benchmarks/build.py --profile     where the time of one build after a new entry goes, in the largest memory

Three memories, each ten times the one before it, of topics with ten entries each. Machines differ and are noisy, so
each figure is a ratio of two sides that took turns. The memories lie in memory where that can be had: on a disk, the
time of a sync would hide what the length of the log costs.

A build first looks at every page, whether somebody changed it, and at every view, whether somebody deleted it. That
look costs what there are files, is needed by every command, and is told apart from the build.
"""

from __future__ import annotations

import gc
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from looseleaf import Memory
from looseleaf.base.ids import id_of, new_id
from looseleaf.base.messages import Distilled, Material, Noted, Proposal
from looseleaf.facts.ledger import fact_id
from looseleaf.log.entries import meta_json, summary_json
from looseleaf.log.journal import make_edit, record_of
from looseleaf.store import JOURNAL
from looseleaf.text.times import written

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

START = 1_740_000_000.0
PER_TOPIC = 10
RELATIONS = ("Colleague", "Plan", "Rule", "Likes", "Skill", "Event", "Decision")
"""One of each kind."""


# --- what is remembered --------------------------------------------------------------------


class Sayings:
    """A distiller that takes each line `Relation: object` of the material for a fact, and notes the others."""

    name = "sayings/1"

    def distill(self, material: Material, tokens: int) -> Distilled:
        facts: list[dict[str, Any]] = []
        noted: dict[str, list[Noted]] = {"decisions": [], "tasks": [], "open_questions": []}
        texts: list[str] = []
        for trace in material.traces():
            for line in trace.content.splitlines():
                relation, colon, said = line.partition(": ")
                if colon:
                    facts.append(Proposal(relation, said, line, "project", source=trace.id).to_dict())
                    continue
                texts.append(line)
                name = (
                    "open_questions" if line.endswith("?") else "tasks" if "need to" in line else "decisions"
                )
                noted[name].append(Noted(line, trace.id))
        notes: dict[str, Any] = {name: tuple(found) for name, found in noted.items()}
        return Distilled(" ".join(texts), None, tuple(facts), **notes)


def topic_of(number: int, entries: int, per_topic: int = PER_TOPIC) -> str:
    """Entries go round the topics, so that each is as old as the others."""
    return f"topic-{number % max(1, entries // per_topic):04d}"


def saying(number: int) -> str:
    """The text of an entry: two facts of its own, and five sentences."""
    facts = (f"{RELATIONS[(2 * number + n) % 7]}: choice {number:07d}-{n} of several\n" for n in range(2))
    return "".join(facts) + (
        f"We decided to keep choice {number:07d} because part {number % 13:02d} failed.\n"
        f"We still need to look at part {number:07d} again.\n"
        f"We still need to write the manual of part {number:07d}.\n"
        f"Which of the parts is next to {number:07d}?\n"
        f"Who pays for {number:07d}?\n"
    )


def fill(path: Path, entries: int, per_topic: int = PER_TOPIC) -> None:
    """A memory of so many entries, each with its fact on the page of its topic, as if they had been written one after
    the other. The pages are edited once an entry, and their files are made at the end."""
    with Memory(path) as memory:
        texts: dict[str, str] = {}
        records: list[dict[str, Any]] = []
        for number in range(entries):
            topic, ts = topic_of(number, entries, per_topic), START + 60.0 * number
            entry = id_of(ts, number.to_bytes(32, "big"))
            _publish(path, topic, entry, ts, saying(number))
            page = f"facts/{topic}.md"
            lines = saying(number).splitlines()[:2]
            old = texts.get(page)
            texts[page] = (old or f"# {topic}\n\n> Summary: choices\n\n") + "".join(
                f"- {line}\n" for line in lines
            )
            facts = [_fact(topic, entry, ts, line, 0.55 if number % 2 else 0.99) for line in lines]
            records.append(_edit(page, old, texts[page], f"{topic}/{entry}", ts) | {"facts": facts})
            records.append(_placed(topic, entry, ts))
            if len(records) >= 2000 or number == entries - 1:
                memory.parts.context.store.append(JOURNAL, records)
                records = []
        for page, text in texts.items():
            (path / page).parent.mkdir(exist_ok=True)
            (path / page).write_text(text)
        time.sleep(0.2)  # so that no page is too young to be trusted by its times
        assert memory.pages.absorb() == []


def _publish(path: Path, topic: str, entry: str, ts: float, text: str) -> None:
    made = Sayings().distill(_Said(text), 0)
    where = path / "log/entries" / topic / entry
    where.mkdir(parents=True)
    (where / "raw.md").write_text(text)
    meta: dict[str, Any] = {
        "id": entry,
        "ts": ts,
        "topic": topic,
        "distiller": Sayings.name,
        "level": "distiller",
    }
    meta |= {"model": None, "tokens": 0, "cost": 0, "failures": [], "agent": "main", "origin": "user"}
    meta |= {"turn_ids": [], "trust": "said", "sources": {}}
    (where / "meta.json").write_bytes(meta_json(meta))
    (where / "summary.json").write_bytes(summary_json(made))


class _Said:
    """A text as material."""

    def __init__(self, text: str) -> None:
        self._text = text

    def traces(self) -> Iterator[Any]:
        yield _Trace(self._text)


class _Trace:
    id = "raw.md#L1-L7"

    def __init__(self, content: str) -> None:
        self.content = content


def _fact(topic: str, entry: str, ts: float, line: str, salience: float) -> dict[str, Any]:
    relation, _, said = line.partition(": ")
    return {
        "id": fact_id(entry, topic, relation, said),
        "topic": topic,
        "subject": topic,
        "relation": relation,
        "object": said,
        "quote": line,
        "entry_id": entry,
        "entry_ts": ts,
        "level": "said",
        "origin": "user",
        "confidence": 0.9,
        "salience": salience,
        "time_span": "long_term",
        "sources": [f"log/entries/{topic}/{entry}/raw.md#L1-L7"],
        "valid_from": written(ts),
        "recorded_at": ts,
    }


def _edit(page: str, old: str | None, new: str, reference: str, ts: float) -> dict[str, Any]:
    before = None if old is None else old.encode()
    reason = f"distilled from {reference}"
    return record_of(make_edit(new_id(), ts, page, "program", reason, before, new.encode()))


def _placed(topic: str, entry: str, ts: float) -> dict[str, Any]:
    record: dict[str, Any] = {
        "schema": "journal.v1",
        "id": new_id(),
        "ts": ts,
        "kind": "placed",
        "agent": "main",
    }
    record |= {"entry": f"{topic}/{entry}", "entry_ts": ts, "topic": topic}
    return record | {"restated": [], "history": [], "dropped": []}


# --- what it costs -------------------------------------------------------------------------


def timed(job: Callable[[], object]) -> float:
    """In processor time: nothing here waits for anybody, and others keep the machine busy."""
    gc.collect()
    gc.disable()
    begin = time.process_time()
    job()
    took = time.process_time() - begin
    gc.enable()
    return took


def whole_build(path: Path) -> float:
    """Of a memory whose views are gone: the journal is read, all topics are made. The best of two."""

    def once() -> float:
        shutil.rmtree(path / "views", ignore_errors=True)
        with Memory(path) as memory:
            memory.pages.absorb()
            return timed(memory.views.build)

    return min(once(), once())


class Growing:
    """A memory that is open, and gets one entry after the other in one of its topics."""

    def __init__(self, path: Path) -> None:
        self.memory = Memory(path, distiller=Sayings())
        self.memory.views.build()
        self._number = 10**6

    def look(self) -> float:
        """A build with nothing to do: is any page changed, is any view missing?"""
        return timed(self.memory.views.build)

    def entry(self) -> float:
        """A build after one new entry. Each is of another topic, so that none of them grows."""
        self._number += 1
        topic = f"topic-{self._number % 10:04d}"
        self.memory.distill(saying(self._number), topic=topic, author="person")[0]
        time.sleep(0.12)  # until the page is trusted by its times, and that is noted: no part of the build
        self.memory.pages.absorb()
        built: list[Any] = []
        took = timed(lambda: built.append(self.memory.views.build()))
        # When the state is full, what is settled moves to the page of the project.
        assert topic in built[0].made
        assert set(built[0].made) <= {topic, "project"}, built[0].made
        return took


def after_one_entry(paths: list[Path], rounds: int) -> list[tuple[float, float]]:
    """Of each memory: what a build costs with nothing to do, and how much more after one entry; the memories take
    turns."""
    memories = [Growing(path) for path in paths]
    for each in memories:
        each.entry()
    looks: list[list[float]] = [[] for _ in memories]
    entries: list[list[float]] = [[] for _ in memories]
    for _ in range(rounds):
        for each, look, entry in zip(memories, looks, entries, strict=True):
            entry.append(each.entry())
            look.append(each.look())
    for each in memories:
        each.memory.close()
    return [(median(look), median(entry) - median(look)) for look, entry in zip(looks, entries, strict=True)]


def measured(entries: int, rounds: int = 15) -> Iterator[Row]:
    sizes = (entries // 100, entries // 10, entries)
    with folder(QUICK) as path:
        paths = [path / f"{size}" for size in sizes]
        for size, each in zip(sizes, paths, strict=True):
            fill(each, size)
        wholes = [whole_build(each) for each in paths]
        for (small, large), (few, many) in zip(
            ((sizes[0], sizes[1]), (sizes[1], sizes[2])),
            ((wholes[0], wholes[1]), (wholes[1], wholes[2])),
            strict=True,
        ):
            what = f"building all views of {large:,} entries against of {small:,}"
            yield what, f"{many / few:.1f}", "≤ 12"
        (look, one), _, (last_look, last_one) = after_one_entry(paths, rounds)
        ends = f"at {entries:,} entries ({entries // PER_TOPIC:,} topics) against at {sizes[0]:,}"
        yield (
            f"a build after one new entry, beyond the look at all files, {ends}",
            f"{last_one / one:.2f}",
            "≤ 1.5",
        )
        yield "the look at all files, the same way", f"{last_look / look:.1f}", NO_GOAL
        yield (
            f"the look at all files in percent of building all views, at {entries:,} entries",
            f"{100 * last_look / wholes[2]:.1f}",
            NO_GOAL,
        )
    what = f"size of GLOBAL_MEMORY.json at {entries:,} entries against at {sizes[0]:,}, in {TOPICS} topics"
    yield what, f"{growth_of_all(sizes[0], entries):.2f}", "0.9 to 1.1"


TOPICS = 50
"""More than the global memory lists: with fewer, it would be smaller."""


def growth_of_all(few: int, many: int) -> float:
    """How many times as large GLOBAL_MEMORY.json is after a long history as after a short one."""
    sizes = []
    with folder(QUICK) as path:
        for size in (few, many):
            where = path / f"{size}"
            fill(where, size, per_topic=size // TOPICS)
            with Memory(where) as memory:
                memory.views.build()
            sizes.append((where / "views/GLOBAL_MEMORY.json").stat().st_size)
    return sizes[1] / sizes[0]


def profile(entries: int) -> None:
    import cProfile
    import pstats

    with folder(QUICK) as path:
        fill(path / "memory", entries)
        growing = Growing(path / "memory")
        growing.entry()
        with cProfile.Profile() as profiler:
            growing.entry()
        growing.memory.close()
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(40)


# --- the table -----------------------------------------------------------------------------


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    if asked.profile:
        profile(asked.entries)
    else:
        report("build", measured(asked.entries), save=asked.save)


if __name__ == "__main__":
    main()
