"""What prompts cost: one of today, what it would cost otherwise, the last ones, and two of them side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.test_main import snapshot
from looseleaf.base.errors import Refused
from looseleaf.base.messages import Message
from looseleaf.explain.prompt_costs import CACHED_SECONDS, compare
from looseleaf.log.turns import MESSAGE_TOKENS
from looseleaf.memory import Memory
from looseleaf.prompt.manifest import SLOTS, Manifest, ManifestItem, Prompt
from tables import check_rows

PAGES = {
    "SOUL.md": "# Soul\n\nYou are kind.\n",
    "PROJECT.md": "# Project\n\nUse tabs.\n",
    "USER.md": "# Me\n\n- Name: Ada\n",
    "facts/tea.md": "# Tea\n\n- Likes: sencha\n",
    "days/2026-01-01.md": "# 2026-01-01\n\n- Long ago.\n",
    "days/2026-01-03.md": "# 2026-01-03\n\n- Tea was drunk.\n",
    "days/2026-01-09.md": "# 2026-01-09\n\n- More tea.\n",
    "review/pending.md": "# Waits\n\nNobody said yes to this yet.\n",
}


def letters(text: str) -> int:
    return len(text)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    """A memory that counts letters, so that a test can."""
    with Memory(place / "memory", counter=letters) as memory:
        for path, text in PAGES.items():
            Path(memory.path, path).write_text(text)
        memory.record(user="Hello?")
        memory.record(assistant="Hello.")
        yield memory


def test_the_slots_of_a_prompt_add_up_and_nothing_is_changed_by_looking(memory: Memory) -> None:
    memory.pages.absorb()
    memory.explain.costs()  # makes views, which anybody may
    before = snapshot(Path(memory.path))
    analysis = memory.explain.costs()
    assert snapshot(Path(memory.path)) == before
    assert sum(analysis.slots.values()) == analysis.total_tokens <= analysis.budget_tokens
    assert list(analysis.slots) == [slot for slot in SLOTS if slot in analysis.slots]
    assert analysis.memory_tokens == analysis.total_tokens - analysis.slots["window"]
    assert analysis.prompts == ()
    assert (analysis.input_tokens, analysis.prefix_share, analysis.cached_share) == (0, 0.0, 0.0)


def test_the_old_layout_has_the_soul_the_user_two_days_and_the_names_of_pages(memory: Memory) -> None:
    analysis = memory.explain.costs()
    assert analysis.before == {
        "SOUL.md": len(PAGES["SOUL.md"]) + MESSAGE_TOKENS,
        "USER.md": len(PAGES["USER.md"]),
        "days/2026-01-03.md": len(PAGES["days/2026-01-03.md"]),
        "days/2026-01-09.md": len(PAGES["days/2026-01-09.md"]),
        "names of pages": len("facts/tea.md"),
    }
    assert analysis.before_tokens == sum(analysis.before.values())
    shown = sum(len(text) for path, text in PAGES.items() if not path.startswith("review/"))
    assert analysis.everything_tokens == shown + MESSAGE_TOKENS


def test_an_empty_memory_costs_nothing_either_way(place: Path) -> None:
    with Memory(place / "empty", counter=letters) as memory:
        analysis = memory.explain.costs()
    assert (analysis.total_tokens, analysis.slots, analysis.before, analysis.before_tokens) == (0, {}, {}, 0)
    assert analysis.everything_tokens == 0


def test_days_that_grow_cost_the_old_layout_and_not_a_prompt(memory: Memory) -> None:
    first = memory.explain.costs()
    Path(memory.path, "days/2026-01-09.md").write_text("# 2026-01-09\n\n" + "- Much happened.\n" * 500)
    second = memory.explain.costs()
    assert second.total_tokens == first.total_tokens
    assert second.before_tokens > first.before_tokens + 5000


def test_the_last_prompts_are_listed_as_their_manifests_have_them(memory: Memory) -> None:
    made = []
    for number in range(4):
        made.append(memory.prompt(f"Task {number}").manifest)
        memory.record(user=f"Task {number}")
        memory.record(assistant="Done.")
    rows = memory.explain.costs().prompts
    for row, manifest in zip(rows, made, strict=True):
        names = ("id", "timestamp", "total_tokens", "budget_tokens", "prefix_tokens", "epoch", "cuts")
        assert [getattr(row, name) for name in names] == [getattr(manifest, name) for name in names]
    analysis = memory.explain.costs(last=2)
    assert analysis.prompts == rows[2:]
    assert [row.cached_tokens for row in rows] == [row.prefix_tokens for row in rows]
    known = sum(row.prefix_tokens for row in rows[2:])
    assert analysis.prefix_share == analysis.cached_share == known / analysis.input_tokens > 0.5


def test_a_cache_knows_only_a_prompt_that_was_not_long_before(memory: Memory) -> None:
    memory.prompt("Task")
    memory.record(user="Task")
    memory.prompt("Task")
    log = memory.parts.prompts.log
    record = log.find("last")
    assert record["prefix_tokens"] > 0
    ts = float(record["ts"])
    for number, gap in enumerate((CACHED_SECONDS, CACHED_SECONDS + 1, 1)):
        ts += gap
        log.append(record | {"id": f"{record['id'][:-1]}{number}", "ts": ts})
    tokens = record["prefix_tokens"]
    assert [row.cached_tokens for row in memory.explain.costs(last=3).prompts] == [tokens, 0, tokens]
    analysis = memory.explain.costs(last=3)
    assert analysis.cached_share == pytest.approx(analysis.prefix_share * 2 / 3)


def test_a_record_that_makes_no_sense_is_left_out(memory: Memory) -> None:
    memory.prompt("Task")
    record = memory.parts.prompts.log.find("last")
    memory.parts.prompts.log.append(
        {name: value for name, value in record.items() if name != "model"} | {"id": "BAD"}
    )
    assert [row.id for row in memory.explain.costs().prompts] == [record["id"]]


def test_what_is_no_number_of_prompts_gets_a_sentence(memory: Memory) -> None:
    def check(last: Any) -> None:
        with pytest.raises(Refused, match="is not a number of prompts"):
            memory.explain.costs(last)

    check_rows(check, [0, -1, True, 2.0, "3", "x", None, float("nan")])


def test_a_number_that_nobody_counts_to_gets_a_sentence(memory: Memory) -> None:
    for last, sentence in (
        (10**30, "At most 1,000,000"),
        (10**5000, "At most"),
        (-(10**5000), "below 1 is not"),
    ):
        with pytest.raises(Refused, match=sentence):
            memory.explain.costs(last)


def test_an_analysis_is_plain_values(memory: Memory) -> None:
    memory.prompt("Task")
    told = json.loads(json.dumps(memory.explain.costs().to_dict()))
    assert list(told) == [
        "agent",
        "total_tokens",
        "budget_tokens",
        "slots",
        "memory_tokens",
        "before",
        "before_tokens",
        "everything_tokens",
        "input_tokens",
        "prefix_share",
        "cached_share",
        "prompts",
    ]
    assert told["prompts"][0]["epoch"] == "first"


# --- two of them -----------------------------------------------------------------------


def test_a_prompt_that_goes_on_has_the_old_one_at_its_beginning(memory: Memory) -> None:
    old = memory.prompt("Task", budget=4000)
    memory.record(user="Task")
    memory.record(assistant="Done.")
    Path(memory.path, "USER.md").write_text("# Me\n\n- Name: Ada\n- Home: Rome\n")
    new = memory.prompt("Next", budget=4000)
    compared = memory.explain.compare(old.manifest.id, new.manifest.id)
    assert (compared.messages, compared.tokens) == (len(old.messages), old.manifest.total_tokens)
    assert compared.tokens == new.manifest.prefix_tokens
    assert [item["type"] if "type" in item else item["slot"] for item in compared.came] == ["window"]
    assert "Home: Rome" in compared.came[0]["text"]
    assert compared.went == ()
    changed = {item["id"]: item for item in compared.changed}
    assert list(changed) == ["conversation", "task"]
    assert changed["task"]["lines"] == ["-Task", "+Next"]
    assert changed["task"]["tokens"] == [4 + MESSAGE_TOKENS, 4 + MESSAGE_TOKENS]
    back = memory.explain.compare(new.manifest.id, old.manifest.id)
    assert (back.went, back.came) == (compared.came, compared.went)
    assert json.loads(json.dumps(compared.to_dict()))["same"] == {
        "messages": compared.messages,
        "tokens": compared.tokens,
    }


def test_a_prompt_is_the_same_as_itself(memory: Memory) -> None:
    made = memory.prompt("Task")
    compared = memory.explain.compare("last")
    assert (compared.messages, compared.came, compared.went, compared.changed) == (
        len(made.messages),
        (),
        (),
        (),
    )
    assert compared.tokens == made.manifest.total_tokens


TEXTS = st.lists(st.text(max_size=8), max_size=5)


def made_of(texts: list[str]) -> Prompt:
    """A prompt with an item for each message."""
    items = tuple(
        ManifestItem(
            f"i{number}",
            "window",
            "short_term",
            "text",
            len(text) + MESSAGE_TOKENS,
            "why",
            number,
            number + 1,
        )
        for number, text in enumerate(texts)
    )
    manifest = Manifest("id", "", 0, 0, items, (), "", "", "", "", "main", "first", 0)
    return Prompt(tuple(Message("user", text) for text in texts), manifest)


@given(TEXTS, TEXTS, TEXTS)
def test_what_two_prompts_have_in_common_is_how_both_begin(
    same: list[str], old: list[str], new: list[str]
) -> None:
    first, second = made_of(same + old), made_of(same + new)
    compared = compare(first, second, lambda texts: [len(text) for text in texts])
    number = compared.messages
    assert number >= len(same)
    assert first.messages[:number] == second.messages[:number]
    assert first.messages[number : number + 1] != second.messages[number : number + 1] or not (
        first.messages[number:] and second.messages[number:]
    )
    assert compared.tokens == sum(item.tokens for item in second.manifest.items[:number])
    seen = {item["id"] for item in (*compared.came, *compared.changed)}
    assert seen == {
        item.id
        for item in second.manifest.items
        if item.id not in {each.id for each in first.manifest.items}
        or second.text_of(item) != first.text_of(item)
    }


def test_a_prompt_is_named_by_text(memory: Memory) -> None:
    def check(name: Any) -> None:
        memory.prompt("Task")
        for ask in (
            memory.explain.replay,
            memory.explain.compare,
            lambda given: memory.explain.compare("last", given),
        ):
            with pytest.raises(Refused, match="A prompt is named by its id, which is text, not "):
                ask(name)

    check_rows(check, [5, None, b"x", float("nan"), ["last"]])
