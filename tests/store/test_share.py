"""Folders that cannot be written like a local one: a network share takes one writer, a read-only disk none."""

from __future__ import annotations

import errno
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest

from actors import STREAM, Actor, Share, write_on_share
from forking import run_in_child
from looseleaf.base.errors import Refused, Unwritten
from looseleaf.store.disk import NETWORK_TYPES, Disk, mount_type
from looseleaf.store.files import FileStore
from looseleaf.store.share import WRITER
from tables import check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

MOUNTS = r"""22 28 0:20 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
28 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro
90 28 0:45 / /home/ann/my\040notes rw,relatime shared:40 - nfs4 server:/export/my\040notes rw,vers=4.2,local_lock=none
91 28 0:46 /team /mnt/team\040-\040share rw,relatime - cifs //server/team rw,vers=3.1.1,username=ann
92 28 0:47 / /home/ann/remote rw,nosuid,nodev,relatime shared:41 - fuse.sshfs ann@host:/srv/a\040-\040b rw,user_id=1000
93 28 0:48 / /mnt/c rw,noatime - 9p drvfs rw,dirsync,aname=drvfs;path=C:\134;uid=1000
94 28 0:30 /@home /home/bob rw,relatime shared:42 master:3 propagate_from:2 - btrfs /dev/sda2 rw,subvol=/@home
95 28 0:49 / /home/ann/crypt rw,nosuid,nodev,relatime - fuse.gocryptfs /home/ann/.crypt rw,user_id=1000
96 28 0:50 / /mnt/plain rw - fuse /dev/fuse rw
"""


# --- which folders are shares ----------------------------------------------------------


def test_the_type_of_a_mount_is_read_off_its_device() -> None:
    def check(device: tuple[int, int], kind: str | None, is_share: bool) -> None:
        assert mount_type(MOUNTS, *device) == kind
        assert (kind in NETWORK_TYPES) == is_share

    check_rows(
        check,
        [
            ((259, 2), "ext4", False),
            ((0, 45), "nfs4", True),
            ((0, 46), "cifs", True),
            ((0, 47), "fuse.sshfs", True),
            ((0, 48), "9p", True),
            ((0, 30), "btrfs", False),
            ((0, 31), None, False),  # a btrfs subvolume has a device of its own that stands nowhere
            ((0, 49), "fuse.gocryptfs", False),
            ((0, 50), "fuse", False),
            ((0, 4), None, False),  # not a prefix of 0:45
        ],
    )


def test_lines_that_make_no_sense_are_passed_over() -> None:
    assert mount_type("\n - \n1 2\n1 2 0:5 no dash\n" + MOUNTS, 0, 45) == "nfs4"
    assert mount_type("", 0, 45) is None


