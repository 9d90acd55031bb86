"""Material: what is to be distilled, and the words that support its facts.

Traces not distilled yet are taken in the order of the log, in stretches of one session that are short enough for one
entry. Text that memory itself put into a prompt is skipped: memory is not made of memory. Imported data is skipped too:
a history of years would only fill review; recall finds it.
"""

from __future__ import annotations

import re
from itertools import islice

from looseleaf.base.errors import NotFound
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.origins import RECALLED, is_imported, is_own, level_of
from looseleaf.base.values import Position
from looseleaf.distill.collect import ASKED_CHARS
from looseleaf.distill.forbidding import permitted_traces
from looseleaf.distill.rules import estimate
from looseleaf.log.entries import FOLDER, EntrySpan, traces_of
from looseleaf.log.journal import PERSON
from looseleaf.log.recorder import stream_of
from looseleaf.log.trace_messages import said
from looseleaf.log.turns import open_calls
from looseleaf.text.lines import escape
from looseleaf.text.untrusted import fenced, inert, notice, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from looseleaf.facts.gate import Witness
    from looseleaf.log.entries import Entry
    from looseleaf.store.protocol import Store


# --- the talk as a model reads it: numbered lines, each with its speaker ----------------

_INDENT = "    "
_NAME = 80
_LEAST = 80
"""The least characters of a line that are kept, however little room there is."""
_END = 24
"""The characters of these at its end: a mark that closes a fence stays whole."""


@frozen
class TranscriptLine:
    """One trace as shown to the model."""

    turn_id: str
    source: str
    text: str
    tokens: int


class ModelTranscript:
    """The talk as shown to a model. `traces`: the traces shown; `lines`: their text; `word`: the word of its fences."""

    def __init__(self, traces: Iterable[Trace], trim: int) -> None:
        self.traces = [
            trace
            for trace in permitted_traces(traces, for_a_model=True)
            if RECALLED not in trace.tags
            and not (trace.trace_type.startswith("tool") and is_own(trace.tool_name))
        ]
        self.word = word("transcript", *(trace.id for trace in self.traces))
        self.notice = notice(self.word)
        self.lines: list[TranscriptLine] = []
        for trace in self.traces:
            text = self._line_text(trace, trim)
            if text:
                shown = f"[{len(self.lines) + 1}] {text}"
                self.lines.append(TranscriptLine(trace.turn_id, trace.id, shown, estimate(shown) + 1))

    def _line_text(self, trace: Trace, trim: int) -> str:
        name = escape(trace.tool_name or "")[:_NAME] or "a tool"
        match trace.trace_type:
            case "tool_call":
                return f"Assistant calls {inert(trim_text(escape(said(trace)), trim), self.word)}"
            case "tool_result":
                return f"Tool {inert(name, self.word)} answers: {fenced(trim_text(said(trace), trim), self.word)}"
        text = said(trace).strip()
        if not text:
            return ""
        if level_of(trace.origin) == "tainted":
            return f"Document: {fenced(text, self.word)}"
        who = "User" if trace.trace_type == "user" else "Assistant"
        # No further line can look like another speaker's.
        return f"{who}: " + f"\n{_INDENT}".join(inert(text, self.word).splitlines())


