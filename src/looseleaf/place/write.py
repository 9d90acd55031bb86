"""Write: material becomes one immutable entry. The same material and the same distiller make the same entry, once.

Nothing is held while a distiller works. An entry's id follows from what was read and by whom, so whatever is repeated
finds what is there.
"""

from __future__ import annotations

import time

from looseleaf.core.gate import RECALLED, level_of, lowest
from looseleaf.distill.run import run
from looseleaf.entries import FOLDER, meta_json, raw_md, read_entry, runs_of, summary_json
from looseleaf.errors import Refused
from looseleaf.hashing import sha256
from looseleaf.store.ulid import id_of
from looseleaf.talk import NOTED, Distilled, Noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from looseleaf.entries import Entry
    from looseleaf.place.material import Stretch, Text
    from looseleaf.policy import Policy
    from looseleaf.store.protocol import Store
    from looseleaf.talk import Distiller, Material, Trace

SESSIONS = "sessions"
"""The topic of entries that were made of talk: its facts go to their own topics."""


class Write:
    """`clean` takes secrets out of a text; `distiller` is somebody's own, or None for the rules."""

    def __init__(
        self,
        store: Store,
        policy: Policy,
        agent: str,
        clean: Callable[[Any], Any],
        distiller: Distiller | None,
        note: Callable[[str], None],
    ) -> None:
        self._store = store
        self._policy = policy
        self._agent = agent
        self._clean = clean
        self._distiller = distiller
        self._note = note

    @property
    def distiller(self) -> Distiller:
        from looseleaf.distill.rules import Rules

        return self._distiller or Rules()

    # --- talk --------------------------------------------------------------------------

    def stretch(self, stretch: Stretch, topic: str = SESSIONS) -> Entry:
        """The entry of a stretch of talk."""
        traces = stretch.taken
        ids = "\n".join(trace.id for trace in traces)
        reference = self._reference(topic, traces[0].ts, self._agent, ids)
        found = self._found(reference)
        if found is not None:
            return found
        made, name, failures = self.make(stretch)
        meta = {
            "agent": self._agent,
            "turn_ids": list(dict.fromkeys(trace.turn_id for trace in traces)),
            "traces": runs_of(stretch.spots),
            "source_sha256": sha256(ids.encode()),
        }
        raw = raw_md(reference.rpartition("/")[2], traces, self._policy.raw_bytes)
        return self._publish(reference, raw, meta | _made_of(traces, made), made, name, failures)

    # --- a text ------------------------------------------------------------------------

    def text(self, text: Text, topic: str) -> Entry:
        """The entry of a text; what is in its `raw.md` is the text itself."""
        entry = text.source.rsplit("/", 2)[1]
        reference = f"{topic}/{entry}"
        found = self._found(reference)
        if found is not None:
            return found
        made, name, failures = self.make(text)
        meta = {
            "agent": self._agent,
            "origin": text.origin,
            "turn_ids": [],
            "source_sha256": sha256(text.text.encode("utf-8", "backslashreplace")),
        }
        raw = text.text.encode("utf-8", "backslashreplace")
        return self._publish(reference, raw, meta | _made_of(text.traces(), made), made, name, failures)

    def place_of_text(self, text: str, topic: str | None) -> str:
        """Where a text's entry is, or will be: the same text is not written twice under one topic."""
        digest = sha256(f"{self.distiller.name}\n{text}".encode("utf-8", "backslashreplace"))
        # Without a time: the same text is the same entry whenever it is written.
        entry = id_of(0.0, bytes.fromhex(digest))
        for there in (topic,) if topic is not None else self._store.folders(FOLDER):
            if self._store.stat(f"{FOLDER}/{there}/{entry}/meta.json") is not None:
                return f"{there}/{entry}"
        return entry

    # --- both --------------------------------------------------------------------------

    def _reference(self, topic: str, ts: float, *parts: str) -> str:
        digest = sha256("\n".join((self.distiller.name, *parts)).encode())
        return f"{topic}/{id_of(max(0.0, ts), bytes.fromhex(digest))}"

    def _found(self, reference: str) -> Entry | None:
        if self._store.stat(f"{FOLDER}/{reference}/meta.json") is None:
            return None
        return read_entry(self._store, reference)

    def make(self, material: Material) -> tuple[Distilled, str, tuple[str, ...]]:
        """What a distiller makes of it, which one, and what failed on the way."""
        tokens = self._policy.summary_tokens
        failures: tuple[str, ...] = ()
        if self._distiller is not None:
            made = run(self._distiller, material, tokens, self._policy.distill_seconds)
            if isinstance(made, Distilled):
                return redacted(made, self._clean), self._distiller.name, ()
            self._note(f"The rules distilled instead: {made}.")
            failures = (made,)
        from looseleaf.distill.rules import Rules

        rules = Rules()
        return rules.distill(material, tokens), rules.name, failures

    def _publish(
        self,
        reference: str,
        raw: bytes,
        meta: dict[str, Any],
        made: Distilled,
        distiller: str,
        failures: tuple[str, ...],
    ) -> Entry:
        topic, _, entry = reference.rpartition("/")
        whole = {"id": entry, "ts": time.time(), "topic": topic, "distiller": distiller}
        whole |= {"level": "rules" if distiller.startswith("rules/") else "distiller"}
        whole |= {"model": None, "tokens": 0, "cost": 0, "failures": list(failures)} | meta
        files = {"raw.md": raw, "summary.json": summary_json(made), "meta.json": meta_json(whole)}
        with self._store.lock():
            self._store.publish(f"{FOLDER}/{reference}", files, again=True)
        return read_entry(self._store, reference)


def redacted(made: Distilled, clean: Callable[[Any], Any]) -> Distilled:
    """Without secrets: a model may have been told one elsewhere."""
    notes = {
        name: tuple(Noted(clean(each.text), each.source) for each in getattr(made, name)) for name in NOTED
    }
    return Distilled(clean(made.summary), clean(made.episode), tuple(map(clean, made.facts)), **notes)


def _made_of(traces: Iterable[Trace], made: Distilled) -> dict[str, Any]:
    """Whose words an entry rests on: as a whole, and each sentence that it notes."""
    origins = {trace.id: trace.origin for trace in traces if RECALLED not in trace.tags}
    noted = {each.source for name in NOTED for each in getattr(made, name)}
    return {
        "trust": lowest(level_of(origin) for origin in origins.values()),
        "sources": {source: origins[source] for source in sorted(noted & origins.keys())},
    }


def refuse_distiller(name: str) -> Refused:
    return Refused(
        f"Nothing was distilled: there is no distiller {name!r}. Use rules/1, or give the memory one."
    )
