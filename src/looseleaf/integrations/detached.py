"""Distilling in the background: a process of its own, which outlives the hook that starts it.

A person waits for the hook. So a hook only records, starts this process, and returns. One process at a time distills a
memory, and never holds the memory's lock during a model call. The log holds the talk and how far it is distilled: after
a kill the next hook starts from there, and no entry is made twice.
"""

from __future__ import annotations

import os
import sys
import time

from looseleaf.base.errors import Refused
from looseleaf.base.paths import is_address
from looseleaf.integrations.hook_session import (
    LEARNT,
    is_distilled,
    read_tail,
    read_view,
    unread_sessions,
    write_view,
)
from looseleaf.integrations.transcript import AT_ONCE
from looseleaf.log.recorder import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed

EVENT = "distill"
"""The event of `looseleaf hook` that starts the process."""

CHORE = "views/distilling.lock"


_SMALL = 256 * 1024
"""Bytes of talk that are distilled while a session waits to begin."""

_PATIENCE = 3.0
"""Seconds that a session waits for the process that distills the one before."""


def finish(memory: Memory) -> None:
    """Distill what the last session left, before a new one begins: it may have been killed, or have ended just now. A
    model takes too long for that, and so does much talk: these are left to the background."""
    end = memory.parts.context.store.end(stream_of(memory.agent))
    done = read_view(memory.parts.context.store, memory.agent)["distilled"] or [end[0], 0]
    is_small = done[0] == end[0] and end[1] - done[1] <= _SMALL
    if memory.policy.distiller != "rules" or not is_small:
        start(memory)
        return
    until = time.monotonic() + _PATIENCE
    while _work_alone(memory, is_waited_for=True) is None and time.monotonic() < until:
        time.sleep(0.05)


def start(memory: Memory) -> None:
    """Start the process, and do not wait. A failed start is a note; the next hook tries again. A distiller that was
    made in code lives in this process only, and works here."""
    if memory.parts.model is not None or memory.parts.own_distiller is not None:
        work(memory)
        return
    with memory.parts.store.alone(CHORE) as is_alone:
        if not is_alone:
            return  # the one that works looks again when it is done
    import subprocess

    # -P: not from the current folder, where a file could have the name of one of our modules.
    command, env = [sys.executable, "-P", "-m", "looseleaf"], None
    if is_address(memory.where):
        env = {
            **os.environ,
            "LOOSELEAF_HOME": memory.where,
        }  # it may have a password, and anybody may see arguments
    else:
        command += ["--memory", memory.where]
    try:
        process = subprocess.Popen(
            [*command, "--agent", memory.agent, "hook", EVENT],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        process.returncode = 0  # never waited for, on purpose
    except OSError as error:
        memory.parts.note(
            f"Nothing was distilled: the process did not start ({error.strerror or error}). The next hook retries."
        )


def work(memory: Memory) -> None:
    """Read what sessions left unread, and distill until nothing is new, unless another process does. Look again after
    the lock is released: a process that came meanwhile has given up."""
    store, stream = memory.parts.context.store, stream_of(memory.agent)
    end = None
    while end != (end := store.end(stream)) and _work_alone(memory):
        pass
    try:
        memory.parts.conversation.cut_ahead()
    except Refused as refused:
        memory.parts.note(str(refused))


def _work_alone(memory: Memory, *, is_waited_for: bool = False) -> bool | None:
    """Do all of it once, and return whether it succeeded; None if another process does it. `is_waited_for`: leave what
    is unread."""
    with memory.parts.store.alone(CHORE) as is_alone:
        if not is_alone:
            return None
        if not is_waited_for:
            read_tails(memory)
        return is_distilled(memory) or _distill(memory)


def read_tails(memory: Memory) -> None:
    """Read what is left of the transcripts of all sessions that hooks of this agent know."""
    store = memory.parts.context.store
    for session, path in unread_sessions(read_view(store, memory.agent), ""):
        size = os.path.getsize(path) if os.path.exists(path) else 0
        for _ in range(size // AT_ONCE + 1):
            with store.lock():
                read_tail(memory, session, path)


def read_all_tails(memory: Memory) -> None:
    """Read first what hooks left unread of sessions that they record: an import finds it recorded then."""
    for stream in memory.parts.context.store.streams():
        name = stream.removeprefix("traces/")
        if name not in (stream, memory.agent):
            with type(memory)(memory.where, agent=name, policy=memory.policy) as own:
                read_tails(own)


def _distill(memory: Memory) -> bool:
    """Distill what is there now, and return whether all of it succeeded."""
    from looseleaf.integrations.learnt import keys_of

    edition = memory.parts.context.store.edition()
    upto = memory.parts.context.store.end(stream_of(memory.agent))
    said: list[str] = []
    promised: list[str] = []
    learnt: list[str] = []
    is_done = False
    try:
        placed = memory.distill()
        learnt = keys_of(placed)
        if has_answered(memory, placed):
            memory.parts.making.redistill_failed()
        is_done = True
    except Refused as refused:
        said.append(str(refused))
    over = read_view(memory.parts.context.store, memory.agent)["over"] if is_done else []
    for session in over:
        promised += unkept_promises(memory, session)
    said += memory.notes
    with memory.parts.context.store.lock():
        view = read_view(memory.parts.context.store, memory.agent)
        if memory.parts.context.store.edition() != edition:
            said, promised = [], []  # they may quote what was forgotten meanwhile
        # A notice is not repeated after each answer.
        new = [each for each in said if each not in view["said"]]
        view |= {"told": [*view["told"], *promised, *new], "said": said}
        view |= {"learnt": [*view["learnt"], *learnt][-LEARNT:]}
        if is_done:
            view |= {"distilled": list(upto), "over": [each for each in view["over"] if each not in over]}
        write_view(memory.parts.context.store, memory.agent, view)
    if is_done:
        _make_ready(memory)
    return is_done


def _make_ready(memory: Memory) -> None:
    """Make the snapshot of the next session, and bring the index up to date, which no hook of a prompt does."""
    memory.views.snapshot(quick=True)
    if memory.policy.recall_on_prompt:
        memory.parts.recall.catch_up()


def has_answered(memory: Memory, placed: list[Placed]) -> bool:
    """True if the configured distiller made the last entry: then it works again."""
    from looseleaf.log.entries import read_entry

    meta = read_entry(memory.parts.context.store, placed[-1].entry).meta if placed else {}
    return meta.get("level") == "distiller" and not meta.get("failures")


def unkept_promises(memory: Memory, session: str) -> list[str]:
    """Return the promises of a session's last turn for which nothing was written."""
    turns = memory.talk.turns(1, session=session)
    return [flag.why for flag in memory.explain.promises(turns[-1].turn_id).flagged] if turns else []
