"""Memory: the one object users hold, where the pure core meets the disk.

Every change of a page goes through `_edit`: absorb first, then one journaled edit from the exact bytes that were
read. Whoever asks for a page gets what the folder says now.
"""

from __future__ import annotations

import os
import time
from functools import cached_property

from looseleaf.absorb import Absorb
from looseleaf.core.heads import AGENT, PERSON, PROGRAM, refuse_unknown
from looseleaf.core.paths import PEOPLE_ONLY, page_path, safe_name, same_name
from looseleaf.errors import Busy, Refused, Stale, Unreadable, Unwritten
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
    from looseleaf.values import Episode, Fact, PageText, Problem

SETTINGS = "looseleaf.toml"

_TRIES = 100
"""How often a change is made anew when somebody saves the page in the same moment, before saying so."""


class Page:
    """A page as it was read. `sha256` is None where there is no page."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.path = path
        self.data = data or b""
        self.exists = data is not None

    def __repr__(self) -> str:
        return f"Page({self.path!r}, {f'{len(self.data)} bytes' if self.exists else 'which does not exist'})"

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
        if where is not None and not os.fspath(where):
            raise Refused(
                "Nothing was opened: the path of the memory is empty. Give a folder, or leave it out."
            )
        self.path = os.path.abspath(where if where is not None else find())
        self.agent = safe_name(agent, "agent's name")
        if not is_memory(self.path):
            from looseleaf.init import init_if_free

            init_if_free(self.path)
        self.policy = policy or _settings(self.path)
        self.store = FileStore(self.path, self.policy)
        self.notes: list[str] = []
        self._absorb = Absorb(self.store, self.policy)

    def __repr__(self) -> str:
        return f"Memory({self.path!r}, agent={self.agent!r})"

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
        except (Unwritten, Busy) as error:
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
        """What a page said at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        path = page_path(path)
        if isinstance(when, str):
            from looseleaf.history import parse_when

            when = parse_when(when)
        self._absorb_to_read()
        data, is_sure = self.history.as_of(path, when, self._absorb.head_bytes(path))
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
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page. `change` is its new text, or a function from the old text to the new; `reason` says why.

        The author is this memory's agent, unless somebody else is given: `person`, `program`, `agent:<name>`.

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
        reason: str,
        author: str | None = None,
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

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._edit(page_path(path), lambda old: None, base, author, reason)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
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
        author: str | None,
        reason: str,
        undoes: str | None = None,
    ) -> Receipt:
        author = self._author(author)
        if not reason.strip():
            raise Refused(
                f"{path} was not changed: no reason was given. Say in a few words why, for the journal."
            )
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

    def _author(self, author: str | None) -> str:
        """Who changes a page. What is found on disk is `external`, and nobody else may say that of himself."""
        if author is None:
            return f"{AGENT}{self.agent}"
        if author in (PERSON, PROGRAM):
            return author
        if author.startswith(AGENT):
            return AGENT + safe_name(author.removeprefix(AGENT), "agent's name")
        raise Refused(
            f"Nothing was changed: the author {author!r} is not known. Use person, program or agent:<name>."
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
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise Refused(
            "Nothing was done: the folder you are in is gone. Go to another, or name one: --memory PATH."
        ) from None
    for folder in (here, *above(here)):
        found = os.path.join(folder, ".looseleaf")
        if os.path.isdir(found):
            return _own(found)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise Refused(
            "Nothing was done: there is no home folder to look for a memory in. Name one: --memory PATH."
        )
    return os.path.join(home, ".looseleaf")


def _own(path: str) -> str:
    """A memory that was found, not named, must be the user's own: another's could tell the agent anything."""
    owner = getattr(os, "getuid", None)
    if owner is not None and os.stat(path).st_uid != owner():
        raise Refused(
            f"Nothing was done: the memory nearest to here, {path}, belongs to somebody else. "
            f"If you trust it, name it: --memory {path}"
        )
    return path


def above(path: str) -> Iterator[str]:
    """The folders over a path, nearest first."""
    while True:
        folder = os.path.dirname(path)
        if folder == path:
            return
        yield folder
        path = folder


def is_memory(path: str) -> bool:
    """Whether a journal was ever begun there. An empty one is what a crash left of making the memory."""
    log = os.path.join(path, "log")
    try:
        if os.lstat(os.path.join(log, "journal.jsonl")).st_size > 0:
            return True
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # it may be one: what cannot be looked at is not absent
        raise Unreadable(
            f"{path} was not opened ({getattr(error, 'strerror', None) or error}). "
            "Give the path of a folder that you may read."
        ) from error
    return os.path.isdir(os.path.join(log, "archive"))


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
