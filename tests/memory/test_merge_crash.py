"""A merge that is ended or refused anywhere, and is repeated, is the same as one that was not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from killing import CHANGES, end_at, fail_at, sites_of, states
from scripts import merge_work

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


@pytest.fixture(autouse=True)
def _this_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LOOSELEAF_MACHINE", "desk")
    yield
    merge_work.mend()


def test_a_merge_that_ends_around_some_changes_is_made_whole_by_the_next(place: Path) -> None:
    where = [site for site in sites_of(merge_work, place) if site.call in CHANGES]
    assert end_at(merge_work, where[2 :: len(where) // 12], place) == []


@pytest.mark.long
def test_a_merge_that_ends_around_any_change_is_made_whole_by_the_next(place: Path) -> None:
    assert end_at(merge_work, states(sites_of(merge_work, place)), place) == []


@pytest.mark.long
def test_a_merge_that_copies_segments_beside_their_beginning_fails_the_sweep(place: Path) -> None:
    where = states(sites_of(merge_work, place, "segments copied"))
    assert end_at(merge_work, where, place, "segments copied", until_wrong=True)


@pytest.mark.long
@pytest.mark.parametrize("lasting", [True, False])
def test_a_merge_on_a_full_disk_is_finished_when_there_is_room(
    place: Path, lasting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = merge_work.open_memory

    def made(folder: Path, disk: object = None) -> object:
        if not folder.exists():
            merge_work.make(folder)
        return real(folder, disk)  # type: ignore[arg-type]

    monkeypatch.setattr(merge_work, "open_memory", made)
    assert list(fail_at(merge_work, range(1, 400, 7), place, lasting=lasting)) == []
