"""Does the work of `workload` in children that strace kills or fails at one chosen call, and judges what is left.

Started by the tests as `python -I -S -B crash_work.py FOLDER`. Reads orders from standard input, one JSON object a
line, and answers each with one line. Everything is imported before a child is made (the work is done once, undisturbed,
for whatever is imported on use), and strace is attached before the child begins: so the n-th call that strace counts is
the n-th call of the work, and start-up costs nothing.

    {"trace": "openat,write,…"}                                   → {"calls": {"openat": 412, …}, …}
    {"trace": "openat", "inject": "openat:signal=SIGKILL:when=7"}  → {"killed": true, "lost": [], "shut": [], …}

With `"patient": true` the work goes on after a refused call; with `"store": "in place"` a mutant does the work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]

import ctypes  # noqa: E402

from forking import Child, start_child  # noqa: E402
from looseleaf.store.documents import Documents  # noqa: E402
from looseleaf.store.files import FileStore  # noqa: E402
from looseleaf.store.root import unwritten  # noqa: E402
from workload import STEPS, TINY, Work, judge, make_folder, tell_to  # noqa: E402

if TYPE_CHECKING:
    from looseleaf.base.values import Record

_PR_SET_PTRACER, _ANY = 0x59616D61, ctypes.c_ulong(-1)


class InPlaceDocuments(Documents):
    """The mutant: opens the page, cuts it, and writes the new text into it."""

    def _write_edit(
        self, path: str, data: bytes | None, base: str | None, new: str | None, record: Record
    ) -> None:
        self._root.make(path.rpartition("/")[0])
        self._streams.append("journal", [record])
        if data is None:
            self._root.discard(path)
            return
        try:
            fd = self._root.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            self._root.write_all(fd, data)
            self._disk.sync(fd)
            self._disk.close(fd)
        except OSError as error:
            raise unwritten(path, error) from error


def open_store(folder: str, which: str) -> FileStore:
    store = FileStore(folder, TINY)
    if which == "in place":
        store._documents = InPlaceDocuments(store._root, store._lock, TINY, store._streams, store._segments)
    return store


def do_the_work(memory: str, told: str, order: dict[str, Any], here: int, go: int) -> None:
    """In a child: get ready, say so, and begin when strace has hold of it."""
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANY, 0, 0, 0)  # where only ancestors may trace otherwise
    fd = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    which = order.get("store", "")
    work = Work(lambda: open_store(memory, which), tell_to(fd), patient=bool(order.get("patient")))
    os.write(here, b"!")
    os.read(go, 1)
    for step in STEPS:
        step(work)


def work_in_child(memory: str, told: str, order: dict[str, Any], log: str) -> Child:
    """A child that has ended. It is traced from before its first step to its end."""
    is_here, here = os.pipe()
    go, start = os.pipe()

    def work() -> None:
        os.close(start)
        do_the_work(memory, told, order, here, go)

    child = start_child(work)
    os.close(here)
    os.close(go)
    os.read(is_here, 1)  # nothing that the child does before its first step may be counted
    os.close(is_here)
    what = ["-e", f"trace={order['trace']}"]
    if "inject" in order:
        what += ["-e", f"inject={order['inject']}"]
    tracer = subprocess.Popen(
        ["strace", "-f", "-o", log, *what, "-p", str(child.pid)], stderr=subprocess.PIPE, text=True
    )
    assert tracer.stderr is not None
    said = tracer.stderr.readline()
    if "attached" not in said:
        os.kill(child.pid, signal.SIGKILL)
    os.close(start)  # the end of the pipe is the child's starting signal
    child.end()
    tracer.communicate()
    if "attached" not in said:
        raise SystemExit(f"strace: {said}")
    return child


def obey(order: dict[str, Any], folder: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        memory, told, log = (os.path.join(place, name) for name in ("m", "told", "log"))
        make_folder(memory)
        child = work_in_child(memory, told, order, log)
        lines = Path(log).read_text(errors="replace").splitlines()
        calls: dict[str, int] = {}
        for line in lines:
            name = line.partition(" ")[2].strip().partition("(")[0]
            if name.isidentifier():
                calls[name] = calls.get(name, 0) + 1
        top = sorted(os.listdir(memory))
        verdict = judge(memory, Path(told).read_text())
        answer = {
            "calls": calls,
            "code": child.end(),
            "killed": child.end() == -signal.SIGKILL,
            "fired": sum("(INJECTED)" in line for line in lines),
            "lost": verdict.lost,
            "shut": verdict.shut,
            "top": top,
            "broken": child.trouble,
        }
        return answer


def warm_up(folder: str) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        memory, told = os.path.join(place, "m"), os.path.join(place, "told")
        make_folder(memory)
        fd = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        work = Work(lambda: open_store(memory, ""), tell_to(fd))
        for step in STEPS:
            step(work)
        work.reopen()
        os.close(fd)
        judge(memory, Path(told).read_text())


def main() -> None:
    warm_up(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(obey(json.loads(line), sys.argv[1])), flush=True)


if __name__ == "__main__":
    main()
