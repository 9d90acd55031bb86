"""How well the rules find the facts that people say, measured on labelled utterances.

    python benchmarks/distill.py                        the table: what was held back, and small talk if it is there
    python benchmarks/distill.py --save                 keeps it in results.json as well
    python benchmarks/distill.py --half tune            figures on the half that the rules were tuned on
    python benchmarks/distill.py --half held            figures on the half that was held back
    python benchmarks/distill.py --half tune --misses   what was missed and what was made up; refused for the held half
    python benchmarks/distill.py --locomo PATH          facts per 100 turns of long conversations, and of how many kinds
    python benchmarks/distill.py --locomo PATH --sample 100 --seed 7    turns with what was found, to judge by hand

The utterances are `benchmarks/data/utterances.jsonl`: `id`, `lang`, `role`, `text`, `ts`, `facts` (each with `topic`,
`relation` and the `objects` that are right), and `why`. An item is held back when the hash of its id is odd: whoever
writes a rule never sees those, so their figures say what to expect of words that nobody looked at.

A fact is found when the relation is the same and the object is one of the right ones, both without regard to case,
articles and punctuation. Of what people put in many words (rules, plans, goals, events, decisions, appointments,
preferences, traits) the object may be worded otherwise: when it shares the words that carry meaning with a right one
(F1 of at least 0.7), says yes or no as that does, and names the same numbers and dates.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.talks import DATA  # noqa: E402

from looseleaf.core.relations import BY_LABEL  # noqa: E402
from looseleaf.distill.statements import statements  # noqa: E402
from looseleaf.talk import Proposal  # noqa: E402

UTTERANCES = Path(__file__).parent / "data/utterances.jsonl"
VERDICTS = Path(__file__).parent / "data/locomo_verdicts.jsonl"
"""Long conversations, judged by hand: `turn`, `fact` (see `fact_id`) and `verdict` (right, wrong or partly)."""

GOALS = {"precision": 0.90, "recall": 0.60, "made up": 0.02}
NO_FACT = "no fact"

Item = dict[str, Any]
Missed = tuple[str, str]

_ARTICLES = re.compile(
    r"\b(?:an?|the|der|die|das|den|dem|ein(?:e[nmrs]?)?|les?|la|une?|des?|el|los|las|un[ao]s?)\b"
)
_POINTS = re.compile(r"[^\w\s+#/-]+")


def is_held(item: Item) -> bool:
    return int(sha256(str(item["id"]).encode()).hexdigest(), 16) % 2 == 1


def items(path: Path = UTTERANCES) -> Iterator[Item]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            item: Item = json.loads(line)
            if "id" in item and "text" in item:
                yield item


def moment(ts: Any) -> float:
    """Seconds since 1970, from a number or an ISO time."""
    if isinstance(ts, int | float):
        return float(ts)
    made = datetime.fromisoformat(str(ts))
    return (made if made.tzinfo else made.replace(tzinfo=UTC)).timestamp()


def plain(text: str) -> str:
    """Without what makes no difference: case, forms of characters, articles, punctuation, spaces."""
    text = _POINTS.sub(" ", unicodedata.normalize("NFKC", text).casefold().replace("'", ""))
    return " ".join(_ARTICLES.sub(" ", text).split()) or text.strip()


def proposals(item: Item) -> list[Proposal]:
    """Only what a user says is a statement of his."""
    if item.get("role", "user") != "user":
        return []
    return statements(item["text"], moment(item["ts"]))


_PLAIN = frozenset("question hypothetical quote tool-output recalled".split())
"""Why an utterance states nothing, where that is plain."""

_WORDED = frozenset("rule plan goal event decision appointment prefers trait".split())
ALIKE = 0.7
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[\w'-]+")
_DIGITS = re.compile(r"[0-9]+")
_NO = frozenset(
    "not no never don't dont doesn't without nothing none cannot can't won't avoid stop nicht kein keine keinen nie "
    "niemals ohne pas jamais aucun sans ne nunca sin 不 别 没 勿 無 な".split()
)
_SLIGHT = frozenset(
    "a an the to of in on at for with and or my our your me i we us you it is are be do always please".split()
)


def is_worded_alike(one: str, other: str) -> bool:
    """Whether two objects say the same in other words: no more than whoever judges by hand would let pass."""
    words = [_WORD.findall(unicodedata.normalize("NFKC", text).casefold()) for text in (one, other)]
    if len({bool(_NO & set(each)) for each in words}) > 1:
        return False
    if len({tuple(sorted(_DIGITS.findall(text))) for text in (one, other)}) > 1:
        return False
    mine, right = ({word for word in each if word not in _SLIGHT | _NO} for each in words)
    return bool(mine and right) and 2 * len(mine & right) / (len(mine) + len(right)) >= ALIKE


def is_object(relation: str, object: str, right: Iterable[str]) -> bool:
    right = [str(each) for each in right]
    if plain(object) in {plain(each) for each in right}:
        return True
    return relation.casefold() in _WORDED and any(is_worded_alike(object, each) for each in right)


def is_right(proposal: Proposal, fact: dict[str, Any]) -> bool:
    """Where the words allow several readings (`or`), any of them is right."""
    return any(
        proposal.relation.casefold() == str(reading["relation"]).casefold()
        and is_object(proposal.relation, proposal.object, reading["objects"])
        for reading in (fact, *fact.get("or", ()))
    )


def kind_of(relation: str) -> str:
    known = BY_LABEL.get(relation.casefold())
    return known.kind if known else "of a relative or thing"


class Tally:
    """Facts: proposed, and how many of them right; expected, and how many found. Items without one that gave one."""

    def __init__(self) -> None:
        self.right = self.proposed = self.found = self.expected = self.idle = self.made_up = 0

    def row(self, name: str) -> str:
        def share(part: int, whole: int) -> str:
            return f"{part / whole:7.3f}" if whole else "      –"

        return (
            f"{name:<24}{share(self.right, self.proposed)}{share(self.found, self.expected)}"
            f"{share(self.made_up, self.idle)}{self.proposed:>9}{self.expected:>9}{self.idle:>9}"
        )


def measure(chosen: Iterable[Item]) -> tuple[dict[str, Tally], list[str]]:
    """(a tally for everything, for each language and each kind, what went wrong)."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    missed: list[str] = []
    for item in chosen:
        found, facts = proposals(item), list(item["facts"])
        language = [tallies["all"], tallies[f"language {item.get('lang', '?')}"]]
        if not facts and item.get("why") in _PLAIN:
            tallies["no fact: plain"].idle += 1
            tallies["no fact: plain"].made_up += bool(found)
        if not facts:
            for tally in language:
                tally.idle += 1
                tally.made_up += bool(found)
        # One line may answer two facts that share an object, and two lines may be two readings of one fact.
        wrong = [proposal for proposal in found if not any(is_right(proposal, fact) for fact in facts)]
        open_facts = [fact for fact in facts if not any(is_right(proposal, fact) for proposal in found)]
        for proposal in found:
            for tally in (*language, tallies[f"kind {kind_of(proposal.relation)}"]):
                tally.proposed += 1
                tally.right += proposal not in wrong
        for fact in facts:
            for tally in (*language, tallies[f"kind {kind_of(fact['relation'])}"]):
                tally.expected += 1
                tally.found += fact not in open_facts
        if wrong or open_facts:
            lines = [
                f"{item['id']} [{item.get('lang')}] {item['ts']} {item['text']!r} ({item.get('why', '')})"
            ]
            lines += [f"    missed  {fact['relation']}: {' | '.join(fact['objects'])}" for fact in open_facts]
            lines += [f"    made up {each.relation}: {each.object}" for each in wrong]
            missed.append("\n".join(lines))
    return tallies, missed


