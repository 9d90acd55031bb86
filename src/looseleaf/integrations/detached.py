"""Distilling in the background: a process of its own, which outlives the hook that starts it.

A model takes seconds or minutes, and a person waits for the hook. So where a model distills, a hook only records,
starts this, and returns. One process at a time distills a memory; the memory's own lock is never held while a model is
asked. What was said is in the log, and the log says how far it is distilled: after a kill the next hook begins
again from there, and an entry that is there already is not made twice.
"""

from __future__ import annotations

import sys

from looseleaf.base.errors import Refused
from looseleaf.integrations.hook_session import read_view, write_view
from looseleaf.log.recorder import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed

EVENT = "distill"
"""The event of `looseleaf hook` by which the process is started."""

CHORE = "views/distilling.lock"


def is_wanted(memory: Memory) -> bool:
    """Whether the settings ask for a model. One that was made in code lives in this process only."""
    return memory.policy.distiller != "rules" and memory.model is None and memory.own_distiller is None


def start(memory: Memory) -> None:
    """Start it, and do not wait. That it could not be started is a note; the next hook tries again."""
    import os
    import subprocess

    # Not from the folder that it is started in: a file there could be called as one of ours.
    command = [sys.executable, "-P", "-m", "looseleaf", "--memory", memory.path, "--agent", memory.agent]
    try:
        process = subprocess.Popen(
            [*command, "hook", EVENT],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),
            start_new_session=True,
        )
        process.returncode = 0  # nobody waits for it, and that is no mistake
    except OSError as error:
        memory.note(f"Nothing was distilled: no process could be started ({error.strerror or error}).")


def work(memory: Memory) -> None:
    """Distill what is new until nothing is, unless another process does. Looked at once more when the others may go on:
    one that came meanwhile has gone again."""
    while True:
        with memory.store.alone(CHORE) as is_alone:
            if not is_alone or not _distill(memory):
                return
        view = read_view(memory.store, memory.agent)
        if view["distilled"] == list(memory.store.end(stream_of(memory.agent))):
            return


def _distill(memory: Memory) -> bool:
    """Whether all of it could be, as it was when this began."""
    upto = memory.store.end(stream_of(memory.agent))
    said: list[str] = []
    promised: list[str] = []
    is_done = False
    try:
        placed = memory.distill()
        if _has_answered(memory, placed):
            memory._book.making.redistill_failed()
        is_done = True
    except Refused as refused:
        said.append(str(refused))
    over = read_view(memory.store, memory.agent)["over"] if is_done else []
    for session in over:
        promised += unkept_promises(memory, session)
    said += memory.notes
    with memory.store.lock():
        view = read_view(memory.store, memory.agent)
        # What was said the last time is not said again after each answer.
        new = [each for each in said if each not in view["said"]]
        view |= {"told": [*view["told"], *promised, *new], "said": said}
        if is_done:
            view |= {"distilled": list(upto), "over": [each for each in view["over"] if each not in over]}
        write_view(memory.store, memory.agent, view)
    if is_done:
        memory.snapshot(quick=True)  # so that the next session has it at once
    return is_done


def _has_answered(memory: Memory, placed: list[Placed]) -> bool:
    """Whether the distiller that was asked for made the last of it: then it is there again."""
    from looseleaf.log.entries import read_entry

    meta = read_entry(memory.store, placed[-1].entry).meta if placed else {}
    return meta.get("level") == "distiller" and not meta.get("failures")


def unkept_promises(memory: Memory, session: str) -> list[str]:
    """What was promised in the last turn of the session, and nothing was written for."""
    turns = memory.turns(1, session=session)
    return [flag.why for flag in memory.reconcile(turns[-1].turn_id).flagged] if turns else []
