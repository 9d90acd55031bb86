"""A model that answers from a script: for examples, tests, and trying an agent without a provider."""

from __future__ import annotations

from _thread import allocate_lock

from looseleaf.base.errors import ModelFailed
from looseleaf.base.messages import ToolCallSpec
from looseleaf.base.replies import Called, Reply, TextDelta, Thought, Usage
from looseleaf.models.call import Caller, cancelled_error
from looseleaf.models.dialect import Rendered, loggable_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from typing import Any, TypeAlias

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Extension, ToolSpec
    from looseleaf.models.call import ModelCall
    from looseleaf.models.stream_parts import PartialReply

    Scripted: TypeAlias = (
        "str | Reply | BaseException | Callable[[Sequence[Message], Sequence[ToolSpec]], Any]"
    )


_WORDS = r"\s*\S+\s*|\s+"
"""A word with the blanks after it."""


class ScriptedModel(Caller):
    """A model with a script. Each call takes the next of `replies`: a text, a `Reply`, an exception to raise, or a
    function of the messages and the tools that returns one of these. A single function answers every call.

    It only keeps its place in the script, shared safely by threads. Texts stream word by word. Otherwise it is like any
    model: extensions are told, `cancel` is checked between words.
    """

    dialect = "scripted"
    title = "The scripted model"

    def __init__(
        self,
        replies: Iterable[Scripted] | Callable[[Sequence[Message], Sequence[ToolSpec]], Any],
        name: str = "scripted",
        *,
        extensions: Sequence[Extension] = (),
        calls: str = "native",
    ) -> None:
        super().__init__(name, extensions=extensions, calls=calls)
        self._always = replies if callable(replies) else None
        self._replies = () if callable(replies) else tuple(replies)
        self._place = 0
        self._turn = allocate_lock()

    def ready(self) -> None:
        """Do nothing: it always is."""

    def _render(self, call: ModelCall) -> Rendered:
        told = [message.to_dict() for message in call.messages]
        return Rendered({"model": self.name, "messages": told, "tools": [tool.name for tool in call.tools]})

    def _attempt(self, call: ModelCall, rendered: Rendered, heard: PartialReply) -> Generator[Event]:
        import re

        reply, cancel = self._next_reply(call), call.wanted.cancel
        thoughts, words = (re.findall(_WORDS, text) for text in (reply.reasoning, reply.text))
        events: list[Event] = [*map(Thought, thoughts), *map(TextDelta, words), *map(Called, reply.calls)]
        for event in events:
            if cancel is not None and cancel.is_set():
                heard.is_answered = True
                raise cancelled_error(self.title)
            yield event
        yield reply

    def _next_reply(self, call: ModelCall) -> Reply:
        said: Any = self._always
        if said is None:
            with self._turn:
                place, self._place = self._place, self._place + 1
            if place >= len(self._replies):
                raise ModelFailed(
                    f"{self.title} did not answer: its script has {len(self._replies)} replies, and this is call "
                    f"{place + 1}. Give it a longer script, or a function."
                )
            said = self._replies[place]
        while callable(said) and not isinstance(said, type):
            said = said(call.messages, call.tools)
        if isinstance(said, BaseException) or (isinstance(said, type) and issubclass(said, BaseException)):
            raise said
        return _complete_reply(said if isinstance(said, Reply) else Reply(str(said)))


def _complete_reply(reply: Reply) -> Reply:
    """Complete a script's reply: it stops for its calls, its usage is estimated, and its arguments are such as any
    provider's model could give."""
    calls = tuple(
        ToolCallSpec(call.id, call.name, loggable_arguments(call.arguments), call.opaque)
        for call in reply.calls
    )
    stop = "tools" if reply.calls and reply.stop == "end" else reply.stop
    usage = Usage(is_estimated=True) if reply.usage == Usage() else reply.usage
    return Reply(reply.text, reply.reasoning, calls, usage, stop, reply.model, reply.opaque)
