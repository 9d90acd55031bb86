"""What is learnt from what people really say: record, distill, facts, measured on authors that nobody tuned on.

    python benchmarks/learn.py                   the table, on the test authors
    python benchmarks/learn.py --save            keeps it in results.json as well
    python benchmarks/learn.py --sets dev        the same on the dev authors, which may be looked at
    python benchmarks/learn.py --sets dev --errors 40   what was missed and what was wrong
    python benchmarks/learn.py --lines PATH      every line that was learnt, for somebody to judge

The sets are text files by authors who had not seen the code (`benchmarks/data/learn/README.md` describes their
format): labelled messages with the words that must be known afterwards, changes of mind, prohibitions, messages with
pasted text, and a life of seven weeks. The errands are 5,000 requests of real people, from a data set that is not
part of this repository: without it they are skipped.

A line counts as right when it rests on a sentence that its author marked as worth keeping. A fact counts as found
when all its words stand in what is held. A change is stale when a line of the talk before it is still told, without a
mark of doubt."""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from benchmarks.report import NO_GOAL, Row, nothing_measured, options, report, table  # noqa: E402
from benchmarks.talks import DATA  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.base.values import Fact  # noqa: E402
from looseleaf.text.lines import is_doubtful, undoubted, worded  # noqa: E402

SETS = Path(__file__).parent / "data/learn"
NOT_KEPT = frozenset({"nothing", "quoted", "forbid"})
START = 1_772_438_400.0
"""The second of March 2026."""
WEEK = 7 * 86_400.0


# --- the sets ----------------------------------------------------------------------------


@dataclass
class Message:
    lang: str
    asked: str = ""
    sentences: list[tuple[frozenset[str], str]] = field(default_factory=list)
    facts: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        made = ""
        for _, sentence in self.sentences:
            made += ("\n" if sentence.startswith("⏎") else " ") + sentence.removeprefix("⏎")
        return made.strip()

    @property
    def is_plain(self) -> bool:
        return all(kinds <= {"nothing"} for kinds, _ in self.sentences)


def messages(folder: Path) -> Iterator[Message]:
    for path in sorted(folder.glob("[0-9]*.txt")):
        lang, now = "en", Message("en")
        for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
            if not line.strip():
                if now.sentences:
                    yield now
                    now = Message(lang)
            elif re.fullmatch(r"# [a-z]{2}\s*", line):
                lang = now.lang = line[2:4]
            elif line.startswith("<") and "\t" not in line:
                now.asked = line[1:].strip()
            elif line.startswith("="):
                now.facts.append([word.strip() for word in line[1:].split(",") if word.strip()])
            else:
                label, tab, text = line.partition("\t")
                if tab and text.strip():
                    text = text.replace("[[", "").replace("]]", "")
                    now.sentences.append((frozenset(label.strip().split("+")), text))


def blocks(folder: Path, name: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(language, fields) of each block of the files of this name."""
    for path in sorted(folder.glob(f"{name}-*.txt")):
        lang = "en"
        fields: list[tuple[str, str]] = []
        pasted: list[str] | None = None
        for line in [*path.read_text(encoding="utf-8").splitlines(), "---" if name == "paste" else ""]:
            if pasted is not None:
                if line.strip() == "end":
                    fields.append(("message", "\n".join(pasted)))
                    pasted = None
                else:
                    pasted.append(line)
            elif line.strip() == "message":
                pasted = []
            elif re.fullmatch(r"# [a-z]{2}\s*", line):
                lang = line[2:4]
            elif (line.strip() == "---") if name == "paste" else not line.strip():
                if fields:
                    yield lang, fields
                fields = []
            elif line[:1] in "<‹":
                fields.append(("assistant", line[1:].strip()))
            else:
                key, tab, value = line.partition("\t")
                if tab:
                    fields.append((key.strip(), value.strip()))


# --- running -----------------------------------------------------------------------------


class Life:
    """A memory in a folder of its own, and a clock that its messages are recorded at."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="learn-"))
        self.memory = Memory(self.folder / "memory")
        self.ts = START

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *_: object) -> None:
        self.memory.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, text: str, asked: str = "", later: float = 60.0) -> None:
        if asked:
            self.memory.record(assistant=asked, ts=self.ts)
        self.ts += later
        self.memory.record(user=text, ts=self.ts)
        self.memory.record(assistant="ok.", ts=self.ts + 1)
        self.memory.distill()

    def facts(self) -> list[Fact]:
        return self.memory.facts()

    def lines(self) -> list[str]:
        return [worded(fact.relation, fact.object) for fact in self.facts()]

    def top(self) -> str:
        """What stands at the top of the folder: USER.md and the state."""
        names = ("USER.md", "state.json")
        paths = [self.folder / "memory" / name for name in names]
        return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.exists())

    def pages(self) -> str:
        """All that people and models read: the top, facts, episodes, days; and the memory part of a prompt."""
        root = self.folder / "memory"
        paths = [path for path in root.rglob("*.md") if "log" not in path.relative_to(root).parts]
        told = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        return f"{told}\n{self.top()}\n{self.memory_part('hello')}"

    def memory_part(self, task: str) -> str:
        """What a prompt of a new session tells of memory, without the talk itself."""
        return self.memory.views.snapshot().text


