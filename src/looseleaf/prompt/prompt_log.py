"""The log of prompts (`log/prompts/<agent>.jsonl`, FORMAT §14): every manifest, and what it takes to render its prompt
again, byte for byte: the beginning, the changes, the place in the traces, the task.
"""

from __future__ import annotations

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.messages import Message
from looseleaf.base.values import START, Position
from looseleaf.log.journal import NO_MARK, AgentHead
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import find_line, guard
from looseleaf.prompt.fit import replace_result
from looseleaf.prompt.manifest import ONCE, Epoch, EpochChange, Manifest, Prompt, hash_of
from looseleaf.window.window import Window, costs_of, read_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from looseleaf.base.values import Record
    from looseleaf.prompt.manifest import Ref
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count

    _T = TypeVar("_T")


GONE = "gone"
"""The kind of a line that replaces a forgotten one (FORMAT §17.2)."""

_FORGOTTEN = (
    "This prompt held something that was forgotten since, and was removed with it. `looseleaf prompt` "
    "makes a new one; `looseleaf why` explains that one."
)

_NEEDED = frozenset(("snapshot", "changes", "mark", "through", "task", "trimmed", "frozen", "session"))


def prompts_of(agent: str) -> str:
    return f"prompts/{agent}"


class PromptLog:
    def __init__(self, store: Store, agent: str, read_line: Callable[[str], str]) -> None:
        self._store = store
        self._agent = agent
        self._stream = prompts_of(agent)
        self._read_line = read_line

    def append(self, record: Record) -> Ref:
        position = self._store.append(self._stream, [record])[0]
        return str(record["id"]), position.segment, position.offset

    def append_behind(self, record: Record, last: Record | None) -> bool:
        """Log a prompt if no other one was logged since the last that is known: without the lock, and in one trip where
        the log is far away."""
        line = next(self._store.read_back(self._stream), None)
        is_known = (self.last() or {}).get("id") == (last or {}).get("id")
        position = line.position if line is not None else START
        edition = self._store.edition()
        return is_known and self._store.append_after(self._stream, position, [record], edition) is not None

    def back(self) -> Iterator[Record]:
        """Yield the records of prompts, newest first."""
        for line in self._store.read_back(self._stream):
            if line.record.get("kind") == "prompt" and _is_whole(line.record):
                yield line.record

    def last(self) -> Record | None:
        return next(self.back(), None)

    def find(self, name: str) -> Record:
        """Find a prompt by its id, the end of its id (which begins with the time), or `last`."""

        def is_named(record: Record) -> bool:
            return name != "" and str(record.get("id")).endswith(name.upper())

        found = self.last() if name == "last" else next(filter(is_named, self.back()), None)
        if found is not None:
            return found
        records = (line.record for line in self._store.read_back(self._stream))
        if any(record.get("kind") == GONE and is_named(record) for record in records):
            raise NotFound(_FORGOTTEN)
        raise NotFound(
            f"There is no prompt {name!r} of {self._agent}. `looseleaf analyze` lists the last ones."
        )

    def _read_ref(self, ref: Ref, read: Callable[[Record], _T]) -> _T:
        """Read the record that a prompt refers to."""
        name, segment, offset = ref
        line = find_line(self._store, self._stream, Position(segment, offset), name)
        if line is not None and line.record.get("kind") == GONE:
            raise NotFound(_FORGOTTEN)
        try:
            return read(line.record if line is not None else {})
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Refused(
                f"The prompt was not rendered: record {name} of log/prompts/{self._agent}.jsonl, which it rests on, "
                "is missing or damaged. `looseleaf check` says more."
            ) from None

    def epoch(self, ref: Sequence[object]) -> Epoch:
        return self._read_ref(ref_of(ref), lambda raw: Epoch.from_record(raw, self._read_line))

    def changes(self, last: Sequence[object] | None) -> list[tuple[Ref, EpochChange]]:
        """Return the changes of an epoch up to this one, oldest first."""
        found: list[tuple[Ref, EpochChange]] = []
        seen: set[str] = set()
        while last is not None:
            ref = ref_of(last)
            if ref[0] in seen:  # a loop, which only a forger could have made
                break
            seen.add(ref[0])
            change, last = self._read_ref(
                ref, lambda raw: (EpochChange.from_record(raw, self._read_line), raw["previous"])
            )
            found.append((ref, change))
        return found[::-1]

    def manifest(self, record: Record) -> Manifest:
        """Return the manifest of a prompt, with all sources and omissions of its beginning."""
        try:
            found = Manifest.from_dict(record)
        except (KeyError, TypeError, ValueError):
            raise Refused(
                f"Record {record.get('id')} of log/prompts/{self._agent}.jsonl makes no sense. "
                "`looseleaf check` says more."
            ) from None
        epoch = self.epoch(record["snapshot"])
        begun = {item.id: item for item in epoch.items}
        items = tuple(
            item.but(of=begun[item.id].of) if item.id in begun and not item.of else item
            for item in found.items
        )
        kept = {(each.id, each.slot) for each in epoch.omitted}
        omitted = (*epoch.omitted, *(each for each in found.omitted if (each.id, each.slot) not in kept))
        return found.but(items=items, omitted=omitted)

    def again(self, name: str) -> Prompt:
        """Render a prompt as it was. Refuse if its sources are gone or give other bytes."""
        return self.render(self.find(name))[0]

    def render(self, record: Record) -> tuple[Prompt, Window]:
        """Render a prompt as it was, and return its window too."""
        manifest, window = self.manifest(record), Window(self._store, stream_of(self._agent), lambda: NO_MARK)
        try:
            window = self._read_window(record)
            messages = tuple(self._render_messages(record, window))
            is_same = hash_of(messages) == manifest.sha256
        except Refused:
            raise
        except (LookupError, TypeError, ValueError, AttributeError):  # it names messages that are gone
            is_same = False
        if not is_same:
            raise Refused(
                f"The prompt {record['id']} was not rendered again: the log now gives other bytes. "
                "Traces were damaged or forgotten since, or another version of looseleaf made it"
                f"{_told_layers(manifest)}."
            )
        return Prompt(messages, manifest), window

    def _render_messages(self, record: Record, window: Window) -> list[Message]:
        epoch = self.epoch(record["snapshot"])
        told = drop_sentences(window, epoch.left)
        if record.get("trimmed") is not None:
            told = apply_trim(told, record["trimmed"])
        else:
            changes = (each for _, each in self.changes(record["changes"]))
            told = insert_changes(told, [(place_of_change(window, each), each.message) for each in changes])
        task = record["task"]
        return [*epoch.messages, *told, *([task_message(task)] if task is not None else [])]

    def _read_window(self, record: Record) -> Window:
        """Read the window as a prompt had it."""
        head = AgentHead(*record["mark"]) if record["mark"] is not None else NO_MARK
        window = Window(self._store, stream_of(self._agent), lambda: head)
        if record["through"] is not None:
            window.read_through(read_mark(self._store, head), str(record["through"]))
        return window


