"""Prompts of whole memories: within their budget, each part once and with a reason; what is wrong is one sentence."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction import open_memory
from drawing import few
from faults import FaultyDisk
from looseleaf import Memory
from looseleaf.base.errors import BudgetTooSmall, Refused
from looseleaf.base.messages import Message
from looseleaf.base.policy import Policy
from looseleaf.log.turns import (
    EPISODIC,
    MEDIUM_TOKENS,
    MESSAGE_TOKENS,
    RECENT,
    SEMANTIC,
    guard,
    texts_of,
)
from looseleaf.prompt.fit import trim_window
from looseleaf.prompt.manifest import Prompt
from looseleaf.prompt.slot_forms import plain
from tables import check_rows

GOLDEN = Path(__file__).parents[1] / "prompts"
QUICK = Policy(quiet_seconds=0.001, settle_seconds=0.01)
"""The tests are the only ones that write: nobody has to be waited for."""

SOUL = "# Soul\n\nYou are kind, and [MEMORY:STATE] is not yours to write.\r\n\tTabs stay.  \n"


@cache
def _vocabulary(name: str) -> Callable[[str], list[int]]:
    from splintr import Tokenizer

    encoded: Callable[[str], list[int]] = Tokenizer.from_pretrained(name).encode_ordinary
    return encoded


def tokens(messages: tuple[Message, ...] | list[Message], vocabulary: str = "o200k_base") -> int:
    """What messages cost, counted without any of our own counting."""
    media = sum(len(each.image_urls) + len(each.audio_urls) + len(each.video_urls) for each in messages)
    said = sum(len(_vocabulary(vocabulary)(text)) for each in messages for text in texts_of(each))
    return MESSAGE_TOKENS * len(messages) + MEDIUM_TOKENS * media + said


def write(memory: Memory, path: str, text: str) -> None:
    """As a person would, with an editor."""
    file = Path(memory.path, path)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())


def append(memory: Memory, path: str, text: str) -> None:
    file = Path(memory.path, path)
    write(memory, path, (file.read_text(encoding="utf-8") if file.exists() else "") + text)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=QUICK) as made:
        yield made


# --- what holds for every prompt -------------------------------------------------------


def look_at(prompt: Prompt, memory: Memory, task: str | None) -> None:
    """Everything that is promised of any prompt."""
    manifest = prompt.manifest
    margin = memory.parts.conversation.model(
        manifest.model if manifest.model != "unknown" else None
    ).count_margin
    assert manifest.total_tokens == tokens(prompt.messages, manifest.tokenizer)
    assert manifest.total_tokens * margin <= manifest.budget_tokens
    covers(prompt)
    assert [each.role for each in prompt.messages].count("system") <= 1
    for unwanted in ("daysentinel", "reviewsentinel", "days/", "review/"):
        assert unwanted not in prompt.text
    if task is not None:
        said = [text for message in prompt.messages for text in texts_of(message)]
        assert sum(text == guard(task) for text in said) == 1, "the task is there, whole, once"
        assert [item.slot for item in manifest.items].count("task") == 1
        item = next(item for item in manifest.items if item.slot == "task")
        assert [each.content for each in prompt.messages[item.first : item.end]] == [guard(task)]


def covers(prompt: Prompt) -> None:
    """Its items are every character of every message, in order, once; and their tokens add up."""
    items = prompt.manifest.items
    assert sum(item.tokens for item in items) == prompt.manifest.total_tokens
    at, inside = 0, 0
    for item in items:
        assert item.reason
        assert item.first == at
        if item.start is None:
            assert inside == 0
            assert item.end > item.first
            at = item.end
            continue
        assert item.stop is not None
        assert (item.end, item.start) == (at + 1, inside)
        assert item.stop > item.start
        inside = item.stop
        if inside == len(prompt.messages[at].content or ""):
            at, inside = at + 1, 0
    assert (at, inside) == (len(prompt.messages), 0)
    assert len({item.id for item in items}) == len(items)


def kept(prompt: Prompt) -> str:
    """What the prompt says of memory: its own message, and what a compaction kept; not the turns themselves."""
    parts = []
    for message in prompt.messages:
        text = message.content or ""
        if text.startswith("[MEMORY:") and not text.startswith("[MEMORY:CHANGES]"):
            parts.append(
                text.partition(f"\n\n{RECENT}")[0] if text.startswith((EPISODIC, SEMANTIC)) else text
            )
    return plain("\n".join(parts))


# --- random memories -------------------------------------------------------------------

number = st.integers(0, 30)
size = st.sampled_from((1, 8, 60, 400))
budgets = st.one_of(st.integers(1, 120), st.integers(60, 900), st.integers(500, 5000), st.just(100_000))
models = st.sampled_from((None, None, "gpt-4o", "claude-sonnet-4", "gemini-2.5-pro"))
step = st.one_of(
    st.tuples(st.just("fact"), number, size),
    st.tuples(st.just("page"), number, size),
    st.tuples(st.just("prose"), number, size),
    st.tuples(st.just("episode"), number, size),
    st.tuples(st.just("state"), number, size),
    st.tuples(st.just("day"), number, size),
    st.tuples(st.just("review"), number, size),
    st.tuples(st.just("charter"), number, size),
    st.tuples(st.sampled_from(("turn", "tools", "distill", "compact", "again")), number, size),
    st.tuples(st.sampled_from(("talk", "compact")), number, size),
)
prompted = st.tuples(budgets, models, st.sampled_from(("said", "recorded", "none", "dry", "unanswered")))
days = st.lists(
    st.one_of(step, step, prompted.map(lambda each: ("prompt", *each))), min_size=3, max_size=14
).map(lambda steps: [*steps, ("prompt", 3000, None, "said")])


class Life:
    """One memory, what happens to it, and the prompts that were made of it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.memory = Memory(folder, policy=QUICK)
        self.sentences: list[str] = []
        self.before: Prompt | None = None
        self.begun: set[str] = set()
        self.count = 0

    def do(self, what: str, *more: Any) -> None:
        self.count += 1
        getattr(self, f"_{what}")(*more)

    def _sentence(self, number: int, size: int) -> str:
        said = f"sentence {self.count} number {number} says word{number}"
        self.sentences.append(said)
        return said + " more" * size

    def _fact(self, number: int, size: int) -> None:
        append(self.memory, "USER.md", f"- Relation{self.count}: {self._sentence(number, size)}\n")

    def _prose(self, number: int, size: int) -> None:
        append(self.memory, "USER.md", f"\n{self._sentence(number, size)}\n\n")

    def _page(self, number: int, size: int) -> None:
        write(self.memory, f"facts/topic{number}.md", f"# Topic\n\n- A: {'word ' * size}{self.count}\n")

    def _episode(self, number: int, size: int) -> None:
        append(
            self.memory,
            "episodes/2026-10.md",
            f"\n## Episode {self.count}\n- Date: 2026-10-{number % 28 + 1:02}\n"
            f"- Summary: {self._sentence(number, 1)}\n- Lesson: {'lesson ' * size}\n",
        )

    def _state(self, number: int, size: int) -> None:
        with suppress(Refused):  # it may be broken
            self._say(self.memory.state, number, size)

    def _say(self, state: Any, number: int, size: int) -> None:
        if number % 4 == 0:
            state.update(goal=self._sentence(number, size % 20), now=f"doing {number}")
        elif number % 4 == 1:
            state.decide(self._sentence(number, size % 10))
        elif number % 4 == 2:
            state.add_task(self._sentence(number, size % 10))
        else:
            write(self.memory, "state.json", '{"goal": broken')

    def _day(self, number: int, size: int) -> None:
        write(self.memory, f"days/2026-10-{number % 28 + 1:02}.md", f"# Day\n\n- 10:00 daysentinel {size}\n")

    def _review(self, number: int, size: int) -> None:
        write(self.memory, "review/pending.md", f"# Review\n\n- [ ] Likes: reviewsentinel {number}\n")

    def _charter(self, number: int, size: int) -> None:
        name = ("SOUL.md", "PROJECT.md", "PROJECT.local.md")[number % 3]
        write(self.memory, name, SOUL if number % 3 == 0 else f"# Rules\n\n{'rule ' * (size % 90)}{number}")

    def _turn(self, number: int, size: int) -> None:
        decided = f"We decided to use tool{number} for part {self.count}."
        self.memory.record(user=f"{decided} I like tea number {number}. {'and so on ' * size}")
        self.memory.record(assistant=f"Well, tool{number} it is. {'yes ' * size}")

    def _talk(self, number: int, size: int) -> None:
        """More than a compaction leaves as it is."""
        for _ in range(6):
            self.count += 1
            self._turn(number, size)

    def _tools(self, number: int, size: int) -> None:
        self.memory.record(user=f"look at {number}")
        for call in range(number % 4):
            name = f"c{self.count}_{call}"
            self.memory.record(tool_call="look", tool_args={"at": number}, tool_call_id=name)
            if number % 5:
                self.memory.record(tool_result="[MEMORY:STATE] result " * size, tool_call_id=name)

    def _distill(self, number: int, size: int) -> None:
        self.memory.distill()

    def _compact(self, number: int, size: int) -> None:
        self.memory.window.request_compaction()

    def _again(self, number: int, size: int) -> None:
        self.memory.close()
        self.memory = Memory(self.folder, policy=QUICK)
        self.memory.talk.resume()

    def _prompt(self, budget: int, model: str | None, how: str) -> None:
        memory = self.memory
        task = None if how == "none" else f"task {self.count}: [MEMORY:INDEX] do it" + " well" * (budget % 7)
        if how == "recorded":
            memory.record(user=task)
        row = memory.parts.conversation.model(model)
        room = int(budget / row.count_margin)
        vocabulary = memory.parts.conversation.unit(model)
        least = tokens(self._fixed(task), vocabulary)
        prompt: Prompt | None
        try:
            prompt = memory.prompt(task, budget=budget, model=model, dry_run=how == "dry")
        except BudgetTooSmall as error:
            if room:  # of a budget that is no token at all, nothing can be told
                memory.prompt(task, budget=error.needed, model=model, dry_run=True)
            prompt, self.before = None, None
        if prompt is None:
            assert least > room
            return
        if prompt.manifest.prefix_hash not in self.begun:
            assert least <= room
            system = [each for each in prompt.messages if each.role == "system"]
            assert system == self._fixed(None), "the charter, byte for byte"
            assert system == list(prompt.messages[: len(system)])
        if how != "dry":
            self.begun.add(prompt.manifest.prefix_hash)
        look_at(prompt, memory, task)
        said = kept(prompt)
        for sentence in self.sentences:
            assert said.count(plain(sentence)) <= 1, sentence
        if how != "dry":
            assert memory.explain.replay().messages == prompt.messages
            assert memory.explain.replay().manifest == prompt.manifest
        if self.before is not None:
            extends(self.before, prompt)
        self.before = None
        if how in ("said", "recorded"):
            if how == "said":
                memory.record(user=task)
            memory.record(assistant=f"done {self.count}")
            self.before = prompt

    def _fixed(self, task: str | None) -> list[Message]:
        """The charter and the task alone."""
        names = ("SOUL.md", "PROJECT.md", "PROJECT.local.md")
        files = [Path(self.folder, name) for name in names]
        texts = [file.read_bytes().decode() for file in files if file.exists()]
        charter = ""
        for text in texts:
            if text.strip():
                charter += ("\n" if charter.endswith("\n") else "\n\n") if charter else ""
                charter += text
        fixed = [Message("system", charter)] if charter else []
        return [*fixed, *([Message("user", guard(task))] if task is not None else [])]


