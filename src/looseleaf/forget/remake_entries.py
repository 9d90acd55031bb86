"""Entries after a cut: one without sources is gone; one that lost a part is remade from the rest, under the same id.
A model's work is kept as far as it can be divided; else the rules make it again.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.messages import NOTED, Distilled, Noted, Trace
from looseleaf.base.values import sha256
from looseleaf.distill.make_entry import MaterialSources, MaterialText, made_of
from looseleaf.distill.rules import Rules
from looseleaf.facts.gate import proposal_of
from looseleaf.forget.cut import topic_of_proposal
from looseleaf.log.entries import (
    FOLDER,
    Entry,
    entries_in,
    meta_json,
    raw_md,
    read_entry,
    summary_json,
    traces_of,
)
from looseleaf.text.spellings import drop_sentences_with, each_text, fold_text, is_nothing_else, masked_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Record
    from looseleaf.forget.cut import Cut
    from looseleaf.store.protocol import Store

    Fates = Mapping[str, Mapping[str, Record | None]]
    """By stream and id, what is left of changed lines (None: nothing)."""

_SHORT = 3
"""Fewest letters of a value to look for in a summary: a shorter one stands in many words."""


class RemadeEntries:
    """What becomes of all entries. `files` are those that change (None: they go); `gone` and `again` name entries,
    `old` has them as they were; `lost` are texts that they no longer hold; `more` are further sentences that say what
    is to go."""

    def __init__(
        self,
        store: Store,
        policy: Policy,
        cut: Cut,
        fates: Fates,
        count: Callable[[str], int],
        topics: Callable[[str], str],
    ) -> None:
        self._store, self._policy, self._cut, self._fates = store, policy, cut, fates
        self._count, self._topics = count, topics
        self.files: dict[str, bytes | None] = {}
        self.gone: set[str] = set()
        self.again: set[str] = set()
        self.lost: list[str] = []
        self.old: dict[str, Entry] = {}
        self.more: dict[str, set[str]] = {}
        for reference in entries_in(store):
            self._decide(reference)

    def _decide(self, reference: str) -> None:
        topic = reference.rpartition("/")[0]
        try:
            entry = read_entry(self._store, reference)
            is_text = "traces" not in entry.meta
            raw = self._read_raw(entry) if is_text else ""
            before = list(self._split_text(entry, raw) if is_text else traces_of(self._store, entry))
        except Refused:  # it goes if it holds the words; else it is left for repair
            held = [self._store.get(stat.path) for stat in self._store.list(f"{FOLDER}/{reference}")]
            texts = [each.data.decode("utf-8", "replace") for each in held if each is not None]
            is_named = topic in self._cut.topics or reference in self._cut.entries
            if is_named or self._cut.holds(texts):
                self._drop(reference)
            return
        origin, agent = entry.meta.get("origin", "document"), str(entry.meta.get("agent"))
        left = self._cut.cut_text(raw, self._raw_path(entry))
        if is_text:
            after = list(self._split_text(entry, left))
        else:
            fates = self._fates.get(f"traces/{agent}", {})
            kept = (Trace.from_record(fates[each.id] or {}) if each.id in fates else each for each in before)
            after = [each for each in kept if each is not None]
        is_gone = (
            topic in self._cut.topics
            or reference in self._cut.entries
            or (is_text and self._cut.takes(None, origin, agent))
        )
        is_empty = is_text and after != before and all(is_nothing_else(each.content) for each in after)
        if is_gone or (before and (is_empty or not after)):
            self._drop(reference)
        elif after == before and not self._is_taken(entry):
            return
        else:
            self.again.add(reference)
            self._make_again(entry, before, after, left if is_text else None)
        self.old[reference] = entry
        self.lost += _list_texts(entry)

    def _drop(self, reference: str) -> None:
        self.gone.add(reference)
        self.files |= {stat.path: None for stat in self._store.list(f"{FOLDER}/{reference}")}

    def _raw_path(self, entry: Entry) -> str:
        return f"{FOLDER}/{entry.meta.get('raw') or entry.reference}/raw.md"

    def _read_raw(self, entry: Entry) -> str:
        document = self._store.get(self._raw_path(entry))
        return document.data.decode("utf-8", "replace") if document is not None else ""

    def _split_text(self, entry: Entry, text: str) -> Iterator[Trace]:
        origin, ts = str(entry.meta.get("origin", "document")), float(entry.meta.get("ts") or 0.0)
        return MaterialText(text, origin, self._raw_path(entry), ts).traces()

    def _is_taken(self, entry: Entry) -> bool:
        """True if the entry itself says what is to go, though its sources no longer do."""
        return self._cut.holds([entry.summary, entry.meta]) or any(
            self._takes(entry, raw) for raw in entry.summary.get("facts", ())
        )

    def _takes(self, entry: Entry, raw: Any) -> bool:
        proposal = proposal_of(raw)
        if proposal is None:
            return self._cut.holds(raw)
        topic = topic_of_proposal(self._topics, proposal, entry.reference.rpartition("/")[0])
        return self._cut.takes_fact(topic, proposal.relation, proposal.object) or self._cut.holds(raw)

    def _make_again(
        self, entry: Entry, before: Sequence[Trace], after: list[Trace], text: str | None
    ) -> None:
        """Make the files of an entry from what is left. `text`: that of an entry made of a text."""
        rules = Rules(self._count) if "loss" in entry.meta else Rules()
        material = MaterialSources(tuple(after))
        distilled = self._drop_taken(entry, rules.distill(material, self._policy.summary_tokens))
        meta = {name: value for name, value in entry.meta.items() if name not in ("schema", "upgraded")}
        if str(entry.meta.get("distiller", "")).startswith("rules/"):
            meta |= {"distiller": rules.name, "level": "rules"}
        else:
            meta |= {name: str(entry.meta.get(name)) for name in ("distiller", "level")}
            distilled = self._divide_summary(entry, before, after, distilled)
        if text is None:
            raw = raw_md(entry.reference.rpartition("/")[2], after, self._policy.raw_bytes)
            meta["source_sha256"] = sha256("\n".join(trace.id for trace in after).encode())
            meta["turn_ids"] = list(dict.fromkeys(trace.turn_id for trace in after))
        else:
            raw = text.encode("utf-8", "backslashreplace")
            meta["source_sha256"] = sha256(raw)
        if "trust" in meta:
            meta |= made_of(MaterialSources(tuple(after)).traces(), distilled)
        if "loss" in meta:
            meta["loss"] = _strip_loss(meta["loss"])
        for told in ("failures", "loss"):  # the other members are names that the program looks up
            if told in meta and self._cut.words:
                meta[told] = masked_value(meta[told], self._cut.words)
        files = {"raw.md": raw, "summary.json": summary_json(distilled), "meta.json": meta_json(meta)}
        self.files |= {f"{FOLDER}/{entry.reference}/{name}": data for name, data in files.items()}

    def _drop_taken(self, entry: Entry, distilled: Distilled) -> Distilled:
        """Drop what is to go from what the rules find, and collect the sentences that still say it."""
        kept: list[dict[str, Any]] = []
        for raw in distilled.facts:
            if not self._takes(entry, raw):
                kept.append(raw)
                continue
            source = str(raw.get("source", "")).partition("#")[0]
            self.more.setdefault(source, set()).add(fold_text(str(raw.get("quote", ""))))
        noted: dict[str, Any] = {
            name: tuple(each for each in getattr(distilled, name) if not self._cut.holds(each.text))
            for name in NOTED
        }
        return Distilled(
            distilled.summary, distilled.episode, tuple(kept), **noted, private=distilled.private
        )

    def _divide_summary(
        self, entry: Entry, before: Sequence[Trace], after: Sequence[Trace], by_rules: Distilled
    ) -> Distilled:
        """Return a model's work without what rests on removed words. A summary cannot be divided by source: if a source
        went whole, use the rules' summary."""
        texts = {trace.id: fold_text(" ".join(each_text(trace.to_record()))) for trace in after}
        kept: list[dict[str, Any]] = []
        words = [*self._cut.words]
        for raw in entry.summary.get("facts", ()):
            quote, source = fold_text(str(raw.get("quote", ""))), str(raw.get("source", ""))
            held = [texts[source]] if source in texts else [] if source else list(texts.values())
            if not self._takes(entry, raw) and any(quote in text for text in held):
                kept.append(raw)
            else:
                words += [
                    word for word in (fold_text(str(raw.get("object", ""))), quote) if len(word) >= _SHORT
                ]
        for trace in before:
            words += [*self._cut.quotes.get(trace.id, ()), *self._cut.quotes.get(self._raw_path(entry), ())]
        noted: dict[str, Any] = {}
        for name in NOTED:
            rows = [each for each in entry.summary.get(name, ()) if isinstance(each, dict)]
            found = list(map(Noted.from_dict, rows))
            noted[name] = tuple(
                each
                for each in found
                if each.source in texts and drop_sentences_with(each.text, words) == each.text
            )
        summary, episode = str(entry.summary.get("summary", "")), entry.summary.get("episode")
        if self._cut.is_of_sources and len(after) < len(before):
            summary, episode = by_rules.summary, by_rules.episode
        elif isinstance(episode, dict):
            episode = {
                name: value for name, value in episode.items() if masked_value(value, tuple(words)) == value
            }
        private = tuple(each for each in map(str, entry.summary.get("private", ())) if each in texts)
        return Distilled(
            drop_sentences_with(summary, words), episode or None, tuple(kept), **noted, private=private
        )


def _strip_loss(loss: Any) -> Any:
    """Return a compaction's report with its numbers, without its lost sentences."""
    if not isinstance(loss, dict) or not isinstance(loss.get("kept"), list):
        return loss
    return {**loss, "kept": [{**each, "missing": []} for each in loss["kept"] if isinstance(each, dict)]}


def _list_texts(entry: Entry) -> list[str]:
    """Return an entry's texts, its own words and others'."""
    names = ("summary", "episode", "facts", *NOTED)
    texts = [text for name in names for text in _list_values(entry.summary.get(name))]
    return [each for each in texts if each]


def _list_values(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, without member names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("source", "kind", "topic", "time_span", "relation", "tags"):
                yield from _list_values(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _list_values(inner)
