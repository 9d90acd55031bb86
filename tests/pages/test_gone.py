"""Pages that vanish together are held, and stay so whatever happens, until each is back or a person settles it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from killing import CHANGES, end_at, sites_of
from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.log.journal import fold_gone
from looseleaf.memory.check import held_problems
from looseleaf.pages.held import vanished_together
from looseleaf.pages.outside_edits import Heads, OutsideEdits
from looseleaf.store import JOURNAL, files
from looseleaf.store.disk import Disk
from workload import Verdict

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.0)
PAGES = {
    "USER.md": "# User\n\n- Home: Lyon\n",
    "facts/boats.md": "# Boats\n\n- Sail: white\n",
    "facts/cars.md": "# Cars\n\n- Color: red\n",
    "facts/pets.md": "# Pets\n\n- Cat: Kitzel\n",
    "facts/teas.md": "# Teas\n\n- Best: green\n",
}
REST = [path for path in PAGES if path != "USER.md"]
FEW = ["facts/pets.md", "facts/teas.md"]
"""So few that a person may have deleted them, had they not vanished with all others."""


@contextmanager
def open_pages(where: Path) -> Iterator[Memory]:
    with Memory(where / "memory", policy=HASTY) as memory:
        if not any(memory.history.edits()):
            for path, text in PAGES.items():
                memory.pages.edit(path, text, reason="a page", author="person")
        yield memory


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with open_pages(place) as memory:
        yield memory


def file_of(memory: Memory, path: str) -> Path:
    return Path(memory.path) / path


def take_away(memory: Memory, paths: Iterable[str] = PAGES) -> None:
    for path in paths:
        file_of(memory, path).unlink()


def put_back(memory: Memory, *paths: str) -> None:
    for path in paths:
        file_of(memory, path).write_text(PAGES[path])


def held(memory: Memory) -> list[str]:
    return [each.path for each in memory.review.held() if each.why == "gone"]


def errors(memory: Memory) -> list[str]:
    return [each.path for each in memory.check() if each.severity == "error"]


def topics(memory: Memory) -> set[str]:
    return {str(fact.path) for fact in memory.facts()}


def deleted(memory: Memory) -> list[str]:
    return [edit.path for edit in memory.history.edits() if edit.new is None]


# --- what ends no hold -----------------------------------------------------------------------------


def repair(memory: Memory) -> None:
    memory.repair()


def forget(memory: Memory) -> None:
    memory.forget(match="Lyon")


def forget_a_name(memory: Memory) -> None:
    memory.pages.edit("facts/other.md", "- Owner: has many pets\n", reason="a page", author="person")
    memory.forget(match="pets")
    memory.pages.delete("facts/other.md", reason="not of this story")


def lose_views(memory: Memory) -> None:
    shutil.rmtree(file_of(memory, "views"))


def nothing(memory: Memory) -> None:
    pass


@pytest.mark.sampled(4)
@pytest.mark.parametrize("then", [nothing, repair, forget, forget_a_name, lose_views])
@pytest.mark.parametrize("back", ["by itself", "settled"])
def test_pages_that_vanished_stay_held_when_others_are_back(
    place: Path, back: str, then: Callable[[Memory], None]
) -> None:
    with open_pages(place) as server:  # open all the time
        before = topics(server)
        take_away(server)
        with open_pages(place) as memory:
            assert held(memory) == list(PAGES)
            for path in PAGES.keys() - FEW:
                if back == "settled":
                    memory.review.settle(path, "keep")
                else:
                    put_back(memory, path)
        with open_pages(place) as memory:
            then(memory)
        for each in (server, None):
            with open_pages(place) as memory:
                assert topics(each or memory) >= before - {"USER.md"}
                assert held(each or memory) == FEW
                assert errors(each or memory) == FEW
                assert [problem.path for problem in held_problems((each or memory).parts)] == FEW
        assert set(deleted(server)) <= {"facts/other.md"}
        put_back(server, *FEW)
        assert held(server) == []
        assert errors(server) == []


def test_check_holds_what_the_next_command_holds(memory: Memory) -> None:
    take_away(memory, REST)
    assert errors(memory) == REST
    assert held(memory) == REST
    put_back(memory, "facts/boats.md", "facts/cars.md")
    assert errors(memory) == REST[2:]
    assert held(memory) == REST[2:]


def test_a_topic_that_is_forgotten_while_all_pages_are_away_is_not_named_any_more(memory: Memory) -> None:
    take_away(memory)
    assert held(memory) == list(PAGES)
    memory.forget(topic="cars")
    assert b"cars" not in file_of(memory, "log/journal.jsonl").read_bytes()
    assert held(memory) == [path for path in PAGES if path != "facts/cars.md"]


# --- how many ---------------------------------------------------------------------------------------


def test_pages_that_come_back_one_by_one_before_a_command_looks_are_not_deleted(memory: Memory) -> None:
    take_away(memory)
    put_back(memory, "facts/pets.md")
    assert memory.pages.absorb() == []
    assert held(memory) == [path for path in PAGES if path != "facts/pets.md"]
    for path in held(memory):
        put_back(memory, path)
        assert memory.pages.absorb() == []
    assert held(memory) == []


@pytest.mark.parametrize("count", [1, 2])
def test_a_page_or_two_that_a_person_deletes_are_deleted_and_undo_brings_them_back(
    memory: Memory, count: int
) -> None:
    take_away(memory, REST[:count])
    assert [edit.path for edit in memory.pages.absorb()] == REST[:count]
    assert held(memory) == errors(memory) == []
    memory.history.undo(REST[0])
    assert file_of(memory, REST[0]).read_text() == PAGES[REST[0]]


def test_most_is_more_than_half_and_more_than_two_and_all_is_more_than_one() -> None:
    together = {(gone, of) for of in range(8) for gone in range(of + 1) if vanished_together(gone, of)}
    assert together == {(2, 2)} | {
        (gone, of) for of in range(8) for gone in range(3, of + 1) if 2 * gone > of
    }


def test_what_vanishes_while_it_is_looked_at_counts(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes pages away is at work: at the first look, one is gone."""
    take_away(memory, REST[:1])
    real = OutsideEdits._find_gone

    def look(self: OutsideEdits) -> list[str]:
        take_away(memory, REST[1:])
        monkeypatch.setattr(OutsideEdits, "_find_gone", real)
        return real(self)

    monkeypatch.setattr(OutsideEdits, "_find_gone", look)
    assert memory.pages.absorb() == []
    assert held(memory) == REST