def test_a_local_folder_is_no_share_and_gets_no_claim(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store:
        assert Disk().network_type(os.open(tmp_path, os.O_RDONLY)) is None
        store.append(STREAM, [{"id": "1"}])
        assert not (tmp_path / WRITER).exists()


# --- one writer ------------------------------------------------------------------------


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def writers(store: FileStore) -> list[int]:
    return [line.record["by"] for line in store.read(STREAM)]


def test_a_second_writer_on_a_share_is_refused_with_a_sentence_and_nothing_changes(tmp_path: Path) -> None:
    with Actor(write_on_share, str(tmp_path), "") as first:
        assert first.hear() == "written"
        before = everything(tmp_path)
        assert before[WRITER] == f"{os.uname().nodename} {first.pid}\n".encode()
        with Actor(write_on_share, str(tmp_path), "") as second:
            assert second.hear() == (
                f"The memory lies on a network share (nfs4), and process {first.pid} on {os.uname().nodename} is "
                "writing to it. Locks may not hold between hosts there, so only one process may write. End that "
                "process (or delete log/writer in the memory if it is gone), or move the memory to a local disk."
            )
            second.let_go()
        assert everything(tmp_path) == before
        with FileStore(tmp_path, disk=Share()) as reader:
            assert writers(reader) == [first.pid]
            with pytest.raises(Refused, match="network share"):
                reader.put("USER.md", b"# User\n", base=None)
            with pytest.raises(Refused, match="network share"):
                reader.publish("log/entries/tea/one", {"raw.md": b""})
            assert writers(reader) == [first.pid]
        assert everything(tmp_path) == before, "a refused writer's end took the claim away"
        first.let_go()
    assert not (tmp_path / WRITER).exists(), "the claim was not removed at close"
    with Actor(write_on_share, str(tmp_path), "") as third:
        assert third.hear() == "written"
        third.let_go()


def test_a_writer_that_died_on_this_host_is_taken_over(tmp_path: Path) -> None:
    with Actor(write_on_share, str(tmp_path), "") as first:
        assert first.hear() == "written"
        first.kill()
    assert (tmp_path / WRITER).exists()
    with FileStore(tmp_path, disk=Share()) as store:
        store.append(STREAM, [{"by": 2}])
        assert (tmp_path / WRITER).read_text() == f"{os.uname().nodename} {os.getpid()}\n"
        assert writers(store) == [first.pid, 2]
    assert not (tmp_path / WRITER).exists()


def test_a_writer_on_another_host_is_never_taken_over(tmp_path: Path) -> None:
    with Actor(write_on_share, str(tmp_path), "elsewhere") as first:
        assert first.hear() == "written"
        first.kill()
    before = everything(tmp_path)
    with FileStore(tmp_path, disk=Share()) as store:
        with pytest.raises(Refused, match=f"process {first.pid} on elsewhere is writing to it"):
            store.append(STREAM, [{"by": 2}])
        assert everything(tmp_path) == before
        (tmp_path / WRITER).unlink()  # as the sentence says
        store.append(STREAM, [{"by": 2}])
        assert writers(store) == [first.pid, 2]


def test_a_claim_that_cannot_be_understood_or_whose_writer_may_live_is_respected(tmp_path: Path) -> None:
    def check(claim: bytes) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        if b"%b" in claim:
            claim = claim % os.uname().nodename.encode()
        (folder / "log").mkdir()
        (folder / WRITER).write_bytes(claim)
        with FileStore(folder, disk=Share()) as store, pytest.raises(Refused, match="network share"):
            store.append(STREAM, [{"by": 2}])
        assert (folder / WRITER).read_bytes() == claim

    check_rows(check, [b"", b"\n", b"host\n", b"\xff\xfe 1\n", b"%b x\n", b"%b 1\n"])


def test_a_claim_of_a_process_that_cannot_exist_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / WRITER).write_text(f"{os.uname().nodename} {10**30}\n")
    with FileStore(tmp_path, disk=Share()) as store:
        store.append(STREAM, [{"by": 2}])


def test_a_claim_made_on_another_host_in_the_same_moment_wins(tmp_path: Path) -> None:
    class Raced(Share):
        """The other host's claim is not to be seen yet when we look, and is there when we make ours."""

        def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
            if path == WRITER and flags & os.O_CREAT:
                (tmp_path / WRITER).write_text("elsewhere 1\n")
            return super().open(root, path, flags, mode)

    with (
        FileStore(tmp_path, disk=Raced()) as store,
        pytest.raises(Refused, match="a process on another host is writing to it"),
    ):
        store.append(STREAM, [{"by": 2}])
    assert (tmp_path / WRITER).read_text() == "elsewhere 1\n"


def test_a_child_after_fork_is_another_writer_and_leaves_the_claim_alone(tmp_path: Path) -> None:
    with FileStore(tmp_path, disk=Share()) as store:
        store.append(STREAM, [{"by": 1}])

        def be_refused() -> None:
            with pytest.raises(Refused, match="network share"):
                store.append(STREAM, [{"by": 2}])
            store.close()

        assert run_in_child(be_refused) == 0
        assert (tmp_path / WRITER).exists()
        store.append(STREAM, [{"by": 3}])
        assert writers(store) == [1, 3]


