"""The current epoch of an agent: its beginning and what was told since, as the log has them, for every process.

What could not be written is kept, and written with the next prompt: a full disk does not change what a model is told.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.prompt.epoch import ONCE
from looseleaf.prompt.manifest import hash_of
from looseleaf.prompt.prompt_log import ref_of
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.messages import Message
    from looseleaf.base.values import Record
    from looseleaf.prompt.epoch import Change, Epoch, Ref
    from looseleaf.prompt.prompt_log import PromptLog
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count


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