def test_a_page_that_vanishes_with_most_others_after_the_look_is_read_as_it_was(memory: Memory) -> None:
    memory.pages.absorb()
    take_away(memory, REST)
    edits = memory.parts.pages.absorb
    assert edits.read("facts/cars.md") == PAGES["facts/cars.md"].encode()
    put_back(memory, *(path for path in REST if path != "facts/cars.md"))
    assert edits.read("facts/cars.md") is None


# --- what ends it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["by itself", "settled", "restored"])
def test_a_page_that_was_back_is_deleted_when_a_person_deletes_it(place: Path, way: str) -> None:
    with open_pages(place) as server:
        take_away(server)
        with open_pages(place) as memory:
            assert held(memory) == list(PAGES)
            if way == "by itself":
                put_back(memory, *PAGES)
                assert held(memory) == []
            elif way == "settled":
                for path in PAGES:
                    memory.review.settle(path, "keep")
            else:
                assert memory.history.restore() == list(PAGES)
            take_away(memory, ["facts/cars.md"])
            shutil.rmtree(file_of(memory, "views"))
        assert "facts/cars.md" not in topics(server)
        assert deleted(server) == ["facts/cars.md"]
        assert held(server) == []


def test_a_person_s_word_on_pages_that_are_gone_counts_in_every_process(place: Path) -> None:
    with open_pages(place) as server:
        take_away(server)
        with open_pages(place) as memory:
            for path in REST:
                memory.review.settle(path, "accept")
            assert held(memory) == ["USER.md"]
        assert held(server) == ["USER.md"]
        assert topics(server) == {"USER.md"}
        server.history.undo("facts/cars.md")
        assert file_of(server, "facts/cars.md").read_text() == PAGES["facts/cars.md"]
        assert held(server) == ["USER.md"]


def test_a_page_that_comes_back_with_other_words_is_a_person_s_edit(memory: Memory) -> None:
    take_away(memory)
    assert memory.pages.absorb() == []
    file_of(memory, "facts/cars.md").write_text("# Cars\n\n- Color: blue\n")
    (edit,) = memory.pages.absorb()
    assert (edit.path, edit.author) == ("facts/cars.md", "external")
    assert "facts/cars.md" not in held(memory)


# --- the journal ------------------------------------------------------------------------------------------


