"""What is told as true after somebody changed his mind: update chains through a whole memory, by the rules alone.

    python benchmarks/chains.py             prints the table
    python benchmarks/chains.py --save      keeps the figures in results.json as well
    python benchmarks/chains.py --misses    and what went wrong in each chain
    python benchmarks/chains.py --chains N  only the first N chains

Each chain of `benchmarks/data/chains.jsonl` is told twice, each time to a memory of its own: once every message is
distilled as it comes, and the window compacted at the end; once every message is said three times, an hour apart, and
the window is compacted after each. Then every reader is asked: facts, topic, global memory, pages, index, what a model
is told after a compaction, `semantic.jsonl`, and the prompt.

A value is stale when a reader tells one that holds no more, and not with the mark that it may have changed. Where a
reader tells sentences, words that ended a value may name it ("I no longer like jazz"), those that gave it may not; but
in the account of earlier turns that a model is told, the last word counts: there, what was said may be told if what was
said later is told after it. A fact is a duplicate when its slot holds the same value already, or another one where it
can hold only one.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from looseleaf import Memory, Policy
from looseleaf.base.values import Fact
from looseleaf.language.relations import BY_LABEL, relation_of, slot
from looseleaf.language.value_keys import key
from looseleaf.log.turns import texts_of
from looseleaf.pages.grammar import parse
from looseleaf.text.lines import is_doubtful

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

CHAINS = Path(__file__).parent / "data/chains.jsonl"
SMALL = Policy(context_tokens=4000, max_tokens=1, tail_turns=1)
HOUR = 3600.0
FILLER = ("How is the weather in general?", "Tell me a riddle.", "And another one, please.", "Go on.")
READERS = ("facts", "topic", "global memory", "pages", "index", "window", "semantic.jsonl", "prompt")

Chain = dict[str, Any]


def chains(path: Path = CHAINS) -> list[Chain]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


# --- telling a chain -------------------------------------------------------------------


def tell(memory: Memory, chain: Chain, times: int, *, compacting: bool) -> None:
    for step in chain["steps"]:
        for number in range(times):
            memory.record(user=step["text"], ts=step["ts"] + number * HOUR)
            memory.record(assistant="I see.", ts=step["ts"] + number * HOUR + 1)
        if compacting:
            _compact(memory, step["ts"] + times * HOUR)
        else:
            memory.distill()
    _compact(memory, chain["steps"][-1]["ts"] + times * HOUR + 100)
    memory.distill()
    memory.views.build()


def _compact(memory: Memory, ts: float) -> None:
    for number, text in enumerate(FILLER):
        memory.record(user=text, ts=ts + 2 * number)
        memory.record(assistant="Well.", ts=ts + 2 * number + 1)
    memory.window.compact()


# --- asking ----------------------------------------------------------------------------


def is_at(topic: str, relation: str, chain: Chain) -> bool:
    return slot(topic, relation) == slot(chain["slot"]["topic"], chain["slot"]["relation"])


def keys(values: Iterable[str], chain: Chain) -> Counter[str]:
    return Counter(key(value, chain["slot"]["relation"]) for value in values)


def told_values(memory: Memory, chain: Chain) -> Iterator[tuple[str, str]]:
    """(reader, value in the asked slot) of the readers that tell facts."""
    topic = chain["slot"]["topic"]
    for fact in memory.facts():
        if is_at(fact.topic, fact.relation, chain):
            yield "facts", fact.object
    if topic in memory.views.topics():
        for each in memory.views.topic(topic)["facts"]:
            if is_at(each["topic"], each["relation"], chain):
                yield "topic", each["object"]
    for each in memory.views.overview()["do_not_forget"]:
        if is_at(each["topic"], each["relation"], chain):
            yield "global memory", each["object"]
    for path in memory.pages.list():
        if path == "USER.md" or path.startswith("facts/"):
            for fact in parse(path, memory.pages.read(path).text).facts:
                if is_at(fact.topic, fact.relation, chain):
                    yield "pages", fact.object


def told_texts(memory: Memory, chain: Chain) -> Iterator[tuple[str, str]]:
    """(reader, line) of the readers that tell sentences."""
    topic = chain["slot"]["topic"]
    if topic in memory.views.topics():
        yield from (("topic", line) for line in _lines(memory.views.topic(topic)["state"]))
    yield from (
        ("global memory", line)
        for each in memory.views.overview()["active_topics"]
        for line in _lines(each["state"])
    )
    yield from (("index", line.summary) for line in memory.pages.index())
    yield from (("window", line) for line in window_lines(memory, chain))
    file = Path(memory.path, f"views/agents/{memory.agent}/semantic.jsonl")
    yield from (("semantic.jsonl", json.loads(line)["fact"]) for line in file.read_text().splitlines())
    yield from (("prompt", line) for line in prompt_lines(memory))


def prompt_lines(memory: Memory) -> Iterator[str]:
    """What a prompt says of the memory itself, before the talk; not its episodes, which tell what was done then."""
    prompt = memory.prompt(dry_run=True)
    for item in prompt.manifest.items:
        if item.slot in ("profile", "state", "essentials", "index"):
            yield from prompt.text_of(item).splitlines()


def window_lines(memory: Memory, chain: Chain) -> Iterator[str]:
    """What a model is told, but for what was said and is answered by something said later."""
    lines = [
        line
        for message in memory.window.messages()
        for text in texts_of(message)
        for line in text.splitlines()
    ]
    for at, line in enumerate(lines):
        later = "".join(map(plain, lines[at:]))
        is_account = not line.startswith("- ")
        if not (is_account and any(plain(text) in later for text in last_words(line, chain))):
            yield line


def last_words(line: str, chain: Chain) -> Iterator[str]:
    """The messages that came after the one that a line tells, and gave another value or ended it."""
    steps = chain["steps"]
    told = [at for at, step in enumerate(steps) if plain(step["text"]) in plain(line)]
    for step in steps[max(told, default=len(steps)) + 1 :]:
        if any(word in plain(step["text"]) for word in _named(chain)):
            yield step["text"]


def _named(chain: Chain) -> Iterator[str]:
    """The values of the slot, in whatever step they were given."""
    for value in (*chain["current"], *chain["never"]):
        yield plain(_words(value))


def _lines(state: dict[str, Any]) -> Iterator[str]:
    yield from re.split(r"(?<=[.;?!])\s", state["summary"])
    yield from (text for name in ("bounds", "open_questions", "next_actions") for text in state.get(name, ()))


_WORD = re.compile(r"[\w@.+/-]*[\w+]")


def plain(text: str) -> str:
    """Its words, each with a space on both sides."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def is_stale(line: str, chain: Chain) -> bool:
    """Whether a line tells a value that holds no more, in other words than those that ended it."""
    label, _, _ = line.removeprefix("- ").partition(": ")
    if label.casefold() in BY_LABEL and not is_at(chain["slot"]["topic"], label, chain):
        return False  # the same word in another slot: what is no longer liked may be disliked
    if is_doubtful(line.rstrip(".;")):
        return False
    told = plain(line.removeprefix("- "))
    for step in chain["steps"]:
        if not any(gives(step, value, chain) for value in chain["never"]):
            told = told.replace(plain(step["text"]), " ")
            if plain(bullet_of(line)) in plain(step["text"]):  # a part of those words
                return False
    return any(plain(_words(value)) in told for value in chain["never"])


