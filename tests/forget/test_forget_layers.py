"""Forget looks into all layers, says what went where, and is not complete where a layer cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from layering import Layered, bytes_of, said
from looseleaf import Memory
from looseleaf.base.errors import NotFound


def _holds(folder: Path, word: str) -> list[str]:
    found = bytes_of(folder, "none") | {
        str(path): path.read_bytes() for path in (folder / "views").rglob("*") if path.is_file()
    }
    return [name for name, data in found.items() if word.encode() in data]


def test_words_are_forgotten_in_all_layers(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I collect mushrooms.")
    with layered.project() as memory:
        memory.record(user="The mushrooms are in the shed. The shed is green.")
        memory.prompt("Go.")
        memory.views.snapshot(quick=True)
        memory.recall("mushrooms")
        would = memory.forget(match="mushrooms", dry_run=True)
        assert not would.is_nothing
        assert [each.layer for each in would.layers] == ["home"]
        assert _holds(layered.home_path, "mushrooms")
        done = memory.forget(match="mushrooms")
        assert done.is_complete
        assert done.id
        assert [(each.layer, bool(each.id)) for each in done.layers] == [("home", True)]
        assert done.to_dict()["layers"][0]["layer"] == "home"
        assert said(memory) == []
        assert not memory.recall("mushrooms")
        path = Path(memory.path)
    assert _holds(path, "mushrooms") == []
    assert _holds(layered.home_path, "mushrooms") == []


def test_a_fact_that_only_the_home_has_is_forgotten_there(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I live in Lyon. I like tea.")
    with layered.project() as memory:
        fact = next(fact for fact in memory.facts() if fact.relation == "Home")
        done = memory.forget(fact=fact.id)
        assert (done.id, [each.layer for each in done.layers]) == ("", ["home"])
        assert said(memory) == [("home", "Likes", "tea")]
        by_place = memory.forget(fact=f"home:{memory.facts()[0].id}")
        assert by_place.layer == "home"
        assert said(memory) == []
        with pytest.raises(NotFound):
            memory.forget(match="nothing of the kind")


def test_a_session_takes_along_what_went_home_from_it(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I like tea.")
    with layered.project() as memory:
        trace = memory.record(user="I live in Lyon.")
        memory.record(assistant="Noted.")
        memory.distill()
        assert ("home", "Home", "Lyon") in said(memory)
        done = memory.forget(session=trace.session_id)
        assert done.is_complete
        assert said(memory) == [("home", "Likes", "tea")]
    assert _holds(layered.home_path, "Lyon") == []


def test_what_stays_after_a_forget_is_placed_as_before(layered: Layered) -> None:
    with layered.project() as memory:
        memory.record(user="I live in Lyon. We use pytest here. The mushrooms are in the shed.")
        memory.record(assistant="Noted.")
        memory.distill()
        memory.forget(match="mushrooms")
        assert set(said(memory)) == {("home", "Home", "Lyon"), ("", "Test runner", "pytest")}


@pytest.mark.skipif(not os.getuid(), reason="root may write anything")
def test_a_layer_that_cannot_be_written_is_named(layered: Layered) -> None:
    _check_unwritten(layered)


def test_a_layer_that_cannot_be_opened_is_named(layered: Layered, monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf.base.errors import Unwritten
    from looseleaf.memory.layers import Layers

    with layered.home() as home:
        home.remember("I collect mushrooms.")

    def refuse(self: object, layer: object) -> None:
        raise Unwritten("The disk is read-only.")

    with layered.project() as memory:
        memory.record(user="The mushrooms are in the shed.")
        monkeypatch.setattr(Layers, "writing", refuse)
        done = memory.forget(match="mushrooms")
        assert not done.is_complete
        assert done.unwritten == ("home: The disk is read-only.",)
        assert done.id


def _check_unwritten(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("I collect mushrooms.")
    (layered.home_path / "log").chmod(0o500)
    try:
        with layered.project() as memory:
            memory.record(user="The mushrooms are in the shed.")
            done = memory.forget(match="mushrooms")
            assert not done.is_complete
            assert "home" in done.unwritten[0]
    finally:
        (layered.home_path / "log").chmod(0o700)


def _say_at_the_clinic(layered: Layered) -> str:
    """Say, in a session of a project, what the home memory knows in part."""
    with layered.home() as home:
        home.remember("My name is Zhang San.")
    with layered.project() as memory:
        trace = memory.record(user="My name is Zhang San and I have been at the Quuxley clinic.")
        memory.record(assistant="Noted.")
        memory.distill()
        assert _holds(layered.home_path, "Quuxley")
        return trace.session_id or ""


def test_a_session_takes_along_sentences_that_only_repeated_a_fact(layered: Layered) -> None:
    session = _say_at_the_clinic(layered)
    with layered.project() as memory:
        done = memory.forget(session=session)
        assert done.is_complete
        assert [(each.layer, each.by, each.counts["entries"]) for each in done.layers] == [
            ("home", "session", 1)
        ]
        assert said(memory) == [("home", "Name", "Zhang San")]
        assert not memory.recall("Quuxley")
    assert _holds(layered.home_path, "Quuxley") == []


def test_a_session_of_one_agent_takes_along_what_went_home(layered: Layered) -> None:
    session = _say_at_the_clinic(layered)
    with layered.project() as memory:
        assert memory.forget(session=session, agent="main").is_complete
    assert _holds(layered.home_path, "Quuxley") == []


def test_what_went_home_is_found_from_wherever_the_memory_lies_now(layered: Layered) -> None:
    session = _say_at_the_clinic(layered)
    (layered.place / "heron").rename(layered.place / "egret")
    with layered.project("egret") as memory:
        assert memory.forget(session=session).is_complete
    assert _holds(layered.home_path, "Quuxley") == []


def test_what_went_home_through_a_link_is_found(layered: Layered) -> None:
    layered.project_path()
    (layered.place / "link").symlink_to(layered.place / "heron")
    with layered.home() as home:
        home.remember("I like tea.")
    with Memory(layered.place / "link" / ".looseleaf") as memory:
        trace = memory.record(user="I live in Lyon.")
        memory.record(assistant="Noted.")
        memory.distill()
    with layered.project() as memory:
        assert memory.forget(session=trace.session_id).is_complete
        assert said(memory) == [("home", "Likes", "tea")]
    assert _holds(layered.home_path, "Lyon") == []


def test_a_forget_that_did_not_reach_home_is_finished_when_it_is_repeated(
    layered: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.base.errors import Unwritten
    from looseleaf.memory.layers import Layers

    def refuse(self: object, layer: object) -> None:
        raise Unwritten("The disk is read-only.")

    session = _say_at_the_clinic(layered)
    with layered.project() as memory:
        with monkeypatch.context() as patch:
            patch.setattr(Layers, "writing", refuse)
            assert not memory.forget(session=session).is_complete
        assert _holds(layered.home_path, "Quuxley")
        assert memory.forget(session=session).is_complete
    assert _holds(layered.home_path, "Quuxley") == []