def _has(text: str, words: str) -> bool:
    """Whether one of the alternatives stands in a text, whatever the case and the blanks."""
    flat = " ".join(text.lower().split())
    return any(" ".join(each.lower().split()) in flat for each in words.split("|") if each.strip())


@dataclass
class Tally:
    """What came out, and examples of what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    by_lang: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    errors: list[tuple[str, str]] = field(default_factory=list)
    learnt: list[dict[str, Any]] = field(default_factory=list)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, lang: str, name: str, number: int = 1) -> None:
        self.counts[name] += number
        self.by_lang[lang][name] += number

    def share(self, part: str, whole: str, lang: str | None = None) -> float:
        counts = self.counts if lang is None else self.by_lang[lang]
        return counts[part] / counts[whole] if counts[whole] else 0.0


def learn_messages(found: Sequence[Message], tally: Tally) -> None:
    for message in found:
        with Life() as life:
            life.say(message.text, message.asked)
            facts = life.facts()
            held = "\n".join(life.lines())
            top = life.top()
        kept = [text.removeprefix("⏎") for kinds, text in message.sentences if kinds - NOT_KEPT]
        for words in message.facts:
            tally.add(message.lang, "facts")
            if all(_has(held, word) for word in words):
                tally.add(message.lang, "facts found")
            else:
                tally.errors.append(("missed", f"{words} of {message.text!r}; held {held!r}"))
        for fact in facts:
            quote = " ".join((fact.quote or "").split())
            right = any(quote in " ".join(text.split()) or " ".join(text.split()) in quote for text in kept)
            tally.add(message.lang, "lines")
            tally.add(message.lang, "lines right", int(right))
            line = worded(fact.relation, fact.object)
            if fact.path == "USER.md":
                tally.add(message.lang, "top lines")
                tally.add(message.lang, "top lines right", int(right))
            tally.counts["note chars"] += len(fact.object) if fact.relation == "note" else 0
            tally.learnt.append(
                {"lang": message.lang, "asked": message.asked, "message": message.text, "line": line,
                 "page": fact.path, "right": right}
            )  # fmt: skip
            if not right:
                tally.errors.append(("wrong", f"{line!r} from {message.text!r}"))
        for kinds, text in message.sentences:
            wanted = bool(kinds - NOT_KEPT)
            flat = " ".join(text.removeprefix("⏎").split())
            here = [
                fact for fact in facts
                if (quote := " ".join((fact.quote or "").split())) and (quote in flat or flat in quote)
            ]  # fmt: skip
            told = "kept" if wanted else "not"
            tally.add(message.lang, f"sentence {told} {'taken' if here else 'left'}")
            first = min(kinds - {"change"}, default="change")
            tally.confusion[first, (here[0].kind or "none") if here else "nothing"] += 1
        if message.is_plain:
            tally.add(message.lang, "plain messages")
            tally.add(message.lang, "plain messages kept", int(bool(facts)))
        del top


def learn_changes(folder: Path, tally: Tally) -> None:
    for lang, fields in blocks(folder, "changes"):
        values = dict(fields)
        says = [(key, value) for key, value in fields if key.isdigit() or key == "assistant"]
        with Life() as life:
            asked = ""
            numbers = [value for key, value in says if key.isdigit()]
            for key, value in says:
                if key == "assistant":
                    asked = value
                else:
                    life.say(value, asked, later=3 * WEEK)
                    asked = ""
            facts = life.facts()
            old, new = values.get("old", ""), values.get("new", "-")
            last = " ".join(numbers[-1].split())
            stale = [
                fact for fact in facts
                if _has(fact.object, old) and not is_doubtful(fact.object)
                and " ".join((fact.quote or "").split()) not in last
            ]  # fmt: skip
            doubtful = any(is_doubtful(fact.object) for fact in facts)
            known = any(_has(worded(fact.relation, fact.object), new) for fact in facts)
            held_before = (
                bool(stale)
                or doubtful
                or any(fact.status == "superseded" for fact in life.memory.facts(status="superseded"))
            )
        tally.add(lang, "changes")
        tally.add(lang, "changes whose old value was held", int(held_before))
        tally.add(lang, "changes stale", int(bool(stale)))
        tally.add(lang, "changes doubted", int(doubtful and not stale))
        if new != "-":
            tally.add(lang, "changes with a new value")
            tally.add(lang, "new values known", int(known))
        if stale:
            tally.errors.append(
                (
                    "stale",
                    f"{worded(stale[0].relation, stale[0].object)!r} after {numbers[-1]!r} ({numbers[0]!r})",
                )
            )
        elif new != "-" and not known:
            tally.errors.append(("new unknown", f"{new!r} of {numbers[-1]!r}"))


TOGETHER = 25
"""Messages of as many people's talk that are told to one memory, to see what is doubted of it without a change."""


