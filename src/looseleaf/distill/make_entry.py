"""Making entries: material, the words that support its facts, and the writer that makes one immutable entry of it.

Traces not distilled yet are taken in the order of the log, in stretches of one session that are short enough for one
entry. Text that memory itself put into a prompt is skipped: memory is not made of memory. Imported data is skipped too:
a history of years would only fill review; recall finds it.

No lock is held while a distiller works. An entry's id depends on what was read and by which distiller, so the same
material and the same distiller make the same entry, once.
"""

from __future__ import annotations

import json
import re
from itertools import islice

from looseleaf.base import ids as clock
from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.ids import id_of
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import NOTED, Distilled, Noted, Trace
from looseleaf.base.origins import RECALLED, is_imported, is_own, level_of, lowest
from looseleaf.base.paths import PROJECT
from looseleaf.base.values import Position, sha256
from looseleaf.distill.forbidding import permitted_traces
from looseleaf.distill.rules import ASKED_CHARS, Rules, StatedFacts, estimate
from looseleaf.distill.rules import NOTED as MOST_NOTED
from looseleaf.distill.statements import NOTE_CHARS, statements, with_members
from looseleaf.facts.gate import Witness, judge, proposal_of, reading_of, supports
from looseleaf.language.own_words import strip_pasted
from looseleaf.log.entries import (
    FOLDER,
    EntrySpan,
    folder_on,
    meta_json,
    raw_md,
    read_entry,
    runs_of,
    summary_json,
    traces_of,
)
from looseleaf.log.journal import PERSON
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import open_calls, order_of, trace_text
from looseleaf.text.lines import NOTE, escape, worded
from looseleaf.text.untrusted import fenced, inert, notice, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from threading import Event
    from typing import Any, TypeVar

    from looseleaf.base.messages import Distiller, Material
    from looseleaf.log.entries import Entry
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import Store

    T = TypeVar("T")


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
                return f"Assistant calls {inert(trim_text(escape(trace_text(trace)), trim), self.word)}"
            case "tool_result":
                return f"Tool {inert(name, self.word)} answers: {fenced(trim_text(trace_text(trace), trim), self.word)}"
        text = trace_text(trace).strip()
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


# --- stretches of talk ------------------------------------------------------------------

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
        size = len(trace.content) + (len(trace_text(trace)) if trace.trace_type.startswith("tool") else 0)
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


# --- a text, and sources read again -----------------------------------------------------

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
    person: str | None = None

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
                person=self.person,
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
        found.append(
            Witness(
                *(trace.id, trace.origin, trace.content or trace_text(trace), trace.ts, stated, tool),
                order=order if (order := order_of(trace)) != trace.ts else None,
                person=trace.person,
            )
        )
    return found


_LOOKED_BACK = 400
_LONGEST_HEARD = 20_000
"""The number of traces before an entry that are searched for tools' words in its session, and the characters of
each."""


def tools_before(store: Store, entry: Entry) -> list[Witness]:
    """Return what tools said in the session before an entry: a session is often distilled turn by turn, and words keep
    their origin."""
    first = next(iter(sources_of(store, entry)), None) if "traces" in entry.meta else None
    if first is None or not first.session_id:
        return []
    found: list[Witness] = []
    back = islice(store.read_back(stream_of(str(entry.meta.get("agent")))), _LOOKED_BACK)
    for trace in filter(None, (Trace.from_record(line.record) for line in back)):
        is_before = trace.id < first.id and trace.session_id == first.session_id
        if is_before and trace.trace_type == "tool_result" and RECALLED not in trace.tags:
            text = (trace.content or trace_text(trace))[:_LONGEST_HEARD]
            found.append(Witness(trace.id, trace.origin, text, trace.ts, tool=trace.tool_name or ""))
    return found


_OWN = ("user", PERSON)


def _readings_of(trace: Trace, asked: str) -> frozenset[tuple[object, ...]]:
    """Return what the rules read in a message. A person's words to the memory itself are kept whole."""
    read = statements(trace.content, trace.ts, asked=asked, everything=trace.origin == PERSON)
    return frozenset(map(reading_of, read))


