"""Pages: reading and changing them.

Every change of a page goes through `_edit`: absorb first, then one journaled edit from the exact bytes that were
read. Whoever asks for a page gets what the folder says now.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.base import ids as clock
from looseleaf.base.errors import Busy, Refused, Stale, Unwritten
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import DRAWERS, PEOPLE_ONLY, page_path, safe_name, same_name, why_sealed
from looseleaf.base.values import ANY, Edit, Receipt
from looseleaf.log.journal import AGENT, PERSON, PROGRAM
from looseleaf.pages.outside_edits import TOP, Absorb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Ended, Episode, Fact, PageText, Record
    from looseleaf.pages.history import History
    from looseleaf.place.guard import Guard
    from looseleaf.place.guard_rules import Guarded
    from looseleaf.store.protocol import Store


# A page as it was read, and as it is to be written.


@frozen
class Rewritten:
    """The new text of a page; what is known of facts on it, and which are no longer true (`values.Edit`)."""

    text: str
    facts: tuple[Record, ...] = ()
    ended: tuple[Ended, ...] = ()


NOTHING_SAID = Rewritten("")


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
        from looseleaf.pages.grammar import parse

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


_TRIES = 100
"""How often a change is made anew when somebody saves the page in the same moment, before saying so."""


class Pages:
    """The pages of a store, as `agent` reads and changes them. `note` is told what could not be done while reading."""

    def __init__(
        self,
        store: Store,
        policy: Policy,
        agent: str,
        note: Callable[[str], None],
        guard: Callable[[], Guard] | None = None,
        settle: Callable[[], object] | None = None,
    ) -> None:
        self._store = store
        self._policy = policy
        self._agent = agent
        self._note = note
        self._guard = guard
        self._settle = settle
        self.absorb = Absorb(store, policy)
        """Called, it journals what people changed in the folder; it also knows what each page is now."""
        self.in_a_row = False
        """While many pages are edited one after the other: of the folder, only the page itself is looked at, and the
        rest where that is not what it was. Whoever sets it absorbs before, and now and then."""

    def close(self) -> None:
        """Keep what is known of the pages, for the next one to begin with."""
        self.absorb.heads.save(now=True)

    @cached_property
    def history(self) -> History:
        from looseleaf.pages.history import History

        return History(self._store)

    # --- reading -----------------------------------------------------------------------

    def absorb_to_read(self, folders: Sequence[str] = ("", *DRAWERS)) -> None:
        """A full or read-only disk keeps nobody from reading: the change is journaled when it can be.

        What a person ticked in review is done first: whoever reads next should see it.
        """
        try:
            if (
                any(edit.path.startswith("review/") for edit in self.absorb(folders))
                and self._settle is not None
            ):
                self._settle()
        except (Unwritten, Busy) as error:
            self._note(str(error))

    def page(self, path: str) -> Page:
        """What a page says now."""
        path = page_path(path)
        self.absorb_to_read()
        return Page(path, self.absorb.read(path))

    def top(self, path: str) -> Page:
        """What a page at the top of the folder says now; looks at no drawer."""
        self.absorb_to_read(TOP)
        return Page(path, self.absorb.read(path))

    def paths(self) -> list[str]:
        """The paths of all pages."""
        self.absorb_to_read()
        return self.absorb.pages()

    def page_as_of(self, path: str, when: str | float) -> Page:
        """What a page said at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        path = page_path(path)
        if isinstance(when, str):
            from looseleaf.text.times import parse_when

            when = parse_when(when)
        self.absorb_to_read()
        data, is_sure = self.history.as_of(path, when, self.absorb.head_bytes(path))
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
        self.absorb_to_read()
        return self.history.back(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """A page before and after one of its edits."""
        self.absorb_to_read()
        now = self.absorb.head_bytes(edit.path)
        return self.history.before(edit, now), self.history.after(edit, now)

    def restore(self) -> list[str]:
        """Pages whose files are gone, made again from the journal. Nothing is journaled: they are what they were."""
        restored: list[str] = []
        with self.absorb.threads, self._store.lock():
            self.absorb.know()
            for path, head in sorted(self.absorb.heads.pages.items()):
                if head.sha256 is None or self._store.stat(path) is not None:
                    continue
                data = self.absorb.head_bytes(path)
                if data is None:
                    self._note(f"{path} was not made again: a record of its journal is damaged.")
                    continue
                self._store.put(path, data, base=None)
                restored.append(path)
        return restored

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

        return self._edit(page_path(path), _changing(path, change), base, author, reason)

    def propose(
        self,
        path: str,
        change: Callable[[str], str] | str | None,
        *,
        base: str | None = ANY,
        reason: str,
        summary: str | None = None,
        whole: bool = False,
    ) -> Receipt:
        """Change a page (None: remove it) as a model may: what it may not write there waits in review, and the receipt
        says so. Whoever hands a tool to a model uses this door, not `edit`.

        With a `summary` the page's summary line is kept in the same edit: it becomes these words, or, where there are
        none or they may not stand, one that is made by rule. `whole`: the page is left alone if not all of the change
        may stand.
        """
        path = page_path(path)
        why = why_sealed(path)
        if why is not None or self._guard is None:
            raise Refused(f"{path} was not changed: {why or 'no model writes here'}.")
        changing = _changing(path, change) if change is not None else _removed
        return self._edit(path, changing, base, None, reason, _Door(self._guard(), summary, whole))

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
        from looseleaf.text.diff import patched

        return self.edit(
            path, lambda text: patched(path, text, patches), base=base, author=author, reason=reason
        )

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._edit(page_path(path), lambda old: None, base, author, reason)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Take back the last edit (of a page) that was not taken back yet: the edit, and the receipt of its undoing."""
        self.absorb()
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

    def rewrite(
        self, path: str, change: Callable[[str], Rewritten], *, reason: str, author: str = PROGRAM
    ) -> Receipt:
        """Change a page, and say more of the facts on it than the page does. `change` may be asked again."""

        def rewritten(old: bytes | None) -> Rewritten:
            return change(_decoded(path, old))

        return self._edit(page_path(path), rewritten, ANY, author, reason)

    def _edit(
        self,
        path: str,
        change: Callable[[bytes | None], bytes | Rewritten | None],
        base: str | None,
        author: str | None,
        reason: str,
        door: _Door | None = None,
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
        for attempt in range(_TRIES):
            with self.absorb.threads:
                if attempt or not self.in_a_row:
                    self.absorb()
                try:
                    receipt = self._try_edit(path, change, base, author, reason, undoes, door)
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
            return f"{AGENT}{self._agent}"
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
        change: Callable[[bytes | None], bytes | Rewritten | None],
        base: str | None,
        author: str,
        reason: str,
        undoes: str | None,
        door: _Door | None,
    ) -> Receipt | None:
        """One attempt. None: the page was changed outside since it was absorbed."""
        with self._store.lock():
            heads = self.absorb.heads
            heads.catch_up()
            document = self._store.get(path, self._policy.page_bytes)
            old, current = (document.data, document.sha256) if document else (None, None)
            if current != heads.get(path).sha256:
                return None
            if base not in (ANY, current):
                raise Stale(path, base, current)
            changed = change(old)
            said = changed if isinstance(changed, Rewritten) else NOTHING_SAID
            new = _encoded(path, changed.text) if isinstance(changed, Rewritten) else changed
            entering: _Entering | None = None
            if door is not None and new != old:
                entering = door.look(path, author, old, new)
                new, said = entering.new, entering.said
            is_held = entering is not None and bool(entering.made.held or entering.made.left)
            if old is None and new == b"" and (changed is said or is_held):
                new = None  # nothing was written on a page that is not there
            if new is not None and len(new) > self._policy.page_bytes:
                raise Refused(
                    f"{path} was not changed: it would have {len(new):,} bytes, and a page has at most "
                    f"{self._policy.page_bytes:,}. Put part of it on another page."
                )
            asked, held = door.ask(path, author, entering, old) if door and entering else ("", ())
            if new == old:
                return Receipt(asked, path, current, current, 0, 0, changed=False, held=held)
            from looseleaf.log.journal import make_edit, record_of

            edit = make_edit(
                new_id(),
                clock.now(),
                path,
                author,
                reason,
                old,
                new,
                undoes=undoes,
                facts=said.facts,
                ended=said.ended,
            )
            if new is not None:
                self._store.put(path, new, base=edit.base, record=record_of(edit))
            else:
                self._store.delete(path, base=edit.base or "", record=record_of(edit))
            heads.catch_up()
            self.absorb.keep_copy(path, new)
            return Receipt(edit.id, path, edit.base, edit.new, edit.added, edit.removed, held=held)


@frozen
class _Entering:
    """What a model's change comes to: what may stand, what is known of it, what was held back, and why its summary is
    not the page's."""

    new: bytes | None
    said: Rewritten
    made: Guarded
    summary: str


@frozen
class _Door:
    """By which a model's change comes in. `summary`: what it wants the page's to be, if that is to be kept; `whole`:
    all of it, or nothing."""

    guard: Guard
    summary: str | None
    whole: bool

    def look(self, path: str, author: str, old: bytes | None, new: bytes | None) -> _Entering:
        """Changes nothing, and asks nobody yet."""
        made, told = self.guard.look(path, author, _readable(old), _readable(new))
        if self.whole and (made.held or made.kept or made.left):
            return _Entering(old, NOTHING_SAID, made, "")
        text, why = made.text, ""
        is_changed = text != (_readable(old) or "")
        if new is not None and self.summary is not None and text and is_changed:
            text, why = self.guard.summarised(path, text, told, self.summary)
        return _Entering(_encoded(path, text) if new is not None else None, Rewritten(text, told), made, why)

    def ask(
        self, path: str, author: str, entering: _Entering, old: bytes | None
    ) -> tuple[str, tuple[str, ...]]:
        """Put what was held back before a person: the edit of that, and what a receipt says of each line."""
        from looseleaf.place.guard_rules import sentences_of

        asked, fates = self.guard.ask(path, author, entering.made, clock.now(), exists=old is not None)
        why = (entering.summary,) if entering.summary else ()
        return asked, (*sentences_of(entering.made, fates), *why)


def _changing(path: str, change: Callable[[str], str] | str) -> Callable[[bytes | None], bytes]:
    return lambda old: _encoded(path, change if isinstance(change, str) else change(_decoded(path, old)))


def _removed(old: bytes | None) -> bytes | None:
    return None


def _readable(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def _decoded(path: str, old: bytes | None) -> str:
    try:
        return (old or b"").decode()
    except UnicodeDecodeError:
        raise Refused(
            f"{path} was not changed: it is not UTF-8 text. Save it as UTF-8 with an editor, and repeat."
        ) from None


def _encoded(path: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refused(
            f"{path} was not changed: the new text holds {text[error.start]!r}, half of a character. "
            "Leave it out, and repeat."
        ) from None