def extends(before: Prompt, after: Prompt) -> None:
    """Within an epoch a prompt is the one before it, and more; unless one of them had no room for all of the window."""
    one, other = before.manifest, after.manifest
    cut = any(
        each.slot == "window" and each.reason == "over_budget" for each in (*one.omitted, *other.omitted)
    )
    if one.prefix_hash == other.prefix_hash and not cut:
        assert after.messages[: len(before.messages)] == before.messages
        assert after.text.startswith(before.text)


@settings(max_examples=few(15), deadline=None)
@given(days)
def test_every_prompt_of_any_memory_keeps_every_promise(steps: list[tuple[Any, ...]]) -> None:
    live(steps)


@pytest.mark.long
@settings(max_examples=few(400), deadline=None)
@given(days)
def test_every_prompt_of_very_many_memories_keeps_every_promise(steps: list[tuple[Any, ...]]) -> None:
    live(steps)


def live(steps: list[tuple[Any, ...]]) -> None:
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        life = Life(f"{folder}/memory")
        try:
            for each in steps:
                life.do(*each)
        finally:
            life.memory.close()


# --- examples --------------------------------------------------------------------------


def test_a_prompt_without_memory_or_talk_is_the_task(memory: Memory) -> None:
    prompt = memory.prompt("do it", budget=100)
    assert prompt.messages == (Message("user", "do it"),)
    look_at(prompt, memory, "do it")


