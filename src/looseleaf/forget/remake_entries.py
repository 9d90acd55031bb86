"""Entries after a cut: one without sources is gone; one that lost a part is remade from the rest, under the same id.
A model's work is kept as far as it can be divided; else the rules make it again.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.messages import NOTED, Distilled, Noted, Trace
from looseleaf.distill.make_entry import made_of
from looseleaf.distill.material import MaterialSources, MaterialText
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
from looseleaf.text.spellings import each_text, folded, is_nothing_else, masked, masked_value

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

FILES = ("raw.md", "summary.json", "meta.json")
_SHORT = 3
"""Fewest letters of a value to look for in a summary: a shorter one stands in many words."""


class RemadeEntries:
    """The result for all entries. `files` are those that change (None: they go); `gone` and `again` name entries;
    `lost` are texts that they no longer hold; `more` are further sentences that say what is to go."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | None] = {}
        self.gone: set[str] = set()
        self.again: set[str] = set()
        self.lost: list[str] = []
        self.old: dict[str, Entry] = {}
        self.new: dict[str, Entry] = {}
        self.more: dict[str, set[str]] = {}

    def drop(self, store: Store, reference: str) -> None:
        self.gone.add(reference)
        for stat in store.list(f"{FOLDER}/{reference}"):
            self.files[stat.path] = None


def remake(
    store: Store,
    policy: Policy,
    cut: Cut,
    fates: Fates,
    count: Callable[[str], int],
    topics: Callable[[str], str],
) -> RemadeEntries:
    made = RemadeEntries()
    for reference in entries_in(store):
        _EntryRemake(store, policy, cut, fates, count, topics, made, reference).decide()
    return made


