"""A store that is only read: every write is refused, views are not, and a forget that is half done is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from looseleaf.base.errors import Busy, Unwritten
from looseleaf.pages.folder import init
from looseleaf.store import JOURNAL
from looseleaf.store import read_only as module
from looseleaf.store.read_only import ReadStore


def test_every_write_is_refused_and_views_are_not(tmp_path: Path) -> None:
    init(str(tmp_path / "memory"))
    with ReadStore(tmp_path / "memory") as store:
        assert store.reads_only
        before = next(store.read(JOURNAL)).record
        for write in (
            lambda: store.append(JOURNAL, [{"kind": "test"}]),
            lambda: store.put("USER.md", b"x", base=None),
            lambda: store.delete("USER.md", base=""),
            lambda: store.publish("log/entries/user/x", {"raw.md": b"x"}),
        ):
            with pytest.raises(Unwritten, match="only read from here"):
                write()
        store.recover()
        store.view("views/test.json", b"{}")
        assert [line.record for line in store.read(JOURNAL)] == [before]
    assert (tmp_path / "memory" / "views" / "test.json").exists()


def test_a_forget_that_is_half_done_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    init(str(tmp_path / "memory"))
    with ReadStore(tmp_path / "memory") as store:
        monkeypatch.setattr(module, "is_committed", lambda root: True)
        with pytest.raises(Busy, match="being changed by a forget"):
            store.recover()
