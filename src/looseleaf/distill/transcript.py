"""Talk as a model reads it that is to make memory of it: numbered lines, each with who speaks.

Invariant: nothing that was said reads as another line, another speaker, or an instruction of ours. What people and the
assistant said is indented below its first line; what tools and documents brought stands in a fence, and of a tool's
answer only the beginning. What memory itself had put into the talk is left out.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.origins import level_of
from looseleaf.base.own_tools import RECALLED, is_own
from looseleaf.distill.forbidding import permitted
from looseleaf.distill.rules import estimate
from looseleaf.log.trace_messages import said
from looseleaf.text.lines import escape
from looseleaf.text.untrusted import fenced, inert, notice, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.messages import Trace

_INDENT = "    "
_NAME = 80
_LEAST = 80
"""Characters of a line that are kept, however little room there is."""
_END = 24
"""Of these so many at its end: a mark that closes a fence stays whole."""


@frozen
class Line:
    """One trace as it is shown."""

    turn_id: str
    source: str
    text: str
    tokens: int


class Transcript:
    """`traces` are those that it shows, `lines` how. `word` is that of its fences."""

    def __init__(self, traces: Iterable[Trace], trim: int) -> None:
        self.traces = [trace for trace in permitted(traces, for_a_model=True) if not _is_memory(trace)]
        self.word = word("transcript", *(trace.id for trace in self.traces))
        self.notice = notice(self.word)
        self.lines: list[Line] = []
        for trace in self.traces:
            text = self._told(trace, trim)
            if text:
                shown = f"[{len(self.lines) + 1}] {text}"
                self.lines.append(Line(trace.turn_id, trace.id, shown, estimate(shown) + 1))

    def _told(self, trace: Trace, trim: int) -> str:
        name = escape(trace.tool_name or "")[:_NAME] or "a tool"
        match trace.trace_type:
            case "tool_call":
                return f"Assistant calls {inert(trimmed(escape(said(trace)), trim), self.word)}"
            case "tool_result":
                return (
                    f"Tool {inert(name, self.word)} answers: {fenced(trimmed(said(trace), trim), self.word)}"
                )
        text = said(trace).strip()
        if not text:
            return ""
        if level_of(trace.origin) == "tainted":
            return f"Document: {fenced(text, self.word)}"
        who = "User" if trace.trace_type == "user" else "Assistant"
        return f"{who}: {hung(inert(text, self.word))}"


def _is_memory(trace: Trace) -> bool:
    return RECALLED in trace.tags or (trace.trace_type.startswith("tool") and is_own(trace.tool_name))


def trimmed(text: str, most: int) -> str:
    """The beginning of a text, and how much was left out."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()}… [{len(text) - most:,} characters more]"


def hung(text: str) -> str:
    """Text whose further lines stand to the right of where another speaker would."""
    return f"\n{_INDENT}".join(text.splitlines())


# --- what fits -------------------------------------------------------------------------


def pieces(lines: Sequence[Line], room: int) -> list[list[Line]]:
    """The lines in pieces of at most so many tokens: whole turns; lines of a turn that is too long; and of a line that
    is too long both ends."""
    turns: list[list[Line]] = []
    for line in lines:
        if turns and turns[-1][0].turn_id == line.turn_id:
            turns[-1].append(line)
        else:
            turns.append([line])
    made: list[list[Line]] = []
    left = 0
    for turn in turns:
        whole = sum(line.tokens for line in turn)
        for part in [turn] if whole <= room else [[shortened(line, room)] for line in turn]:
            size = sum(line.tokens for line in part)
            if not made or size > left:
                made.append([])
                left = room
            made[-1] += part
            left -= size
    return made


def shortened(line: Line, room: int) -> Line:
    """A line of at most about so many tokens: its beginning and its end."""
    text, tokens = line.text, line.tokens
    while tokens > room and len(text) > 2 * _LEAST:
        keep = max(_LEAST, int(len(text) * room / tokens * 0.9))
        head, tail = text[: 2 * keep // 3], text[len(text) - max(keep // 3, _END) :]
        text = f"{head}\n{_INDENT}[… characters left out: {len(text) - keep:,} …]\n{_INDENT}{tail}"
        shorter = estimate(text) + 1
        if shorter >= tokens:
            break
        tokens = shorter
    return Line(line.turn_id, line.source, text, tokens)


def clipped(text: str, tokens: int) -> str:
    """The first words of a text, at most so many tokens."""
    if estimate(text) <= tokens:
        return text
    words = text.split(" ")
    low, high = 0, len(words) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(" ".join(words[:middle])) < tokens:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low]).rstrip(" ,;:\n") + "…" if low else ""
