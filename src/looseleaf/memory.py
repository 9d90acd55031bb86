"""Memory: the one object users hold. It opens a folder and hands each request to the part that knows it."""

from __future__ import annotations

import os
from functools import cached_property

from looseleaf.core.heads import refuse_unknown
from looseleaf.core.paths import safe_name
from looseleaf.errors import Refused
from looseleaf.pages import Pages
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore
from looseleaf.values import ANY
from looseleaf.where import find, is_memory, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Any

    from looseleaf.conversation.conversation import Conversation
    from looseleaf.conversation.record import Batch
    from looseleaf.conversation.window import Window
    from looseleaf.core.loss import Loss
    from looseleaf.entries import Entry
    from looseleaf.history import History
    from looseleaf.llm.registry import Budget
    from looseleaf.pages import Page
    from looseleaf.policy import Policy
    from looseleaf.talk import Block, Distiller, Message, Session, ToolInteraction, Trace, Turn
    from looseleaf.values import Edit, Problem, Receipt


class Memory:
    """A memory in a folder, made if it is missing. `notes` says what could not be done while reading."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        agent: str = "main",
        policy: Policy | None = None,
        session: str | None = None,
        distiller: Distiller | None = None,
        counter: Callable[[str], int] | None = None,
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
        self.policy = policy or settings(self.path, self.agent)
        self.store = FileStore(self.path, self.policy)
        self.notes: list[str] = []
        self._pages = Pages(self.store, self.policy, self.agent, self._note)
        self._asked = session, distiller, counter

    def __repr__(self) -> str:
        return f"Memory({self.path!r}, agent={self.agent!r})"

    def close(self) -> None:
        """Let go of every handle. What was acknowledged is on disk already."""
        if "_talk" in self.__dict__:
            self._talk.close()
        self._pages.close()
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _note(self, note: str) -> None:
        if note not in self.notes:  # a program that reads for days on a full disk says so once
            self.notes.append(note)

    # --- reading pages -----------------------------------------------------------------

    @property
    def history(self) -> History:
        """The past of the pages."""
        return self._pages.history

    def absorb(self) -> list[Edit]:
        """Journal what people changed in the folder. Every reading does this first; it is here to be asked for."""
        return self._pages.absorb()

    def page(self, path: str) -> Page:
        """What a page says now."""
        return self._pages.page(path)

    def pages(self) -> list[str]:
        """The paths of all pages."""
        return self._pages.paths()

    def page_as_of(self, path: str, when: str | float) -> Page:
        """What a page said at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        return self._pages.page_as_of(path, when)

    def log(self, path: str | None = None) -> Iterator[Edit]:
        """The edits of a page, or of all, newest first."""
        return self._pages.log(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """A page before and after one of its edits."""
        return self._pages.versions(edit)

    # --- changing pages ----------------------------------------------------------------

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page, to a text or by a function of the old one; `Pages.edit` says what `base` and `author` are."""
        return self._pages.edit(path, change, base=base, reason=reason, author=author)

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
        return self._pages.patch(path, patches, base=base, reason=reason, author=author)

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._pages.delete(path, base=base, reason=reason, author=author)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Take back the last edit (of a page) that was not taken back yet: the edit, and the receipt of its undoing."""
        return self._pages.undo(path, author=author)

    # --- recording what is said --------------------------------------------------------

    @cached_property
    def _talk(self) -> Conversation:
        from looseleaf.conversation.conversation import Conversation

        return Conversation(
            self.store, self.path, self.policy, self.agent, self._pages.absorb.agent, self._note, *self._asked
        )

    @property
    def session(self) -> str | None:
        """The session that is recorded in; None until something is."""
        return self._talk.recorder.session

    def record(self, **asked: Any) -> Trace:
        """Record one thing that was said or done: `user=…`, `assistant=…`, `tool_call=<name>` with `tool_args`, or
        `tool_result=<value>` (or `tool_error=<text>`) with `tool_call_id`. Durable when it returns.

        Also, where they apply: `turn_id, source_event, media, reasoning, tool_call_id, tool_name, tool_result_ref,
        correlation_id, tags, interrupted, ts`. Without a call's id, a result belongs to the oldest open call of its
        tool. Secrets are redacted before anything is written.
        """
        return self._talk.record(asked)

    def record_user(self, content: str, **more: Any) -> Trace:
        """What the user said. Begins a turn."""
        return self.record(user=content, **more)

    def record_assistant(self, content: str, **more: Any) -> Trace:
        """What the model answered. `interrupted=True` if it was cut short."""
        return self.record(assistant=content, **more)

    def record_tool_call(
        self, name: str, arguments: Any = None, call_id: str | None = None, **more: Any
    ) -> Trace:
        """A tool that the model wants to be called."""
        return self.record(tool_call=name, tool_args=arguments, tool_call_id=call_id, **more)

    def record_tool_result(self, result: Any = None, call_id: str | None = None, **more: Any) -> Trace:
        """What came of a call; `tool_error=…` if it failed. It belongs to the turn of its call, however late it is."""
        return self.record(tool_result=result, tool_call_id=call_id, **more)

    def batch(self) -> Batch:
        """`with memory.batch() as batch: batch.record(…)`: all of it is written at the end, with one sync."""
        from looseleaf.conversation.record import Batch

        return Batch(self._talk.recorder)

    def start_turn(self) -> str:
        """The id of a new turn, which nobody else will get; what is recorded next belongs to it."""
        return self._talk.recorder.start_turn()

    def interrupt(self, reason: str = "") -> list[Trace]:
        """End the open tool calls of this session: their results will not come any more."""
        return self._talk.recorder.interrupt(reason)

    def resume(self) -> str | None:
        """Go on in the agent's last session if it is not long ago; the session, if so."""
        self._talk.recorder.resume(self.policy.session_seconds)
        return self.session

    # --- reading what was said ---------------------------------------------------------

    def turns(self, last: int = 20, *, session: str | None = None) -> list[Turn]:
        """The last turns (of a session), oldest first. Reads no more of the log than these."""
        return self._talk.turns(last, session)

    def turn(self, turn_id: str) -> Turn:
        """One turn, with what came late."""
        return self._talk.turn(turn_id)

    def turns_between(self, first: str, last: str) -> list[Turn]:
        """The turns from one to another, both included."""
        return self._talk.between(first, last)

    def session_turns(self, session: str) -> list[Turn]:
        """All turns of a session."""
        return self._talk.session(session)

    def sessions(self, last: int = 20) -> list[Session]:
        """The last sessions to begin, oldest first."""
        return self._talk.sessions(last)

    def tail(self, turns: int | None = None, exclude: str | None = None) -> list[Trace]:
        """The traces of the last turns, without the excluded one (mostly: the current)."""
        return self._talk.tail(self.policy.tail_turns if turns is None else turns, exclude)

    def interactions(self, turn_id: str | None = None) -> list[ToolInteraction]:
        """Tool calls with their results, of a turn or of the window: PENDING, SUCCESS or ERROR."""
        return self._talk.interactions(turn_id)

    def blocks(self, turn_id: str) -> list[Block]:
        """A turn in the parts that compaction may take."""
        return self._talk.blocks(turn_id)

    # --- what a model is told ----------------------------------------------------------

    def messages(self, system: str | None = None, *, model: str | None = None) -> list[Message]:
        """The messages for the next call, never more than its budget. If a compaction is due, it runs first."""
        return self._talk.messages(system, model)

    def window(self) -> Window:
        """The window as it is, compacted or not; changes nothing."""
        self._talk.window.read()
        return self._talk.window

    def window_tokens(
        self, system: str | None = None, *, model: str | None = None, quick: bool = False
    ) -> int:
        """What the window costs. `quick`: estimated where a count would need a vocabulary that is not loaded."""
        return self._talk.tokens(system, model, quick=quick)

    def budget(self, model: str | None = None) -> Budget:
        """The token budget of a model (else of the one in the settings)."""
        return self._talk.budget(model)

    def usage(self, *, prompt_tokens: int, model: str | None = None, system: str | None = None) -> str | None:
        """Say what the provider reported after a call. `early` or `hard`: the next call is preceded by a compaction."""
        return self._talk.usage(prompt_tokens, model, system)

    def request_compaction(self) -> None:
        """Have the window compacted before the next call; survives a restart."""
        self._talk.flag("hard")

    def clear_compaction_request(self) -> None:
        """Take that back."""
        self._talk.flag(None)

    @property
    def compaction_requested(self) -> str | None:
        """`early`, `hard` or None."""
        return self._talk.flagged

    def compact(
        self, *, system: str | None = None, model: str | None = None, dry_run: bool = False
    ) -> Loss | None:
        """Compact the window now: what it lost, or None if there was nothing to do. `dry_run` only says."""
        return self._talk.compact(system, model, dry_run=dry_run)

    def prepare(self, *, system: str | None = None, model: str | None = None) -> None:
        """Begin to distill in the background what the next compaction will take."""
        self._talk.prepare(system, model)

    def expand(self, name: str) -> list[Trace]:
        """What an entry was made of, whole; or the traces of a turn, or one trace by its id."""
        return self._talk.expand(name)

    def entry(self, name: str) -> Entry:
        """An entry, by its id."""
        return self._talk.entry(name)

    def build(self) -> None:
        """Make the agent's views anew, from the log."""
        from looseleaf.build import build_agent

        build_agent(self.store, self.agent)

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
        self._pages.absorb.heads.forget()  # where records stood before is no longer where they stand
        return done
