"""This memory and a folder with another copy of it: what either lacks is brought from the other.

First, what the folder has is taken in here: the logs, then what people wrote into its pages. Then it gets the logs that
are known here, and last the pages, which follow from them. A page that no log knows is never replaced before its words
are here. Every file is replaced in one step, and logs come before what rests on them; so wherever a sync ends, the
folder is a memory, and the next sync does the rest.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from shlex import quote

from looseleaf.base.errors import Busy, Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import DRAWERS, STATE, TOP_PAGES, canonical, fold_name, is_page, same_name
from looseleaf.base.values import sha256, sha256_or_none
from looseleaf.log.journal import EXTERNAL, BrokenEdit, edit_of, forward, record_of
from looseleaf.pages.folder import NAME, is_memory
from looseleaf.store import JOURNAL, records
from looseleaf.store.disk import Lock
from looseleaf.store.foreign import fault_in
from looseleaf.store.machines import FILE, OTHERS, is_name, log_of, stream_of
from looseleaf.store.root import PLAN, STAGED, Root, unreadable, unwritten
from looseleaf.store.share import ShareClaim
from looseleaf.store.this_machine import SCHEMA
from looseleaf.sync.log_files import Files, LogFiles, are_strangers, bring_log, is_older, known_in, turns_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Protocol

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edit
    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.place.other_machines import OtherMachines
    from looseleaf.store.bring import Talk
    from looseleaf.store.context import Context
    from looseleaf.store.files import FileStore

    class Merged(Protocol):
        """What came with the logs."""

        @property
        def talk(self) -> Talk: ...

    class Needs(Protocol):
        @property
        def context(self) -> Context: ...
        @property
        def files(self) -> FileStore: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def notebook(self) -> Notebook: ...
        @property
        def known(self) -> Facts: ...
        @property
        def others(self) -> OtherMachines: ...
        def settle(self) -> None: ...

    Merge = Callable[[str], Merged]
    """Takes in the logs of a folder."""

EDITED = "changed in a copy"
"""The reason of an edit that takes in what a person wrote into a page of another copy."""

_ROUNDS = 3
"""How often it is begun, if another machine writes there meanwhile."""

_OF_DISKS = frozenset({"lost+found", "System Volume Information", "$RECYCLE.BIN"})
"""Names that operating systems put on a disk: a disk with only these is empty."""


@frozen
class Exchanged:
    """What went: the files that were put or removed there, in order. `left`: sentences on what was left alone."""

    files: tuple[str, ...]
    left: tuple[str, ...]
    is_new: bool


class Exchange:
    """`name` is what a person calls the folder. `is_shared`: others may write there; otherwise it is this process's
    own. `joins`: a memory that this one never met may be joined with it."""

    def __init__(
        self, parts: Needs, merge: Merge, path: str, name: str, *, is_shared: bool = True, joins: bool = False
    ) -> None:
        self._parts, self._merge, self._path, self._name = parts, merge, path, name
        self._is_shared, self._joins = is_shared, joins
        self._here = parts.files.root
        self._there = self._open(path)
        self._files = Files(durable=is_shared)
        self._left: list[str] = []
        self._edited: dict[str, str] = {}
        """For each page that a person had changed there, the hash of the file that was taken in."""
        self.turns = 0
        """How many turns came so far."""

    def _open(self, path: str) -> Root:
        disk = self._here.disk
        try:
            disk.make_root(path)
        except OSError as error:
            raise unwritten(self._name, error) from error
        return Root(disk, path)

    @property
    def edited(self) -> tuple[str, ...]:
        """The pages that people had edited there, and that were taken in so far."""
        return tuple(self._edited)

    def run(self) -> Exchanged:
        try:
            with closing(self._there):
                is_new = self.refuse_foreign()
                if not is_new and not self._joins:
                    self._refuse_stranger()
                for _ in range(_ROUNDS):
                    if not is_new:
                        with self._locked():
                            self._renew_logs()
                        self.turns += self._merge(self._path).talk.turns
                    with self._locked():
                        if self._bring(is_new):
                            break
        except OSError as error:
            raise unwritten(f"A file of {self._name}", error) from error
        return Exchanged(tuple(self._files.names), tuple(self._left), is_new)

    def close(self) -> None:
        """Close a folder that was only looked at."""
        self._there.close()

    def _bring(self, is_new: bool) -> bool:
        """Take in the pages there, and put there what is lacking; False if more came meanwhile."""
        self._sweep()
        self._left = []
        self._parts.pages.paths()  # what people changed here is journaled
        for path, theirs in () if is_new else self._find_unknown():
            self._take_page(path, theirs)
        if any(path.startswith("review/") for path in self._edited):
            self._parts.settle()
        is_whole = self._put_logs(is_new)
        self._put_pages()
        return is_whole

    # --- before anything is done -----------------------------------------------------------

    def refuse_foreign(self) -> bool:
        """Refuse a folder with other things in it. Return whether it is empty."""
        try:
            names = self._there.names("")
            has_log = self._first() is not None or any(
                self._there.names(each) for each in ("log/archive", "log/traces")
            )
            has_journal = self._there.read("log/journal.jsonl")
        except OSError as error:
            raise unreadable(self._name, error) from error
        if has_log or has_journal:
            return False
        if NAME in names and is_memory(os.path.join(self._path, NAME)):
            raise Invalid(
                f"Nothing was synced: {self._name} is not a memory, but has one in it. Give that one: "
                f"{os.path.join(self._name, NAME)}"
            )
        if ".git" in names:
            raise Invalid(
                f"Nothing was synced: {self._name} is the work tree of a git repository, which would commit all that "
                "was said. Give another folder, or the repository that it is pushed to, as a git remote."
            )
        found = [name for name in names if name[0] != "." and name not in _OF_DISKS | {"log", "views"}]
        if found:
            raise Invalid(
                f"Nothing was synced: {self._name} has other things in it ({found[0]}), and no log of a memory. Give "
                "an empty or a new place, or a copy of this memory with its log."
            )
        return True

    def _refuse_stranger(self) -> None:
        ours = [self._log_here(machine) for machine in self._known()]
        theirs = [LogFiles(self._there, folder) for folder in self._logs_there()]
        if are_strangers(ours, theirs):
            raise Refused(
                f"Nothing was synced: {self._name} holds another memory. It and this one have words, and never met. "
                "Give this one a place of its own; or, if the two are to be one, add --join: then each gets all that "
                "the other has."
            )

    def _locked(self) -> ExitStack:
        """Take this memory's lock, and those of all machines there, for a `with` block. Two syncs against each other
        take them in one order."""
        absorb, patience = self._parts.pages.absorb, self._parts.context.policy.lock_seconds
        with ExitStack() as held:
            held.enter_context(absorb.threads)
            own = os.path.realpath(self._parts.files.path) < os.path.realpath(self._path)
            if own:
                held.enter_context(self._parts.files.lock())
            if self._is_shared:
                self._there.make("log")
                for folder in self._logs_there():
                    self._lock(held, folder, patience)
                share = ShareClaim(self._there)
                held.callback(share.drop)
                share.take()
            if not own:
                held.enter_context(self._parts.files.lock())
            self._refuse_unfinished()
            return held.pop_all()

    def _lock(self, held: ExitStack, folder: str, patience: float) -> None:
        def place(path: str) -> str:
            return f"{folder}/{path.removeprefix('log/')}"

        def stat(path: str) -> os.stat_result | None:
            try:
                return self._there.stat(place(path))
            except FileNotFoundError:
                return None

        lock = Lock(
            self._there.disk, lambda path: self._there.open_lock(place(path)), stat, lambda: None, patience
        )
        held.callback(lock.close)
        try:
            held.enter_context(lock)
        except Busy:
            raise Busy(
                f"Nothing was synced: a process has been writing to {self._name} for {patience:g} seconds. End it, or "
                "wait for it, and repeat the command."
            ) from None

    def _refuse_unfinished(self) -> None:
        for folder in self._logs_there():
            if self._there.read(f"{folder}/{PLAN.removeprefix('log/')}") is not None:
                raise Refused(
                    f"Nothing was synced: a forget in {self._name} was interrupted. Run any looseleaf command there, "
                    "on the machine that began it; that finishes it."
                )

    def _sweep(self) -> None:
        """Remove what a killed sync staged there."""
        for name in self._there.names(STAGED):
            if name.endswith(".put"):
                self._there.discard(f"{STAGED}/{name}")

    # --- logs --------------------------------------------------------------------------------

    def _first(self) -> str | None:
        """Return the machine whose log is `log/` there; None if it does not say."""
        claim = records.whole(self._there.read(FILE) or b"")
        name = claim.get("id")
        return name if claim.get("schema") == SCHEMA and isinstance(name, str) and is_name(name) else None

    def _machines_there(self) -> list[str]:
        return [name for name in self._there.names(OTHERS) if is_name(name)]

    def _logs_there(self) -> list[str]:
        return ["log", *map(log_of, self._machines_there())]

    def _log_here(self, machine: str) -> LogFiles:
        return LogFiles(self._here, "log" if machine == self._parts.files.machine else log_of(machine))

    def _log_there(self, machine: str) -> LogFiles:
        if machine == self._first():
            return LogFiles(self._there, "log", "views")
        return LogFiles(self._there, log_of(machine), f"views/on/{machine}")

    def _known(self) -> list[str]:
        """Return the machines that have a log here."""
        return [self._parts.files.machine, *self._parts.files.machines()]

    def _renew_logs(self) -> None:
        """Of a log that its machine rewrote to forget, only the later version counts, on both sides."""
        known = self._known()
        kept = {part for machine in known for part in self._log_here(machine).parts()}
        for machine in {*filter(None, (self._first(),)), *self._machines_there()}.intersection(known):
            here, there = self._log_here(machine), self._log_there(machine)
            if is_older(there, here):
                self._put_forgotten_pages()
                bring_log(here, there, self._files, lambda _: True, kept)
            elif is_older(here, there) and machine != self._parts.files.machine:
                had = turns_in(here)
                bring_log(there, here, Files(), lambda _: True)
                self.turns += len(turns_in(here) - had)

    def _put_forgotten_pages(self) -> None:
        """Replace the pages there that only a log from before a forget knows by what they are now. Later, nothing tells
        them from what a person wrote."""
        logs = [LogFiles(self._there, folder) for folder in self._logs_there()]
        journals = [records.whole(line) for log in logs for line in log.stream(JOURNAL).lines()]
        known = {
            (record["path"], record.get("new"))
            for record in journals
            if record.get("kind") == "edit" and fault_in(JOURNAL, record) is None
        }
        for path in self._pages_there():
            theirs, mine = self._read_there(path), self._parts.pages.absorb.head_bytes(path)
            if theirs not in (None, mine) and (path, sha256_or_none(theirs)) in known:
                self._put_page(path, theirs, mine)

    def _put_logs(self, is_new: bool) -> bool:
        """Put the logs that are known here; False if one there has more."""
        machines = self._here.machines
        is_whole = True
        for path in ("log/key", FILE):
            data = self._here.read(path)
            if data is not None and self._there.read(path) is None:
                if path == FILE and not is_new:
                    self._require_ours()
                self._files.put(self._there, path, data)
        known = self._known()
        for machine in known:
            here, there = self._log_here(machine), self._log_there(machine)
            claim = self._here.read(FILE if machine == machines.first else f"{log_of(machine)}/machine")
            if claim is not None and machine != self._first():
                self._files.put(self._there, f"{log_of(machine)}/machine", claim)
                key = self._here.read(f"{log_of(machine)}/key") if machine != machines.own else None
                key = key or self._here.read("log/key")
                if key is not None and key != self._there.read("log/key"):
                    self._files.put(self._there, f"{log_of(machine)}/key", key)
            is_known = known_in([here, *(self._log_here(each) for each in known if each != machine)], there)
            # Where two logs have one name, that of the machine itself stays: else each sync would put back the other.
            beside = [LogFiles(self._there, folder) for folder in self._logs_there()]
            is_there = known_in(beside, here) if machine != machines.own else lambda _: False
            left = bring_log(here, there, self._files, is_known, is_there=is_there)
            if left:
                is_whole = False
                lacking = f"has records that are not here ({', '.join(left)})"
                self._left.append(f"the log of {machine} in {self._name} {lacking}. Sync again.")
        return is_whole

    def _require_ours(self) -> None:
        """Refuse to name the log of a folder that does not say whose it is, unless that log is also here."""
        first = self._here.machines.first
        there = LogFiles(self._there, "log")
        for stream in there.streams():
            if not there.stream(stream).is_behind(self._log_here(first).stream(stream)):
                raise Refused(
                    f"What {self._name} has is here now, but nothing was put there: its log does not say which machine "
                    "wrote it. Run any looseleaf command there, on that machine, and then sync again."
                )

    # --- pages -------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        return self._parts.context.policy

    def _pages_there(self) -> list[str]:
        """Return the files there that are pages by their place and name. At the top, others may have put theirs (a git
        host its README.md), and what is a page there is in every prompt: a new one must have a name of a memory's."""
        from looseleaf.pages.held import sure_original

        at_top = {*TOP_PAGES, STATE, *map(fold_name, self._parts.pages.absorb.heads.pages)}
        found: list[str] = []
        for folder in ("", *DRAWERS):
            for name in self._there.names(folder):
                path = f"{folder}/{name}" if folder else name
                try:
                    is_there = is_page(canonical(path)) and canonical(path) == path
                except Refused:
                    continue
                is_there = is_there and (bool(folder) or not at_top.isdisjoint((name, fold_name(name))))
                if is_there and (sure_original(name) is None or self._has_head(path)):
                    found.append(path)
        return found

    def _read_there(self, path: str) -> bytes | None:
        """Return a page's bytes there. One that cannot be read is left alone."""
        try:
            return self._there.read(path, self._policy.page_bytes)
        except Refused as refused:
            self._leave(path, str(refused))
            return None

    def _leave(self, path: str, why: str) -> None:
        sentence = f"{path} in {self._name} was left as it is: {why}"
        if sentence not in self._left:
            self._left.append(sentence)

    def _has_head(self, path: str) -> bool:
        return self._parts.pages.absorb.heads.get(path).sha256 is not None

    def _edits(self, paths: Collection[str]) -> Iterator[tuple[Edit, object]]:
        """Yield the edits of some pages in all logs, each with the hash of the file that it took in."""
        store = self._parts.files
        for stream in (JOURNAL, *(stream_of(name, JOURNAL) for name in store.machines())):
            for line in store.read(stream):
                edit = edit_of(line.record) if line.record.get("path") in paths else None
                if edit is not None:
                    yield edit, line.record.get("taken")

    def _find_unknown(self) -> Iterator[tuple[str, bytes]]:
        """Yield the pages there that no log knows."""
        head = self._parts.pages.absorb.head_bytes
        there = {path: self._read_there(path) for path in self._pages_there()}
        other = {path: data for path, data in there.items() if data is not None and data != head(path)}
        known: set[tuple[str, object]] = set()
        for edit, taken in self._edits(other) if other else ():
            known |= {(edit.path, edit.new), (edit.path, taken)}
        yield from ((path, data) for path, data in other.items() if (path, sha256(data)) not in known)

    def _versions(self, path: str) -> list[bytes]:
        """Return all versions of a page that any log has, the newest first."""
        texts: dict[str | None, bytes] = {}
        when: dict[str | None, float] = {}
        for edit, _ in self._edits((path,)):
            try:
                made = forward(edit, texts.get(edit.base))
            except BrokenEdit:
                continue
            if made is not None:
                texts[edit.new] = made
                when[edit.new] = max(edit.ts, when.get(edit.new, 0.0))
        return [texts[each] for each in sorted(texts, key=lambda each: -when[each])]

    def _take_page(self, path: str, theirs: bytes) -> None:
        """Take in what a person wrote into a page there."""
        absorb, files = self._parts.pages.absorb, self._parts.files
        head = absorb.head_bytes(path)
        from looseleaf.pages.held import why_held

        held = why_held(path, theirs, lambda: head)
        if held is not None:
            self._leave(path, f"it {held.says}. {self._tell_way_out(path)}")
            return
        document = files.get(path, self._policy.page_bytes)
        if sha256_or_none(head) != (document.sha256 if document is not None else None):
            self._leave(path, "the page here waits for a person's word (`looseleaf settle`).")
            return
        try:
            made = take_in(path, theirs, head, self._versions(path))
        except Refused as refused:
            self._leave(path, str(refused))
            return
        self._edited[path] = sha256(theirs)
        if made != head:
            edit = absorb.edit_from_head(path, made, EXTERNAL, EDITED)
            files.put(
                path, made, base=sha256_or_none(head), record=record_of(edit) | {"taken": sha256(theirs)}
            )
            absorb.heads.catch_up()

    def _tell_way_out(self, path: str) -> str:
        back = "delete it there, and the next sync puts the page back."
        if not self._is_shared:
            return f"Mend it there; or {back}"
        return f"`looseleaf --memory {quote(self._path)} settle {quote(path)} --keep` puts the page back; or {back}"

    def _put_pages(self) -> None:
        absorb = self._parts.pages.absorb
        ours = {path: absorb.head_bytes(path) for path in absorb.pages()}
        unknown = dict(self._find_unknown())
        for path in sorted({*ours, *self._pages_there()}):
            theirs, mine = self._read_there(path), ours.get(path)
            if theirs == mine or self._is_left(path):
                continue
            twin = next((each for each in ours if same_name(each, path)), None) if mine is None else None
            if twin is not None:
                why = f"some systems take its name for that of {twin}, which is here. Rename one of the two."
                self._leave(path, why)
            elif path in unknown and self._edited.get(path) != sha256_or_none(theirs):
                self._leave(path, "it was changed at the same moment. Sync again.")
            else:
                self._put_page(path, theirs, mine)

    def _is_left(self, path: str) -> bool:
        return any(sentence.startswith(f"{path} in ") for sentence in self._left)

    def _when(self, path: str) -> float | None:
        """Return how old a page here is."""
        try:
            return self._here.stat(path).st_mtime
        except FileNotFoundError:
            return None

    def _put_page(self, path: str, old: bytes | None, new: bytes | None) -> None:
        """Put a page in place of the bytes that were read. What an editor saved meanwhile stays."""
        root, disk = self._there, self._there.disk
        folder = path.rpartition("/")[0]
        root.make(STAGED, durable=self._is_shared)
        root.make(folder, durable=self._is_shared)
        name = f"{sha256(path.encode())[:16]}.put"
        staged = root.stage(name, new or b"", durable=self._is_shared, when=self._when(path))
        with root.parent(staged) as (source, name), root.parent(path) as (target, page):
            try:
                if old is None:
                    disk.rename_new(source, name, target, page)
                else:
                    disk.exchange(source, name, target, page)
                    if root.read(staged) != old:
                        disk.exchange(source, name, target, page)
                        raise FileExistsError
                    if new is None:
                        disk.unlink(target, page)
                self._files.names[path] = None
            except FileExistsError:
                self._leave(path, "it was saved at the same moment. Sync again.")
            if self._is_shared:
                disk.sync(target)
        root.discard(staged)


