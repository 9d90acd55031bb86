"""Forget looks into all layers, says what went where, and is not complete where a layer cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from layering import Layered, bytes_of, said
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