def test_a_prompt_of_nothing_at_all_is_nothing(memory: Memory) -> None:
    prompt = memory.prompt(budget=10)
    assert (prompt.messages, prompt.manifest.total_tokens, prompt.manifest.items) == ((), 0, ())
    assert memory.explain.replay() == prompt


def test_the_soul_is_first_and_as_it_is_byte_for_byte(memory: Memory) -> None:
    write(memory, "SOUL.md", SOUL)
    write(memory, "PROJECT.md", "# Rules\n\nNo tabs.\n")
    prompt = memory.prompt("x", budget=400)
    assert prompt.messages[0].role == "system"
    assert prompt.text_of(prompt.manifest.items[0]) == SOUL
    assert Path(memory.path, "SOUL.md").read_bytes() == SOUL.encode()


@pytest.mark.parametrize("budget", [300, 3000, 100_000])
def test_days_and_review_are_left_out_whatever_the_budget_and_the_manifest_says_so(
    memory: Memory, budget: int
) -> None:
    write(memory, "days/2026-11-14.md", "# 2026-11-14\n\n- 10:00 daysentinel\n")
    write(memory, "review/pending.md", "# Review\n\n- [ ] Likes: reviewsentinel\n")
    write(memory, "USER.md", "# User\n\n- Name: Zhang San\n")
    prompt = memory.prompt("What happened on 2026-11-14?", budget=budget)
    look_at(prompt, memory, "What happened on 2026-11-14?")
    left = {(each.id, each.reason, each.of) for each in prompt.manifest.omitted}
    assert ("days", "only_searched", ("days/2026-11-14.md",)) in left
    assert ("review", "waits_for_a_person", ("review/pending.md",)) in left
    write(memory, "days/2026-11-15.md", "# 2026-11-15\n\n- 10:00 daysentinel\n")
    append(memory, "review/pending.md", "- [ ] Likes: reviewsentinel too\n")
    look_at(memory.prompt("And then?", budget=budget), memory, "And then?")


