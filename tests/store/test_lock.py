"""The lock: one writer at a time, whatever the others do (FORMAT §7)."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar

import pytest

from actors import Actor, _acquire_at_once, hold, take_in_turns
from forking import run_in_child, start_child
from looseleaf import Memory
from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.policy import Policy
from looseleaf.store import disk
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore

if TYPE_CHECKING:
    from pathlib import Path

SHORT = Policy(lock_seconds=0.2)
LOCKS = ("log/lock", "log/turn")


def is_free(path: Path) -> bool:
    with FileStore(path, Policy(lock_seconds=0.05)) as store:
        try:
            with store.lock():
                return True
        except Busy:
            return False


# --- threads and processes -------------------------------------------------------------


def test_the_thread_that_holds_the_lock_may_enter_it_again(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store:
        with store.lock():
            with store.lock(), store.lock():
                store.append("journal", [{"id": "1"}])
            assert not is_free(tmp_path), "leaving an inner block let go"
        assert is_free(tmp_path)


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    inside = 0
    most = 0
    with FileStore(tmp_path) as store:

        def work() -> None:
            nonlocal inside, most
            for _ in range(50):
                with store.lock():
                    inside += 1
                    most = max(most, inside)
                    time.sleep(0.0001)
                    inside -= 1

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == 1


def test_a_thread_that_waits_too_long_is_told_so(tmp_path: Path) -> None:
    said: list[str] = []
    with FileStore(tmp_path, SHORT) as store:

        def work() -> None:
            try:
                with store.lock():
                    pass
            except Busy as busy:
                said.append(str(busy))

        with store.lock():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        with store.lock():
            pass
    assert len(said) == 1
    assert said[0].startswith("Another process has held the memory's lock")


def test_processes_exclude_each_other(tmp_path: Path) -> None:
    with Actor(hold, str(tmp_path)) as other:
        assert other.hear() == "held"
        assert not is_free(tmp_path)
        other.let_go()
        assert is_free(tmp_path)


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with Actor(hold, str(tmp_path)) as other:
        assert other.hear() == "held"
        other.kill()
        assert is_free(tmp_path)


@pytest.mark.parametrize("stopped", [False, True])
def test_a_lock_that_is_not_let_go_is_a_sentence_after_the_time_and_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    with Actor(hold, str(tmp_path)) as other, FileStore(tmp_path, SHORT) as store:
        assert other.hear() == "held"
        if stopped:
            other.process.send_signal(signal.SIGSTOP)
        before = sorted(str(path) for path in tmp_path.rglob("*"))
        for act in (
            lambda: store.append("journal", [{"id": "1"}]),
            lambda: store.put("USER.md", b"", base=None),
            lambda: store.rotate("journal"),
            lambda: store.publish("log/entries/a/b", {}),
        ):
            clock = Clock()
            with monkeypatch.context() as patch:
                patch.setattr(disk, "time", clock)
                with pytest.raises(Busy) as caught:
                    act()
            assert 1 <= clock.now / SHORT.lock_seconds < 1.1
            assert str(caught.value) == (
                "Another process has held the memory's lock for 0.2 seconds. Look for a looseleaf process that hangs "
                "or is stopped, end it, and repeat the command; nothing that was acknowledged is lost."
            )
        assert list(store.read("journal")) == []
        assert sorted(str(path) for path in tmp_path.rglob("*")) == before
        other.kill()
        store.append("journal", [{"id": "2"}])
        assert [line.record["id"] for line in store.read("journal")] == ["2"], (
            "a refused record was written later"
        )


class Clock:
    """Stands in for the time of the lock: it passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_the_wait_at_the_turnstile_is_part_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Queue(Disk):
        """The turnstile is free when most of the time is over, the lock never."""

        asked: ClassVar[list[int]] = []

        def try_lock(self, fd: int) -> bool:
            self.asked.append(fd)
            return fd == self.asked[0] and clock.now > 0.9

    clock = Clock()
    monkeypatch.setattr(disk, "time", clock)
    queue = Queue()
    with FileStore(tmp_path, Policy(lock_seconds=1.0), queue) as store, pytest.raises(Busy), store.lock():
        pass
    assert len(set(queue.asked)) == 2
    assert 1 <= clock.now < 1.01


