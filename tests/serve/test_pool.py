"""Many memories behind one server: opened on use, closed when idle, never more than there are files for."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from looseleaf.base.errors import Busy, Invalid, NotFound
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import pool as pool_module
from looseleaf.serve import serving as serving_module
from looseleaf.serve.access import Access
from looseleaf.serve.audit import Audit
from looseleaf.serve.pool import ASIDE, KEPT_SECONDS, MOST, Pool, Taken, most_open, name_for
from looseleaf.serve.serving import Serving


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("mira", "noa", "tom"):
        init(str(tmp_path / "root" / name))
    return tmp_path / "root"


def run(pool: Pool, act: Callable[[Pool], Awaitable[Any]]) -> Any:
    async def session() -> Any:
        pool.start()
        try:
            return await act(pool)
        finally:
            await pool.close()

    return asyncio.run(session())


def path_of(memory: Memory) -> str:
    return memory.path


def slow_path_of(memory: Memory) -> str:
    time.sleep(0.1)
    return memory.path


# --- which there are ----------------------------------------------------------------------


def test_a_folder_s_name_is_the_memory_s(root: Path) -> None:
    (root / "not-a-memory").mkdir()
    (root / "Upper").mkdir()
    (root / "file").write_text("")
    init(str(root / "UPPER"))
    os.symlink(root / "mira", root / "link")
    pool = Pool(str(root))
    assert pool.names() == ["mira", "noa", "tom"]
    assert pool.path("mira") == str(root / "mira")
    for name in (
        "link",
        "UPPER",
        "not-a-memory",
        "nobody",
        "..",
        "../root/mira",
        "mira/",
        "",
        "a" * 65,
        "mira\n",
    ):
        with pytest.raises(NotFound):
            pool.path(name)


def test_one_memory_alone_has_one_name(root: Path) -> None:
    pool = Pool(path=str(root / "mira"), name="notes")
    assert (pool.names(), pool.path("notes"), pool.only) == (["notes"], str(root / "mira"), "notes")
    with pytest.raises(NotFound):
        pool.path("mira")
    with pytest.raises(Invalid, match="has one memory"):
        run(pool, lambda pool: pool.create("noa"))
    with pytest.raises(Invalid, match="has one memory"):
        run(pool, lambda pool: pool.remove("notes"))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/Notes", "notes"),
        ("/a/my notes!", "my-notes"),
        ("/a/heron/.looseleaf", "heron"),
        ("/a/茶", "memory"),
    ],
)
def test_a_memory_that_is_served_alone_is_named_after_its_folder(path: str, name: str) -> None:
    assert name_for(path) == name


# --- asking -------------------------------------------------------------------------------


def test_a_memory_is_opened_when_it_is_asked_and_closed_when_nobody_asks(root: Path) -> None:
    async def act(pool: Pool) -> None:
        assert pool.open_names == []
        assert await pool("mira", path_of) == str(root / "mira")
        assert pool.open_names == ["mira"]
        until = time.monotonic() + 20
        while pool.open_names:
            assert time.monotonic() < until
            await asyncio.sleep(0.02)
        assert await pool("mira", path_of) == str(root / "mira")

    run(Pool(str(root), idle=0.1), act)


def test_no_more_are_open_than_may_be_and_the_one_that_rested_longest_goes(root: Path) -> None:
    async def act(pool: Pool) -> None:
        for name, now_open in (("mira", ["mira"]), ("noa", ["mira", "noa"]), ("mira", ["mira", "noa"])):
            await pool(name, path_of)
            assert pool.open_names == now_open
        await pool("tom", path_of)
        assert pool.open_names == ["mira", "tom"]
        asked = [pool(name, path_of) for name in ("mira", "noa", "tom") * 10]
        assert await asyncio.gather(*asked) == [str(root / name) for name in ("mira", "noa", "tom") * 10]
        assert len(pool.open_names) <= 2

    run(Pool(str(root), most=2), act)


def test_who_waits_too_long_for_room_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "WAIT_SECONDS", 0.1)

    async def act(pool: Pool) -> None:
        hold = threading.Event()
        busy = asyncio.create_task(pool("mira", lambda memory: hold.wait(20)))
        await asyncio.sleep(0.05)
        with pytest.raises(Busy, match="in use at this moment"):
            await pool("noa", path_of)
        waiting = asyncio.create_task(pool("noa", path_of))
        await asyncio.sleep(0)
        hold.set()
        assert await busy
        assert await waiting == str(root / "noa")

    run(Pool(str(root), most=1), act)


def test_one_of_many_reads_no_other_until_a_request_may_and_one_alone_does(root: Path) -> None:
    (root / "mira" / "looseleaf.toml").write_text('over = ["noa"]\n')

    def layers(memory: Memory) -> list[str]:
        return [name for name, _ in memory.parts.farther(lambda far: far.context.where)]

    assert run(Pool(str(root)), lambda pool: pool("mira", layers)) == []
    assert run(Pool(path=str(root / "mira"), name="mira"), lambda pool: pool("mira", layers)) == ["noa"]


# --- making and removing ----------------------------------------------------------------------


def test_a_memory_is_made_when_it_is_asked_for_by_name_and_never_otherwise(root: Path) -> None:
    async def act(pool: Pool) -> None:
        with pytest.raises(NotFound):
            await pool("lena", path_of)
        assert not (root / "lena").exists()
        assert await pool.create("lena") == str(root / "lena")
        assert await pool("lena", path_of) == str(root / "lena")
        for name in ("lena", "mira"):
            with pytest.raises(Taken):
                await pool.create(name)
        for name in ("..", "Lena", "a/b", "", ".removed", "a" * 65):
            with pytest.raises(Invalid, match="up to 64"):
                await pool.create(name)

    run(Pool(str(root)), act)


def test_a_removed_memory_lies_aside_for_a_while(root: Path) -> None:
    async def act(pool: Pool) -> str:
        await pool("mira", path_of)
        asked = asyncio.create_task(pool("mira", slow_path_of))
        await asyncio.sleep(0.02)
        aside = await pool.remove("mira")
        assert await asked == str(root / "mira"), "what was asked before is answered"
        with pytest.raises(NotFound):
            await pool("mira", path_of)
        with pytest.raises(NotFound):
            await pool.remove("mira")
        assert pool.names() == ["noa", "tom"]
        return aside

    aside = Path(run(Pool(str(root)), act))
    assert aside.parent == root / ASIDE
    with Memory(aside) as memory:
        assert memory.check() == []
    old = root / ASIDE / f"tom-{int((time.time() - KEPT_SECONDS - 60) * 1e9)}"
    old.mkdir()
    (root / ASIDE / "notes.txt").write_text("not ours")

    async def wait(pool: Pool) -> None:
        until = time.monotonic() + 20
        while old.exists():
            assert time.monotonic() < until
            await asyncio.sleep(0.01)

    run(Pool(str(root)), wait)
    assert aside.exists()
    assert (root / ASIDE / "notes.txt").exists()


# --- a server of them -------------------------------------------------------------------------


def test_a_server_opens_the_first_memories_before_anyone_asks(root: Path) -> None:
    async def act() -> None:
        pool, access = Pool(str(root)), Access(str(root.parent / "access"))
        (root / "mira" / "log" / "journal.jsonl").write_text("damaged\n")
        serving = Serving(pool, access, Audit(access.folder), warms=True)
        serving.start()
        until = time.monotonic() + 20
        while not {"noa", "tom"} <= set(pool.open_names):
            assert time.monotonic() < until
            await asyncio.sleep(0.01)
        await serving.close()
        assert pool.open_names == []

    asyncio.run(act())


def test_what_is_known_by_heart_of_many_memories_has_an_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "_ONCE", 2)
    access = Access(str(root.parent / "access"))
    serving = Serving(Pool(str(root)), access, Audit(access.folder))
    first, second = serving.once("mira"), serving.once("noa")
    assert serving.once("mira") is first
    serving.once("tom")
    assert serving.once("mira") is first
    assert serving.once("noa") is not second


# --- files -------------------------------------------------------------------------------------


class Closing(dict[str, Any]):
    """What is being closed; it notices if somebody only looks at it, and lets nothing else go on."""

    looks = 0

    def get(self, *given: Any) -> Any:
        self.looks += 1
        assert self.looks < 1_000, "the loop does not go on"
        return super().get(*given)


def test_a_memory_that_was_closed_this_moment_is_opened_again(root: Path) -> None:
    pool = Pool(str(root))

    async def ask(_: Pool) -> str:
        loop = asyncio.get_running_loop()
        closed: asyncio.Future[None] = loop.create_future()
        closed.set_result(None)
        pool._closing = Closing(mira=closed)
        loop.call_soon(pool._closing.pop, "mira")  # as the end of closing does
        return await pool("mira", path_of)

    assert run(pool, ask) == str(root / "mira")


@pytest.mark.parametrize(
    ("files", "most"), [(resource.RLIM_INFINITY, MOST), (1 << 20, MOST), (256, 8), (64, 2), (10, 2)]
)
def test_how_many_may_be_open_follows_from_the_files_of_the_process(
    files: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert most_open() == most


_MANY = """
import asyncio, os, resource, sys, time
from looseleaf.serve.pool import Pool
root, many, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

