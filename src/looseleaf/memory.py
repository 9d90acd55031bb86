"""Memory: the one object users hold, where the pure core meets the disk.

Every change of a page goes through `_edit`: absorb first, then one journaled edit from the exact bytes that were
read. Whoever asks for a page gets what the folder says now.
"""

from __future__ import annotations

import os
import time
from functools import cached_property

from looseleaf.absorb import Absorb
from looseleaf.core.heads import PERSON, SCHEMA, refuse_unknown
from looseleaf.core.paths import DRAWERS, PEOPLE_ONLY, page_path, safe_name, same_name
from looseleaf.errors import Refused, Stale, Unwritten
from looseleaf.hashing import sha256
from looseleaf.policy import Policy, policy_from
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore
from looseleaf.store.ulid import new_id
from looseleaf.values import ANY, Edit, Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from looseleaf.history import History
    from looseleaf.values import Episode, Fact, PageText, Problem, Record

SETTINGS = "looseleaf.toml"
PRIVATE = "PROJECT.local.md\nlog/\nviews/\nreview/\n"
"""The .gitignore of a memory: what is private stays out of a shared repository."""

_IGNORE = ".gitignore"
_FOLDERS = (*DRAWERS, "log", "views")
_SKELETON = frozenset({*_FOLDERS, _IGNORE})

_TRIES = 100
"""How often a change is made anew when somebody saves the page in the same moment, before saying so."""


class Page:
    """A page as it was read. `sha256` is None where there is no page."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.path = path
        self.data = data or b""
        self.exists = data is not None

    @cached_property
    def sha256(self) -> str | None:
        return sha256(self.data) if self.exists else None

    @cached_property
    def text(self) -> str:
        """Bytes that are no UTF-8 show as U+FFFD; the file keeps them."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def parsed(self) -> PageText:
        from looseleaf.core.grammar import parse

        return parse(self.path, self.text)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return self.parsed.facts

    @property
    def episodes(self) -> tuple[Episode, ...]:
        return self.parsed.episodes

    @property
    def summary(self) -> str | None:
        return self.parsed.summary


