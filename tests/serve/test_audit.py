"""The audit: a line for each act, the newest first, in files that do not grow without end."""

from __future__ import annotations

import errno
import os
import resource
import signal
from pathlib import Path

import pytest

from looseleaf.base.errors import Unwritten
from looseleaf.serve import audit as audit_module
from looseleaf.serve.audit import FILE, ROOM, Audit


def test_lines_are_read_back_newest_first_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    audit = Audit(str(tmp_path / "access"))
    assert list(audit.read_back()) == []
    for number in range(3):
        audit.write(act="token", id=str(number))
    lines = list(audit.read_back())
    assert [line["id"] for line in lines] == ["2", "1", "0"]
    assert all(line["act"] == "token" and line["ts"] > 0 for line in lines)
    assert (tmp_path / "access" / FILE).stat().st_mode & 0o777 == 0o600


def test_a_full_file_is_put_aside_and_the_oldest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_module, "_BYTES", 200)
    audit = Audit(str(tmp_path))
    for number in range(60):
        audit.write(act="x", id=number)
    kept = {FILE, *(f"{FILE}.{number}" for number in range(1, audit_module._OLD + 1))}
    assert {path.name for path in tmp_path.iterdir()} | {FILE} == kept
    told = [line["id"] for line in audit.read_back()]
    assert told == list(range(59, 59 - len(told), -1)), "none is missing between the newest and the oldest"
    assert len(told) < 60
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 6 * 260


def test_where_no_line_could_be_written_nothing_is_done_and_no_line_is_lost(tmp_path: Path) -> None:
    audit = Audit(str(tmp_path))
    audit.require()
    audit.write(act="one")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, hard))
    try:
        audit.write(act="done already")
        with pytest.raises(Unwritten, match="Nothing was done: the audit"):
            audit.require()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    audit.require()
    audit.write(act="two")
    assert [line["act"] for line in audit.read_back()] == ["two", "done already", "one"]


def test_on_a_full_disk_the_line_of_what_is_under_way_finds_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit, write = Audit(str(tmp_path)), os.write
    audit.require()

    def full(fd: int, data: bytes) -> int:
        if (tmp_path / ROOM).exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data)

    def nothing_left(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    audit.write(act="one")
    assert [line["act"] for line in audit.read_back()] == ["one"]
    monkeypatch.setattr(os, "posix_fallocate", nothing_left)
    with pytest.raises(Unwritten, match="No space left"):
        audit.require()
    monkeypatch.undo()
    audit.require()
    assert (tmp_path / ROOM).exists()


def test_a_line_that_a_crash_cut_off_is_passed_over(tmp_path: Path) -> None:
    audit = Audit(str(tmp_path))
    audit.write(act="one")
    with open(tmp_path / FILE, "ab") as file:
        file.write(b'{"ts": 1, "act": "tw')
    assert [line["act"] for line in audit.read_back()] == ["one"]
