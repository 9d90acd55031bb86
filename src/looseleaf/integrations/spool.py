"""What hooks record for a memory that is elsewhere: kept here at once, and brought there in the background.

A hook waits for no network, and loads no driver. It records into a memory of this machine, private to it, as it would
into a folder's; so what it takes from a transcript it takes once. A process that it starts brings the traces to the
server, or into the database, in their order. Before each batch it writes down which traces it sends and by which key:
killed at any point, it sends the same again by the same key, and they stand there once.
"""

from __future__ import annotations

import json
import os
import sys
import time

from looseleaf.base.errors import Refused
from looseleaf.base.messages import Trace
from looseleaf.base.values import START, Position, sha256
from looseleaf.integrations.hook_session import read_view, write_view
from looseleaf.log.recorder import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen
    from typing import Any, Protocol

    from looseleaf.integrations.target import Target
    from looseleaf.memory import Memory
else:
    Protocol = object

CHORE = "views/delivering.lock"
WAIT_SECONDS = 2.5
"""How long a hook waits, before the model writes to the memory, for what it has read to be there."""
_AT_ONCE = 200
_BYTES = 1 << 20
"""Traces of a batch, and about how many bytes."""
_TURNS = 200
"""Turns whose names there are remembered."""
_REMOVED_DAYS = 40.0
"""Days after which an unused spool, all of it delivered, is removed."""


def state_folder() -> str:
    home = os.environ.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(home):  # the XDG specification ignores a relative path
        home = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "looseleaf", "spool")