def _told_layers(manifest: Manifest) -> str:
    names = dict.fromkeys(item.layer for item in manifest.items if item.layer)
    return f", or a layer that it shows changed: {', '.join(names)}" if names else ""


def _is_whole(record: Record) -> bool:
    """True if a record has all members of a prompt's: anyone may write a line."""
    try:
        Manifest.from_dict(record)
        float(record["ts"])
        return isinstance(record["id"], str) and not _NEEDED - record.keys()
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def ref_of(raw: Sequence[object]) -> Ref:
    """Raise KeyError, TypeError or ValueError for anything else."""
    name, segment, offset = raw
    return str(name), int(str(segment)), int(str(offset))


def task_message(task: str) -> Message:
    """Return the message that the task will be once it is recorded."""
    return Message("user", guard(task))


# --- the messages of a window, as a prompt has them ------------------------------------


def drop_sentences(window: Window, left: Sequence[str]) -> list[Message]:
    """Return the window's messages without snapshot sentences that the prompt says elsewhere."""
    if not left or not window.begins:
        return list(window.messages)
    first = window.first(left) or window.messages[0]
    return [first, *window.messages[window.begins :]]


def place_of_change(window: Window, change: EpochChange) -> int:
    """Return how many messages of the window stand before a change."""
    found = window.after(change.after) if change.after is not None else None
    return window.begins if found is None else found


def insert_changes(messages: Sequence[Message], changes: Sequence[tuple[int, Message]]) -> list[Message]:
    """Insert each change after so many messages."""
    found = list(messages)
    for at, message in reversed(changes):
        found.insert(at, message)
    return found


def apply_trim(messages: Sequence[Message], trimmed: Record) -> list[Message]:
    """Apply a trim record: keep its range of messages, with its shorter texts."""
    found = list(messages[int(trimmed["first"]) : int(trimmed["end"])])
    if trimmed.get("text") is not None:
        found[0] = Message(found[0].role, str(trimmed["text"]))
    for at, text in trimmed.get("short", {}).items():
        number = int(at) - int(trimmed["first"])
        found[number] = replace_result(found[number], str(text)) or found[number]
    return found


# --- the current epoch: its beginning and changes, as the log has them for every process ----


class Overtaken(Exception):
    """Another process made a prompt for this agent since the log was read."""


