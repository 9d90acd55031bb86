"""What the traces of a window cost, and making a text cost less. Whatever is said here is counted, not guessed."""

from __future__ import annotations

from looseleaf.log.trace_messages import as_text, media_tokens, message_of, said, texts_of
from looseleaf.text.identifiers import clipped, reduced
from looseleaf.window.compaction_plan import Item
from looseleaf.window.window import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.log.trace_messages import Mark
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count

_CHARACTERS = 4
"""Characters of a token, about: where cutting a text begins. It is counted then, and cut again if need be."""

_CLIPPED_TOKENS = 1000
"""From here on a shortened tool result shows its beginning and its end; below, there is room for identifiers only."""

_TRIES = 16
_AT_ONCE_TRACES, _AT_ONCE_CHARACTERS = 256, 4_000_000
"""Texts whose tokens are looked up together, at most."""


def weighed(
    store: Store, stream: str, mark: Mark | None, short: Mapping[str, str], count: Count
) -> Iterator[Item]:
    """What a window shows, as items; the traces themselves are let go of: there may be gigabytes."""
    waiting: list[tuple[Trace, tuple[int, int], int]] = []
    characters = 0
    seen: set[str] = set()
    for trace, line, _ in shown(store, stream, mark):
        if trace.id in seen:
            continue  # a line that somebody copied
        seen.add(trace.id)
        waiting.append((trace, (line.position.segment, line.position.offset), line.end.offset))
        characters += len(trace.content) + len(str(trace.tool_result or ""))
        if len(waiting) >= _AT_ONCE_TRACES or characters > _AT_ONCE_CHARACTERS:
            yield from _weigh(waiting, short, count)
            waiting, characters = [], 0
    yield from _weigh(waiting, short, count)


def _weigh(
    waiting: Sequence[tuple[Trace, tuple[int, int], int]], short: Mapping[str, str], count: Count
) -> Iterator[Item]:
    messages = [message_of(trace, short.get(trace.id)) for trace, _, _ in waiting]
    texts = [list(texts_of(message)) for message in messages]
    tokens = iter(count([text for own in texts for text in own]))
    for (trace, place, end), message, own in zip(waiting, messages, texts, strict=True):
        yield Item(
            trace.id,
            trace.turn_id,
            trace.trace_type,
            trace.tool_call_id,
            trace.flag,
            sum(next(tokens) for _ in own),
            media_tokens(message),
            sum(text.count("\n") for text in own),
            place,
            end,
            trace.ts,
        )


def stand_in(trace: Trace, tokens: int, size: int, count: Count) -> str:
    """What is shown of a trace of `size` tokens where it may cost only `tokens`."""

    def made(limit: int) -> str:
        about = f"{size:,} tokens"
        if trace.trace_type == "tool_result" and limit < _CHARACTERS * _CLIPPED_TOKENS:
            return reduced(trace, limit, about)
        text = as_text(trace.tool_args) if trace.trace_type == "tool_call" else said(trace)
        return clipped(text, limit, f"[… {about} in all; looseleaf expand {trace.id} …]")

    limit = tokens * _CHARACTERS
    for _ in range(_TRIES):
        text = made(limit)
        cost = count([text])[0]
        if cost <= tokens:
            break
        limit = min(limit - 8, limit * tokens * 9 // (cost * 10))
    return text


def cut(text: str, tokens: int, count: Count) -> str:
    """The beginning of a text that costs at most so many tokens."""
    limit = len(text)
    while limit > 0 and (cost := count([text[:limit]])[0]) > tokens:
        limit = max(0, min(limit - 1, limit * tokens * 19 // (cost * 20)))
    return text if limit == len(text) else f"{text[: max(0, limit - 1)].rstrip()}…"
