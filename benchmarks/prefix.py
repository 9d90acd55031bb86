"""How much of what is sent a provider's cache knows, in the order that prompts have here and in others.

Part of `prompt.py`. Every order gets the same texts, the same window and the same compactions, at the same times; what
differs is where the memory stands and when it is written anew.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.cache_model import SECONDS, Sent, cached_share, cached_tokens
from benchmarks.report import NO_GOAL, Row
from benchmarks.window import QUICK, TALKS, Speech, Told, folder, replay

from looseleaf import Memory
from looseleaf.base.messages import Message
from looseleaf.log.turns import texts_of
from looseleaf.prompt.fit import fit
from looseleaf.window.window import costs_of

BUDGETS = (8_000, 16_000, 40_000)
"""Of the long conversation. The smaller, the more compactions, and each of them costs what the cache knew: a figure for
one budget would say little of another."""

TURN, STEP = 40.0, 5.0
"""Seconds from one message of the user to the next, and from one step of an agent to the next."""

_ROLES = ("system", "user", "assistant", "tool")
_FRAME = 1 << 24
"""Beyond every vocabulary: what a provider puts around a message."""


@cache
def encoder() -> Callable[[str], list[int]]:
    from splintr import Tokenizer

    encode: Callable[[str], list[int]] = Tokenizer.from_pretrained("o200k_base").encode_ordinary
    return encode


@cache
def _ids(text: str) -> tuple[int, ...]:
    return tuple(encoder()(text))


def tokens_of(messages: Iterable[Message]) -> Sequence[int]:
    """What is sent, as tokens: each message with four around it."""
    found: list[int] = []
    for message in messages:
        found += (_FRAME, _FRAME + 1 + _ROLES.index(message.role), _FRAME + 8)
        for text in texts_of(message):
            found += _ids(text)
        found.append(_FRAME + 9)
    return array("i", found)  # thousands of prompts are held at once


def rendered(memory: Memory, budget: int | None = None, said: int = 0) -> str:
    """The memory as a prompt would show it if it began now."""
    memory.pages.absorb()
    memory.parts.notebook.catch_up()
    slots, _ = memory.parts.prompts.gather.slots(memory.window.read().mark)
    room = (budget or memory.window.budget().input) - said
    return fit(slots, room, memory.parts.conversation.counter(None), 1).text


# --- a long conversation -----------------------------------------------------------------------


class Conversation:
    """A scripted talk: the user asks, the page about him and the state change, the process starts anew now and then."""

    def __init__(self, path: Path, budget: int) -> None:
        self._path = path
        self._budget = budget
        self._chance = Random(5)
        self._speech = Speech(6)
        self.changes = self.restarts = self.compactions = 0
        self.ours: list[Sent] = []
        self.before: list[Sent] = []
        """With the memory rendered anew before the conversation, in each turn."""
        self.memory = Memory(path)
        (path / "SOUL.md").write_text(f"# Soul\n\n{self._speech.text(800)}\n")
        (path / "PROJECT.md").write_text(f"# Project\n\n{self._speech.text(2500)}\n")
        self._edit_page("# User\n\n")
        self.memory.state.update(goal=self._speech.text(50))
        self._mark = self.memory.window.read().mark

    def turn(self, number: int) -> None:
        if number % 3 == 0:
            self.memory.state.update(now=self._speech.text(40))
            self.changes += 1
        if number % 10 == 5:
            self.memory.state.add_task(self._speech.text(40))
            self.changes += 1
        if number % 20 == 15:
            self.memory.state.done(self._chance.choice(self.memory.state.tasks_open)["id"])
            self.changes += 1
        if number % 25 == 8:
            self._edit_page((self._path / "USER.md").read_text())
        if number % 60 == 50:
            self.memory.close()
            self.memory = Memory(self._path)
            self.memory.talk.resume()
            self.restarts += 1
        task = self._speech.text(self._chance.choice((60, 120, 400)))
        self._ask(number * TURN, task)
        self.memory.record(user=task)
        self.memory.record(assistant=self._speech.text(self._chance.choice((200, 400, 900))))

    def _edit_page(self, before: str) -> None:
        (self._path / "USER.md").write_text(f"{before}- Note: {self._speech.text(60)}\n")
        self.changes += 1

    def _ask(self, now: float, task: str) -> None:
        prompt = self.memory.prompt(task, budget=self._budget)
        sent = tokens_of(prompt.messages)
        assert len(sent) == prompt.manifest.total_tokens <= self._budget
        self.ours.append((now, sent))
        window = self.memory.window.read()
        mark, self._mark = self._mark, window.mark
        self.compactions += mark != self._mark
        system, asked = prompt.messages[0], prompt.messages[-1]
        count = self.memory.parts.conversation.counter(None)
        said = sum(costs_of([system, *window.messages, asked], count))
        text = rendered(self.memory, self._budget, said)
        told = [system, *([Message("user", text)] if text else ()), *window.messages, asked]
        self.before.append((now, tokens_of(told)))


def talking(turns: int, budgets: Sequence[int] = BUDGETS) -> Iterator[Row]:
    for budget in budgets:
        with folder(QUICK) as path:
            talk = Conversation(path / "memory", budget)
            for number in range(1, turns + 1):
                talk.turn(number)
            talk.memory.close()
        what = (
            f"input tokens that a provider's cache knows in a budget of {budget:,}, {turns} turns, one every "
            f"{TURN:.0f} s, {talk.changes} changes of the state and USER.md, {talk.compactions} compactions, "
            f"{talk.restarts} restarts (with the memory before the talk, as it is in each turn)"
        )
        yield what, _against(cached_share(talk.ours), cached_share(talk.before)), "≥ 0.90"
        paid, sent = (size(talk.ours) / size(talk.before) for size in (_paid, _sent))
        yield "tokens paid in full, and all tokens, against that order", f"{paid:.2f}, {sent:.2f}", NO_GOAL


def _against(ours: float, *others: float) -> str:
    return f"{ours:.3f} ({', '.join(f'{other:.3f}' for other in others)})"


def _sent(prompts: Sequence[Sent]) -> int:
    return sum(len(tokens) for _, tokens in prompts)


def _paid(prompts: Sequence[Sent]) -> int:
    return _sent(prompts) - sum(cached_tokens(prompts))


# --- agents with tools ---------------------------------------------------------------------------


class Work:
    """Agents that serve customers, one conversation after the other; a customer who comes again is remembered.

    Each answer of the model is a step, and each step is a prompt. What the memory has learnt is distilled, and the
    state moves on, each time the user has spoken."""

    def __init__(self) -> None:
        self.now = 0.0
        self.talks = 0
        self.orders: dict[str, list[Sent]] = {"ours": [], "none": [], "each turn": [], "each step": []}
        self.changes: set[str] = set()
        self._numbers: list[int] = []
        """The talk that each step belongs to."""

    def take(self, path: Path, agent: str, talk: Sequence[Told]) -> None:
        policy = talk[0]["content"]
        self.talks += 1
        with Memory(path, agent=agent) as memory:
            if not (path / "PROJECT.md").exists() or (path / "PROJECT.md").read_text() != policy:
                (path / "PROJECT.md").write_text(policy)
            shown = ""
            for number, message in enumerate(talk[1:], 1):
                if message["role"] == "user":
                    memory.distill()
                    memory.state.update(now=message["content"][:80])
                    replay(memory, [message])
                    shown = rendered(memory)
                    self.now += TURN
                elif message["role"] == "assistant":
                    self.now += STEP
                    self._step(memory, policy, shown, _last(talk[:number]))
                    replay(memory, [message])
                else:
                    replay(memory, [message])

    def _step(self, memory: Memory, policy: str, shown: str, last: str) -> None:
        prompt = memory.prompt()
        self.changes.update(item.id for item in prompt.manifest.items if item.type == "changes")
        self._numbers.append(self.talks)
        said = memory.window.read().messages
        self._send("ours", prompt.messages)
        self._send("none", [Message("system", policy), *said])
        self._send("each turn", [Message("system", f"{policy}\n\n{shown}"), *said])
        self._send("each step", [Message("system", f"{policy}\n\n{shown}\n\nLast step: {last}"), *said])

    def _send(self, order: str, messages: Sequence[Message]) -> None:
        self.orders[order].append((self.now, tokens_of(messages)))

    def shares(self, *, apart: bool) -> list[float]:
        """What the cache knew in each order; `apart`: nothing of one talk is known in the next."""
        wait = 10 * SECONDS if apart else 0.0
        return [
            cached_share(
                [(now + wait * talk, tokens) for talk, (now, tokens) in zip(self._numbers, sent, strict=True)]
            )
            for sent in self.orders.values()
        ]


def _last(talk: Sequence[Told]) -> str:
    """What was done last, in a line: a memory that is looked up at each step shows something else at each."""
    text = talk[-1].get("content") or json.dumps(talk[-1].get("tool_calls"))
    return " ".join(str(text).split())[:100]


def customers(count: int | None) -> list[tuple[str, list[Any]]]:
    """The conversations of each task: the same customer, several times; of the first so many tasks."""
    talks = sorted(json.loads(TALKS.read_text()), key=lambda each: (each["task_id"], each["trial"]))
    found = [(str(name), list(own)) for name, own in groupby(talks, key=lambda each: each["task_id"])]
    return found[:count]


def working(count: int | None) -> Iterator[Row]:
    what = "input tokens that a provider's cache knows, real agents with tools, each step a prompt"
    if not TALKS.exists():
        yield what, f"skipped: no {TALKS.name}", "≥ 0.88"
        return
    work = Work()
    with folder(QUICK) as path:
        for name, own in customers(count):
            for number, each in enumerate(own):
                work.take(path / name, f"visit-{number}", each["traj"])
    others = "no memory; memory in the system prompt, written anew in each turn; in each step"
    size = f"{work.talks} talks, {len(work.orders['ours'])} steps, {len(work.changes)} changes told"
    yield f"{what} ({size}; {others})", _against(*work.shares(apart=False)), "≥ 0.88"
    yield "the same, nothing known from one talk to the next", _against(*work.shares(apart=True)), "≥ 0.88"
    ours, *rest = work.orders.values()
    for name, weigh in (("tokens paid in full", _paid), ("all tokens", _sent)):
        figures = ", ".join(f"{weigh(ours) / weigh(other):.2f}" for other in rest)
        yield f"{name}, against each of these", figures, NO_GOAL