def report_half(half: str, show: bool) -> None:
    chosen = [item for item in items() if is_held(item) == (half == "held")]
    tallies, missed = measure(chosen)
    print(f"{len(chosen)} utterances, half: {half}")
    print(f"{'':<24}{'precis.':>7}{'recall':>7}{'madeup':>7}{'proposed':>9}{'expected':>9}{NO_FACT:>9}")
    for name in sorted(tallies):
        print(tallies[name].row(name))
    if show:
        print("\n".join(missed))


# --- long conversations ----------------------------------------------------------------


def turns(path: Path) -> Iterator[tuple[str, str, float]]:
    """(id, text, time) of each turn; every speaker counts as a user."""
    for talk in json.loads(path.read_text("utf-8")):
        conversation = talk["conversation"]
        number = 1
        while f"session_{number}_date_time" in conversation:
            said = conversation[f"session_{number}_date_time"]
            ts = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
            for turn in conversation.get(f"session_{number}", ()):
                yield f"{talk['sample_id']} {turn['dia_id']}", turn["text"], ts
            number += 1


def report_turns(path: Path, sample: int, seed: int) -> None:
    found = [(name, text, statements(text, ts)) for name, text, ts in turns(path)]
    if sample:
        # Turns that gave something: what was missed cannot be judged one turn at a time.
        fruitful = [each for each in found if each[2]]
        for name, text, facts in Random(seed).sample(fruitful, min(sample, len(fruitful))):
            print(f"{name} {text!r}")
            print("".join(f"    {fact.relation}: {fact.object}\n" for fact in facts), end="")
        return
    total = sum(len(facts) for _, _, facts in found)
    print(f"{len(found)} turns, {total} facts, {100 * total / len(found):.1f} per 100 turns")
    counts = Counter(fact.relation for _, _, facts in found for fact in facts)
    print("\n".join(f"{count:>6} {relation}" for relation, count in counts.most_common()))