class Memory:
    """A memory in a folder, made if it is missing. `notes` says what could not be done while reading."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        agent: str = "main",
        policy: Policy | None = None,
    ) -> None:
        self.path = os.path.abspath(where if where is not None else find())
        self.agent = safe_name(agent, "agent's name")
        if not is_memory(self.path):
            # Asked twice: somebody may have made it, and written to it, between the two questions.
            if _holds_other_things(self.path) and not is_memory(self.path):
                raise Refused(
                    f"{self.path} was not opened: it is not a memory, and it is not empty. "
                    f"To make it one, run: looseleaf init {self.path}"
                )
            init(self.path)
        self.policy = policy or _settings(self.path)
        self.store = FileStore(self.path, self.policy)
        self.notes: list[str] = []
        self._absorb = Absorb(self.store, self.policy)

    def close(self) -> None:
        """Let go of every handle. What was acknowledged is on disk already."""
        self._absorb.heads.save(now=True)
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def history(self) -> History:
        from looseleaf.history import History

        return History(self.store)

    # --- reading -----------------------------------------------------------------------

    def absorb(self) -> list[Edit]:
        """Journal what people changed in the folder. Every reading does this first; it is here to be asked for."""
        return self._absorb()

    def _absorb_to_read(self) -> None:
        """A full or read-only disk keeps nobody from reading: the change is journaled when it can be."""
        try:
            self._absorb()
        except Unwritten as error:
            self._note(str(error))

    def _note(self, note: str) -> None:
        if note not in self.notes:  # a program that reads for days on a full disk says so once
            self.notes.append(note)

    def page(self, path: str) -> Page:
        """What a page says now."""
        path = page_path(path)
        self._absorb_to_read()
        return Page(path, self._absorb.read(path))

    def pages(self) -> list[str]:
        """The paths of all pages."""
        self._absorb_to_read()
        return self._absorb.pages()

    def page_as_of(self, path: str, when: str | float) -> Page:
        """What a page said at a time: an ISO date (the end of that day), an ISO date and time, or epoch seconds."""
        path = page_path(path)
        moment = parse_when(when) if isinstance(when, str) else when
        self._absorb_to_read()
        data, is_sure = self.history.as_of(path, moment, self._absorb.head_bytes(path))
        if not is_sure:
            self._note(
                f"{path} may have said something else then: a record of its journal after that is missing. "
                "`looseleaf check` says where."
            )
        return Page(path, data)

    def log(self, path: str | None = None) -> Iterator[Edit]:
        """The edits of a page, or of all, newest first."""
        if path is not None:
            path = page_path(path)
        self._absorb_to_read()
        return self.history.back(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """A page before and after one of its edits."""
        self._absorb_to_read()
        now = self._absorb.head_bytes(edit.path)
        return self.history.before(edit, now), self.history.after(edit, now)

    # --- changing ----------------------------------------------------------------------

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        author: str = PERSON,
        reason: str,
    ) -> Receipt:
        """Change a page. `change` is its new text, or a function from the old text to the new.

        With `base` (the `sha256` that was read; None: there was no page), a page that says something else by now
        is left alone: Stale. Without, the change is made to whatever the page says now, again if need be.
        """

        def new_bytes(old: bytes | None) -> bytes:
            try:
                text = change if isinstance(change, str) else change((old or b"").decode())
            except UnicodeDecodeError:
                raise Refused(
                    f"{path} was not changed: it is not UTF-8 text. Save it as UTF-8 with an editor, and repeat."
                ) from None
            try:
                return text.encode()
            except UnicodeEncodeError as error:
                raise Refused(
                    f"{path} was not changed: the new text holds {text[error.start]!r}, half of a character. "
                    "Leave it out, and repeat."
                ) from None

        return self._edit(page_path(path), new_bytes, base, author, reason)

    def patch(
        self,
        path: str,
        patches: Sequence[tuple[str, str]],
        *,
        base: str | None = ANY,
        author: str = PERSON,
        reason: str,
    ) -> Receipt:
        """Replace texts, one after the other, that each stand exactly once in the page then; all of them or none."""

        def change(text: str) -> str:
            for old, new in patches:
                at = text.find(old) if old else -1
                if (
                    at < 0 or text.find(old, at + 1) >= 0
                ):  # also one that overlaps: which of the two was meant?
                    times = "is not in it" if at < 0 else "stands in it more than once"
                    raise Refused(
                        f"{path} was not changed: the text to replace {times}: {old!r}. "
                        "Read the page and give a piece that stands there exactly once."
                    )
                text = text[:at] + new + text[at + len(old) :]
            return text

        return self.edit(path, change, base=base, author=author, reason=reason)

    def delete(self, path: str, *, base: str | None = ANY, author: str = PERSON, reason: str) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._edit(page_path(path), lambda old: None, base, author, reason)

    def undo(self, path: str | None = None, *, author: str = PERSON) -> tuple[Edit, Receipt]:
        """Take back the last edit (of a page) that was not taken back yet: the edit, and the receipt of its undoing."""
        self._absorb()
        target = self.history.last_to_undo(page_path(path) if path is not None else None)
        if target is None:
            raise Refused(
                f"Nothing was undone: {path or 'this memory'} has no edit left to undo. `looseleaf log` shows all."
            )
        receipt = self._edit(
            target.path,
            lambda old: self.history.before(target, old),
            target.new,
            author,
            f"undo: {target.reason}",
            undoes=target.id,
        )
        return target, receipt

    def _edit(
        self,
        path: str,
        change: Callable[[bytes | None], bytes | None],
        base: str | None,
        author: str,
        reason: str,
        undoes: str | None = None,
    ) -> Receipt:
        if author != PERSON and any(same_name(path, only) for only in PEOPLE_ONLY):
            raise Refused(
                f"{path} was not changed: only people write it. Propose the change to the user instead."
            )
        for _ in range(_TRIES):
            with self._absorb.threads:
                self._absorb()
                try:
                    receipt = self._try_edit(path, change, base, author, reason, undoes)
                except Stale:
                    if base != ANY:
                        raise
                    continue  # somebody saved in this moment: their change first, then ours on top of it
            if receipt is not None:
                return receipt
        raise Refused(
            f"{path} was not changed: something else keeps saving it. Close the program that does, and repeat."
        )

    def _try_edit(
        self,
        path: str,
        change: Callable[[bytes | None], bytes | None],
        base: str | None,
        author: str,
        reason: str,
        undoes: str | None,
    ) -> Receipt | None:
        """One attempt. None: the page was changed outside since it was absorbed."""
        with self.store.lock():
            heads = self._absorb.heads
            heads.catch_up()
            document = self.store.get(path, self.policy.page_bytes)
            old, current = (document.data, document.sha256) if document else (None, None)
            if current != heads.get(path).sha256:
                return None
            if base not in (ANY, current):
                raise Stale(path, base, current)
            new = change(old)
            if new == old:
                return Receipt("", path, current, current, 0, 0, changed=False)
            if new is not None and len(new) > self.policy.page_bytes:
                raise Refused(
                    f"{path} was not changed: it would have {len(new):,} bytes, and a page has at most "
                    f"{self.policy.page_bytes:,}. Put part of it on another page."
                )
            from looseleaf.core.journal import make_edit, record_of

            edit = make_edit(new_id(), time.time(), path, author, reason, old, new, undoes=undoes)
            if new is not None:
                self.store.put(path, new, base=edit.base, record=record_of(edit))
            else:
                self.store.delete(path, base=edit.base or "", record=record_of(edit))
            heads.catch_up()
            self._absorb.keep_copy(path, new)
            return Receipt(edit.id, path, edit.base, edit.new, edit.added, edit.removed)

    # --- care --------------------------------------------------------------------------

    def check(self) -> list[Problem]:
        """Re-read and re-hash everything; changes nothing."""
        from looseleaf.check import check

        return list(check(self))

    def repair(self) -> list[str]:
        """Mend what can be mended, keeping a copy of every byte that is moved. Says what was done."""
        for line in self.store.read(JOURNAL):
            # What a newer program wrote is not ours to mend; what has no checksum nobody vouches for.
            if line.checked:
                refuse_unknown(line.record)
        done = self.store.repair()
        self._absorb.heads.forget()  # where records stood before is no longer where they stand
        return done


# --- where -----------------------------------------------------------------------------


def find() -> str:
    """LOOSELEAF_HOME, else the nearest `.looseleaf` upward from here, else the one at home."""
    home = os.environ.get("LOOSELEAF_HOME")
    if home:
        return home
    here = os.getcwd()
    for folder in (here, *_above(here)):
        found = os.path.join(folder, ".looseleaf")
        if os.path.isdir(found):
            return found
    return os.path.join(os.path.expanduser("~"), ".looseleaf")


def _above(path: str) -> Iterator[str]:
    """The folders over a path, nearest first."""
    while True:
        above = os.path.dirname(path)
        if above == path:
            return
        yield above
        path = above


def is_memory(path: str) -> bool:
    """Whether a journal was ever begun there. An empty one is what a crash left of making the memory."""
    log = os.path.join(path, "log")
    try:
        return os.lstat(os.path.join(log, "journal.jsonl")).st_size > 0 or os.path.isdir(
            os.path.join(log, "archive")
        )
    except (OSError, ValueError):
        return os.path.isdir(os.path.join(log, "archive"))


def _holds_other_things(path: str) -> bool:
    """Whether a folder is in use for something else; a memory that is being made in this moment is not."""
    try:
        names = os.listdir(path)
        drawers = (os.path.join(path, drawer) for drawer in DRAWERS if drawer in names)
        return not _SKELETON.issuperset(names) or any(map(os.listdir, drawers))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(
            f"{path} was not opened ({error.strerror}). Give the path of a folder that you may read."
        ) from error


def init(path: str) -> bool:
    """Make a memory of a folder; False if it was one. Files that are there stay as they are."""
    if is_memory(path):
        return False
    for above in _above(os.path.realpath(path)):
        if is_memory(above):
            raise Refused(
                f"{path} was not made a memory: it lies inside the memory {above}, and memories do not nest. "
                "Choose a folder outside it."
            )
    with FileStore.make(path) as store:
        store.furnish(_FOLDERS, {_IGNORE: PRIVATE.encode()})
        record: Record = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": "init"}
        with store.lock():
            if next(store.read(JOURNAL), None) is None:
                store.append(JOURNAL, [record])
    return True


def _settings(path: str) -> Policy:
    file = os.path.join(path, SETTINGS)
    if not os.path.lexists(file):
        return Policy()
    import tomllib

    with FileStore(path) as store:  # by the same door as a page: no link, no pipe that would never answer
        settings = store.get(SETTINGS, Policy().page_bytes)
    try:
        return policy_from(tomllib.loads(settings.data.decode() if settings else ""), file)
    except (ValueError, RecursionError) as error:
        raise Refused(
            f"The memory was not opened: {file} could not be read ({error}). Mend it, or delete it to use the defaults."
        ) from error


def parse_when(text: str) -> float:
    """Epoch seconds of an ISO date (its last moment, here) or an ISO date and time."""
    from datetime import date, datetime, timedelta

    try:
        if len(text) <= 10:
            day = date.fromisoformat(text)
            return datetime.combine(day + timedelta(days=1), datetime.min.time()).timestamp() - 1e-6
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise Refused(
            f"Nothing was shown: {text!r} is no date. Write a date as 2026-02-24, or a time as 2026-02-24T15:30."
        ) from None