def learn_doubts(read: Sequence[Message], tally: Tally) -> None:
    """What is marked as doubtful by talk that changes nothing."""
    calm = [
        each
        for each in read
        if not any(kinds & {"change", "forbid", "quoted"} for kinds, _ in each.sentences)
    ]
    for lang in sorted({each.lang for each in calm}):
        said = [each for each in calm if each.lang == lang]
        for at in range(0, len(said), TOGETHER):
            with Life() as life:
                for each in said[at : at + TOGETHER]:
                    life.say(each.text, each.asked, later=WEEK / 7)
                facts = life.facts()
            tally.add(lang, "lines of calm talk", len(facts))
            doubted = [fact for fact in facts if is_doubtful(fact.object)]
            tally.add(lang, "lines doubted without a change", len(doubted))
            tally.errors += [("doubted", worded(fact.relation, fact.object)) for fact in doubted]


def learn_later(folder: Path, tally: Tally) -> None:
    """Memories of twenty things said, each with messages afterwards that make a few of them untrue."""
    for path in sorted(folder.glob("later*.jsonl")):
        for told in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            with Life() as life:
                for said in told["held"]:
                    life.say(said, later=WEEK / 7)
                held = [fact for fact in life.facts() if not is_doubtful(fact.object)]
                life.memory.close()
                for each in told["later"]:
                    _hear_later(life, told["lang"], told["held"], each, held, tally)


def _hear_later(
    life: Life, lang: str, said: list[str], later: dict[str, Any], held: list[Fact], tally: Tally
) -> None:
    """Tell one later message to a copy of the memory, and count what became of each line."""
    now = {(fact.topic, undoubted(fact.object)): fact for fact in _after(life, later["say"])}
    tally.add(lang, "later messages")
    for fact in held:
        number = _number_of(fact, said)
        after = now.get((fact.topic, fact.object))
        is_told = after is not None and not is_doubtful(after.object)
        if number in later["gone"]:
            tally.add(lang, "untrue lines")
            tally.add(lang, "untrue lines told", int(is_told))
        elif number not in later["doubt"]:
            tally.add(lang, "true lines doubted", int(after is not None and not is_told))
            tally.add(lang, "true lines gone", int(after is None))


def learn_orders(folder: Path, tally: Tally) -> None:
    """Memories of eight things said, each with messages afterwards that may order some of them to be forgotten."""
    for path in sorted(folder.glob("forbidden*.jsonl")):
        for told in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            with Life() as life:
                for said in told["held"]:
                    life.say(said, later=WEEK / 7)
                held = life.facts()
                life.memory.close()
                before = ""
                for each in told["said"]:
                    _hear_order(life, told, each, before if each["asks"] == "last" else "", held, tally)
                    before = each["say"]