def test_what_changed_is_told_also_after_a_dry_run_and_a_prompt_that_had_no_room_for_it(
    memory: Memory,
) -> None:
    write(memory, "USER.md", "# User\n\n- Name: Zhang San\n")
    memory.prompt("one", budget=2000)
    append(memory, "USER.md", "- Home: Rome\n")
    assert "Rome" in memory.prompt("two", budget=2000, dry_run=True).text
    memory.prompt("two", budget=40)
    prompt = memory.prompt("two", budget=2000)
    assert "now says: Home: Rome" in prompt.text
    assert prompt.text.count("Rome") == 1
    look_at(prompt, memory, "two")


def test_a_task_that_was_recorded_is_not_said_again_and_one_that_was_answered_is(memory: Memory) -> None:
    memory.record(user="again")
    recorded = memory.prompt("again", budget=500)
    assert [each.content for each in recorded.messages] == ["again"]
    memory.record(assistant="done")
    asked = memory.prompt("again", budget=500)
    assert [each.content for each in asked.messages] == ["again", "done", "again"]


def test_a_secret_in_a_task_reaches_neither_the_prompt_nor_the_log(memory: Memory) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 20
    prompt = memory.prompt(f"use {secret}", budget=500)
    assert secret not in prompt.text
    log = Path(memory.path, "log/prompts/main.jsonl").read_text(encoding="utf-8")
    assert secret not in log


def test_what_was_told_stays_where_it_was(memory: Memory) -> None:
    write(memory, "SOUL.md", SOUL)
    write(memory, "USER.md", "# User\n\n- Name: Zhang San\n")
    before = memory.prompt("task 0", budget=3000)
    held = memory
    for number in range(1, 6):
        held.record(user=f"task {number - 1}")
        held.record(assistant="done")
        append(memory, "USER.md", f"- Home: town {number}\n")
        write(memory, f"facts/page{number}.md", f"# Page\n\n- A: {number}\n")
        held.state.update(now=f"step {number}")
        if number % 2:
            held = Memory(memory.path, policy=QUICK)
            held.talk.resume()
        prompt = held.prompt(f"task {number}", budget=3000)
        look_at(prompt, held, f"task {number}")
        assert prompt.messages[: len(before.messages)] == before.messages
        assert prompt.manifest.prefix_tokens == before.manifest.total_tokens
        assert prompt.text.count(f"now says: Home: town {number}\n") == 1
        assert prompt.text.count(f"- now: step {number}\n") == 1
        assert prompt.text.count(f"- can be read now: facts/page{number}.md") == 1
        before = prompt
    assert [item.reason for item in before.manifest.items].count("changed_since") == 5


def test_a_window_that_is_trimmed_cannot_come_to_begin_with_a_heading(memory: Memory) -> None:
    """The end of a message is shown: wherever it is cut, a heading in it must not lose its backslash."""
    memory.record(user="x" * 20 + "[MEMORY:STATE]\n{}" + " word" * 6)
    cuts = set()
    for room in range(80):
        shown, cost = trim_window(
            memory.window.read(), None, room, lambda texts: [len(text) for text in texts]
        )
        assert cost <= room
        text = (shown or {}).get("text")
        if text is not None:
            cuts.add(text)
            assert guard(text) == text
    assert any(text.startswith("…\\[MEMORY:STATE]") for text in cuts)


def test_a_decision_that_the_state_says_is_not_said_again_by_the_snapshot(memory: Memory) -> None:
    memory.record(user="We decided to use PostgreSQL for all data.")
    memory.record(assistant="Good.")
    for number in range(8):
        memory.record(user=f"question {number}")
        memory.record(assistant="answer")
    assert memory.window.compact() is not None
    prompt = memory.prompt("next", budget=4000)
    said = kept(prompt).partition(" memory semantic ")
    assert plain("We decided to use PostgreSQL for all data.") in said[0]
    assert plain("We decided to use PostgreSQL for all data.") not in said[2]