def test_several_who_wait_are_all_told(tmp_path: Path) -> None:
    """One waits at the lock and the others at the turnstile; none of them for less than its time, or for ever."""
    policy = Policy(lock_seconds=0.5)
    with Actor(hold, str(tmp_path)) as other, ExitStack() as stack:
        assert other.hear() == "held"
        stores = [stack.enter_context(FileStore(tmp_path, policy)) for _ in range(4)]
        waited: list[float] = []

        def wait(store: FileStore) -> None:
            began = time.monotonic()
            with pytest.raises(Busy), store.lock():
                pass
            waited.append((time.monotonic() - began) / policy.lock_seconds)

        threads = [threading.Thread(target=wait, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(waited) == 4
    assert min(waited) >= 1


# --- turns -----------------------------------------------------------------------------


def shares(path: Path, *, turnstile: bool) -> tuple[int, int, float]:
    """Eight processes that take the lock in a loop: the fewest and the most turns of one, and the longest wait."""
    path.mkdir()
    with ExitStack() as stack:
        actors = [
            stack.enter_context(Actor(take_in_turns, str(path), turnstile, 1.5, 0.004)) for _ in range(8)
        ]
        for actor in actors:
            assert actor.hear() == "ready"
        for actor in actors:
            assert actor.process.stdin is not None
            actor.process.stdin.close()
            actor.process.stdin = None
        results = [actor.let_go() for actor in actors]
    taken = [result[0] for result in results]
    return min(taken), max(taken), max(result[1] for result in results)


@pytest.mark.long
def test_a_busy_process_does_not_starve_another(tmp_path: Path) -> None:
    """Chance has a part in who of eight is next; that who waits is before who comes back is the next test's matter."""
    fewest, most, longest = shares(tmp_path / "with", turnstile=True)
    print(f"turns of 8 processes: fewest={fewest} most={most} longest_wait={longest:.3f}s")
    print(
        "without turnstile: fewest={} most={} longest_wait={:.3f}s".format(
            *shares(tmp_path / "without", turnstile=False)
        )
    )
    assert most <= 10 * fewest


class Asking(Disk):
    """Says when somebody asked for a lock and has the answer."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = threading.Event()
        self.answered = threading.Event()

    def try_lock(self, fd: int) -> bool:
        got = super().try_lock(fd)
        if not got:
            self.refused.set()
        self.answered.set()
        return got


@pytest.mark.parametrize("turnstile", [True, False])
def test_who_lets_go_and_comes_straight_back_queues_behind_who_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turnstile: bool
) -> None:
    """The one who waits sleeps until the other has come back: without the turnstile that one is first again."""
    waits, comes_back = Asking(), Asking()
    order: list[str] = []

    def sleep(seconds: float) -> None:
        if threading.current_thread() is waiter:
            comes_back.answered.wait()
        else:
            time.sleep(seconds)

    monkeypatch.setattr(disk, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    if not turnstile:
        monkeypatch.setattr(disk.Lock, "_acquire", _acquire_at_once)
    with FileStore(tmp_path, disk=waits) as one, FileStore(tmp_path, disk=comes_back) as other:

        def wait() -> None:
            with one.lock():
                order.append("who waited")

        for _ in range(5):
            waiter = threading.Thread(target=wait)
            with other.lock():
                waits.refused.clear()
                waiter.start()
                waits.refused.wait()
                comes_back.answered.clear()
            with other.lock():
                order.append("who came back")
            waiter.join()
    assert order == (["who waited", "who came back"] if turnstile else ["who came back", "who waited"]) * 5


# --- fork ------------------------------------------------------------------------------


def test_a_child_forked_inside_the_block_does_not_hold_the_lock(tmp_path: Path) -> None:
    with FileStore(tmp_path, SHORT) as store:

        def take() -> None:
            with pytest.raises(Busy), store.lock():
                pass
            with pytest.raises(Busy):
                store.append("journal", [{"id": "child"}])

        with store.lock():
            assert run_in_child(take) == 0
            assert not is_free(tmp_path), "the child's end released the parent's lock"
            store.append("journal", [{"id": "parent"}])
        assert is_free(tmp_path)
        assert [line.record["id"] for line in store.read("journal")] == ["parent"]


def test_a_child_that_leaves_the_block_it_was_forked_in_releases_nothing(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store, ExitStack() as block:
        block.enter_context(store.lock())
        assert run_in_child(block.close) == 0
        assert not is_free(tmp_path)


def test_a_child_forked_inside_the_block_can_write_when_the_parent_has_let_go(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store:
        store.append("journal", [{"id": "before"}])
        with ExitStack() as block:
            block.enter_context(store.lock())

            def write() -> None:
                # Still inside the parent's block here, which this process must leave without a trace.
                with store.lock():
                    store.append("journal", [{"id": "child"}])
                block.close()
                store.append("journal", [{"id": "child, outside"}])
                store.close()

            child = start_child(write)
            time.sleep(0.05)
            store.append("journal", [{"id": "parent"}])
        assert child.wait() == 0
        store.append("journal", [{"id": "after"}])
        assert [line.record["id"] for line in store.read("journal")] == [
            "before",
            "parent",
            "child",
            "child, outside",
            "after",
        ]


def test_a_child_forked_while_another_thread_holds_the_lock_can_write(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store:
        held, let_go = threading.Event(), threading.Event()

        def hold_it() -> None:
            with store.lock():
                held.set()
                let_go.wait()

        thread = threading.Thread(target=hold_it)
        thread.start()
        held.wait()
        child = start_child(lambda: store.append("journal", [{"id": "child"}]))
        time.sleep(0.05)
        let_go.set()
        thread.join()
        assert child.wait() == 0
        assert [line.record["id"] for line in store.read("journal")] == ["child"]


def test_a_lock_dies_with_its_process_though_a_child_of_it_lives(tmp_path: Path) -> None:
    """A copy of the handle that a child has inherited would keep the lock for as long as the child lives."""
    told, tell = os.pipe()

    def hold_it() -> None:
        with FileStore(tmp_path) as store, store.lock():
            os.write(tell, start_child(partial(time.sleep, 60)).pid.to_bytes(4, "big"))
            time.sleep(60)

    with start_child(hold_it):
        child = int.from_bytes(os.read(told, 4), "big")
        os.close(told)
        os.close(tell)
        assert not is_free(tmp_path)
    os.kill(child, 0)
    try:
        assert is_free(tmp_path)
    finally:
        os.kill(child, signal.SIGKILL)


# --- its files -------------------------------------------------------------------------


def test_the_files_of_the_lock_are_made_once_and_never_deleted(tmp_path: Path) -> None:
    def identities() -> list[int]:
        return [(tmp_path / name).stat().st_ino for name in LOCKS]

    with FileStore(tmp_path) as store, store.lock():
        first = identities()
    with FileStore(tmp_path) as store:
        store.append("journal", [{"id": "1"}])
        store.recover()
        store.repair()
        assert identities() == first
    assert identities() == first
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in LOCKS] == [0o600, 0o600]


def test_a_store_closed_inside_the_block_has_let_go(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    with store.lock():
        store.close()
    assert is_free(tmp_path)


@pytest.mark.parametrize("name", LOCKS)
def test_a_link_in_the_place_of_a_lock_is_refused_and_not_followed(tmp_path: Path, name: str) -> None:
    memory = tmp_path / "memory"
    (memory / "log").mkdir(parents=True)
    (memory / name).symlink_to(tmp_path / "outside")
    with FileStore(memory, SHORT) as store:
        with pytest.raises(Refused, match=r"symbolic link\. Put a real file in its place"):
            store.append("journal", [{"id": "1"}])
        assert not (tmp_path / "outside").exists()
        (memory / name).unlink()
        store.append("journal", [{"id": "1"}])


class Failing(Disk):
    """A disk on which one call about locks fails, once."""

    def __init__(self, call: str, after: int = 0) -> None:
        super().__init__()
        self.left = call
        self.after = after
        self.fired = 0

    def _fail(self, call: str) -> None:
        if call == self.left and self.after:
            self.after -= 1
        elif call == self.left:
            self.left = ""
            self.fired += 1
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        self._fail(f"open {path}")
        return super().open(root, path, flags, mode)

    def try_lock(self, fd: int) -> bool:
        self._fail("lock")
        return super().try_lock(fd)

    def unlock(self, fd: int) -> None:
        self._fail("unlock")
        super().unlock(fd)


@pytest.mark.parametrize("call", ["open log/lock", "open log/turn", "lock", "unlock"])
def test_a_lock_that_cannot_be_taken_is_a_sentence_and_the_next_call_works(tmp_path: Path, call: str) -> None:
    disk = Failing(call)
    with FileStore(tmp_path, SHORT, disk) as store:
        handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        with pytest.raises(Unwritten, match=r"^The memory's lock.*No locks available"):
            store.append("journal", [{"id": "1"}])
        assert disk.fired == 1
        if handles:
            assert len(os.listdir("/proc/self/fd")) == handles, "a handle was left open"
        assert is_free(tmp_path)
        store.append("journal", [{"id": "2"}])
        assert [line.record["id"] for line in store.read("journal")] == ["2"]


def test_a_lock_that_cannot_be_let_go_is_closed_and_the_write_counts(tmp_path: Path) -> None:
    disk = Failing("unlock", after=1)  # the turnstile's comes first
    with FileStore(tmp_path, SHORT, disk) as store:
        store.append("journal", [{"id": "1"}])
        assert disk.fired == 1
        assert is_free(tmp_path)
        store.append("journal", [{"id": "2"}])
        assert [line.record["id"] for line in store.read("journal")] == ["1", "2"]


def test_who_had_a_lock_file_that_was_deleted_queues_at_the_new_one(tmp_path: Path) -> None:
    with FileStore(tmp_path, Policy(lock_seconds=0.1)) as one, FileStore(tmp_path) as other:
        with one.lock():
            pass  # from here on it has the file open
        (tmp_path / "log/lock").unlink()
        with other.lock():
            assert not one.lock().is_free()
            with pytest.raises(Busy), one.lock():
                pass
        with one.lock():
            assert not other.lock().is_free()


def test_closing_waits_for_the_thread_that_writes(tmp_path: Path) -> None:
    """Else its handles would be given to files that others open, and its records to those files."""
    store = FileStore(tmp_path)
    acknowledged: list[int] = []
    refusals: set[str] = set()

    def write() -> None:
        for number in range(10_000):
            try:
                store.append("traces/main", [{"id": str(number)}])
            except Refused as refused:
                refusals.add(str(refused))
                return
            acknowledged.append(number)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 50:
        time.sleep(0.001)
    store.close()
    others = [(tmp_path / f"other{number}").open("wb") for number in range(20)]
    for thread in threads:
        thread.join()
    for other in others:
        other.close()
    assert refusals == {"This memory is closed. Open it again."}
    assert [path for path in tmp_path.glob("other*") if path.stat().st_size] == []
    with FileStore(tmp_path) as again:
        assert len(list(again.read("traces/main"))) == len(acknowledged)


def test_a_child_of_a_threaded_program_can_use_the_memory(tmp_path: Path) -> None:
    """What the program has used before: where its thread imports a module, Python has a child wait for ever."""
    stop, edited = threading.Event(), threading.Event()
    with Memory(tmp_path / "memory") as memory:

        def edit() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                memory.pages.edit("USER.md", f"- Number: {number}\n", reason="counting")
                edited.set()

        def read() -> None:
            assert memory.pages.read("USER.md") is not None

        thread = threading.Thread(target=edit)
        thread.start()
        try:
            assert edited.wait(60)
            read()
            for _ in range(10):
                assert run_in_child(read) == 0
        finally:
            stop.set()
            thread.join()
