"""A claim: one does the work at a time, and dies with its process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextvars import copy_context
from functools import partial
from pathlib import Path

import pytest

from forking import start_child
from looseleaf.base.policy import Policy
from looseleaf.store.files import FileStore

PATH = "views/agents/main/working.lock"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore.make(tmp_path / "memory", Policy(lock_seconds=0.3))


def is_free(store: FileStore) -> bool:
    with store.alone(PATH) as is_alone:
        return is_alone


def test_of_many_threads_one_works_at_a_time(store: FileStore) -> None:
    inside: list[int] = []
    most: list[int] = []
    patient = FileStore(store.path, Policy(lock_seconds=60))

    def work(number: int) -> None:
        with patient.claim(PATH) as is_alone:
            assert is_alone
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.002)
            inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 16


def test_past_its_patience_a_claim_is_given_up_and_its_holder_keeps_it(store: FileStore) -> None:
    with store.alone(PATH) as is_alone:
        assert is_alone
        with store.claim(PATH) as is_mine:
            assert not is_mine
        assert not is_free(store)
    assert is_free(store)


def test_who_holds_the_lock_does_not_wait(store: FileStore) -> None:
    patient = FileStore(store.path, Policy(lock_seconds=60))
    begun = time.monotonic()
    with store.alone(PATH), patient.lock(), patient.claim(PATH) as is_mine:
        assert not is_mine
    assert time.monotonic() - begun < 30


def test_what_runs_under_a_claim_has_it_also_in_another_thread_of_its_own(store: FileStore) -> None:
    found: list[bool] = []

    def ask() -> None:
        with store.claim(PATH) as is_mine:
            found.append(is_mine)

    with store.claim(PATH) as is_mine:
        assert is_mine
        own = threading.Thread(target=copy_context().run, args=(ask,))
        foreign = threading.Thread(target=ask)
        for thread in (own, foreign):
            thread.start()
            thread.join()
        assert not is_free(store)
    assert found == [True, False]
    assert is_free(store)


def test_where_no_file_can_be_locked_there_is_no_claim(store: FileStore) -> None:
    Path(store.path, "views").write_text("no folder")
    with store.claim(PATH) as is_mine:
        assert not is_mine


def test_an_interrupted_wait_leaves_nothing_behind(store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with store.alone(PATH):
        monkeypatch.setattr(time, "sleep", interrupt)
        handles = len(os.listdir("/proc/self/fd"))
        with pytest.raises(KeyboardInterrupt), store.claim(PATH):
            pass
        assert len(os.listdir("/proc/self/fd")) == handles


def test_a_claim_dies_with_its_process(store: FileStore) -> None:
    script = (
        "import sys\nfrom looseleaf.store.files import FileStore\n"
        "with FileStore(sys.argv[1]).claim(sys.argv[2]) as mine:\n    print(mine, flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, store.path, PATH], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        assert not is_free(store)
        process.kill()
        process.wait()
        with store.claim(PATH) as is_mine:
            assert is_mine


def test_a_forked_child_does_not_keep_a_claim(store: FileStore) -> None:
    with store.claim(PATH):
        child = start_child(partial(time.sleep, 60))
    with child:
        assert is_free(store)