def test_two_stores_of_one_process_share_its_claim(tmp_path: Path) -> None:
    with FileStore(tmp_path, disk=Share()) as one:
        one.append(STREAM, [{"by": 1}])
        with FileStore(tmp_path, disk=Share()) as two:
            two.append(STREAM, [{"by": 2}])
        one.append(STREAM, [{"by": 3}])
        assert (tmp_path / WRITER).exists(), "written without a claim"
        assert writers(one) == [1, 2, 3]
    assert not (tmp_path / WRITER).exists()


def test_a_reader_makes_no_claim(tmp_path: Path) -> None:
    with FileStore(tmp_path, disk=Share()) as store:
        store.append(STREAM, [{"by": 1}])
    before = everything(tmp_path)
    with FileStore(tmp_path, disk=Share()) as store:
        assert writers(store) == [1]
        assert store.get("USER.md") is None
        store.recover()
        assert list(store.check()) == []
        assert everything(tmp_path) == before
    assert everything(tmp_path) == before


def test_a_claim_that_cannot_be_written_is_a_sentence_and_leaves_none(tmp_path: Path) -> None:
    class Full(Share):
        def write(self, fd: int, data: bytes | memoryview) -> int:  # type: ignore[override]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with FileStore(tmp_path, disk=Full()) as store, pytest.raises(Unwritten, match="No space left"):
        store.append(STREAM, [{"by": 1}])
    assert not (tmp_path / WRITER).exists()


# --- read only -------------------------------------------------------------------------


class ReadOnly(Disk):
    """A disk that may only be read."""

    def __init__(self) -> None:
        super().__init__()
        self.fired = 0

    def _refuse(self) -> OSError:
        self.fired += 1
        return OSError(errno.EROFS, os.strerror(errno.EROFS))

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise self._refuse()
        return super().open(root, path, flags, mode)

    def mkdir(self, folder: int, name: str) -> None:
        raise self._refuse()


def furnish(folder: Path) -> None:
    with FileStore(folder) as store:
        store.append(STREAM, [{"by": 1}])
        store.rotate(STREAM)
        store.append(STREAM, [{"by": 2}])
        store.put("USER.md", b"# User\n", base=None)


def expect_read_only(store: FileStore) -> None:
    store.recover()
    assert writers(store) == [1, 2]
    assert [line.record["by"] for line in store.read_back(STREAM)] == [2, 1]
    page = store.get("USER.md")
    assert page is not None
    assert page.data == b"# User\n"
    assert [stat.path for stat in store.list()] == ["USER.md"]
    assert store.streams() == [STREAM]
    assert list(store.check()) == []
    for act in (
        lambda: store.append(STREAM, [{"by": 3}]),
        lambda: store.put("USER.md", b"", base=page.sha256),
        lambda: store.delete("USER.md", base=page.sha256),
        lambda: store.rotate(STREAM),
        lambda: store.publish("log/entries/tea/one", {}),
        store.repair,
        lambda: store.view("views/state.toon", b""),
    ):
        with pytest.raises(Unwritten, match=r"not written|^The memory's lock"):
            act()
    with pytest.raises(Unwritten) as caught:
        store.append(STREAM, [{"by": 3}])
    assert str(caught.value) == (
        "The memory's lock, log/lock, could not be opened (Read-only file system), so the memory can only be read. "
        "Check the folder's permissions and the disk, or copy the memory to a folder you may write to."
    )
    assert writers(store) == [1, 2]


def test_a_memory_on_a_read_only_disk_is_read_and_every_write_is_refused(tmp_path: Path) -> None:
    furnish(tmp_path)
    before = everything(tmp_path)
    disk = ReadOnly()
    with FileStore(tmp_path, disk=disk) as store:
        expect_read_only(store)
    assert disk.fired
    assert everything(tmp_path) == before


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    bind = subprocess.run(["mount", "--bind", folder, folder], capture_output=True, check=False)
    if bind.returncode:
        pytest.skip(f"this machine does not let us mount: {bind.stderr.decode().strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a folder read-only")
def test_a_memory_mounted_read_only_is_read_and_every_write_is_refused(tmp_path: Path) -> None:
    furnish(tmp_path)
    before = everything(tmp_path)
    with mounted_read_only(tmp_path), FileStore(tmp_path) as store:
        expect_read_only(store)
    assert everything(tmp_path) == before