async def main():
    pool = Pool(root)
    pool.start()
    most = 0

    async def ask(name):
        nonlocal most
        said = await pool(name, lambda memory: (memory.recall("Where do I live?"), memory.path)[1])
        most = max(most, len(os.listdir("/proc/self/fd")))
        return said

    names = pool.names()
    assert len(names) == many, len(names)
    for start in range(0, many, 20):
        told = await asyncio.gather(*(ask(name) for name in names[start:start + 20]))
        assert told == [os.path.join(root, name) for name in names[start:start + 20]]
    await pool.close()
    # Not what getrusage says: that begins with the size of the process that started this one.
    [size] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
    print(most, int(size) // 1024)

asyncio.run(main())
"""


def visit_all(root: Path, many: int, files: int) -> tuple[int, int]:
    """Ask many memories in a process with few files; return the most that were open, and its memory in MB."""
    command = [sys.executable, "-c", _MANY, str(root), str(many), str(files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    most, size = map(int, done.stdout.split())
    return most, size


def copies(root: Path, many: int) -> None:
    """Make many memories in which something is known: the same files, under other names."""
    init(str(root / "m00000"))
    with Memory(root / "m00000") as memory:
        memory.remember("I live in Lyon.")
    for number in range(1, many):
        shutil.copytree(root / "m00000", root / f"m{number:05d}")


def test_hundreds_of_memories_are_served_with_few_files(tmp_path: Path) -> None:
    copies(tmp_path / "root", 300)
    most, size = visit_all(tmp_path / "root", 300, 128)
    print(f"300 memories: at most {most} of 128 files, {size} MB")
    assert most < 128
    assert size < 300


@pytest.mark.long
def test_ten_thousand_memories_are_served_within_256_files(tmp_path: Path) -> None:
    copies(tmp_path / "root", 10_000)
    most, size = visit_all(tmp_path / "root", 10_000, 256)
    print(f"10,000 memories: at most {most} of 256 files, {size} MB")
    assert most < 256
    assert size < 300
