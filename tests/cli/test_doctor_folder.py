"""The doctor on where a memory lies and who else touches it: each condition made as real as it can be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clocks import DAY, WrongClock
from looseleaf.cli import doctor
from looseleaf.cli import doctor_checks as checks
from looseleaf.cli import doctor_folder as looked_at
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.store.disk import Disk
from looseleaf.store.files import locate_in
from looseleaf.text.times import day
from two_machines import DESK, LAP, TwoMachines, on

if TYPE_CHECKING:
    from conftest import Run


def recorded(folder: Path, text: str = "I live in Lyon.", agent: str = "main") -> None:
    with Memory(folder, agent=agent) as memory:
        memory.record(user=text)


def test_in_the_plain_case_all_is_well(run: Run, folder: Path) -> None:
    recorded(folder)
    assert looked_at.cloud(str(folder)).verdict == "ok"
    assert looked_at.clock(str(folder), "main").verdict == "ok"
    assert looked_at.machines(str(folder), "main").says == "only this one is known to write here"
    assert looked_at.copy(str(folder)).verdict == "ok"
    assert doctor.disk(str(folder)).verdict == "ok"


def test_every_check_stands_once_in_the_list_and_after_what_it_needs() -> None:
    names = [name for name, _, _ in doctor.CHECKS]
    assert len(set(names)) == len(names)
    for at, (_, needs, _) in enumerate(doctor.CHECKS):
        assert set(needs) <= set(names[:at])


# --- clouds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("Library/Mobile Documents/com~apple~CloudDocs/memory", "iCloud Drive"),
        ("Library/CloudStorage/OneDrive-Contoso/notes/memory", "OneDrive"),
        ("Library/CloudStorage/GoogleDrive-me@example.org/My Drive/memory", "GoogleDrive"),
        ("OneDrive - Contoso Ltd/memory", "OneDrive"),
        ("OneDrive/memory", "OneDrive"),
        ("Dropbox (Personal)/a/b/memory", "Dropbox"),
        ("Google Drive/memory", "Google Drive"),
        ("Nextcloud/memory", "Nextcloud"),
        ("pCloudDrive/memory", "pCloud"),
        ("Box/memory", "Box"),
        ("Box Sync/memory", "Box"),
        ("projects/Box/memory", None),
        ("projects/dropbox-clone/memory", None),
        ("Dropboxes/memory", None),
        ("projects/memory", None),
    ],
)
def test_a_cloud_is_known_by_the_names_in_the_path(
    place: Path, monkeypatch: pytest.MonkeyPatch, path: str, name: str | None
) -> None:
    home = place / "someone"
    folder = home / path
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    init(str(folder))
    seen = looked_at.cloud(str(folder))
    assert seen.verdict == ("look" if name else "ok"), seen.says
    if name is not None:
        assert f"it lies in {name} ({home}/{path.split('/', maxsplit=1)[0]}" in seen.says
        assert seen.then.startswith("Move the memory out of it")


@pytest.mark.parametrize(
    ("marker", "name"),
    [(".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox"), (".nextcloudsync.log", "Nextcloud")],
)
def test_a_cloud_is_known_by_what_it_leaves_in_a_folder_above(
    place: Path, monkeypatch: pytest.MonkeyPatch, marker: str, name: str
) -> None:
    home = place / "someone"
    folder = home / "shared" / "deep" / "memory"
    folder.mkdir(parents=True)
    init(str(folder))
    monkeypatch.setenv("HOME", str(home))
    (home / ".dropbox").mkdir()  # its settings, in a folder that it does not copy
    assert looked_at.cloud(str(folder)).verdict == "ok"
    (home / "shared" / marker).mkdir()
    assert f"it lies in {name} ({home / 'shared'})" in looked_at.cloud(str(folder)).says


# --- shares, and locks ----------------------------------------------------------------------

MOUNTS = (
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
    "99 22 0:51 / /mnt/plain rw,relatime shared:60 - nfs4 host:/a rw,vers=4.2,local_lock=none\n"
    "98 22 0:52 / /mnt/loose rw,relatime shared:61 - nfs host:/b rw,vers=3,nolock,local_lock=all\n"
    "97 22 0:53 / /mnt/windows rw,nosuid - cifs //host/c rw,nobrl\n"
    "96 22 0:54 / /mnt/odd\n"
)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ((0, 51), "a network share (x), on which locks may not hold"),
        ((0, 52), "a network share (x), mounted without locks (local_lock=all)"),
        ((0, 53), "a network share (x), mounted without locks (nobrl)"),
        ((0, 54), "a network share (x), on which locks may not hold"),
        ((7, 7), "a network share (x), on which locks may not hold"),
    ],
)
def test_a_share_without_locks_is_known_by_its_mount(number: tuple[int, int], words: str) -> None:
    seen = looked_at.share("x", looked_at.mount_options(MOUNTS, *number))
    assert (seen.verdict, seen.says) == ("look", words)


def test_on_a_mac_the_nearest_mount_counts() -> None:
    mounts = (
        "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)\n"
        "//me@nas._smb._tcp.local/home on /Volumes/home (smbfs, nodev, nosuid, mounted by me)\n"
        "/dev/disk5 on /Volumes/home/disk image (hfs, local)\n"
    )
    assert looked_at.mac_share(mounts, "/Volumes/home/memory") == "smbfs"
    assert looked_at.mac_share(mounts, "/Volumes/homes/memory") is None
    assert looked_at.mac_share(mounts, "/Volumes/home/disk image/memory") is None
    assert looked_at.mac_share(mounts, "/Users/me/memory") is None


def test_a_lock_is_tried_by_a_second_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(folder)
    file = str(folder / "log" / "lock")
    assert looked_at.holds_locks(file) is True
    assert looked_at.holds_locks(str(folder / "log" / "none")) is None

    class LooseDisk(Disk):
        def try_lock(self, fd: int) -> bool:
            return True  # as on a disk that grants every lock

    with monkeypatch.context() as patch:
        patch.setattr("looseleaf.store.disk.this_disk", LooseDisk)
        assert looked_at.holds_locks(file) is False
        seen = doctor.disk(str(folder))
        assert (seen.verdict, seen.says) == ("broken", "two processes got the same lock at once")
    held = "import fcntl, sys\nfile = open(sys.argv[1], 'rb+')\nfcntl.flock(file, fcntl.LOCK_EX)\nprint(flush=True)\n"
    with subprocess.Popen(
        [sys.executable, "-c", f"{held}sys.stdin.read()", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        assert looked_at.holds_locks(file) is None  # it is busy: the lock's own check says so
        other.communicate()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/gone/python")
        assert looked_at.holds_locks(file) is None


def test_a_network_share_is_told_with_how_it_is_mounted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ShareDisk(Disk):
        def network_type(self, root: int) -> str | None:
            return "nfs4"

    monkeypatch.setattr("looseleaf.store.disk.this_disk", ShareDisk)
    assert doctor.disk(str(folder)).says == "a network share (nfs4), on which locks may not hold"


# --- clocks -----------------------------------------------------------------------------


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> WrongClock:
    return WrongClock(monkeypatch)


def test_a_clock_that_was_ahead_is_told_with_its_days(folder: Path, wrong: WrongClock) -> None:
    for off in (0, 40, 0):
        wrong.set(off)
        recorded(folder)
    seen = looked_at.clock(str(folder), "main")
    ahead = day(time.time() + 40 * DAY)
    assert seen.verdict == "look"
    assert (
        seen.says
        == f"1 trace dated later than now, up to {ahead}; went back once, by at most 40 days, on {day(time.time())}"
    )
    assert "Set this machine's clock" in seen.then


@pytest.mark.parametrize(
    ("offs", "verdict", "words"),
    [
        ((-20_000,), "ok", "it never jumped"),
        ((0, -20_000, 0), "ok", "went back once, by at most 20,000 days, on 19"),
        ((-2, -2.5, -1), "look", "went back once, by at most 12 hours"),
        ((-1, -1.01, -1, -1.1, 0), "look", "went back 2 times, by at most 2 hours"),
        ((-300, -301, 0), "ok", "went back once"),
        ((0, -0.001), "ok", "it never jumped"),
    ],
)
def test_steps_back_are_counted_and_only_late_ones_are_to_be_looked_at(
    folder: Path, wrong: WrongClock, offs: tuple[float, ...], verdict: str, words: str
) -> None:
    for off in offs:
        wrong.set(off)
        recorded(folder)
    seen = looked_at.clock(str(folder), "main")
    assert (seen.verdict, words in seen.says) == (verdict, True), seen.says


def test_given_times_are_no_jumps(folder: Path) -> None:
    with Memory(folder) as memory:
        for ago in (5000, 3, 400, 0, 70):
            memory.record(user="Hello.", ts=time.time() - ago * DAY)
        memory.record(user="Hello.", ts=time.time() + 400 * DAY)
    assert looked_at.clock(str(folder), "main").verdict == "ok"


# --- git --------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git on this machine")
def test_a_log_that_git_would_delete_needs_a_copy(run: Run, folder: Path, place: Path) -> None:
    recorded(folder)
    assert looked_at.copy(str(folder)).verdict == "ok"
    subprocess.run(["git", "init", "-q", folder.parent], check=True)
    would = subprocess.run(
        ["git", "clean", "-ndX"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert "Would remove log/" in would  # it is no empty threat
    seen = looked_at.copy(str(folder))
    assert (seen.verdict, "`git clean -fdX`" in seen.says) == ("look", True)
    assert "looseleaf export" in seen.then
    copy = place / "elsewhere.tar.gz"
    assert run("export", "--as", "tar", str(copy))[0] == 0
    seen = looked_at.copy(str(folder))
    assert (seen.verdict, seen.says) == (
        "ok",
        f"git ignores log/; the last export was made on {day(time.time())}",
    )
    copy.unlink()
    assert looked_at.copy(str(folder)).verdict == "look"  # it is no copy any more
    (folder / ".gitignore").unlink()
    assert looked_at.copy(str(folder)).verdict == "ok"  # not ignored: the check `git` says so
    for damage in ("{", "[]", '{"ts": "x", "path": 1}'):
        (folder / "views" / "copy.json").write_text(damage)
        assert looked_at.copy(str(folder)).says == "no export is known"


# --- other machines ---------------------------------------------------------------------


def test_the_machines_that_share_a_memory_are_listed_and_no_fault(tmp_path: Path) -> None:
    both = TwoMachines(tmp_path)
    folder = str(tmp_path / DESK)
    with on(DESK):
        assert looked_at.machines(folder, "main").says == "only this one is known to write here"
    with both.memory(LAP) as memory:
        memory.record(user="Good evening.")
    both.carry()
    with on(DESK):
        seen = looked_at.machines(folder, "main")
    assert (seen.verdict, seen.says) == ("ok", f"this is desk; lap wrote last on {day(time.time())}")
    shutil.rmtree(tmp_path / DESK / "log" / "on" / LAP)
    (tmp_path / DESK / "log" / "on" / LAP).mkdir()
    with on(DESK):
        assert looked_at.machines(folder, "main").says == "this is desk; nothing of lap is here"


def test_a_second_machine_s_lock_index_and_last_copy_are_its_own(tmp_path: Path) -> None:
    both = TwoMachines(tmp_path)
    with both.memory(LAP) as memory:
        memory.record(user="Good evening.")
        memory.recall("evening")
    folder = tmp_path / LAP
    with on(LAP):
        assert locate_in(str(folder), "log/lock") == str(folder / "log/on/lap/lock")
        assert "up to date" in checks.index(str(folder), "main").says
        assert checks.lock(str(folder)).says == "free"
        shutil.rmtree(folder / "views/on")
        assert checks.index(str(folder), "main").says == "not built yet; the first recall builds it"
    assert locate_in(str(tmp_path / "none"), "log/lock") == str(tmp_path / "none/log/lock")


@pytest.mark.parametrize(
    "name",
    [
        "USER (conflicted copy 2026-11-18 041500).md",
        "USER (Anna's MacBook's conflicted copy 2026-11-18).md",
        "USER.sync-conflict-20261118-041500-ABCDEF7.md",
        "USER_conf(1).md",
    ],
)
def test_a_conflict_copy_shows_a_second_machine(folder: Path, name: str) -> None:
    (folder / name).write_text("# User\n")
    seen = looked_at.machines(str(folder), "main")
    assert (seen.verdict, seen.says) == ("look", f"two machines wrote {name}")
    (folder / "log" / name).write_text("")
    assert looked_at.machines(str(folder), "main").says.endswith(" and 1 more")


def test_a_claim_of_another_host_is_told(folder: Path) -> None:
    (folder / "log" / "writer").write_text(f"{os.uname().nodename} 1\n")
    assert looked_at.machines(str(folder), "main").verdict == "ok"
    (folder / "log" / "writer").write_text("far-away 4711\n")
    assert "far-away has claimed it (log/writer)" in looked_at.machines(str(folder), "main").says
