"""Making entries: material becomes one immutable entry. The same material and the same distiller make the same entry,
once.

No lock is held while a distiller works. An entry's id depends on what was read and by which distiller, so a repetition
finds the existing entry.
"""

from __future__ import annotations

import json

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import id_of
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import NOTED, Distilled, Noted
from looseleaf.base.origins import RECALLED, level_of, lowest
from looseleaf.base.paths import PROJECT
from looseleaf.facts.gate import judge, proposal_of, supports
from looseleaf.language.own_words import own_words
from looseleaf.log.entries import FOLDER, meta_json, raw_md, read_entry, runs_of, summary_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Event
    from typing import Any, TypeVar

    from looseleaf.base.messages import Distiller, Material, Trace
    from looseleaf.distill.material import MaterialText, TurnRange
    from looseleaf.log.entries import Entry
    from looseleaf.store.context import Context

    T = TypeVar("T")


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
    from threading import Thread

    answer: list[T | str] = []

    def run_it() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # noqa: BLE001 - custom code may raise anything; it is reported
            answer.append(f"raised {type(error).__name__}: {_describe_error(error)}")

    thread = Thread(target=run_it, daemon=True)
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
        own = own_words(trace.content) if trace.trace_type == "user" else trace.content
        unheard = {text for text in unheard if not supports(text, own)}
    from looseleaf.distill.requests import with_members

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
        return f"{type(made).__name__}, which is no Distilled"
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
        from looseleaf.distill.rules import Rules

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
        from looseleaf.distill.material import witnesses_of
        from looseleaf.text.lines import worded

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

    def text(self, text: MaterialText, reference: str) -> MadeEntry:
        """Make the entry of a text; its `raw.md` is the text itself."""
        if self.has(reference):
            return MadeEntry(reference)
        made, name, failures = self.make(text)
        raw = text.text.encode("utf-8", "backslashreplace")
        meta = {"agent": self._agent, "origin": text.origin, "turn_ids": [], "source_sha256": sha256(raw)}
        return self._make_entry(reference, raw, meta | made_of(text.traces(), made), made, name, failures)

    def name_of(self, text: str, origin: str) -> str:
        """Return the id of a text's entry: the same text of the same origin is one entry, however often it is
        written."""
        digest = sha256(f"{self.distiller.name}\n{origin}\n{text}".encode("utf-8", "backslashreplace"))
        return id_of(0.0, bytes.fromhex(digest))

    # --- both --------------------------------------------------------------------------

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
        from looseleaf.distill.rules import Rules

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
        from looseleaf.distill.collect import NOTED, StatedFacts
        from looseleaf.distill.forbidding import permitted_traces

        stating = StatedFacts(NOTED, everything=True)
        for trace in permitted_traces(material.traces()):
            (stating.take if trace.trace_type == "user" else stating.heard)(trace)
        return _lines_of(fact.to_dict() for fact in stating.all())

    def make(self, material: Material) -> tuple[Distilled, str, tuple[str, ...]]:
        from looseleaf.distill.requests import with_members
        from looseleaf.distill.rules import Rules

        rules = Rules(everything=True)
        made = rules.distill(material, self._policy.summary_tokens)
        return with_members(made, facts=tuple(_lines_of(made.facts))), rules.name, ()


def _lines_of(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the facts to write as lines: all but long notes and, if there are too many, all notes."""
    from looseleaf.distill.wording import NOTE_CHARS
    from looseleaf.text.lines import NOTE

    facts = list(found)
    notes = [each for each in facts if each["relation"] == NOTE]
    lines = [each | {"topic": PROJECT} for each in notes if len(each["quote"]) <= NOTE_CHARS]
    return [each for each in facts if each["relation"] != NOTE] + (lines if len(notes) <= MOST_NOTES else [])