def take_in(path: str, file: bytes, head: bytes | None, versions: Collection[bytes]) -> bytes:
    """Return a page with what a person did to a file of it."""
    if head is None:
        return file
    if path == STATE:
        return _put_on_state(file, head, versions)
    from looseleaf.facts.woven import put_on
    from looseleaf.text.weave import find_base

    try:
        text, mine = file.decode(), head.decode()
        texts = [each.decode() for each in versions]
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text.") from None
    return put_on(path, find_base(texts, text), mine, text).encode()


def _put_on_state(file: bytes, head: bytes, versions: Collection[bytes]) -> bytes:
    from looseleaf.state.file import parse_sound
    from looseleaf.state.rows import rows_of
    from looseleaf.state.rules import Unsound, format_state
    from looseleaf.state.three_way import merge_states
    from looseleaf.text.weave import find_base

    by_rows = {rows: each for each in versions if (rows := rows_of(each)) is not None}
    base = by_rows.get(find_base(by_rows, rows_of(file) or ""), b"")
    try:
        before, mine, theirs = map(parse_sound, (base, head, file))
        made = format_state(merge_states(before or {}, mine or {}, theirs or {})).encode()
        parse_sound(made)
    except Unsound as unsound:
        raise Refused(f"{unsound.why}.") from unsound
    return made