class _EntryRemake:
    """Decides about one entry."""

    def __init__(
        self,
        store: Store,
        policy: Policy,
        cut: Cut,
        fates: Fates,
        count: Callable[[str], int],
        topics: Callable[[str], str],
        made: RemadeEntries,
        reference: str,
    ) -> None:
        self._store, self._policy, self._cut, self._fates = store, policy, cut, fates
        self._count, self._topics, self._made, self._reference = count, topics, made, reference
        self._topic, _, self._id = reference.rpartition("/")

    def decide(self) -> None:
        try:
            entry = read_entry(self._store, self._reference)
            before = list(self._read_sources(entry))
        except Refused:
            self._drop_if_named()
            return
        agent = str(entry.meta.get("agent"))
        is_text = "traces" not in entry.meta
        if self._topic in self._cut.topics or (
            is_text and self._cut.takes(None, entry.meta.get("origin", "document"), agent)
        ):
            self._drop_entry(entry)
            return
        after = self._sources_left(entry, before, is_text)
        is_empty = is_text and after != before and all(is_nothing_else(each.content) for each in after)
        if before and (is_empty or not after):
            self._drop_entry(entry)
            return
        if after == before and not self._is_taken(entry):
            return
        self._made.again.add(self._reference)
        self._make_again(entry, before, after, is_text)

    def _drop_if_named(self) -> None:
        """Drop an unreadable entry if it holds the words; else leave it for repair."""
        held = [self._store.get(stat.path) for stat in self._store.list(f"{FOLDER}/{self._reference}")]
        texts = [each.data.decode("utf-8", "replace") for each in held if each is not None]
        if self._topic in self._cut.topics or self._cut.holds(texts):
            self._made.drop(self._store, self._reference)

    def _drop_entry(self, entry: Entry) -> None:
        self._made.old[self._reference] = entry
        self._made.lost += _list_texts(entry)
        self._made.drop(self._store, self._reference)

    # --- sources -----------------------------------------------------------------------

    def _raw_path(self, entry: Entry) -> str:
        return f"{FOLDER}/{entry.meta.get('raw') or self._reference}/raw.md"

    def _read_sources(self, entry: Entry) -> Iterator[Trace]:
        if "traces" in entry.meta:
            yield from traces_of(self._store, entry)
        else:
            yield from self._split_text(entry, self._read_raw(entry))

    def _read_raw(self, entry: Entry) -> str:
        document = self._store.get(self._raw_path(entry))
        return document.data.decode("utf-8", "replace") if document is not None else ""

    def _split_text(self, entry: Entry, text: str) -> Iterator[Trace]:
        origin, ts = str(entry.meta.get("origin", "document")), float(entry.meta.get("ts") or 0.0)
        return MaterialText(text, origin, self._raw_path(entry), ts).traces()

    def _sources_left(self, entry: Entry, before: Sequence[Trace], is_text: bool) -> list[Trace]:
        if is_text:
            return list(
                self._split_text(entry, self._cut.cut_text(self._read_raw(entry), self._raw_path(entry)))
            )
        fates = self._fates.get(f"traces/{entry.meta.get('agent')}", {})
        left = (Trace.from_record(fates[each.id] or {}) if each.id in fates else each for each in before)
        return [each for each in left if each is not None]

    def _is_taken(self, entry: Entry) -> bool:
        """True if the entry itself says what is to go, though its sources no longer do."""
        return self._cut.holds([entry.summary, entry.meta]) or any(
            self._takes(raw) for raw in entry.summary.get("facts", ())
        )

    def _takes(self, raw: Any) -> bool:
        proposal = proposal_of(raw)
        if proposal is None:
            return self._cut.holds(raw)
        topic = topic_of_proposal(self._topics, proposal, self._topic)
        return self._cut.takes_fact(topic, proposal.relation, proposal.object) or self._cut.holds(raw)

    # --- made again --------------------------------------------------------------------

    def _make_again(self, entry: Entry, before: Sequence[Trace], after: list[Trace], is_text: bool) -> None:
        self._made.old[self._reference] = entry
        by_rules = str(entry.meta.get("distiller", "")).startswith("rules/")
        rules = Rules(self._count) if "loss" in entry.meta else Rules()
        distilled = self._drop_taken(
            rules.distill(MaterialSources(tuple(after)), self._policy.summary_tokens)
        )
        name, level = rules.name, "rules"
        if not by_rules:
            name, level = str(entry.meta.get("distiller")), str(entry.meta.get("level"))
            distilled = self._divide_summary(entry, before, after, distilled)
        raw = raw_md(self._id, after, self._policy.raw_bytes)
        if is_text:
            raw = self._cut.cut_text(self._read_raw(entry), self._raw_path(entry)).encode(
                "utf-8", "backslashreplace"
            )
        ids = "\n".join(trace.id for trace in after)
        meta = {name: value for name, value in entry.meta.items() if name not in ("schema", "upgraded")}
        meta |= {"distiller": name, "level": level}
        meta["source_sha256"] = sha256(raw if is_text else ids.encode())
        if not is_text:
            meta["turn_ids"] = list(dict.fromkeys(trace.turn_id for trace in after))
        if "trust" in meta:
            meta |= made_of(MaterialSources(tuple(after)).traces(), distilled)
        if "loss" in meta:
            meta["loss"] = _strip_loss(meta["loss"])
        for told in ("failures", "loss"):  # the other members are names that the program looks up
            if told in meta and self._cut.words:
                meta[told] = masked_value(meta[told], self._cut.words)
        files = {"raw.md": raw, "summary.json": summary_json(distilled), "meta.json": meta_json(meta)}
        for file, data in files.items():
            self._made.files[f"{FOLDER}/{self._reference}/{file}"] = data
        self._made.lost += _list_texts(entry)

    def _drop_taken(self, distilled: Distilled) -> Distilled:
        """Drop what is to go from what the rules find, and collect the sentences that still say it."""
        kept: list[dict[str, Any]] = []
        for raw in distilled.facts:
            if not self._takes(raw):
                kept.append(raw)
                continue
            source = str(raw.get("source", "")).partition("#")[0]
            self._made.more.setdefault(source, set()).add(folded(str(raw.get("quote", ""))))
        noted: dict[str, Any] = {
            name: tuple(each for each in getattr(distilled, name) if not self._cut.holds(each.text))
            for name in NOTED
        }
        return Distilled(distilled.summary, distilled.episode, tuple(kept), **noted)

    def _divide_summary(
        self, entry: Entry, before: Sequence[Trace], after: Sequence[Trace], by_rules: Distilled
    ) -> Distilled:
        """Return a model's work without what rests on removed words. A summary cannot be divided by source: if a source
        went whole, use the rules' summary."""
        texts = {trace.id: folded(" ".join(each_text(trace.to_record()))) for trace in after}
        kept: list[dict[str, Any]] = []
        words = [*self._cut.words]
        for raw in entry.summary.get("facts", ()):
            quote, source = folded(str(raw.get("quote", ""))), str(raw.get("source", ""))
            held = [texts[source]] if source in texts else [] if source else list(texts.values())
            if not self._takes(raw) and any(quote in text for text in held):
                kept.append(raw)
            else:
                words += [word for word in (folded(str(raw.get("object", ""))), quote) if len(word) >= _SHORT]
        for trace in before:
            words += [*self._cut.quotes.get(trace.id, ()), *self._cut.quotes.get(self._raw_path(entry), ())]
        noted: dict[str, Any] = {}
        for name in NOTED:
            rows = [each for each in entry.summary.get(name, ()) if isinstance(each, dict)]
            found = list(map(Noted.from_dict, rows))
            noted[name] = tuple(
                each for each in found if each.source in texts and masked(each.text, words) == each.text
            )
        summary, episode = str(entry.summary.get("summary", "")), entry.summary.get("episode")
        if self._cut.is_of_sources and len(after) < len(before):
            summary, episode = by_rules.summary, by_rules.episode
        elif isinstance(episode, dict):
            episode = {
                name: value for name, value in episode.items() if masked_value(value, tuple(words)) == value
            }
        return Distilled(masked(summary, words), episode or None, tuple(kept), **noted)


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