def sources_of(store: Store, entry: Entry) -> Iterator[Trace]:
    """Return the sources of an entry: traces of the log, one at a time, or the written text."""
    if "traces" in entry.meta:
        return traces_of(store, entry)
    reference = entry.meta.get("raw") or entry.reference
    path = f"{FOLDER}/{reference}/raw.md"  # as facts name their source, on any machine
    raw = store.get(f"{folder_on(entry.machine)}/{reference}/raw.md")
    if raw is None:
        raise NotFound(f"{entry.reference} was not read: its raw.md is missing. `looseleaf check` says more.")
    text = raw.data.decode("utf-8", "replace")
    origin, ts = str(entry.meta.get("origin", "document")), float(entry.meta.get("ts", 0.0))
    return MaterialText(text, origin, path, ts, entry.meta.get("person")).traces()


def scored_witnesses(entry: Entry) -> list[Witness]:
    """Return the scored facts of an entry of an older format: a score is a person's word for them."""
    if entry.meta.get("upgraded") is None:
        return []
    ts = float(entry.meta.get("ts") or 0.0)
    return [
        Witness(f"{FOLDER}/{entry.reference}/summary.json", "person", str(raw.get("quote", "")), ts)
        for raw in entry.summary.get("facts", ())
        if raw.get("user_fact_score") is not None
    ]


# --- running a custom distiller, which may raise, hang, or return anything --------------

_LONGEST_SENTENCE = 400


def traces_for_model(material: Material) -> Iterator[Trace]:
    """Yield the traces that a model reads: if the material knows the difference, all but the plainly forbidden."""
    read: Callable[[], Iterator[Trace]] = getattr(material, "for_a_model", material.traces)
    return read()


class Watched:
    """Material, and a flag that is set when the caller no longer waits."""

    def __init__(self, material: Material, cancel: Event) -> None:
        self._material = material
        self.cancel = cancel

    def traces(self) -> Iterator[Trace]:
        return self._material.traces()

    def for_a_model(self) -> Iterator[Trace]:
        return traces_for_model(self._material)


class Missing:
    """Stands in for a configured distiller that is missing. The rules distill, and the entry says why: it is made again
    once there is a distiller."""

    name = "missing"

    def __init__(self, why: str) -> None:
        self.why = why

    def distill(self, material: Material, tokens: int) -> Distilled:
        raise Refused(self.why)


def run(distiller: Distiller, material: Material, tokens: int, seconds: float) -> Distilled | str:
    """Run a distiller, and return its result or the reason of the failure. The caller does not wait past the time
    limit; a distiller that watches the material's `cancel` stops then."""
    if isinstance(distiller, Missing):
        return distiller.why
    from threading import Event

    cancel = Event()

    def work() -> Distilled | str:
        made = distiller.distill(Watched(material, cancel), tokens)
        fault = _find_fault(made)
        return f"returned {fault}" if fault else made

    try:
        made = _run_in_time(work, seconds)
    finally:
        cancel.set()
    return _drop_unsaid(made, material) if isinstance(made, Distilled) else f"{distiller.name} {made}"