def _hear_order(
    life: Life, told: dict[str, Any], order: dict[str, Any], before: str, held: list[Fact], tally: Tally
) -> None:
    """Tell one message to a copy of the memory, after the one that it may mean, and count what became of each line."""
    asks, lang = order["asks"], told["lang"]
    now = _after(life, *([before] if before else []), order["say"])
    kept = {(fact.topic, undoubted(fact.object)) for fact in now}
    for fact in held:
        is_meant = isinstance(asks, list) and _number_of(fact, told["held"]) in asks
        is_told = (fact.topic, undoubted(fact.object)) in kept
        tally.add(lang, "lines to be forgotten", int(is_meant))
        tally.add(lang, "lines not forgotten", int(is_meant and is_told))
        tally.add(lang, "lines wrongly forgotten", int(not is_meant and not is_told))
    tally.add(lang, "messages that may forbid")
    if asks in ("here", "last"):
        said = order["say"] if asks == "here" else before
        tally.add(lang, "private messages")
        tally.add(lang, "private messages kept", int(any(_number_of(fact, [said]) == 0 for fact in now)))


def _after(life: Life, *said: str) -> list[Fact]:
    """The facts of a copy of the memory that heard these messages a week later."""
    copy = life.folder / "copy"
    shutil.copytree(life.folder / "memory", copy)
    with Memory(copy) as memory:
        for number, text in enumerate(said):
            memory.record(user=text, ts=life.ts + WEEK + 60 * number)
            memory.distill()
        facts = memory.facts()
    shutil.rmtree(copy)
    return facts


def _number_of(fact: Fact, said: list[str]) -> int:
    """Which of these messages said a fact; -1 if none did."""
    quote = " ".join((fact.quote or "").split())
    return next((at for at, text in enumerate(said) if quote in " ".join(text.split())), -1)


def learn_prohibitions(folder: Path, tally: Tally) -> None:
    for lang, fields in blocks(folder, "forbid"):
        with Life() as life:
            for key, value in fields:
                if key in ("held", "say"):
                    life.say(value.replace("⏎", "\n"), later=3 * WEEK if key == "held" else 60.0)
            told = life.pages() + "\n".join(life.lines())
        gone = [value for key, value in fields if key == "gone"]
        kept = [value for key, value in fields if key == "keep"]
        left = [words for words in gone if _has(told, words)]
        tally.add(lang, "prohibitions")
        tally.add(lang, "prohibitions obeyed", int(not left))
        tally.add(lang, "words that may stay", len(kept))
        tally.add(lang, "words that stayed", sum(_has(told, words) for words in kept))
        if left:
            tally.errors.append(("not obeyed", f"{left} after {fields}"))


def learn_pasted(folder: Path, tally: Tally) -> None:
    for lang, fields in blocks(folder, "paste"):
        values = dict(fields)
        with Life() as life:
            life.say(values["message"])
            held, top = "\n".join(life.lines()), life.top()
        for key, value in fields:
            if key == "plant":
                tally.add(lang, "plants")
                tally.add(lang, "plants at the top", int(_has(top, value)))
                tally.add(lang, "plants in drawers", int(_has(held, value) and not _has(top, value)))
                if _has(top, value) or _has(held, value):
                    where = "top" if _has(top, value) else "drawer"
                    tally.errors.append((f"planted {where}", f"{value!r} of {values['message']!r}"))
            elif key == "own" and value != "-":
                tally.add(lang, "own words beside")
                tally.add(lang, "own words beside kept", int(_has(held, value)))


def learn_errands(tally: Tally, most: int) -> None:
    path = DATA.parent / "requests" / "requests.jsonl"
    if not path.exists():
        return
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    random.Random(1).shuffle(texts)
    from looseleaf.distill.statements import statements
    from looseleaf.facts.placement import PERHAPS

    for text in texts[:most]:
        tally.add("en", "errands")
        if found := [each for each in statements(text, START) if PERHAPS not in each.tags]:
            tally.add("en", "errands kept")
            tally.errors.append(
                ("errand", f"{[worded(each.relation, each.object) for each in found]} of {text[:300]!r}")
            )


def live(folder: Path, tally: Tally) -> None:
    for path in sorted(folder.glob("life*.json")):
        live_one(path, tally)