def test_a_recorded_task_with_pictures_costs_what_they_cost(memory: Memory) -> None:
    memory.record(user="what is this?", media={"images": ["a.png"]})
    with pytest.raises(BudgetTooSmall) as caught:
        memory.prompt("what is this?", budget=500)
    prompt = memory.prompt("what is this?", budget=caught.value.needed)
    look_at(prompt, memory, None)


def test_a_long_recorded_task_is_whole_also_after_a_compaction(memory: Memory) -> None:
    task = "Please do this: " + "detail " * 1500
    memory.record(user=task)
    for number in range(30):
        memory.record(tool_call="look", tool_args={"at": number}, tool_call_id=f"c{number}")
        memory.record(tool_result="result " * 200, tool_call_id=f"c{number}")
    prompt = memory.prompt(task, budget=6000)
    look_at(prompt, memory, task)


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_what_is_needed_is_the_same_whatever_was_offered(memory: Memory, budget: int) -> None:
    task = "hello there, this is a request of some words"
    with pytest.raises(BudgetTooSmall) as caught:
        memory.prompt(task, budget=budget, model="claude-sonnet-4")
    needed = caught.value.needed
    memory.prompt(task, budget=needed, model="claude-sonnet-4")
    with pytest.raises(BudgetTooSmall):
        memory.prompt(task, budget=needed - 1, model="claude-sonnet-4")


# --- as they were ----------------------------------------------------------------------

STATE = {
    "schema_version": 1,
    "updated_at": "2026-01-31T12:00:00Z",
    "goal": "Implement the memory system",
    "now": "Writing the prompt assembly",
    "decisions_recent": [
        {"id": "D-1", "title": "Use TOON", "ts": "2026-01-31T11:00:00Z", "why": "fewer tokens"}
    ],
    "conventions": {"lang": "ts"},
    "tasks_open": [{"id": "T-1", "title": "Count tokens", "status": "open"}],
    "blockers": [],
}


def told(prompt: Prompt) -> str:
    """A prompt and its manifest, but for what differs each time: ids, times, hashes."""
    rows = [
        f"{item.slot:<10} {item.id:<16} {item.type:<14} {item.format:<9} {item.tokens:>4}  {item.reason}"
        for item in prompt.manifest.items
    ]
    left = [f"{each.slot:<10} {each.id:<16} left out: {each.reason}" for each in prompt.manifest.omitted]
    total = f"{prompt.manifest.total_tokens} of {prompt.manifest.budget_tokens} tokens"
    return "\n".join((prompt.text, *rows, *left, total, ""))


def as_seed_000(folder: Path) -> Prompt:
    """System, state, window, task."""
    with Memory(folder, policy=QUICK) as memory:
        write(memory, "SOUL.md", "# Soul\n\nYou are a careful programmer.\n")
        write(memory, "PROJECT.md", "# Project\n\nConventional commits.\n")
        write(memory, "state.json", json.dumps(STATE))
        memory.record(user="Where are we?")
        memory.record(assistant="The state is written; the prompt is next.")
        memory.record(tool_call="read", tool_args={"path": "prompt.ts"}, tool_call_id="call_1")
        memory.record(tool_result="export {}", tool_call_id="call_1")
        memory.record(assistant="It is empty.")
        return memory.prompt("Write it.", budget=4000)


def as_seed_003(folder: Path) -> Prompt:
    """Soul, user, listing; no daily logs."""
    with Memory(folder, policy=QUICK) as memory:
        write(memory, "SOUL.md", "# Soul\n\nLowercase, short sentences.\n")
        write(memory, "USER.md", "# User\n\n- Name: Zhang San\n- Home: Rome\n\nLikes long walks.\n")
        write(memory, "facts/tea.md", "# Tea\n\n> Summary: which tea, from where\n\n- Favourite: oolong\n")
        write(memory, "facts/servers.md", "# Servers\n\n> Summary: names and addresses\n\n- Main: kestrel\n")
        write(memory, "days/2026-01-30.md", "# 2026-01-30\n\n- 10:00 talked of tea\n")
        return memory.prompt("hello", budget=4000)


@pytest.mark.parametrize("made", [as_seed_000, as_seed_003])
def test_the_order_is_as_the_seeds_have_it(place: Path, made: Callable[[Path], Prompt]) -> None:
    """`python tests/prompt/test_prompts.py` writes the files anew."""
    name = made.__name__.removeprefix("as_").replace("_", "-")
    assert told(made(place / "memory")) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_seeds_orders_are_the_orders_of_the_slots(place: Path) -> None:
    first = as_seed_000(place / "000").manifest.items
    assert [item.slot for item in first] == ["charter", "charter", "state", "window", "task"]
    assert [item.type for item in first] == ["system", "system", "working_state", "short_term", "task"]
    last = as_seed_003(place / "003").manifest.items
    assert [item.id for item in last][:2] == ["SOUL.md", "USER.md"]
    assert [item.slot for item in last][-2:] == ["index", "task"]


