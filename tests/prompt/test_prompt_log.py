"""Prompts of a long conversation: each begins with the one before, and each can be rendered again from the log."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.prompt.manifest import Prompt

if TYPE_CHECKING:
    from pathlib import Path

BUDGET = 2500
NEVER = Policy(settle_seconds=0.01, quiet_seconds=0.001)
WORDS = (
    "parser grammar token buffer release branch invoice customer latency cache ticket deploy review schema "
    "migration worker queue retry budget window summary index profile harbour lantern copper meadow"
).split()


def sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize() + "."


def converse(path: Path, turns: int, seed: int) -> tuple[list[Prompt], int]:
    """A conversation of so many turns, with a prompt for each; and how many compactions it had.

    Now and then a tool is called, a page or the state is edited, by a person on disk too, something is distilled, and
    the process is begun anew.
    """
    chance = random.Random(seed)
    memory = Memory(path, policy=NEVER)
    memory.pages.edit("PROJECT.md", "# Project\n\nTests are sentences.\n", reason="rules", author="person")
    memory.pages.edit("SOUL.md", "# Soul\n\nBe brief.\n", reason="soul", author="person")
    prompts: list[Prompt] = []
    marks = set()
    for turn in range(turns):
        task = f"{turn}: {sentence(chance, chance.randint(3, 30))}"
        prompts.append(memory.prompt(task, budget=BUDGET))
        memory.record(user=task)
        if chance.random() < 0.3:
            call = memory.record(tool_call="search", tool_args={"query": sentence(chance, 3)})
            memory.record(
                tool_result=sentence(chance, chance.randint(5, 120)), tool_call_id=call.tool_call_id
            )
            prompts.append(memory.prompt(task, budget=BUDGET))
        memory.record(assistant=sentence(chance, chance.randint(5, 60)))
        act = chance.random()
        if act < 0.05:
            memory.pages.edit(
                "USER.md",
                lambda text: text + f"- Likes: {sentence(chance, 2)}\n",
                reason="said so",
                author="person",
            )
        elif act < 0.10:
            memory.state.update(now=sentence(chance, 5))
        elif act < 0.13:
            with (path / "PROJECT.md").open("a") as file:
                file.write(f"{sentence(chance, 6)}\n")
        elif act < 0.16:
            memory.pages.edit(
                f"facts/{chance.choice(WORDS)}.md",
                f"# Page\n\n- Note: {sentence(chance, 4)}\n",
                reason="a page",
            )
        elif act < 0.18:
            memory.distill()
        elif act < 0.24:
            session = memory.talk.session
            memory.close()
            memory = Memory(path, policy=NEVER, session=session if chance.random() < 0.5 else None)
        mark = memory.window.read().mark
        marks.add(mark.id if mark is not None else None)
    memory.close()
    return prompts, len(marks) - 1


def starts_with(prompt: Prompt, before: Prompt) -> bool:
    return prompt.messages[: len(before.messages)] == before.messages and prompt.text.startswith(before.text)


@pytest.mark.parametrize("turns", [50, pytest.param(500, marks=pytest.mark.long)])
def test_prompts_of_a_conversation_extend_each_other_and_are_rendered_again_byte_for_byte(
    tmp_path: Path, turns: int
) -> None:
    prompts, compactions = converse(tmp_path / "memory", turns, seed=7)
    assert compactions >= turns // 50
    broken = [
        number
        for number, (before, prompt) in enumerate(pairwise(prompts), 1)
        if not starts_with(prompt, before)
    ]
    assert all(prompts[number].manifest.epoch == "compacted" for number in broken), broken
    assert len(broken) <= compactions
    with Memory(tmp_path / "memory", policy=NEVER) as memory:
        same = sum(memory.explain.replay(each.manifest.id) == each for each in prompts)
    print(
        f"{len(prompts)} prompts, {compactions} compactions, {len(broken)} new beginnings, {same} rendered again"
    )
    assert same == len(prompts)
    assert all(each.manifest.total_tokens <= BUDGET for each in prompts)


def test_a_prompt_whose_traces_were_damaged_says_so_instead_of_showing_something_else(tmp_path: Path) -> None:
    prompts, _ = converse(tmp_path / "memory", 3, seed=1)
    log = tmp_path / "memory" / "log" / "traces" / "main" / "raw_traces.jsonl"
    log.write_bytes(log.read_bytes().replace(b"0: ", b"9: ", 1))
    with Memory(tmp_path / "memory", policy=NEVER) as memory:
        with pytest.raises(Refused, match="was not rendered again"):
            memory.explain.replay(prompts[-1].manifest.id)
        assert memory.explain.replay(prompts[0].manifest.id) == prompts[0]


def test_a_prompt_that_nobody_made_is_not_found(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory, pytest.raises(Refused, match="There is no prompt"):
        memory.explain.replay("last")
