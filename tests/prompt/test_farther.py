"""Lines of farther layers in prompts: shown, tracked while they change, rendered again, and never in the log."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layering import Layered
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.prompt.farther import cut_lines, fill_lines

texts = st.text(st.characters(blacklist_characters="\n"), min_size=1, max_size=12)
names = st.lists(texts, min_size=1, max_size=5, unique=True)


@given(names, st.lists(texts, max_size=5), st.data())
def test_what_is_cut_is_filled_again(far: list[str], own: list[str], data: st.DataObject) -> None:
    lines = [(text, f"home:f_{number}") for number, text in enumerate(far)]
    shown = [f"{data.draw(st.sampled_from(('- ', '- now says: ')))}{text}" for text in far]
    whole = "\n".join(data.draw(st.permutations([*shown, *own])))
    kept, holes = cut_lines(whole, lines)
    by_name = {name: text for text, name in lines}
    assert fill_lines(kept, holes, by_name.__getitem__)[0] == whole
    assert len(holes) >= len(far) or any(text.endswith("…") for text in far)


def test_a_shortened_line_is_cut_and_filled_as_it_was_shown() -> None:
    lines = [("Prefers: green tea with milk", "home:f_1")]
    whole = "[MEMORY:PROFILE home]\n- Prefers: green t…"
    kept, holes = cut_lines(whole, lines)
    assert "green" not in kept
    assert fill_lines(kept, holes, {"home:f_1": lines[0][0]}.__getitem__)[0] == whole


def _logged(memory: Memory) -> str:
    files = [*Path(memory.path, "log").rglob("*"), *Path(memory.path, "views").rglob("*.json")]
    return "".join(file.read_text("utf-8", "replace") for file in files if file.is_file())


def test_a_prompt_shows_the_home_profile_and_the_log_does_not_have_it(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I live in Lyon. Never use emojis in your answers.")
        home.remember("Ana is the editor of the almanac.", topic="ana")
    with layered.project() as memory:
        memory.remember("We meet in Hamburg on Mondays.", where="here")
        prompt = memory.prompt("Plan my week.")
        assert "[MEMORY:PROFILE home]" in prompt.text
        assert all(word in prompt.text for word in ("Lyon", "emojis", "Hamburg"))
        items = [item for item in prompt.manifest.items if item.layer]
        assert {item.layer for item in items} == {"home"}
        assert all(name.startswith("home:f_") for item in items for name in item.of)
        assert sum(item.tokens for item in prompt.manifest.items) == prompt.manifest.total_tokens
        memory.views.snapshot(quick=True)
        assert "Lyon" in memory.views.snapshot(quick=True).text
        assert "Lyon" not in _logged(memory)
        assert memory.explain.replay().text == prompt.text
    with layered.project() as memory:  # another process
        assert memory.explain.replay().messages == prompt.messages
        assert memory.explain.replay().manifest.to_dict() == prompt.manifest.to_dict()
        assert memory.prompt("Plan my week.").manifest.prefix_tokens > 0


def test_what_changes_at_home_is_told_once_and_not_logged(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I live in Lyon.")
    with layered.project() as memory:
        first = memory.prompt("Go.")
        memory.record(user="Go.")
        memory.record(assistant="Gone.")
        with layered.home() as home:
            home.remember("I live in Oslo now.")
        second = memory.prompt("Go on.")
        assert second.text.startswith(first.text[: first.text.index("[user]\nGo.")])
        assert "home:USER.md:\n- now says: Home: Oslo\n- no longer says: Home: Lyon" in second.text
        assert memory.prompt("Go on.").text == second.text
        assert "Oslo" not in _logged(memory)
        assert memory.explain.replay().text == second.text
        assert memory.explain.why("Oslo").is_in


def test_replay_names_the_layer_that_is_missing_or_changed(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I live in Lyon.")
    with layered.project() as memory:
        text = memory.prompt("Go.").text
        with layered.home() as home:
            home.remember("I live in Oslo now.")
        assert memory.explain.replay().text == text  # what is past is still known
        with layered.home() as home:
            home.forget(match="Lyon")
        with pytest.raises(Refused, match="layer 'home' that was forgotten there"):
            memory.explain.replay()
    shutil.rmtree(layered.home_path)
    with layered.project() as memory:
        with pytest.raises(Refused, match="layer 'home', which is missing"):
            memory.explain.replay()
        assert memory.prompt("Go.").text  # a new one is made all the same


def test_there_is_one_budget_and_the_farthest_gives_way_first(layered: Layered) -> None:
    with layered.home() as home:
        home.pages.edit(
            "USER.md",
            "".join(f"- Likes: walks in town {n}\n" for n in range(60)),
            reason="test",
            author="person",
        )
    with layered.project() as memory:
        memory.pages.edit("USER.md", "- Role: harbour master\n", reason="test", author="person")
        for budget in (120, 300, 2_000):
            prompt = memory.prompt("Go.", budget=budget)
            assert prompt.manifest.total_tokens <= budget
            assert "harbour master" in prompt.text
        assert prompt.text.count("walks in town") == 60


def test_a_hook_tells_what_bears_on_a_prompt_from_home(layered: Layered) -> None:
    from looseleaf.prompt.bearing import bearing_on

    with layered.home() as home:
        home.remember("My Ostend ferry leaves from pier seven.", topic="ferries")
        for number in range(30):
            home.record(user=f"Roses bloom beside Tromsö {number}.")
        home.views.build_index()
    with layered.project() as memory:
        memory.views.build_index()
        found = bearing_on(memory.parts, "Which pier does the Ostend ferry use?")
        assert "pier seven" in found.text
        assert "home:" in found.text
        assert bearing_on(memory.parts, "Which pier does the Ostend ferry use?", shown=found.keys).text == ""


def test_lines_of_a_stranger_give_way_to_the_users_own_words(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I live in Tokyo.")
    path = layered.place / "heron" / ".looseleaf"
    path.mkdir(parents=True)  # as it comes from a clone
    (path / "USER.md").write_text("# User Facts\n\n- Likes: gold\n- Home: Evilton\n- Pet: a newt\n")
    with layered.project() as memory:
        prompt = memory.prompt("Plan my week.").text
        assert "[MEMORY:PROFILE home]\n- Home: Tokyo" in prompt
        assert "Evilton" not in prompt
        assert "- Likes: gold\n- Pet: a newt" in prompt  # and no gap where it stood


def test_a_line_that_gives_way_leaves_no_gap(layered: Layered) -> None:
    with layered.project() as memory:
        memory.remember("I like tea. I live in Rome. I speak Dutch.", where="here")
        before = memory.prompt("Plan my week.").text
        assert "- Home: Rome" in before
    time.sleep(0.01)
    with layered.home() as home:
        home.remember("I live in Tokyo.")
    with layered.project() as memory:
        shown = memory.views.snapshot(quick=True).text.partition("[MEMORY:PROFILE]\n")[2]
        own = shown.partition("[MEMORY:PROFILE home]")[0]
        assert "Rome" not in own
        assert "\n\n- " not in own.partition("- ")[2]
        assert "I speak Dutch\n- Likes: tea" in own


def test_the_index_names_the_page_of_the_users_further_facts_and_no_other(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I live in Lyon.")
        home.remember("Ana is the editor of the almanac.", topic="ana")
    with layered.project() as memory:
        assert "home:facts/" not in memory.prompt("Plan my week.").text
    with layered.home() as home:
        home.pages.edit("facts/user.md", "# User Facts\n\n- Likes: jazz\n", reason="test", author="person")
    with layered.project("finch") as memory:
        prompt = memory.prompt("Plan my week.")
        assert "- home:facts/user.md (" in prompt.text
        assert "home:facts/ana.md" not in prompt.text
        assert "jazz" not in _logged(memory)
        assert memory.explain.replay(prompt.manifest.id).text == prompt.text
        memory.record(user="What do I like?")
        assert "home:facts/user.md" in memory.prompt().text
        assert memory.explain.why("home:facts/user.md").chains