def run(script: str, *arguments: str, seed: str = "0") -> str:
    done = subprocess.run(
        [sys.executable, __file__, script, *arguments],
        env={
            "LOOSELEAF_MACHINE": "here",
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": ":".join(filter(None, sys.path)),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_folder_gives_the_same_bytes_under_another_hash_seed(place: Path) -> None:
    as_seed_003(place / "memory")
    with Memory(place / "memory", policy=QUICK) as memory:
        for number in range(12):
            write(
                memory, f"facts/topic{number}.md", f"# T\n\n- Likes: thing {number}\n- Must: not {number}\n"
            )
            memory.record(user=f"We decided to use tool{number}. I like tea{number}.")
            memory.record(assistant="noted")
        memory.distill()
        memory.window.compact()
        memory.state.update(goal="ship", conventions={"a": "b", "c": "d"})
    found = []
    for seed in ("1", "2"):
        shutil.copytree(place / "memory", place / seed)
        found.append(run("show", str(place / seed), "300", "700", "4000", seed=seed))
    assert found[0] == found[1]


def show(folder: str, *budgets: str) -> None:
    for budget in budgets:
        with Memory(folder, policy=QUICK) as memory:
            # A compaction would draw an id, from which its fences are made.
            sys.stdout.write(told(memory.prompt("go on", budget=int(budget), dry_run=True)))


# --- what is wrong ---------------------------------------------------------------------


def test_a_budget_that_is_no_number_of_tokens_is_refused(memory: Memory) -> None:
    def check(budget: Any) -> None:
        with pytest.raises(Refused) as caught:
            memory.prompt("x", budget=budget)
        assert str(caught.value) == (
            f"The budget must be a number of tokens from 1 to 1,000,000,000, not {budget!r}. "
            "Leave it out for the model's own."
        )
        assert not Path(memory.path, "log/prompts").exists()

    check_rows(check, [0, -1, True, False, 3.5, "100", float("nan")])


@pytest.mark.parametrize("task", [b"bytes", 7, ["do it"], {"task": "x"}])
def test_a_task_that_is_no_text_is_refused(memory: Memory, task: Any) -> None:
    with pytest.raises(Refused) as caught:
        memory.prompt(task, budget=100)
    assert str(caught.value) == (f"A task is text, not {type(task).__name__}. Give the request itself.")


def test_a_model_that_nobody_knows_is_counted_with_a_margin_and_a_note(memory: Memory) -> None:
    write(memory, "USER.md", "# User\n\n- Name: Zhang San\n")
    prompt = memory.prompt("x", model="nobody-1", budget=300)
    look_at(prompt, memory, "x")
    [note] = memory.notes
    assert note.startswith("The model 'nobody-1' is unknown: 8,192 tokens of context are assumed")
    assert "set context_tokens" in note


def test_of_an_unknown_model_whose_context_is_set_nothing_is_assumed(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", policy=Policy(model="nobody-1", context_tokens=40_000)) as memory:
        assert memory.prompt("x").manifest.budget_tokens > 20_000
        assert memory.notes == []


def test_a_soul_that_is_larger_than_the_budget_is_refused_with_what_it_needs(memory: Memory) -> None:
    write(memory, "SOUL.md", "# Soul\n\n" + "Be kind. " * 3000)
    with pytest.raises(BudgetTooSmall) as caught:
        memory.prompt("x", budget=4000)
    needed = caught.value.needed
    assert str(caught.value) == (
        f"No prompt was made: the charter (SOUL.md, PROJECT.md) and the task take {needed:,} tokens and are never "
        f"cut, and the budget is 4,000. Give a budget of at least {needed:,}, or shorten them."
    )
    look_at(memory.prompt("x", budget=needed), memory, "x")
    with pytest.raises(BudgetTooSmall):
        memory.prompt("x", budget=needed - 1)


def test_a_task_of_a_million_characters_is_whole_or_refused(memory: Memory) -> None:
    task = "word " * 200_000
    write(memory, "USER.md", "# User\n\n- Name: Zhang San\n")
    with pytest.raises(BudgetTooSmall, match="and the task take"):
        memory.prompt(task, budget=100_000)
    prompt = memory.prompt(task, budget=250_000)
    assert prompt.messages[-1].content == task
    assert prompt.manifest.total_tokens <= 250_000
    assert memory.explain.replay() == prompt


@pytest.mark.parametrize("path", ["USER.md", "facts/big.md"])
def test_a_page_of_ten_megabytes_is_not_read_and_loses_nothing(memory: Memory, path: str) -> None:
    write(memory, path, "# Small\n\n- Name: Zhang San\n")
    memory.prompt("one", budget=2000)
    big = "# Big\n\n- Name: " + "x" * 10_000_000 + "\n"
    write(memory, path, big)
    prompt = memory.prompt("two", budget=2000)
    look_at(prompt, memory, "two")
    begun = memory.prompt("two", budget=2000, agent="other")
    look_at(begun, memory, "two")
    assert "Zhang San" in prompt.text
    assert "Zhang San" in begun.text
    said = f"{path} was not read: it is larger than 1,048,576 bytes"
    assert any(said in str(problem) for problem in memory.check())
    assert path != "USER.md" or any(said in note for note in memory.notes)
    assert Path(memory.path, path).stat().st_size == len(big)


def test_a_profile_of_one_line_of_900_kilobytes_is_shortened(memory: Memory) -> None:
    text = "# User\n\n- Name: Zhang San\n- Story: " + "palaver " * 112_000 + "\n"
    write(memory, "USER.md", text)
    for budget in (100, 2000, 50_000):
        prompt = memory.prompt("x", budget=budget)
        look_at(prompt, memory, "x")
        assert "Zhang San" in prompt.text
    assert Path(memory.path, "USER.md").read_bytes() == text.encode()


def test_a_state_broken_by_hand_is_shown_as_it_last_was(memory: Memory) -> None:
    memory.state.update(goal="ship the parser")
    write(memory, "state.json", '{"goal": "ship the par')
    prompt = memory.prompt("x", budget=2000)
    look_at(prompt, memory, "x")
    assert "ship the parser" in prompt.text
    assert [note.startswith("state.json was not read: in line 1") for note in memory.notes] == [True]
    assert Path(memory.path, "state.json").read_text(encoding="utf-8") == '{"goal": "ship the par'


# --- the log of prompts ----------------------------------------------------------------


def log_of(memory: Memory) -> Path:
    return Path(memory.path, "log/prompts/main.jsonl")


def three_prompts(memory: Memory) -> list[Prompt]:
    write(memory, "SOUL.md", SOUL)
    write(memory, "USER.md", "# User\n\n- Name: Zhang San\n")
    found = []
    for number in range(3):
        found.append(memory.prompt(f"task {number}", budget=2000))
        memory.record(user=f"task {number}")
        memory.record(assistant="done")
    return found


def test_a_log_of_prompts_that_is_gone_costs_no_prompt(memory: Memory) -> None:
    before = three_prompts(memory)
    shutil.rmtree(log_of(memory).parent)
    for held in (memory, Memory(memory.path, policy=QUICK)):
        prompt = held.prompt("next", budget=2000)
        look_at(prompt, held, "next")
        assert "Zhang San" in prompt.text
        with pytest.raises(Refused, match="There is no prompt"):
            held.explain.replay(before[0].manifest.id)
    held.close()


@pytest.mark.parametrize("line", [0, 1, -1])
@pytest.mark.parametrize("damage", ["not json", "cut"])
def test_a_damaged_line_of_that_log_costs_no_prompt(memory: Memory, line: int, damage: str) -> None:
    before = three_prompts(memory)
    memory.close()
    lines = log_of(memory).read_bytes().splitlines(keepends=True)
    old = lines[line]
    lines[line] = b"\x00garbage\n" if damage == "not json" else old[: len(old) // 2]
    log_of(memory).write_bytes(b"".join(lines))
    with Memory(memory.path, policy=QUICK) as again:
        again.talk.resume()
        prompt = again.prompt("next", budget=2000)
        look_at(prompt, again, "next")
        assert "Zhang San" in prompt.text
        assert again.explain.replay() == prompt
        for each in before:
            with suppress(Refused):  # what rested on that line
                assert again.explain.replay(each.manifest.id).messages == each.messages


@pytest.mark.parametrize("line", [b'{"kind":"prompt","id":5}\n', b'{"kind":"prompt"}\n'])
def test_a_line_that_somebody_made_by_hand_costs_no_prompt(memory: Memory, line: bytes) -> None:
    three_prompts(memory)
    memory.close()
    with log_of(memory).open("ab") as file:
        file.write(line)
    with Memory(memory.path, policy=QUICK) as again:
        prompt = again.prompt("next", budget=2000)
        look_at(prompt, again, "next")
        assert again.explain.replay() == prompt


class NoChange(FaultyDisk):
    """What is there can be read. A full disk is like that."""

    CHANGES = frozenset("write truncate sync_data sync mkdir unlink rmdir rename rename_new exchange".split())

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return super().called(name, real, args) if name in self.CHANGES else self._watched(name, real, args)


def test_a_disk_that_is_full_keeps_nobody_from_a_prompt(place: Path) -> None:
    disk = NoChange()
    with open_memory(place / "memory", disk, policy=QUICK) as memory:
        first = three_prompts(memory)[-1]
        append(memory, "USER.md", "- Home: Rome\n")
        before = log_of(memory).read_bytes()
        disk.arm(errno.ENOSPC, 1, lasting=True)
        prompt = memory.prompt("next", budget=2000)
        assert disk.fired
        disk.heal()
        covers(prompt)
        assert prompt.messages[: len(first.messages)] == first.messages
        assert any(
            note.endswith("The prompt was made; its manifest is not in the log.") for note in memory.notes
        )
        assert log_of(memory).read_bytes() == before
        after = memory.prompt("next", budget=2000)
        covers(after)
        assert after.text.count("Rome") == 1
        assert memory.explain.replay() == after


def test_a_disk_that_fails_anywhere_while_a_manifest_is_written_costs_no_prompt(place: Path) -> None:
    with open_memory(place / "whole", policy=QUICK) as memory:
        three_prompts(memory)
    fired = 0
    for at in range(1, 40):
        shutil.copytree(place / "whole", place / f"{at}")
        disk = NoChange()
        with open_memory(place / f"{at}", disk, policy=QUICK) as memory:
            memory.prompt("warm", budget=2000, dry_run=True)
            disk.arm(errno.EIO, at)
            prompt = memory.prompt("next", budget=2000)
            disk.heal()
            covers(prompt)
            fired += bool(disk.fired)
            after = memory.prompt("next", budget=2000)
            covers(after)
            assert memory.explain.replay() == after
        if not disk.fired:
            break
    assert fired


class ReadOnly(NoChange):
    """A memory on a disc, or in a backup that is mounted to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        is_write = name == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if is_write or name in self.CHANGES:
            self.refused += 1
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(*args)


def test_a_read_only_memory_gives_prompts(place: Path) -> None:
    with open_memory(place / "memory", policy=QUICK) as memory:
        last = three_prompts(memory)[-1]
    before = {path: path.read_bytes() for path in (place / "memory").rglob("*") if path.is_file()}
    disk = ReadOnly()
    with open_memory(place / "memory", disk, policy=QUICK) as memory:
        prompt = memory.prompt("next", budget=2000)
        covers(prompt)
        assert "Zhang San" in prompt.text
        assert memory.explain.replay().messages == last.messages
        assert any("Read-only file system" in note for note in memory.notes)
    assert disk.refused
    assert {path: path.read_bytes() for path in (place / "memory").rglob("*") if path.is_file()} == before


def test_several_processes_prompt_at_once_and_every_manifest_is_in_the_log(place: Path) -> None:
    with Memory(place / "memory", policy=QUICK) as memory:
        three_prompts(memory)
        processes = [
            subprocess.Popen(
                [sys.executable, __file__, "many", memory.path, str(number)],
                env={"LOOSELEAF_MACHINE": "here", "PYTHONPATH": ":".join(filter(None, sys.path))},
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(3)
        ]
        told = [process.communicate(timeout=120)[0] for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0]
        made = [json.loads(line) for out in told for line in out.splitlines()]
        assert len(made) == 3 * 4
        logged = {str(record["id"]) for record in memory.parts.prompts.log.back()}
        for name, sha256 in made:
            assert name in logged
            again = memory.explain.replay(name)
            assert again.manifest.sha256 == sha256
            covers(again)
        assert [str(each) for each in memory.check() if each.severity == "error"] == []


def many(folder: str, number: str) -> None:
    with Memory(folder, policy=QUICK) as memory:
        for turn in range(4):
            prompt = memory.prompt(f"task {turn} of {number}", budget=2000)
            look_at(prompt, memory, f"task {turn} of {number}")
            print(json.dumps((prompt.manifest.id, prompt.manifest.sha256)), flush=True)
            memory.record(user=f"task {turn} of {number}")
            if turn % 2:
                memory.state.update(now=f"turn {turn} of {number}")
            memory.record(assistant="done " * 20)


if __name__ == "__main__":
    if sys.argv[1:2] == ["show"]:
        show(*sys.argv[2:])
    elif sys.argv[1:2] == ["many"]:
        many(*sys.argv[2:])
    else:
        with tempfile.TemporaryDirectory() as where:
            for made in (as_seed_000, as_seed_003):
                name = made.__name__.removeprefix("as_").replace("_", "-")
                (GOLDEN / f"{name}.txt").write_text(told(made(Path(where, name))), encoding="utf-8")
