"""The log of prompts (`log/prompts/<agent>.jsonl`, FORMAT §14): every manifest, and what it takes to render its prompt
again, byte for byte: the beginning and the changes as they were told, the place in the traces, the task.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.messages import Message
from looseleaf.base.values import Position
from looseleaf.log.journal import NO_MARK, AgentHead
from looseleaf.log.recorder import stream_of
from looseleaf.log.trace_messages import guard
from looseleaf.prompt.fit import shorter
from looseleaf.prompt.manifest import ONCE, Change, Epoch, Manifest, Prompt, hash_of
from looseleaf.window.window import Window, costs_of, read_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from looseleaf.base.messages import Message
    from looseleaf.base.values import Line, Record
    from looseleaf.prompt.manifest import Change, Epoch, Ref
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count

if TYPE_CHECKING:
    _T = TypeVar("_T")


GONE = "gone"
"""The kind of a line that stands where something was forgotten (FORMAT §17.2)."""

_FORGOTTEN = (
    "Nothing was shown: this prompt held something that was forgotten since, and went with it. `looseleaf prompt` "
    "makes one of what is known now; `looseleaf why` explains that one."
)

_NEEDED = frozenset(("snapshot", "changes", "mark", "through", "task", "trimmed", "frozen", "session"))


def prompts_of(agent: str) -> str:
    return f"prompts/{agent}"


class PromptLog:
    def __init__(self, store: Store, agent: str) -> None:
        self._store = store
        self._agent = agent
        self._stream = prompts_of(agent)

    def append(self, record: Record) -> Ref:
        position = self._store.append(self._stream, [record])[0]
        return str(record["id"]), position.segment, position.offset

    # --- reading -----------------------------------------------------------------------

    def back(self) -> Iterator[Record]:
        """The records of prompts, the newest first."""
        for line in self._store.read_back(self._stream):
            if line.record.get("kind") == "prompt" and _is_whole(line.record):
                yield line.record

    def last(self) -> Record | None:
        return next(self.back(), None)

    def find(self, name: str) -> Record:
        """By its id, how that ends (its beginning is the time), or `last`."""
        if name == "last":
            found = self.last()
        else:
            found = (
                next((each for each in self.back() if str(each["id"]).endswith(name.upper())), None)
                if name
                else None
            )
        if found is None and name and name != "last" and self._is_gone(name):
            raise Refused(_FORGOTTEN)
        if found is None:
            raise Refused(
                f"Nothing was shown: there is no prompt {name!r} of {self._agent}. "
                "`looseleaf analyze` lists the last ones."
            )
        return found

    def _is_gone(self, name: str) -> bool:
        lines = self._store.read_back(self._stream)
        return any(
            line.record.get("kind") == GONE and str(line.record.get("id")).endswith(name.upper())
            for line in lines
        )

    def _at(self, ref: Ref, read: Callable[[Record], _T]) -> _T:
        """The record that a prompt refers to. Repair may have moved it: then it is looked for."""
        name, segment, offset = ref
        line: Line | None = next(self._store.read(self._stream, Position(segment, offset)), None)
        if line is None or line.record.get("id") != name:
            lines = self._store.read_back(self._stream)
            line = next((each for each in lines if each.record.get("id") == name), None)
        if line is not None and line.record.get("kind") == GONE:
            raise Refused(_FORGOTTEN)
        try:
            return read(line.record if line is not None else {})
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Refused(
                f"The prompt was not rendered: record {name} of log/prompts/{self._agent}.jsonl, which it rests on, "
                "is missing or damaged. `looseleaf check` says more."
            ) from None

    def epoch(self, ref: Sequence[object]) -> Epoch:
        return self._at(ref_of(ref), Epoch.from_record)

    def changes(self, last: Sequence[object] | None) -> list[tuple[Ref, Change]]:
        """The changes of an epoch up to this one, oldest first."""
        found: list[tuple[Ref, Change]] = []
        seen: set[str] = set()
        while last is not None:
            ref = ref_of(last)
            if ref[0] in seen:  # a ring, that only a forger could have made
                break
            seen.add(ref[0])
            change, last = self._at(ref, lambda raw: (Change.from_record(raw), raw["previous"]))
            found.append((ref, change))
        return found[::-1]

    def manifest(self, record: Record) -> Manifest:
        """The manifest of a prompt, with all that its beginning was made of and left out."""
        try:
            found = Manifest.from_dict(record)
        except (KeyError, TypeError, ValueError):
            raise Refused(
                f"Nothing was shown: record {record.get('id')} of log/prompts/{self._agent}.jsonl makes no sense. "
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
        members = {name: getattr(found, name) for name in found.__match_args__}
        return Manifest(**members | {"items": items, "omitted": omitted})

    # --- rendering again ---------------------------------------------------------------

    def again(self, name: str) -> Prompt:
        """A prompt as it was. Refused if what it was made of is not there any more, or gives other bytes."""
        record = self.find(name)
        manifest = self.manifest(record)
        try:
            messages = tuple(self._messages(record))
            is_same = hash_of(messages) == manifest.sha256
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
        ):  # it names messages that are not there any more
            is_same = False
        if not is_same:
            raise Refused(
                f"The prompt {record['id']} was not rendered again: what the log holds now gives other bytes than it "
                "had. Traces were damaged or forgotten since, or another version of looseleaf made it."
            )
        return Prompt(messages, manifest)

    def _messages(self, record: Record) -> list[Message]:
        epoch = self.epoch(record["snapshot"])
        window = self.window(record)
        told = without(window, epoch.left)
        trimmed = record.get("trimmed")
        if trimmed is not None:
            told = trim(told, trimmed)
        else:
            changes = self.changes(record["changes"])
            told = inserted(told, [(after_of(window, each), each.message) for _, each in changes])
        task = record["task"]
        return [*epoch.messages, *told, *([task_message(task)] if task is not None else [])]

    def window(self, record: Record) -> Window:
        """The window as a prompt had it."""
        head = AgentHead(*record["mark"]) if record["mark"] is not None else NO_MARK
        window = Window(self._store, stream_of(self._agent), lambda: head)
        if record["through"] is not None:
            window.read_through(read_mark(self._store, head), str(record["through"]))
        return window


def _is_whole(record: Record) -> bool:
    """Whether a record has all that one of a prompt has: anybody may write a line."""
    try:
        Manifest.from_dict(record)
        float(record["ts"])
        return isinstance(record["id"], str) and not _NEEDED - record.keys()
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def ref_of(raw: Sequence[object]) -> Ref:
    """KeyError, TypeError or ValueError for what is none."""
    name, segment, offset = raw
    return str(name), int(str(segment)), int(str(offset))


def task_message(task: str) -> Message:
    """As the message will be that tells of it once it is recorded."""
    return Message("user", guard(task))


# --- the messages of a window, as a prompt has them ------------------------------------


def without(window: Window, left: Sequence[str]) -> list[Message]:
    """Without the sentences of its snapshot that are said elsewhere in the prompt."""
    if not left or not window.begins:
        return list(window.messages)
    first = window.first(left) or window.messages[0]
    return [first, *window.messages[window.begins :]]


def after_of(window: Window, change: Change) -> int:
    """How many messages of the window stand before a change."""
    if change.after is None:
        return window.begins
    found = window.after(change.after)
    return window.begins if found is None else found


def inserted(messages: Sequence[Message], changes: Sequence[tuple[int, Message]]) -> list[Message]:
    """Each change behind so many messages."""
    found = list(messages)
    for at, message in reversed(changes):
        found.insert(at, message)
    return found


def trim(messages: Sequence[Message], trimmed: Record) -> list[Message]:
    """The messages from one on; those that were shortened with another text."""
    found = list(messages[int(trimmed["first"]) : int(trimmed["end"])])
    if trimmed.get("text") is not None:
        found[0] = Message(found[0].role, str(trimmed["text"]))
    for at, text in trimmed.get("short", {}).items():
        number = int(at) - int(trimmed["first"])
        found[number] = shorter(found[number], str(text)) or found[number]
    return found


# The current epoch of an agent: its beginning and what was told since, as the log has them, for every
# process.


class Overtaken(Exception):
    """Another process has made a prompt of this agent since the log was read."""


class Current:
    def __init__(self, store: Store, log: PromptLog, agent: str) -> None:
        self._store = store
        self._log = log
        self._agent = agent
        self.epoch: Epoch | None = None
        self.changes: list[Change] = []
        self.last: Record | None = None
        """The record of the last prompt."""
        self._refs: dict[str, Ref] = {}
        """Where the beginning and the changes stand; not those that are still to be written."""
        self._before: tuple[Message, ...] = ()
        self._is_read = False
        self._edition: tuple[int, ...] | None = None

    def recall(self) -> None:
        """The epoch of the last prompt, also where another process made it."""
        last = self._log.last()
        edition = self._store.edition()
        is_same = self._is_read and edition == self._edition
        if is_same and (last or {}).get("id") == (self.last or {}).get("id"):
            return
        self._is_read, self._edition = True, edition
        self.epoch, self.changes, self.last, self._refs, self._before = None, [], last, {}, ()
        if last is None:
            return
        try:
            at = ref_of(last["frozen"]["snapshot"])
            epoch = self._log.epoch(at)
            changes = self._log.changes(last["frozen"]["changes"])
        except (KeyError, TypeError, ValueError, Refused):
            return  # what cannot be read is rendered anew
        self.epoch, self.changes = epoch, [change for _, change in changes]
        self._refs = {epoch.id: at} | {change.id: ref for ref, change in changes}

    def prefix(self, messages: tuple[Message, ...], tokenizer: str, count: Count) -> int:
        """The tokens of the messages that the last prompt had at the same places: a cache may know them."""
        common, last = 0, self.last or {}
        if self._before:
            for old, new in zip(self._before, messages, strict=False):
                if old is not new and old != new:
                    break
                common += 1
            if common == len(self._before) and last.get("tokenizer") == tokenizer:
                return int(last["total_tokens"])  # all of it: that was counted
        elif last:  # another process made it: its hash says whether this one begins with it
            number = max((int(item["messages"][1]) for item in last["items"]), default=0)
            common = number if hash_of(messages[:number]) == last["sha256"] else 0
            begun = len(self.epoch.messages) if self.epoch is not None else 0
            if not common and hash_of(messages[:begun]) == last["prefix_hash"]:
                common = begun
        return sum(costs_of(messages[:common], count))

    def go_on(
        self, record: Record, messages: tuple[Message, ...], begun: Epoch | None, change: Change | None
    ) -> None:
        """Write a prompt down; what it begins or tells is the current epoch's from then on. Overtaken if another
        process was quicker: then nothing was written."""
        with self._store.lock():
            if (self._log.last() or {}).get("id") != (self.last or {}).get("id"):
                raise Overtaken
            is_once = begun is not None and begun.why == ONCE and self.epoch is not None
            if begun is not None and not is_once:
                self.epoch, self.changes = begun, []
            elif change is not None:
                self.changes.append(change)
            self._before = ()
            assert self.epoch is not None
            frozen_at = self._written(self.epoch)
            told_at = self._told()
            used = (
                self._log.append(begun.to_record(self._agent)) if begun is not None and is_once else frozen_at
            )
            record = record | {
                "snapshot": used,
                "changes": told_at if begun is None else None,
                "frozen": {"snapshot": frozen_at, "changes": told_at},
            }
            self._log.append(record)
            self.last, self._before = record, messages

    def _written(self, epoch: Epoch) -> Ref:
        if epoch.id not in self._refs:
            self._refs = {epoch.id: self._log.append(epoch.to_record(self._agent))}
        return self._refs[epoch.id]

    def _told(self) -> Ref | None:
        """The place of the last change; those that are not in the log yet are written."""
        last: Ref | None = None
        for change in self.changes:
            if change.id not in self._refs:
                assert self.epoch is not None
                record = change.to_record(self._agent, self.epoch.id, last)
                self._refs[change.id] = self._log.append(record)
            last = self._refs[change.id]
        return last
