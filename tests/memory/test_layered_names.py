"""Pages, topics and facts of a memory under this one are read by their names, and changed only in their own memory."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from layering import Layered, bytes_of, said
from looseleaf import Memory
from looseleaf.base.errors import NotFound, Refused
from looseleaf.cli.main import main
from looseleaf.serve.answers import read_resource_at
from looseleaf.serve.offered import INDEX, PAGE, TOPIC
from looseleaf.serve.page_list import list_resources
from looseleaf.tools.toolset import call

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_in(layered: Layered, capsys: pytest.CaptureFixture[str]) -> Run:
    path: Path = layered.project_path()

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["--memory", str(path), *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def _say_at_home(layered: Layered, *words: str, topic: str | None = None) -> None:
    with layered.home() as home:
        for each in words:
            home.remember(each, topic=topic)


# --- pages ------------------------------------------------------------------------------


def test_who_shows_the_page_that_is_named(layered: Layered, run_in: Run) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    run_in("remember", "We use ruff.")
    code, out, _ = run_in("show", "home:USER.md", "--who")
    assert code == 0
    assert "Tokyo" in out
    assert "ruff" not in out
    with layered.project() as memory:
        assert "- Home: Tokyo" in [each.text for each in memory.explain.who("home:USER.md")]


def test_the_past_of_a_page_below_is_read(layered: Layered, run_in: Run) -> None:
    _say_at_home(layered, "I live in Tokyo.", "I live in Oslo.")
    code, out, _ = run_in("log", "home:USER.md")
    assert code == 0
    assert "home:USER.md" in out
    code, out, _ = run_in("diff", "home:USER.md")
    assert (code, "+- Home: Oslo" in out, "home:USER.md before" in out) == (0, True, True)
    today = time.strftime("%Y-%m-%d")
    code, out, _ = run_in("show", "home:USER.md", "--as-of", today)
    assert (code, "Oslo" in out) == (0, True)
    code, out, _ = run_in("diff", "home:USER.md", "--since", "2001-01-01")
    assert (code, "+- Home: Oslo" in out) == (0, True)


def test_undo_of_a_page_below_says_what_to_do_there(layered: Layered, run_in: Run) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    before = bytes_of(layered.home_path)
    code, _, err = run_in("undo", "home:USER.md")
    assert code != 0
    assert "`looseleaf --memory ~/.looseleaf undo USER.md`" in err
    with layered.project() as memory:
        changes: tuple[Callable[[], object], ...] = (
            lambda: memory.pages.edit("home:USER.md", "x", reason="test"),
            lambda: memory.pages.patch("home:USER.md", [("Tokyo", "Oslo")], reason="test"),
            lambda: memory.pages.delete("home:USER.md", reason="test"),
        )
        for change in changes:
            with pytest.raises(Refused, match=r"`looseleaf --memory ~/.looseleaf` works in that memory"):
                change()
    assert bytes_of(layered.home_path) == before


def test_a_wrong_name_below_lists_the_pages_below(layered: Layered, run_in: Run) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    run_in("remember", "We use ruff.", "--topic", "tools")
    _, _, err = run_in("show", "home:USRE.md")
    assert "there is no page home:USRE.md. There are: home:USER.md" in err
    assert "tools" not in err


def test_a_layer_that_is_not_there_is_named(layered: Layered, run_in: Run) -> None:
    shutil.rmtree(layered.home_path)
    for words in (("show",), ("log",), ("diff",), ("undo",)):
        _, _, err = run_in(*words, "home:USER.md")
        assert "is of no layer under this memory. There is no home memory" in err
        assert "contains" not in err


# --- topics -----------------------------------------------------------------------------


def test_topics_are_those_of_all_layers(layered: Layered, run_in: Run) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    _say_at_home(layered, "Ana is the editor of the almanac.", topic="ana")
    code, out, _ = run_in("topic", "user")
    assert (code, "Tokyo" in out) == (0, True)
    _, out, _ = run_in("topics")
    assert {"user", "ana"} <= set(out.split())
    _, out, _ = run_in("global")
    assert "Tokyo" in out
    _, out, _ = run_in("index")
    assert "home:facts/ana.md" in out
    run_in("remember", "--here", "I live in Rome.")
    _, out, _ = run_in("topic", "user")
    assert ("Rome" in out, "Tokyo" in out) == (True, False)
    _, out, _ = run_in("topic", "home:user")
    assert ("Rome" in out, "Tokyo" in out) == (False, True)
    code, _, err = run_in("topic", "nonsense")
    assert (code != 0, "There are: ana, user." in err) == (True, True)


def test_a_topic_without_layers_is_as_it_was(layered: Layered) -> None:
    with layered.project() as memory:
        memory.remember("We use ruff.", topic="tools")
        alone = memory.views.topic("tools")
        assert alone == memory.parts.topics.topic("tools")
        with pytest.raises(NotFound, match="There are: tools"):
            memory.views.topic("user")


def test_tools_recall_topics_of_all_layers(layered: Layered) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    with layered.project() as memory:
        for name in ("user", "home:user"):
            answer = call(memory, "recall", {"topic": name})
            assert not answer.is_error
            assert "Tokyo" in answer.text
        memory.remember("I work at Acme.", where="here")
        answer = call(memory, "recall", {"topic": "user"})
        assert "Acme" in answer.text
        assert "home:USER.md" in answer.text


def test_tools_write_no_page_below_and_none_of_its_name(layered: Layered) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    before = bytes_of(layered.home_path)
    wrong: dict[str, dict[str, object]] = {
        "remember": {"topic": "home:user", "content": "Home: Evil"},
        "memory_write": {"path": "home:USER.md", "content": "- Home: Evil"},
        "memory_patch": {"path": "home:USER.md", "patches": [{"oldText": "Tokyo", "newText": "Evil"}]},
        "memory_append": {"path": "home:USER.md", "entry": "- Home: Evil"},
    }
    with layered.project() as memory:
        for name, given in wrong.items():
            answer = call(memory, name, given)
            assert answer.is_error
            assert "is of the layer home, which tools only read" in answer.text
        assert memory.pages.list() == []
        with pytest.raises(Refused, match="--home"):
            memory.remember("I live in Evil.", topic="home:user")
    assert bytes_of(layered.home_path) == before


def test_clients_read_pages_below_as_resources(layered: Layered) -> None:
    _say_at_home(layered, "I live in Tokyo.")
    with layered.project() as memory:
        names = [each["name"] for each in list_resources(memory.path)]
        assert "home:USER.md" in names
        for uri in (each["uri"] for each in list_resources(memory.path) if each["name"] == "home:USER.md"):
            assert "Tokyo" in read_resource_at(memory, uri)[1]
        assert "Tokyo" in read_resource_at(memory, f"{PAGE}home:USER.md")[1]
        assert "Tokyo" in read_resource_at(memory, f"{TOPIC}user")[1]
        assert "Tokyo" in read_resource_at(memory, f"{TOPIC}home:user")[1]
        assert "home:USER.md" in read_resource_at(memory, INDEX)[1]
        with pytest.raises(Refused, match="waits for a person"):
            read_resource_at(memory, f"{PAGE}home:review/pending.md")


# --- memory_forget ------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["place", "id", "words"])
def test_a_proposal_to_forget_a_fact_below_waits_there(layered: Layered, by: str) -> None:
    _say_at_home(layered, "I live in Quuxville. I like tea.")
    with layered.project() as memory:
        fact = next(each for each in memory.facts() if each.relation == "Home")
        named = {"place": f"home:USER.md:{fact.line}", "id": f"home:{fact.id}", "words": "Home: Quuxville"}
        answer = call(memory, "memory_forget", {"what": named[by]})
        assert not answer.is_error
        assert "home:review/pending.md" in answer.text
        path = Path(memory.path)
    assert [name for name, data in bytes_of(path).items() if b"Quuxville" in data] == []
    with layered.project() as memory:
        waiting = memory.facts(status="pending")
        assert [each.layer for each in waiting] == ["home"]
        memory.review.approve(waiting[0].id or "")
        assert said(memory) == [("home", "Likes", "tea")]


def test_a_nearer_fact_is_proposed_where_it_stands(layered: Layered) -> None:
    _say_at_home(layered, "I live in Quuxville.")
    with layered.project() as memory:
        memory.remember("I live in Rome.", where="here")
        assert call(memory, "memory_forget", {"what": "Home: Quuxville"}).is_error  # Rome is true
        answer = call(memory, "memory_forget", {"what": "Home: Rome"})
        assert not answer.is_error
        assert [each.layer for each in memory.facts(status="pending")] == [None]


# --- a home memory that cannot be read ------------------------------------------------------


def _damage(layered: Layered) -> None:
    (layered.home_path / "looseleaf.toml").write_text("over = 5\n")


def test_a_damaged_home_does_not_stop_words_about_the_work(layered: Layered) -> None:
    with layered.project() as memory:
        _damage(layered)
        memory.remember("We use ruff.")
        assert said(memory) == [("", "Formatter", "ruff")]


def test_a_home_that_was_found_damaged_costs_a_note(layered: Layered) -> None:
    layered.make_home()
    _damage(layered)
    with Memory(layered.project_path()) as memory:
        memory.remember("We use ruff.", topic="project")
        memory.remember("The deploy runs on Fridays.")
        assert len(said(memory)) == 2


def test_why_there_is_no_home_memory_is_said(layered: Layered, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("is_tracked", "may_be_tracked"):
        monkeypatch.setattr(f"looseleaf.place.tracked.{name}", lambda path: True)
    path = layered.project_path()
    home = layered.home_path

    def refused(where: str | None = None, words: str = "I have cancer.") -> str:
        with Memory(path) as memory, pytest.raises(Refused) as error:
            memory.remember(words, where=where)
        return str(error.value)

    (path / "looseleaf.toml").write_text("layers = false\n")
    assert "`layers = false` in looseleaf.toml turns the home memory off." in refused("home")
    (path / "looseleaf.toml").unlink()
    _damage(layered)
    assert "the home memory cannot be used: The memory was not opened" in refused()
    shutil.rmtree(home)
    assert "there is no home memory under this one. `looseleaf init ~/.looseleaf` makes one." in refused()
    home.symlink_to(layered.place / "nowhere")
    assert "is a link, and leads to no folder" in refused()
    assert "is a link, and leads to no folder" in refused("home")
    home.unlink()
    home.write_text("a file")
    assert "is not a folder" in refused()


def test_what_is_about_the_user_stays_with_a_note_where_home_is_damaged(layered: Layered) -> None:
    path = layered.project_path()
    _damage(layered)
    with Memory(path) as memory:
        memory.remember("I live in Lyon.")
        assert said(memory) == [("", "Home", "Lyon")]
        assert any("What is about you stays in this memory" in note for note in memory.notes)