def trim_text(text: str, most: int) -> str:
    """Return the beginning of a text, and the number of characters left out."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()}… [{len(text) - most:,} characters more]"


# --- what fits -------------------------------------------------------------------------


def pieces(lines: Sequence[TranscriptLine], room: int) -> list[list[TranscriptLine]]:
    """Group lines into pieces of at most `room` tokens: whole turns; single lines of a turn that is too long; and both
    ends of a line that is too long."""
    turns: list[list[TranscriptLine]] = []
    for line in lines:
        if turns and turns[-1][0].turn_id == line.turn_id:
            turns[-1].append(line)
        else:
            turns.append([line])
    made: list[list[TranscriptLine]] = []
    left = 0
    for turn in turns:
        whole = sum(line.tokens for line in turn)
        for part in [turn] if whole <= room else [[shorten_line(line, room)] for line in turn]:
            size = sum(line.tokens for line in part)
            if not made or size > left:
                made.append([])
                left = room
            made[-1] += part
            left -= size
    return made


def shorten_line(line: TranscriptLine, room: int) -> TranscriptLine:
    """Shorten a line to about `room` tokens: its beginning and its end."""
    text, tokens = line.text, line.tokens
    while tokens > room and len(text) > 2 * _LEAST:
        keep = max(_LEAST, int(len(text) * room / tokens * 0.9))
        head, tail = text[: 2 * keep // 3], text[len(text) - max(keep // 3, _END) :]
        text = f"{head}\n{_INDENT}[… characters left out: {len(text) - keep:,} …]\n{_INDENT}{tail}"
        shorter = estimate(text) + 1
        if shorter >= tokens:
            break
        tokens = shorter
    return TranscriptLine(line.turn_id, line.source, text, tokens)


def clipped(text: str, tokens: int) -> str:
    """Return the first words of a text, at most so many tokens."""
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


STRETCH_TURNS = 40
STRETCH_CHARS = 400_000
"""The longest stretch of talk that becomes one entry, which a person, or a model, can read at once. One turn alone may
be twice as long; a longer one is divided."""


class _TakenTraces:
    """Reads `taken` without what the user forbids to remember, and without recalled text."""

    __slots__ = ()
    taken: tuple[Trace, ...]

    def traces(self, *, for_a_model: bool = False) -> Iterator[Trace]:
        spoken = (trace for trace in self.taken if RECALLED not in trace.tags)
        return permitted_traces(spoken, for_a_model=for_a_model)

    def for_a_model(self) -> Iterator[Trace]:
        """Yield the traces without what is plainly forbidden: a model judges the rest."""
        return self.traces(for_a_model=True)


@frozen
class TurnRange(_TakenTraces):
    """Traces that are distilled together, their spots, and the place after the last of them."""

    taken: tuple[Trace, ...]
    spots: tuple[EntrySpan, ...]
    through: tuple[int, int]


def undistilled(
    store: Store, agent: str, through: tuple[int, int], covered: Collection[str], patience: float, now: float
) -> Iterator[TurnRange]:
    """Yield an agent's traces after a place, except those in `covered`, up to the first open call.

    A call without an answer for `patience` seconds counts as closed.
    """
    open_turns = _open_turns(store, agent, through, now - patience)
    taken: list[tuple[Trace, EntrySpan]] = []
    turns: set[str] = set()
    chars = 0
    end = through
    for trace, spot in _read_spots(store, agent, through):
        if trace.turn_id in open_turns:
            break
        size = len(trace.content) + (len(said(trace)) if trace.trace_type.startswith("tool") else 0)
        most = STRETCH_CHARS if trace.turn_id not in turns else 2 * STRETCH_CHARS
        is_full = chars + size > most or (len(turns) >= STRETCH_TURNS and trace.turn_id not in turns)
        if taken and (is_full or trace.session_id != taken[-1][0].session_id):
            yield _turn_range(taken, end)
            taken, turns, chars = [], set(), 0
        end = spot.end
        if trace.id not in covered and not is_imported(trace.origin):
            taken.append((trace, spot))
            turns.add(trace.turn_id)
            chars += size
    if taken or end != through:
        yield _turn_range(taken, end)


def _read_spots(store: Store, agent: str, through: tuple[int, int]) -> Iterator[tuple[Trace, EntrySpan]]:
    for line in store.read(stream_of(agent), Position(*through)):
        trace = Trace.from_record(line.record)
        if trace is not None:
            yield trace, EntrySpan(trace.id, line.position, line.end)


def _open_turns(store: Store, agent: str, through: tuple[int, int], since: float) -> set[str]:
    calls: list[Trace] = []
    for trace, _ in _read_spots(store, agent, through):
        if trace.trace_type in ("tool_call", "tool_result"):  # without their long parts
            short = (trace.id, trace.ts, trace.turn_id, trace.seq, trace.trace_type, "", "", "", "")
            calls.append(Trace(*short, tool_call_id=trace.tool_call_id, flag=trace.flag))
    waiting = open_calls(calls)
    return {call.turn_id for call in calls if call.id in waiting and call.ts >= since}


def _turn_range(taken: list[tuple[Trace, EntrySpan]], end: tuple[int, int]) -> TurnRange:
    return TurnRange(tuple(trace for trace, _ in taken), tuple(spot for _, spot in taken), end)


# --- a text ----------------------------------------------------------------------------

_SPEAKER = re.compile(
    r"[ \t]*(?:\*\*)?(user|human|me|assistant|agent|ai|bot)(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*", re.IGNORECASE
)
_ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot"})


@frozen
class MaterialText:
    """A text given to be remembered. `origin`: whose words it is, a person's own or a document's.

    Lines that begin with `User:` or `Assistant:` make it a dialog; only lines without an assistant count as the
    writer's.
    """

    text: str
    origin: str
    source: str
    ts: float

    def traces(self) -> Iterator[Trace]:
        for number, (role, first, last, text) in enumerate(_split_speeches(self.text), 1):
            is_assistant = role in _ASSISTANTS
            origin = "assistant" if is_assistant and self.origin == "user" else self.origin
            yield Trace(
                f"{self.source}#L{first}-L{last}",
                self.ts,
                f"turn_{number:04d}",
                1,
                "assistant" if is_assistant else "user",
                text,
                "write",
                "",
                origin,
            )


def _split_speeches(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield (speaker, first line, last line, text), in order."""
    lines = text.splitlines()
    start, role = 0, ""
    begun = [(at, match) for at, line in enumerate(lines) if (match := _SPEAKER.match(line))]
    if len(begun) < 2:  # a single `Me:` is no dialog
        begun = []
    for at, match in [*begun, (len(lines), None)]:
        said = "\n".join(lines[start:at])
        first = _SPEAKER.match(said) if role else None
        said = said[first.end() :] if first else said
        if said.strip():
            yield role, start + 1, at, said
        start, role = at, match[1].lower() if match else ""