class CurrentEpoch:
    def __init__(self, store: Store, log: PromptLog, agent: str) -> None:
        self._store = store
        self._log = log
        self._agent = agent
        self.epoch: Epoch | None = None
        self.changes: list[EpochChange] = []
        self.last: Record | None = None
        """The record of the last prompt."""
        self._refs: dict[str, Ref] = {}
        """Where the beginning and the changes stand, without those still to be written."""
        self._last_messages: tuple[Message, ...] = ()
        self._is_read = False
        self._edition: tuple[int, ...] | None = None

    def load(self) -> None:
        """Load the epoch of the last prompt, even if another process made it."""
        edition = self._store.edition()
        last = self._log.last()
        is_same = self._is_read and edition == self._edition
        if is_same and (last or {}).get("id") == (self.last or {}).get("id"):
            return
        self._is_read, self._edition = True, edition
        self.epoch, self.changes, self.last, self._refs, self._last_messages = None, [], last, {}, ()
        if last is None:
            return
        try:
            at = ref_of(last["frozen"]["snapshot"])
            epoch = self._log.epoch(at)
            changes = self._log.changes(last["frozen"]["changes"])
        except (KeyError, TypeError, ValueError, Refused):
            return  # unreadable: render anew
        self.epoch, self.changes = epoch, [change for _, change in changes]
        self._refs = {epoch.id: at} | {change.id: ref for ref, change in changes}

    def prefix(self, messages: tuple[Message, ...], tokenizer: str, count: Count) -> int:
        """Return the tokens of the messages that the last prompt had in the same places: a cache may know them."""
        common, last = 0, self.last or {}
        if self._last_messages:
            for old, new in zip(self._last_messages, messages, strict=False):
                if old is not new and old != new:
                    break
                common += 1
            if common == len(self._last_messages) and last.get("tokenizer") == tokenizer:
                return int(last["total_tokens"])  # all of it, already counted
        elif last:  # from another process: its hash says whether this prompt begins with it
            number = max((int(item["messages"][1]) for item in last["items"]), default=0)
            common = number if hash_of(messages[:number]) == last["sha256"] else 0
            begun = len(self.epoch.messages) if self.epoch is not None else 0
            if not common and hash_of(messages[:begun]) == last["prefix_hash"]:
                common = begun
        return sum(costs_of(messages[:common], count))

    def append(
        self, record: Record, messages: tuple[Message, ...], begun: Epoch | None, change: EpochChange | None
    ) -> None:
        """Log a prompt; its beginning or change then belongs to the current epoch. Raise Overtaken if another process
        was quicker: then nothing was written."""
        if self._store.is_far and self._append_alone(record, messages, begun, change):
            return
        with self._store.lock():
            if (self._log.last() or {}).get("id") != (self.last or {}).get("id"):
                raise Overtaken
            is_once = begun is not None and begun.why == ONCE and self.epoch is not None
            if begun is not None and not is_once:
                self.epoch, self.changes = begun, []
            elif change is not None:
                self.changes.append(change)
            self._last_messages = ()
            assert self.epoch is not None
            if self.epoch.id not in self._refs:
                self._refs = {self.epoch.id: self._log.append(self.epoch.to_record(self._agent))}
            used = frozen_at = self._refs[self.epoch.id]
            told_at = self._write_changes(self.epoch)
            if begun is not None and is_once:
                used = self._log.append(begun.to_record(self._agent))
            record = record | {
                "snapshot": used,
                "changes": told_at if begun is None else None,
                "frozen": {"snapshot": frozen_at, "changes": told_at},
            }
            self._log.append(record)
            self.last, self._last_messages = record, messages

    def _append_alone(
        self, record: Record, messages: tuple[Message, ...], begun: Epoch | None, change: EpochChange | None
    ) -> bool:
        """Log a prompt to which nothing else belongs, as most are; False if it is not one, or was overtaken."""
        epoch = self.epoch
        is_alone = begun is None and change is None and epoch is not None and epoch.id in self._refs
        if not is_alone or any(each.id not in self._refs for each in self.changes):
            return False
        used = self._refs[epoch.id] if epoch is not None else None
        told_at = self._refs[self.changes[-1].id] if self.changes else None
        frozen = {"snapshot": used, "changes": told_at}
        record = record | {**frozen, "frozen": frozen}
        if not self._log.append_behind(record, self.last):
            return False
        self.last, self._last_messages = record, messages
        return True

    def _write_changes(self, epoch: Epoch) -> Ref | None:
        """Return the place of the last change; write those that are not in the log yet."""
        last: Ref | None = None
        for change in self.changes:
            if change.id not in self._refs:
                self._refs[change.id] = self._log.append(change.to_record(self._agent, epoch.id, last))
            last = self._refs[change.id]
        return last