def bullet_of(line: str) -> str:
    """What a line says, without its bullet and the path that an index names."""
    return re.sub(r"\A- (?:[\w/.-]+\.md \([^)]*\): )?", "", line)


def _words(value: str) -> str:
    """`green` of `colour: green`."""
    return value.partition(": ")[2] or value


def gives(step: dict[str, Any], value: str, chain: Chain) -> bool:
    """Whether the value holds after this step, and the step names it."""
    held = next((each["values"] for each in chain["as_of"] if 0 < each["ts"] - step["ts"] <= 86400), None)
    words = plain(_words(value))
    if held is None:  # a slip that was put right later, or the last step, which gives what is current
        held = (
            chain["never"]
            if step is not chain["steps"][-1] and "not" not in plain(step["text"]).split()
            else []
        )
    return value in held and words in plain(step["text"])


def address(fact: Fact) -> str:
    """Where a fact has its value. A favourite colour and the deadline of one thing have places of their own."""
    within = ""
    if fact.relation == "Favourite":
        within = fact.object.partition(":")[0]
    elif fact.relation == "Deadline":
        within = fact.object.partition(", ")[2]
    return f"{slot(fact.topic, fact.relation)} {within}"


def duplicates(facts: Iterable[Fact]) -> list[Fact]:
    seen: dict[str, set[str]] = {}
    found: list[Fact] = []
    for fact in facts:
        values = seen.setdefault(address(fact), set())
        is_many = relation_of(fact.relation).many and fact.relation != "Favourite"
        if key(fact.object, fact.relation) in values or (values and not is_many):
            found.append(fact)
        values.add(key(fact.object, fact.relation))
    return found