def live_one(path: Path, tally: Tally) -> None:
    """Seven weeks, and what the memory part of the next prompt answers."""
    told = json.loads(path.read_text(encoding="utf-8"))
    with Life() as life:
        from datetime import datetime

        for session in told["sessions"]:
            ts = datetime.fromisoformat(session["start"]).timestamp()
            with Memory(life.folder / "memory") as memory:
                for number, turn in enumerate(session["turns"]):
                    memory.record(user=turn["user"], ts=ts + 60 * number)
                    if turn.get("assistant"):
                        memory.record(assistant=turn["assistant"], ts=ts + 60 * number + 5)
                memory.distill()
        part = life.memory_part("hello")
        facts = life.facts()
        for each in told["questions"]:
            kind = each["kind"]
            tally.add("en", f"questions {kind}")
            answers = each.get("answer") or []
            if kind == "now":
                right = all(_has(part, answer) for answer in answers)
                held = all(
                    any(_has(worded(fact.relation, fact.object), answer) for fact in facts)
                    for answer in answers
                )
                stale = [
                    line for line in part.splitlines()
                    if any(_has(line, old) for old in each.get("stale") or ())
                    and not all(_has(line, answer) for answer in answers) and "may have changed" not in line
                ]  # fmt: skip
                tally.add("en", "now answered", int(right))
                tally.add("en", "now held", int(held))
                tally.add("en", "now stale", int(bool(stale)))
                if not right:
                    tally.errors.append(
                        ("life missed", f"{each['ask']} {answers} ({'held' if held else 'not held'})")
                    )
                if stale:
                    tally.errors.append(("life stale", f"{each['ask']}: {stale[:2]}"))
            elif kind == "then":
                when = datetime.fromisoformat(each["as_of"] + "T23:00:00+00:00").timestamp()
                held_then = life.memory.facts(as_of=when)
                right = all(
                    any(_has(worded(fact.relation, fact.object), answer) for fact in held_then)
                    for answer in answers
                )
                tally.add("en", "then answered", int(right))
        tally.counts["prompt lines"] += part.count("\n")
        tally.counts["USER.md lines"] += life.top().count("\n- ")


# --- figures -----------------------------------------------------------------------------


def rows_of(tally: Tally) -> list[Row]:
    counts = tally.counts

    def share(part: str, whole: str, goal: str, name: str) -> Row:
        figure = (
            f"{tally.share(part, whole):.3f} ({counts[part]} of {counts[whole]})"
            if counts[whole]
            else "skipped"
        )
        return name, figure, goal

    rows = [
        share("facts found", "facts", "≥ 0.80", "facts found"),
        share("lines right", "lines", "≥ 0.90", "lines that rest on what is worth keeping"),
        share("top lines right", "top lines", "≥ 0.95", "the same of lines on USER.md"),
        share("plain messages kept", "plain messages", "≤ 0.02", "plain chat from which a line was kept"),
        share("errands kept", "errands", "≤ 0.01", "errands of real people from which a line was kept"),
        share("changes stale", "changes", "≤ 0.10", "changes after which the old value is told as true"),
        share(
            "new values known",
            "changes with a new value",
            NO_GOAL,
            "changes after which the new value is known",
        ),
        share("changes doubted", "changes", NO_GOAL, "changes after which an old line is marked as doubtful"),
        share(
            "lines doubted without a change",
            "lines of calm talk",
            NO_GOAL,
            "lines marked as doubtful by talk that changes nothing",
        ),
        share(
            "untrue lines told",
            "untrue lines",
            NO_GOAL,
            "among twenty lines: made untrue by a later message and still told as true",
        ),
        share(
            "true lines doubted",
            "later messages",
            NO_GOAL,
            "among twenty lines: true ones wrongly doubted, per later message",
        ),
        share(
            "true lines gone",
            "later messages",
            NO_GOAL,
            "among twenty lines: true ones taken away or shortened, per later message",
        ),
        share("prohibitions obeyed", "prohibitions", "≥ 1.00", "prohibitions that were obeyed"),
        share(
            "lines not forgotten",
            "lines to be forgotten",
            NO_GOAL,
            "among eight lines: ordered to be forgotten and still told",
        ),
        share(
            "lines wrongly forgotten",
            "messages that may forbid",
            NO_GOAL,
            "among eight lines: others taken away, per message",
        ),
        share(
            "private messages kept",
            "private messages",
            NO_GOAL,
            "messages not to be remembered that left a line",
        ),
        share(
            "plants at the top", "plants", "≤ 0.00", "lines of pasted text that reached the top or the state"
        ),
        share("plants in drawers", "plants", NO_GOAL, "lines of pasted text that reached a drawer"),
        share(
            "own words beside kept",
            "own words beside",
            NO_GOAL,
            "the user's own words beside pasted text that were kept",
        ),
    ]
    if counts["questions now"]:
        rows += [
            (
                "a life of seven weeks: current values in the prompt",
                f"{counts['now answered']} of {counts['questions now']}",
                "≥ 14",
            ),
            (
                "a life of seven weeks: stale values in the prompt",
                f"{counts['now stale']} of {counts['questions now']}",
                "≤ 1",
            ),
            (
                "a life of seven weeks: values of an earlier day",
                f"{counts['then answered']} of {counts['questions then']}",
                NO_GOAL,
            ),
        ]
    english = _f1(tally.by_lang["en"])
    for lang in sorted(tally.by_lang):
        if lang != "en" and tally.by_lang[lang]["facts"]:
            ratio = _f1(tally.by_lang[lang]) / english if english else 0.0
            rows.append((f"F1 of sentences in {lang}, against English's", f"{ratio:.2f}", "≥ 0.75"))
    rows.append(("F1 of sentences in English", f"{english:.3f}", NO_GOAL))
    return rows


