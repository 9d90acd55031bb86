"""The audit: a line for each act, the newest first, in files that do not grow without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from looseleaf.serve import audit as audit_module
from looseleaf.serve.audit import FILE, Audit


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


def test_a_line_that_a_crash_cut_off_is_passed_over(tmp_path: Path) -> None:
    audit = Audit(str(tmp_path))
    audit.write(act="one")
    with open(tmp_path / FILE, "ab") as file:
        file.write(b'{"ts": 1, "act": "tw')
    assert [line["act"] for line in audit.read_back()] == ["one"]