# --- all of them -----------------------------------------------------------------------


@dataclass
class Figures:
    told: int = 0
    right: int = 0
    asked_before: int = 0
    right_before: int = 0
    facts: int = 0
    duplicates: int = 0
    stale: Counter[str] = field(default_factory=Counter)
    """Chains in which a reader told a stale value, by reader."""
    any_stale: int = 0
    misses: list[str] = field(default_factory=list)

    def take(self, memory: Memory, chain: Chain, how: str) -> None:
        self.told += 1
        wanted, never = keys(chain["current"], chain), keys(chain["never"], chain)
        found = keys((value for reader, value in told_values(memory, chain) if reader == "facts"), chain)
        self.right += found == wanted
        if found != wanted:
            self._miss(chain, how, f"holds {sorted(found)}, not {sorted(wanted)}")
        stale = {
            reader
            for reader, value in told_values(memory, chain)
            if not is_doubtful(value) and keys([value], chain).keys() & never.keys()
        }
        for reader, line in told_texts(memory, chain):
            if is_stale(line, chain):
                stale.add(reader)
                self._miss(chain, how, f"{reader} tells {line.strip()!r}")
        self.stale.update(stale)
        self.any_stale += bool(stale)
        for then in chain["as_of"]:
            facts = memory.facts(topic=chain["slot"]["topic"], as_of=float(then["ts"]))
            held = keys((fact.object for fact in facts if is_at(fact.topic, fact.relation, chain)), chain)
            self.asked_before += 1
            self.right_before += held == keys(then["values"], chain)
            if held != keys(then["values"], chain):
                self._miss(chain, how, f"held {sorted(held)}, not {then['values']}, as of {then['ts']}")
        everything = memory.facts()
        twice = duplicates(everything)
        self.facts += len(everything)
        self.duplicates += len(twice)
        for fact in twice:
            self._miss(chain, how, f"twice: {fact.relation}: {fact.object}")

    def _miss(self, chain: Chain, how: str, what: str) -> None:
        self.misses.append(f"{chain['id']} {how}: {what}")

    def rows(self) -> Iterator[Row]:
        yield "chains in which any reader tells a stale value", _share(self.any_stale, self.told), "0"
        for reader in READERS:
            yield f"the same, only {reader}", _share(self.stale[reader], self.told), NO_GOAL
        yield "current facts that are there twice", _share(self.duplicates, self.facts), "≤ 1 %"
        yield "chains whose current values are all right", _share(self.right, self.told), NO_GOAL
        yield (
            "values as of an earlier time that are right",
            _share(self.right_before, self.asked_before),
            NO_GOAL,
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} % of {whole:,}"


def measured(some: Iterable[Chain]) -> Figures:
    figures = Figures()
    with folder(QUICK) as path:
        for chain in some:
            for how, times, compacting in (("once", 1, False), ("thrice", 3, True)):
                where = path / f"{chain['id']}-{how}"
                with Memory(where, policy=SMALL, counter=lambda text: len(text) // 4) as memory:
                    tell(memory, chain, times, compacting=compacting)
                    figures.take(memory, chain, how)
                shutil.rmtree(where)
    return figures


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--chains", type=int, default=None)
    asked = parser.parse_args()
    figures = measured(chains()[: asked.chains])
    report("chains", figures.rows(), save=asked.save)
    if asked.misses:
        print(*figures.misses, sep="\n")


if __name__ == "__main__":
    main()