@frozen
class MaterialSources(_TakenTraces):
    """Traces that were read before."""

    taken: tuple[Trace, ...]


# --- evidence --------------------------------------------------------------------------


def witnesses_of(traces: Iterable[Trace], *, for_a_model: bool = False) -> list[Witness]:
    """Return the texts that may support a fact: all that was said and may be remembered, except what memory itself
    recalled. `for_a_model`: the fact is from a model, which reads all but the plainly forbidden."""
    from looseleaf.facts.gate import Witness

    found: list[Witness] = []
    asked = ""
    for trace in permitted_traces(traces, for_a_model=for_a_model):
        if RECALLED in trace.tags:
            continue
        stated: frozenset[tuple[object, ...]] = frozenset()
        if trace.trace_type == "assistant":
            asked = trace.content[-ASKED_CHARS:]
        elif trace.trace_type == "user":
            stated = _readings_of(trace, asked) if trace.origin in _OWN else stated
            asked = ""
        tool = trace.tool_name or "" if trace.trace_type == "tool_result" else ""
        found.append(Witness(trace.id, trace.origin, trace.content or said(trace), trace.ts, stated, tool))
    return found


_LOOKED_BACK = 400
_LONGEST_HEARD = 20_000
"""The number of traces before an entry that are searched for tools' words in its session, and the characters of
each."""


def tools_before(store: Store, entry: Entry) -> list[Witness]:
    """Return what tools said in the session before an entry: a session is often distilled turn by turn, and words keep
    their origin."""
    from looseleaf.facts.gate import Witness

    first = next(iter(sources_of(store, entry)), None) if "traces" in entry.meta else None
    if first is None or not first.session_id:
        return []
    found: list[Witness] = []
    back = islice(store.read_back(stream_of(str(entry.meta.get("agent")))), _LOOKED_BACK)
    for trace in filter(None, (Trace.from_record(line.record) for line in back)):
        is_before = trace.id < first.id and trace.session_id == first.session_id
        if is_before and trace.trace_type == "tool_result" and RECALLED not in trace.tags:
            text = (trace.content or said(trace))[:_LONGEST_HEARD]
            found.append(Witness(trace.id, trace.origin, text, trace.ts, tool=trace.tool_name or ""))
    return found


_OWN = ("user", PERSON)


def _readings_of(trace: Trace, asked: str) -> frozenset[tuple[object, ...]]:
    """Return what the rules read in a message. A person's words to the memory itself are kept whole."""
    from looseleaf.distill.statements import statements
    from looseleaf.facts.gate import reading_of

    read = statements(trace.content, trace.ts, asked=asked, everything=trace.origin == PERSON)
    return frozenset(map(reading_of, read))


def sources_of(store: Store, entry: Entry) -> Iterator[Trace]:
    """Return the sources of an entry: traces of the log, one at a time, or the written text."""
    if "traces" in entry.meta:
        return traces_of(store, entry)
    path = f"{FOLDER}/{entry.meta.get('raw') or entry.reference}/raw.md"
    raw = store.get(path)
    if raw is None:
        raise NotFound(f"{entry.reference} was not read: its raw.md is missing. `looseleaf check` says more.")
    text = raw.data.decode("utf-8", "replace")
    origin, ts = str(entry.meta.get("origin", "document")), float(entry.meta.get("ts", 0.0))
    return MaterialText(text, origin, path, ts).traces()


def scored_witnesses(entry: Entry) -> list[Witness]:
    """Return the scored facts of an entry of an older format: a score is a person's word for them."""
    if entry.meta.get("upgraded") is None:
        return []
    from looseleaf.facts.gate import Witness

    ts = float(entry.meta.get("ts") or 0.0)
    return [
        Witness(f"{FOLDER}/{entry.reference}/summary.json", "person", str(raw.get("quote", "")), ts)
        for raw in entry.summary.get("facts", ())
        if raw.get("user_fact_score") is not None
    ]