_WORST = {"wrong": 10, "missed": 6, "stale": 5, "not obeyed": 4, "planted top": 3, "life missed": 2}
"""Of each sort of error, so many are printed: thirty in all."""


def told_besides(tally: Tally) -> dict[str, str]:
    """The confusion by kind, and thirty errors."""
    made = sorted({kind for _, kind in tally.confusion})
    labels = sorted({label for label, _ in tally.confusion})
    rows = [[label, *(str(tally.confusion[label, kind]) for kind in made)] for label in labels]
    lines = []
    for sort, most in _WORST.items():
        texts = [text for each, text in tally.errors if each == sort]
        for text in random.Random(3).sample(texts, min(most, len(texts))):
            flat = " ".join(text.split()).replace("|", "/").replace("`", "'")
            lines.append(f"- {sort}: {flat if len(flat) <= 300 else flat[:299] + '…'}")
    return {
        "What sentences of each label became, by the kind of fact": table(rows, ("label", *made)),
        "Thirty errors": "\n".join(lines),
    }


def _f1(counts: Counter[str]) -> float:
    hit, extra, missed = (
        counts["sentence kept taken"],
        counts["sentence not taken"],
        counts["sentence kept left"],
    )
    return 2 * hit / max(2 * hit + extra + missed, 1)


def measure(folder: Path, *, errands: int = 5000, only: str = "") -> Tally:
    tally = Tally()
    parts: dict[str, Callable[[], None]] = {
        "messages": lambda: learn_messages(list(messages(folder)), tally),
        "changes": lambda: learn_changes(folder, tally),
        "doubts": lambda: learn_doubts(list(messages(folder)), tally),
        "later": lambda: learn_later(folder, tally),
        "forbid": lambda: learn_prohibitions(folder, tally),
        "orders": lambda: learn_orders(folder, tally),
        "paste": lambda: learn_pasted(folder, tally),
        "errands": lambda: learn_errands(tally, errands),
        "life": lambda: live(folder, tally),
    }
    for name, run in parts.items():
        if not only or name in only.split(","):
            began = time.process_time()
            run()
            print(f"{name}: {time.process_time() - began:.1f} s of CPU time", file=sys.stderr)
    return tally


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", default="test", help="test or dev, or a folder of such sets")
    parser.add_argument(
        "--only", default="", help="messages, changes, doubts, later, forbid, orders, paste, errands, life"
    )
    parser.add_argument("--errands", type=int, default=5000)
    parser.add_argument("--errors", type=int, default=0, help="print so many of each sort")
    parser.add_argument("--lines", help="write every line that was learnt from messages to this file")
    given = parser.parse_args()
    folder = SETS / given.sets if (SETS / given.sets).exists() else Path(given.sets)
    if not folder.is_dir():
        nothing_measured(f"there are no sets in {folder}")
    tally = measure(folder, errands=given.errands, only=given.only)
    if given.errors:
        by_sort: dict[str, list[str]] = defaultdict(list)
        for sort, text in tally.errors:
            by_sort[sort].append(text)
        for sort, texts in by_sort.items():
            print(f"\n=== {sort}: {len(texts)}")
            for text in random.Random(2).sample(texts, min(given.errors, len(texts))):
                print(f"- {text}")
    if given.lines:
        with Path(given.lines).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in tally.learnt)
    report("learn", rows_of(tally), save=given.save, more=told_besides(tally))


if __name__ == "__main__":
    main()
