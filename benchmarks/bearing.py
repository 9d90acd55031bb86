"""What a hook adds to prompts: whether it is the right thing, how often it is nothing, and what that costs.

    python benchmarks/bearing.py           prints the table
    python benchmarks/bearing.py --save    keeps the figures in results.json as well
    python benchmarks/bearing.py --tuned   the same on what the thresholds were chosen on
    python benchmarks/bearing.py --quick   one conversation, some prompts: whether it runs, not what it finds

Each conversation of LoCoMo is recorded in a memory of its own, and each question that it answers is sent as a prompt.
`evidence in them`: the share of these prompts, where anything is added, of which a turn that answers is among the
lines. What must get nothing: questions about people of another conversation, unrelated questions
(`data/unrelated.txt`), requests of real people to an assistant (if they are there), and prompts to coding agents
(`data/prompts.txt`; in memories of coding sessions, too, with the prompts of other projects). The thresholds of
`recall/bearing.py` were chosen on every second conversation and the first half of each other set. The figures are of
the rest, by which nothing was chosen.

What it costs: whole processes of `hook user-prompt`, each in a new session, against `python -c pass`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import fmean

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.hook import command, environment, nothing  # noqa: E402
from benchmarks.locomo import Ours  # noqa: E402
from benchmarks.model import play, rows_in  # noqa: E402
from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, nothing_measured, options, report  # noqa: E402
from benchmarks.talks import ADVERSARIAL, DATA, Conversation, conversations, unrelated  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.models.tokens import load  # noqa: E402
from looseleaf.prompt.bearing import TOKENS, Bearing, bearing_on  # noqa: E402

REQUESTS = DATA.parent / "requests/requests.jsonl"
PROMPTS = Path(__file__).parent / "data/prompts.txt"
MEMORIES = {
    True: (("code-a", ("code-b",)), ("code-b", ("code-a",))),
    False: (("kept-back-code", ("code-a", "code-b")),),
}
"""Coding sessions, and those of other projects whose prompts are sent there: tuned on, held back."""

ASKED, RIGHT, WRONG = "≥ 0.3", "≥ 0.6", "≤ 0.05"
AT_ONCE = 150
ROUNDS = 30


def prompts(*, tuned: bool) -> list[str]:
    first, second = PROMPTS.read_text("utf-8").partition("[tuned on]")[2].split("[held back]")
    return [line for line in (first if tuned else second).splitlines() if line.strip()]


def requests(number: int, *, tuned: bool) -> list[str]:
    if not REQUESTS.exists():
        return []
    lines = (json.loads(line)["text"] for line in REQUESTS.read_text("utf-8").splitlines())
    begin = (0 if tuned else 1500) + AT_ONCE * number
    return [text for text in lines if len(text.split()) >= 5][begin : begin + AT_ONCE]


@dataclass
class Tally:
    """Of a set of prompts: the tokens that each got, and the part of its evidence that was in them."""

    tokens: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def add(self, found: Bearing, share: float = 0.0) -> None:
        self.tokens.append(load()(found.text) if found.text else 0)
        self.shares += [share] if found.text else []

    @property
    def told(self) -> str:
        got = sum(map(bool, self.tokens))
        return f"{got / max(len(self.tokens), 1):.3f} ({got} of {len(self.tokens):,})"


class Sets(dict[str, Tally]):
    def __missing__(self, name: str) -> Tally:
        made = self[name] = Tally()
        return made

    def ask(self, memory: Memory, name: str, asked: Iterable[str]) -> None:
        for prompt in asked:
            self[name].add(bearing_on(memory.parts, prompt))


OWN, TWISTED, OTHER, UNRELATED, REQUESTED, CODING, CODED, PROJECTS = (
    "questions that the memory answers",
    "adversarial questions",
    "questions about people of another conversation",
    "unrelated questions",
    "requests of real people to an assistant",
    "prompts to coding agents, in memories of talk",
    "prompts to coding agents, in memories of coding sessions",
    "prompts of other projects, in memories of coding sessions",
)


def of_talks(
    sets: Sets, talks: list[tuple[int, Conversation]], path: Path, *, tuned: bool, every: int
) -> None:
    for at, (number, talk) in enumerate(talks):
        ours = Ours(talk, path / talk.name)
        with ours.memory as memory:
            for question in talk.questions[::every]:
                found = bearing_on(memory.parts, question.text)
                there = {ours.numbers[key] for key in found.keys} & question.evidence
                kind = TWISTED if question.category == ADVERSARIAL else OWN
                sets[kind].add(found, len(there) / len(question.evidence))
            others = talks[(at + 1) % len(talks)][1].questions[:: 2 * every] if len(talks) > 1 else ()
            sets.ask(memory, OTHER, (question.text for question in others))
            sets.ask(memory, UNRELATED, unrelated()[0 if tuned else 1 :: 2 * every])
            sets.ask(memory, REQUESTED, requests(number, tuned=tuned)[::every])
            sets.ask(memory, CODING, prompts(tuned=tuned)[::every])


def of_code(sets: Sets, path: Path, *, tuned: bool, every: int) -> None:
    for name, others in MEMORIES[tuned]:
        for session in rows_in(f"{name}.jsonl")[:: 1 if every == 1 else 8]:
            with Memory(path / name, session=session["id"]) as memory:
                play(memory, session)
                memory.distill()
        with Memory(path / name) as memory:
            memory.recall("anything")  # makes the index
            sets.ask(memory, CODED, prompts(tuned=tuned)[::every])
            told = (each for other in others for row in rows_in(f"{other}.jsonl") for each in row["messages"])
            sets.ask(memory, PROJECTS, [each["text"] for each in told if each["role"] == "user"][::every])


def rows(sets: Sets) -> Iterator[Row]:
    own, twisted = sets[OWN], sets[TWISTED]
    yield f"{OWN} that get lines", own.told, ASKED
    some = fmean([share > 0 for share in own.shares] or [0.0])
    yield "evidence in them", f"{some:.3f} (all of it {fmean(own.shares or [0.0]):.3f})", RIGHT
    yield f"{TWISTED} that get lines", twisted.told, NO_GOAL
    for name in (OTHER, UNRELATED, REQUESTED, CODING, CODED, PROJECTS):
        if sets[name].tokens:
            yield f"{name} that get lines", sets[name].told, WRONG
    spent = [tokens for tally in sets.values() for tokens in tally.tokens if tokens] or [0]
    yield "tokens of the lines, the most", f"{max(spent)} (mean {fmean(spent):.0f})", f"≤ {TOKENS}"


def costs(memory: Path, question: str, rounds: int) -> Iterator[Row]:
    sessions = count()

    def send(prompt: str) -> str:
        given = {
            "session_id": f"cost-{next(sessions)}",
            "prompt": prompt,
            "hook_event_name": "UserPromptSubmit",
        }
        arguments = [*command(), "--memory", str(memory), "hook", "user-prompt"]
        done = subprocess.run(
            arguments, input=json.dumps(given), capture_output=True, text=True, check=True, env=environment()
        )
        return done.stdout

    for what, prompt in (
        ("without a subject", "go on"),
        ("that nothing bears on", "Repaint the kitchen ceiling with matte enamel"),
        ("that gets lines", question),
    ):
        times, beside = Times(), Times()
        for _ in range(rounds):
            beside.run(nothing)
            times.run(send, prompt)
        yield f"`hook user-prompt`, a prompt {what}, against `python -c pass`", times.against(beside), NO_GOAL


def measured(talks: list[tuple[int, Conversation]], *, tuned: bool, quick: bool) -> Iterator[Row]:
    every = 20 if quick else 1
    sets = Sets()
    with folder(QUICK) as path:
        of_talks(sets, talks, path, tuned=tuned, every=every)
        of_code(sets, path, tuned=tuned, every=every)
        yield from rows(sets)
        first = talks[0][1]
        with Memory(path / first.name) as memory:
            question = next(each.text for each in first.questions if bearing_on(memory.parts, each.text).text)
        yield from costs(path / first.name, question, 1 if quick else ROUNDS)


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tuned", action="store_true")
    asked = parser.parse_args(arguments)
    if not DATA.exists():
        nothing_measured(f"{DATA.name} is not there")
    talks = list(enumerate(conversations()))[0 if asked.tuned else 1 :: 2][: 1 if asked.quick else None]
    report("bearing", measured(talks, tuned=asked.tuned, quick=asked.quick), save=asked.save)


if __name__ == "__main__":
    main()