class Spool:
    """What an agent's hooks recorded for one target."""

    def __init__(self, target: Target, agent: str) -> None:
        self.target = target
        self.agent = agent
        self.folder = os.path.join(state_folder(), sha256(f"{target.key}\n{agent}".encode())[:16])
        self.path = os.path.join(self.folder, "memory")

    def make(self) -> None:
        """Make it, if it is not there."""
        from looseleaf.pages.folder import init, is_memory

        if not is_memory(self.path):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            init(self.path)

    # --- in a hook -------------------------------------------------------------------------

    def snapshot(self) -> str:
        """Return the snapshot that came with the last delivery; "" before the first."""
        try:
            with open(os.path.join(self.folder, "snapshot.md"), encoding="utf-8") as file:
                return file.read()
        except OSError:
            return ""

    def is_delivered(self, memory: Memory) -> bool:
        """True if all that was recorded is there."""
        end = memory.parts.store.end(stream_of(self.agent))
        return end.offset == 0 or Position(*self._mark()["at"]) == end

    def start(self, memory: Memory) -> Popen[bytes] | None:
        """Start to deliver in the background, and do not wait; None: a process does already."""
        with memory.parts.files.alone(CHORE) as is_alone:
            if not is_alone:
                return None  # it looks again when it is done
        named = (
            ["--memory", self.target.where]
            if self.target.where and not os.environ.get("LOOSELEAF_HOME")
            else []
        )
        import subprocess

        try:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "looseleaf", *named, "--agent", self.agent, "hook", "deliver"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            memory.parts.note(
                f"Nothing was delivered: the process did not start ({error.strerror or error}). The next hook retries."
            )
            return None

    def deliver_now(self, memory: Memory) -> bool:
        """Deliver, and wait a little for it; False: not everything is there."""
        import subprocess

        until = time.monotonic() + WAIT_SECONDS
        while not self.is_delivered(memory) and time.monotonic() < until:
            process = self.start(memory)
            if process is not None:
                try:
                    process.wait(max(0.0, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.returncode = 0  # it goes on
                    break
                if process.returncode:
                    break
            time.sleep(0.05)
        return self.is_delivered(memory)

    # --- in the background -----------------------------------------------------------------

    def deliver(self, memory: Memory, sender: Sender) -> None:
        """Deliver what is not there yet, unless another process does. The next hook says what failed."""
        store = memory.parts.store
        with memory.parts.files.alone(CHORE) as is_alone:
            if not is_alone:
                return
            try:
                has_sent = False
                while self._deliver_batch(memory, sender):
                    has_sent = True
                self._write("snapshot.md", sender.snapshot(distill=has_sent))
            except Refused as refused:
                view = read_view(store, self.agent)
                if str(refused) not in view["said"]:
                    said = {"told": [*view["told"], str(refused)], "said": [str(refused)]}
                    with store.lock():
                        write_view(store, self.agent, read_view(store, self.agent) | said)
                raise

    def _deliver_batch(self, memory: Memory, sender: Sender) -> bool:
        """Send a batch; False: there is none. A batch whose fate is unknown is sent again as it was."""
        mark = self._mark()
        plan = mark["plan"]
        if plan is None:
            plan = self._plan(memory, mark)
            if plan is None:
                return False
            self._keep(mark | {"plan": plan})
        traces = self._read(memory, Position(*plan["from"]), Position(*plan["to"]))
        asked = [_request_of(trace, mark["turns"].get(trace.turn_id), mark["tags"]) for trace in traces]
        turns: list[str] = []
        if asked:
            try:
                turns = sender.send(traces[0].session_id, asked, plan["key"], plan["made"])
            except TooMuch as error:
                if len(asked) > 1:
                    self._keep(mark | {"plan": None, "most": len(asked) // 2})
                    return True
                if asked[0].get("tags"):  # only some tokens may send what raises trust
                    self._keep(mark | {"plan": None, "tags": False})
                    return True
                memory.parts.note(f"One thing that was said was not delivered: {error}")  # it stays here
        known = dict(mark["turns"])
        known.update((trace.turn_id, turn) for trace, turn in zip(traces, turns, strict=False))
        kept = dict(list(known.items())[-_TURNS:])
        most = min(_AT_ONCE, 2 * mark["most"])
        self._keep({"at": plan["to"], "turns": kept, "plan": None, "most": most, "tags": mark["tags"]})
        return True

    def _plan(self, memory: Memory, mark: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return which traces are sent next: those of one session whose turns can each be named there."""
        start = Position(*mark["at"])
        begun: dict[str, None] = {}
        to, session, size, count = start, None, 0, 0
        for line in memory.parts.store.read(stream_of(self.agent), start):
            trace = Trace.from_record(line.record)
            if trace is not None:
                size += len(json.dumps(line.record))
                is_other = session is not None and trace.session_id != session
                is_back = trace.turn_id in begun and trace.turn_id != next(reversed(begun))
                if count and (is_other or is_back or count >= mark["most"] or size > _BYTES):
                    break
                session, count = trace.session_id, count + 1
                begun[trace.turn_id] = None
            to = line.end
        if to == start:
            return None
        key = sha256(f"{self.path}\n{start}\n{to}\n{time.time_ns()}".encode())
        return {"from": list(start), "to": list(to), "key": key, "made": time.time()}

    def _read(self, memory: Memory, start: Position, to: Position) -> list[Trace]:
        found = []
        for line in memory.parts.store.read(stream_of(self.agent), start):
            if line.position >= to:
                break
            trace = Trace.from_record(line.record)
            found += [trace] if trace is not None else []
        return found

    # --- how far it is ---------------------------------------------------------------------

    def _mark(self) -> dict[str, Any]:
        try:
            with open(os.path.join(self.folder, "delivered.json"), "rb") as file:
                read: dict[str, Any] = json.load(file)
                return read
        except FileNotFoundError:
            return {"at": list(START), "turns": {}, "plan": None, "most": _AT_ONCE, "tags": True}

    def _keep(self, mark: Mapping[str, Any]) -> None:
        self._write("delivered.json", json.dumps(mark))

    def _write(self, name: str, text: str) -> None:
        """Replace a file that only its owner can read, so that it is whole after any crash."""
        path = os.path.join(self.folder, name)
        fd = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)


# --- what is sent ------------------------------------------------------------------------

_MEMBERS = (
    *(
        "media",
        "reasoning",
        "tool_call_id",
        "tool_args",
        "tool_error",
        "tool_result_ref",
        "correlation_id",
        "opaque",
    ),
    "ts",
)


def _request_of(trace: Trace, turn: str | None, has_tags: bool) -> dict[str, Any]:
    """Return a trace as a server is asked to record it. `turn`: what its turn is called there; None: it begins with it,
    or is the one that began last."""
    asked: dict[str, Any] = {name: value for name in _MEMBERS if (value := getattr(trace, name))}
    asked |= {"tags": list(trace.tags)} if trace.tags and has_tags else {}
    if trace.trace_type in ("user", "assistant"):
        asked[trace.trace_type] = trace.content
    else:
        asked |= {"content": trace.content} if trace.content else {}
        if trace.trace_type == "tool_call":
            asked["tool_call"] = trace.tool_name or "tool"
        else:
            asked["tool_result"] = trace.tool_result
            asked |= {"tool_name": trace.tool_name} if trace.tool_name else {}
    return asked | ({"turn_id": turn} if turn is not None else {})


class TooMuch(Refused):
    """More than the other side takes."""


class Sender(Protocol):
    """The way to a memory that is elsewhere."""

    def send(self, session: str, asked: list[dict[str, Any]], key: str, made: float) -> list[str]:
        """Have traces recorded, once for each key; return the turn of each. `made`: when the key was."""

    def snapshot(self, *, distill: bool) -> str:
        """Return what a session should begin with. `distill`: first make facts of what was said."""


class HttpSender:
    """To a server."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def send(self, session: str, asked: list[dict[str, Any]], key: str, made: float) -> list[str]:
        from urllib.parse import quote

        path = f"/traces?session={quote(session, safe='')}"
        try:
            told = self._ask("POST", path, asked, {"idempotency-key": key})
        except _Answered as answered:
            if answered.kind == "gone-since":
                return []  # it was there, and has been forgotten
            if answered.status in (413, 422) and answered.kind != "key-used":
                raise TooMuch(str(answered)) from None
            if answered.kind == "key-used":
                return []
            raise
        return [str(each["turn_id"]) for each in told["traces"]]

    def snapshot(self, *, distill: bool) -> str:
        if distill:
            self._ask("POST", "/distill", {}, {})
        return str(self._ask("GET", "/snapshot", None, {})["text"])

    def _ask(self, method: str, path: str, body: object, headers: dict[str, str]) -> dict[str, Any]:
        from urllib.error import HTTPError
        from urllib.parse import quote
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class NoRedirect(HTTPRedirectHandler):
            """A token is for the server that was named, and for none that it names."""

            def redirect_request(self, *_: object) -> None: ...

        name = quote(self._target.name.replace("/", ":"), safe=":")
        headers = {"authorization": f"Bearer {self._target.token}", **headers}
        data = json.dumps(body).encode() if body is not None else None
        headers |= {"content-type": "application/json"} if data is not None else {}
        asked = Request(f"{self._target.server}/v1/memories/{name}{path}", data, headers, method=method)
        try:
            with build_opener(NoRedirect).open(asked, timeout=60.0) as answer:
                told: dict[str, Any] = json.load(answer)
                return told
        except HTTPError as error:
            with error:
                raise _Answered(error.code, error.read(1 << 16), self._target.server) from None
        except (OSError, ValueError) as error:
            raise Refused(
                f"What was said is not at {self._target.server} yet: it does not answer ({error}). The next hook tries "
                "again; it is kept here until then."
            ) from None


class _Answered(Refused):
    """A server that refused."""

    def __init__(self, status: int, body: bytes, server: str) -> None:
        try:
            told = json.loads(body)
            says, kind = str(told["detail"]), str(told["type"]).removeprefix("/problems/")
        except (ValueError, KeyError, TypeError):
            says, kind = f"it answers {status}", ""
        self.status, self.kind = status, kind
        super().__init__(f"What was said is not at {server} yet: {says}")


class DatabaseSender:
    """Into a database: with the driver, and so never in a hook."""

    def __init__(self, where: str, agent: str) -> None:
        self._where = where
        self._agent = agent

    def send(self, session: str, asked: list[dict[str, Any]], key: str, made: float) -> list[str]:
        from looseleaf.log.recorder import ask
        from looseleaf.memory import Memory
        from looseleaf.store.streams import REQUEST

        with Memory(self._where, agent=self._agent, session=session) as memory:
            recorder = memory.parts.conversation.recorder
            with memory.parts.store.lock():
                found = self._written(memory, key, made)
                if found:
                    return found
                token = REQUEST.set(key)
                try:
                    traces = recorder.record([ask(**each) for each in asked])
                finally:
                    REQUEST.reset(token)
            for trace in traces:
                memory.parts.heed(trace)
            return [trace.turn_id for trace in traces]

    def _written(self, memory: Memory, key: str, made: float) -> list[str]:
        """Return the turns of what was recorded by a key."""
        from looseleaf.base.ids import is_id, time_of

        found = []
        for line in memory.parts.store.read_back(stream_of(self._agent)):
            name = str(line.record.get("id"))
            if is_id(name) and time_of(name) < made - 60.0:
                break
            if line.record.get("request") == key and "trace_type" in line.record:
                found.append(str(line.record["turn_id"]))
        return found[::-1]

    def snapshot(self, *, distill: bool) -> str:
        from looseleaf.integrations.detached import work
        from looseleaf.memory import Memory

        with Memory(self._where, agent=self._agent) as memory:
            if distill:
                work(memory)
            return memory.views.snapshot(quick=True).text


def sender_for(spool: Spool) -> Sender:
    target = spool.target
    return HttpSender(target) if target.server else DatabaseSender(target.where, spool.agent)


def remove_old() -> None:
    """Remove spools that were not used for long, if all of them was delivered."""
    import shutil

    root, least = state_folder(), time.time() - _REMOVED_DAYS * 86_400
    for name in os.listdir(root) if os.path.isdir(root) else ():
        mark = os.path.join(root, name, "delivered.json")
        try:
            with open(mark, "rb") as file:
                is_done = json.load(file)["plan"] is None
            newest = max(os.stat(mark).st_mtime, _newest(os.path.join(root, name, "memory", "log", "traces")))
        except (OSError, ValueError, KeyError):
            continue
        if is_done and newest < least and os.stat(mark).st_mtime >= newest - 1.0:
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)


def _newest(folder: str) -> float:
    return max((each.stat().st_mtime for each in os.scandir(folder)), default=0.0)