def fact_id(fact: Proposal) -> str:
    """Names a fact without its words: the conversations are not ours to print."""
    return sha256(f"{fact.relation}: {fact.object}".encode()).hexdigest()[:16]


def judged(found: Iterable[tuple[str, str, list[Proposal]]], path: Path = VERDICTS) -> Counter[str]:
    """How many of the facts that are proposed now were judged right, wrong and partly right."""
    proposed = {(name, fact_id(fact)) for name, _, facts in found for fact in facts}
    if not path.exists():
        return Counter()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    verdicts = {(line["turn"], line["fact"]): line["verdict"] for line in lines if "verdict" in line}
    return Counter(verdict for key, verdict in verdicts.items() if key in proposed)


# --- the table -------------------------------------------------------------------------


def rows(locomo: Path | None) -> Iterator[Row]:
    tallies = measure(item for item in items() if is_held(item))[0]
    tally, plain = tallies["all"], tallies["no fact: plain"]
    held = f"of {tally.expected} facts in {sum(map(is_held, items()))} utterances held back"
    yield f"precision of the rules' facts, {held}", *_share(tally.right, tally.proposed, "precision", "≥")
    yield "recall", *_share(tally.found, tally.expected, "recall", "≥")
    yield (
        f"of {plain.idle} questions, suppositions, quotations, tool outputs and recalled texts, those that gave a fact",
        *_share(plain.made_up, plain.idle, "made up", "≤"),
    )
    yield (
        f"the same of all {tally.idle} without one, role-play, advice, jokes and pasted texts among them",
        *_share(tally.made_up, tally.idle, "made up", "≤"),
    )
    if locomo is None:
        return
    found = [(name, text, statements(text, ts)) for name, text, ts in turns(locomo)]
    total = sum(len(facts) for _, _, facts in found)
    yield (
        f"facts per 100 turns of small talk (LoCoMo, {len(found)} turns)",
        f"{100 * total / len(found):.1f}",
        NO_GOAL,
    )
    if counts := judged(found):
        right, all_ = counts["right"], counts.total()
        partly = right + counts["partly"]
        yield f"of {all_} of them, judged by hand: right", f"{right / all_:.3f}", NO_GOAL
        yield "right, or right in part", f"{partly / all_:.3f}", NO_GOAL


def _share(part: int, whole: int, goal: str, sign: str) -> tuple[str, str]:
    return f"{part / max(whole, 1):.3f}", f"{sign} {GOALS[goal]:.2f}"


def main(arguments: list[str]) -> int:
    parser = options("How well the rules find the facts that people say.")
    parser.add_argument("--half", choices=("tune", "held"))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args(arguments)
    if asked.misses and asked.half != "tune":
        print("The misses of the held half are not listed: use --half tune.", file=sys.stderr)
        return 2
    if not asked.half and not asked.locomo:
        report("distill", rows(DATA if DATA.exists() else None), save=asked.save)
    if asked.half:
        report_half(asked.half, asked.misses)
    if asked.locomo:
        report_turns(asked.locomo, asked.sample, asked.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