def _run_in_time(work: Callable[[], T], seconds: float) -> T | str:
    """Run custom code, and return its result or the reason of the failure. The caller does not wait past the time
    limit."""
    from contextvars import copy_context
    from threading import Thread

    answer: list[T | str] = []

    def run_it() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # noqa: BLE001 - custom code may raise anything; it is reported
            answer.append(f"raised {type(error).__name__}: {_describe_error(error)}")

    # It works under the claim of who asks.
    thread = Thread(target=copy_context().run, args=(run_it,), daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else f"took longer than {seconds:g} s"


def _drop_unsaid(made: Distilled, material: Material) -> Distilled:
    """Drop sentences that only tools said, or a pasted text: every later prompt shows noted sentences as decisions and
    tasks."""
    unheard = {each.text for name in NOTED for each in getattr(made, name)}
    if not unheard:
        return made
    for trace in traces_for_model(material):
        if trace.trace_type.startswith("tool"):
            continue
        own = strip_pasted(trace.content) if trace.trace_type == "user" else trace.content
        unheard = {text for text in unheard if not supports(text, own)}
    kept = {name: tuple(each for each in getattr(made, name) if each.text not in unheard) for name in NOTED}
    return with_members(made, **kept)


def redacted(made: Distilled, clean: Callable[[Any], Any]) -> Distilled:
    """Return it without secrets: a model may know one from elsewhere."""
    kept: dict[str, Any] = {
        name: tuple(
            Noted(clean(each.text), each.source, clean(each.replaces)) for each in getattr(made, name)
        )
        for name in NOTED
    }
    kept |= {"private": made.private, "model": made.model, "tokens": made.tokens, "cost": made.cost}
    return Distilled(clean(made.summary), clean(made.episode), tuple(map(clean, made.facts)), **kept)


def _describe_error(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())
        return said if len(said) <= _LONGEST_SENTENCE else f"{said[:_LONGEST_SENTENCE].rpartition(' ')[0]} …"
    except Exception:  # noqa: BLE001 - even this runs custom code
        return "it cannot say what"


def _find_fault(made: object) -> str | None:
    """Return what is wrong with a distiller's answer: custom code may return any types."""
    if not isinstance(made, Distilled):
        return f"{type(made).__name__}, which is not a Distilled"
    summary: object = made.summary
    if type(summary) is not str or not summary.strip():
        return "no summary"
    for name in NOTED:
        noted: object = getattr(made, name)
        if not isinstance(noted, tuple) or not all(isinstance(each, Noted) for each in noted):
            return f"{name} that are not a tuple of Noted"
        if any(type(text) is not str for each in noted for text in (each.text, each.source, each.replaces)):
            return f"{name} that are not a tuple of Noted"
    try:
        json.dumps([list(made.facts), made.episode], allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return "facts or an episode that JSON cannot hold"
    return None


# --- writing entries --------------------------------------------------------------------

_MOST_CHECKED = 60
"""The most claims that a model checks at once."""

SESSIONS = "sessions"
"""The topic of entries made from talk: their facts go to their own topics."""


@frozen
class MadeEntry:
    """An entry to write: its reference and its files; no files if it already exists."""

    reference: str
    files: dict[str, bytes] | None = None


class EntryWriter:
    """Writes entries. `distiller`: a custom one, or None for the rules."""

    def __init__(self, context: Context, distiller: Distiller | None = None) -> None:
        self._store, self._policy, self._agent = context.store, context.policy, context.agent
        self._redact, self._note = context.redact, context.note
        self._distiller = distiller

    @property
    def distiller(self) -> Distiller:
        return self._distiller or Rules()

    # --- talk --------------------------------------------------------------------------

    def stretch(self, stretch: TurnRange, topic: str = SESSIONS) -> MadeEntry:
        """Make the entry of a stretch of talk."""
        traces = stretch.taken
        ids = "\n".join(trace.id for trace in traces)
        digest = sha256(f"{self.distiller.name}\n{self._agent}\n{ids}".encode())
        entry = id_of(max(0.0, traces[0].ts), bytes.fromhex(digest))
        reference = f"{self.topic_of(entry) or topic}/{entry}"
        if self.has(reference):
            return MadeEntry(reference)
        made, name, failures = self.make(stretch)
        meta: dict[str, Any] = {
            "agent": self._agent,
            "turn_ids": list(dict.fromkeys(trace.turn_id for trace in traces)),
            "traces": runs_of(stretch.spots),
            "source_sha256": sha256(ids.encode()),
        }
        proved = self._check_facts(stretch, made) if self._policy.verify == "model" and not failures else []
        meta |= {"checked": proved} if proved else {}
        raw = raw_md(reference.rpartition("/")[2], traces, self._policy.raw_bytes)
        return self._make_entry(reference, raw, meta | made_of(traces, made), made, name, failures)

    def _check_facts(self, stretch: TurnRange, made: Distilled) -> list[int]:
        """Return the numbers of the facts that their words do not prove, but a second look of the model does. If it
        cannot look, only note that."""
        check: Callable[[list[tuple[str, str]]], set[int]] | None = getattr(self._distiller, "check", None)
        if check is None or not callable(check):
            return []
        witnesses = witnesses_of(stretch.for_a_model(), for_a_model=True)
        proposed = [(at, proposal_of(raw)) for at, raw in enumerate(made.facts)]
        open_ = [
            (at, each) for at, each in proposed if each is not None and not judge(each, witnesses).verified
        ]
        if not open_:
            return []
        pairs = [(each.quote, worded(each.relation, each.object)) for _, each in open_[:_MOST_CHECKED]]
        proved = _run_in_time(lambda: check(pairs), self._policy.distill_seconds)
        if isinstance(proved, str):
            self._note(f"The model could not check its conclusions: it {proved}")
            return []
        return [open_[number][0] for number in sorted(proved)]

    # --- a text ------------------------------------------------------------------------

    def text(self, text: MaterialText, reference: str, about: dict[str, Any] | None = None) -> MadeEntry:
        """Make the entry of a text; its `raw.md` is the text itself. `about`: more members of its meta."""
        if self.has(reference):
            return MadeEntry(reference)
        made, name, failures = self.make(text)
        raw = text.text.encode("utf-8", "backslashreplace")
        meta = {"agent": self._agent, "origin": text.origin, "turn_ids": [], "source_sha256": sha256(raw)}
        meta |= about or {}
        if text.person is not None:
            meta["person"] = text.person
        return self._make_entry(reference, raw, meta | made_of(text.traces(), made), made, name, failures)

    def name_of(self, text: str, origin: str) -> str:
        """Return the id of a text's entry: the same text of the same origin is one entry, however often it is
        written."""
        digest = sha256(f"{self.distiller.name}\n{origin}\n{text}".encode("utf-8", "backslashreplace"))
        return id_of(0.0, bytes.fromhex(digest))

    # --- talk and texts --------------------------------------------------------------------------

    def topic_of(self, entry: str) -> str | None:
        """Return the topic of an existing entry: an id is in one place, whatever topic is given later."""
        return next((each for each in self._store.folders(FOLDER) if self.has(f"{each}/{entry}")), None)

    def has(self, reference: str) -> bool:
        return self._store.stat(f"{FOLDER}/{reference}/meta.json") is not None

    def publish(self, made: MadeEntry) -> Entry:
        """Publish an entry, whole; existing files stay."""
        if made.files:
            with self._store.lock():
                self._store.publish(f"{FOLDER}/{made.reference}", made.files, again=True)
        return read_entry(self._store, made.reference)

    def make(self, material: Material) -> tuple[Distilled, str, tuple[str, ...]]:
        """Distill material. Return the result, the distiller's name, and the failures on the way."""
        tokens = self._policy.summary_tokens
        failures: tuple[str, ...] = ()
        if self._distiller is not None:
            made = run(self._distiller, material, tokens, self._policy.distill_seconds)
            if isinstance(made, Distilled):
                return redacted(made, self._redact), self._distiller.name, ()
            self._note(f"The rules distilled instead: {made.rstrip('.')}.")
            failures = (made,)
        rules = Rules()
        return rules.distill(material, tokens), rules.name, failures

    def _make_entry(
        self,
        reference: str,
        raw: bytes,
        meta: dict[str, Any],
        made: Distilled,
        distiller: str,
        failures: tuple[str, ...],
    ) -> MadeEntry:
        topic, _, entry = reference.rpartition("/")
        whole = {"id": entry, "ts": clock.now(), "topic": topic, "distiller": distiller}
        whole |= {"level": distiller_level(distiller), "model": made.model, "tokens": made.tokens}
        whole |= {"cost": made.cost, "failures": list(failures)} | meta
        files = {"raw.md": raw, "summary.json": summary_json(made), "meta.json": meta_json(whole)}
        return MadeEntry(reference, files)


def distiller_level(distiller: str) -> str:
    """Return what kind of distiller made an entry."""
    return "rules" if distiller.startswith("rules/") else "distiller"


def made_of(traces: Iterable[Trace], made: Distilled) -> dict[str, Any]:
    """Return whose words an entry rests on: as a whole, and for each noted sentence."""
    origins = {trace.id: trace.origin for trace in traces if RECALLED not in trace.tags}
    noted = {each.source for name in NOTED for each in getattr(made, name)}
    return {
        "trust": lowest(level_of(origin) for origin in origins.values()),
        "sources": {source: origins[source] for source in sorted(noted & origins.keys())},
    }


MOST_NOTES = 40
"""The most sentences that become a note each; more of them are a text, and one note."""


class WholeEntryWriter(EntryWriter):
    """Writes by the rules, which keep every sentence as facts of the entry's topic."""

    def facts(self, material: Material) -> list[dict[str, Any]]:
        """Return the facts that `make` would find, without making a summary."""
        stating = StatedFacts(MOST_NOTED, everything=True)
        for trace in permitted_traces(material.traces()):
            (stating.take if trace.trace_type == "user" else stating.heard)(trace)
        return _lines_of(fact.to_dict() for fact in stating.all())

    def make(self, material: Material) -> tuple[Distilled, str, tuple[str, ...]]:
        rules = Rules(everything=True)
        made = rules.distill(material, self._policy.summary_tokens)
        return with_members(made, facts=tuple(_lines_of(made.facts))), rules.name, ()


def _lines_of(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the facts to write as lines: all but long notes and, if there are too many, all notes."""
    facts = list(found)
    notes = [each for each in facts if each["relation"] == NOTE]
    lines = [each | {"topic": PROJECT} for each in notes if len(each["quote"]) <= NOTE_CHARS]
    return [each for each in facts if each["relation"] != NOTE] + (lines if len(notes) <= MOST_NOTES else [])