def test_a_hold_is_journaled_once_and_every_reader_of_the_journal_knows_it(memory: Memory) -> None:
    take_away(memory)
    for _ in range(3):
        assert held(memory) == list(PAGES)
    put_back(memory, "USER.md")
    for _ in range(3):
        assert held(memory) == REST
    store = memory.parts.context.store
    kinds = [
        (line.record["kind"], line.record["paths"]) for line in store.read(JOURNAL) if "paths" in line.record
    ]
    assert kinds == [("gone", list(PAGES)), ("found", ["USER.md"])]
    fresh = Heads(store)
    fresh.catch_up()
    assert fresh.gone == set(REST) == memory.parts.pages.absorb.heads.gone
    assert memory.history.page_at("facts/cars.md", 4e9).text == PAGES["facts/cars.md"]


def test_many_paths_are_journaled_in_records_of_a_length_that_can_be_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("looseleaf.pages.outside_edits._PATHS_PER_RECORD", 2)
    take_away(memory)
    assert held(memory) == list(PAGES)
    found = [
        line.record["paths"] for line in memory.parts.context.store.read(JOURNAL) if "paths" in line.record
    ]
    assert found == [list(PAGES)[:2], list(PAGES)[2:4], list(PAGES)[4:]]


def test_a_record_without_paths_holds_nothing() -> None:
    gone = {"USER.md"}
    for record in ({"kind": "gone"}, {"kind": "found", "paths": None}, {"kind": "late", "path": "USER.md"}):
        fold_gone(gone, record)
    assert gone == {"USER.md"}


# --- a kill at any moment -----------------------------------------------------------------------------------


def _only_hold(edits: OutsideEdits, kind: str, paths: Iterable[str]) -> None:
    (edits.heads.gone.update if kind == "gone" else edits.heads.gone.difference_update)(list(paths))


class _Holding:
    """All pages vanish; one comes back by itself, one by a person's word, and one is really gone."""

    FLAWS: ClassVar[dict[str, Callable[[], None]]] = {
        "": lambda: None,
        "not journaled": lambda: setattr(OutsideEdits, "_journal_paths", _only_hold),
    }
    real = OutsideEdits._journal_paths

    @classmethod
    def mend(cls) -> None:
        setattr(OutsideEdits, "_journal_paths", cls.real)  # noqa: B010 (a method is no variable)

    @staticmethod
    def make(folder: Path) -> None:
        with open_pages(folder) as memory:
            take_away(memory)

    @staticmethod
    def work(folder: Path, disk: Disk | None = None) -> Iterator[object]:
        real = vars(files)["this_disk"]
        if disk is not None:
            vars(files)["this_disk"] = lambda: disk
        try:
            memory = Memory(folder / "memory", policy=HASTY)
        finally:
            vars(files)["this_disk"] = real
        yield memory.pages.absorb()
        put_back(memory, "USER.md")
        yield memory.pages.absorb()
        yield memory.review.settle("facts/cars.md", "keep")
        yield memory.review.settle("facts/pets.md", "accept")
        memory.close()

    @staticmethod
    def judge(folder: Path) -> Verdict:
        verdict = Verdict()
        with open_pages(folder) as memory:
            put_back(memory, "USER.md")
            there = {path for path in PAGES if file_of(memory, path).exists()}
            gone = set(deleted(memory))
            if not gone <= {"facts/pets.md"} or set(held(memory)) != PAGES.keys() - there - gone:
                verdict.lost.append(f"deleted: {gone}, held: {held(memory)}")
            if topics(memory) != PAGES.keys() - gone:
                verdict.lost.append(f"facts of {topics(memory)}")
            for path in held(memory):
                memory.review.settle(path, "keep")
            verdict.lost += errors(memory)
        return verdict


SCRIPT: Any = _Holding


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("step", [17, pytest.param(1, marks=pytest.mark.long)])
def test_a_hold_that_ends_around_a_change_is_there_or_is_made_by_the_next_command(
    place: Path, step: int
) -> None:
    where = [site for site in sites_of(SCRIPT, place, "") if site.call in CHANGES]
    assert len(where) > 20
    assert end_at(SCRIPT, where[::step], place) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_hold_that_is_not_journaled_fails_the_sweep(place: Path) -> None:
    where = [site for site in sites_of(SCRIPT, place, "not journaled") if site.call in CHANGES]
    assert end_at(SCRIPT, reversed(where), place, "not journaled", until_wrong=True)
