"""What a hook adds to a prompt: the few lines of the memory that clearly bear on it, mostly none.

A person waits: the index is read as it is, never brought up to date. Where it lacks pages or facts, only facts are
taken, which the journal confirms. Each line has its source and date. What is not the user's word is fenced; what a tool
said, what is no longer true, and what waits for the user's yes are left out.
"""

from __future__ import annotations

from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_at_least
from looseleaf.recall.bearing import LEAST_WORDS, MOST, READ, choose_items, subject_of, weigh_prompt
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any, Protocol, TypeVar

    from looseleaf.base.values import Fact
    from looseleaf.index.protocol import FoundItem, Index
    from looseleaf.recall import index_sync
    from looseleaf.recall.hits import Hit
    from looseleaf.store.context import Context

    T = TypeVar("T")

    class Needs(index_sync.Needs, Protocol):
        context: Context

        def farther(self, read: Callable[[Any], T]) -> list[tuple[str, T]]: ...


HEADING = "[MEMORY:RECALLED]"
_NOTE = "From earlier sessions; may bear on this prompt, which takes precedence:"

TOKENS = 400
"""The most tokens of all lines, as estimated."""

_CLIP = 90
"""Tokens of each text."""

_TALK, _FACTS = ("fact", "trace", "prose", "episode"), ("fact",)
_CANDIDATES, _REACH, _RANKED = 60, 2, 12


@frozen
class Bearing:
    """The text for the model, "" for nothing, and the keys of what it shows: what was shown once is not shown again
    in its session."""

    text: str = ""
    keys: tuple[str, ...] = ()


NOTHING = Bearing()


def bearing_on(
    parts: Needs,
    prompt: str,
    *,
    session: str = "",
    since: float | None = None,
    shown: Collection[str] = (),
    has_snapshot: bool = False,
) -> Bearing:
    """Return what clearly bears on a prompt. Left out is what the model has: the talk of its session, facts said
    `since` that began, what was `shown` in it, and the snapshot that it began with."""
    if not parts.context.policy.recall_on_prompt or len(subject_of(prompt)) < LEAST_WORDS:
        return NOTHING
    found = _search(parts, prompt, session, since, shown)
    farther = parts.farther(lambda far: _search(far, prompt, session, since, shown))
    if farther and (found or any(hits for _, hits in farther)):
        found = _join_layers(parts, [("", found), *farther], shown)
    if found and has_snapshot:
        from looseleaf.prompt.rendered_snapshot import kept_text

        before, names = kept_text(parts.context)
        found = [hit for hit in found if hit.text not in before and hit.where not in names]
    return _render(found[:MOST])


def _search(
    parts: Needs, prompt: str, session: str, since: float | None, shown: Collection[str]
) -> list[Hit]:
    from looseleaf.index.opening import reading_index
    from looseleaf.index.sqlite import DamagedIndex

    with reading_index(parts.context.store) as index:
        try:
            return list(_find_hits(parts, index, prompt, session, since, shown)) if index is not None else []
        except (DamagedIndex, OSError):
            return []  # the next question rebuilds it


def _join_layers(
    parts: Needs, layers: Sequence[tuple[str, Sequence[Hit]]], shown: Collection[str]
) -> list[Hit]:
    """Return the hits of all layers, nearest first, each text once; without those that another layer knows better."""
    from looseleaf.recall.hits import HitReader
    from looseleaf.recall.truth import Truth

    readers = dict(parts.farther(lambda far: HitReader(far.context.store, far)))
    truth = Truth({"": HitReader(parts.context.store, parts), **readers})
    found: list[Hit] = []
    for layer, hits in layers:
        said = {hit.text for hit in found}
        for hit in hits if layer in ("", *readers) else ():
            named = hit.of_layer(layer)
            if hit.text in said or named.where in shown:
                continue
            if hit.kind == "fact":
                is_true = truth.has(hit.topic, hit.where, layer)
            else:
                is_true = not truth.beaten(hit.where.rpartition("/")[2], layer)
            if is_true:
                found.append(named)
    return found


def _find_hits(
    parts: Needs, index: Index, prompt: str, session: str, since: float | None, shown: Collection[str]
) -> Iterator[Hit]:
    def is_new(row: FoundItem) -> bool:
        return row.name not in shown and not (row.kind == "trace" and row.session == session)

    rows = _choose_rows(index, prompt[:READ], _TALK, is_new)
    if not rows:
        return  # most often, and before anything else is loaded
    from looseleaf.recall.hits import HitReader, hit_of
    from looseleaf.recall.index_sync import ItemSources
    from looseleaf.recall.ranking import Scored

    sources = ItemSources(parts.context, parts)
    if sources.has_other_rules(index):
        return
    if not (parts.pages.absorb.is_current() and sources.has_journal(index)):
        rows = _choose_rows(index, prompt[:READ], _FACTS, is_new)
    read = HitReader(parts.context.store, parts)
    told = set(shown)
    for row in rows:
        text = read(row) if read.is_true(row) else None
        fact = read.fact(row) if row.kind == "fact" else None
        if text is None or _is_said_since(fact, since):
            continue
        hit, _ = hit_of(Scored(row.id, 0.0, dict), row, text, [(index, ())], read, ())
        # A fact, or the talk that it comes from; and what was said twice, once.
        origins = {hit.where, " ".join(hit.text.split()), *(fact.sources if fact is not None else ())}
        if not hit.is_over and told.isdisjoint(origins):
            told |= origins
            yield hit


def _is_said_since(fact: Fact | None, since: float | None) -> bool:
    if fact is None or since is None:
        return False
    if fact.order is not None:  # its ids follow the log, whose clock was ahead once
        return max(fact.said_at or 0.0, moment(fact.valid_from) or 0.0) >= since
    return any(time_of(source) >= since for source in fact.sources if is_id(source))


def _choose_rows(
    index: Index, prompt: str, kinds: tuple[str, ...], is_new: Callable[[FoundItem], bool]
) -> list[FoundItem]:
    from looseleaf.base.policy import Ranking
    from looseleaf.index.protocol import Only
    from looseleaf.language.terms import words
    from looseleaf.recall.ranking import Query, find_speakers, rank

    asked = words(prompt)
    corpus = index.corpus({term for word in asked for term, _ in word.forms})
    speakers = find_speakers(prompt, index.speakers())
    weighed = weigh_prompt(asked, corpus, speakers)
    known = [word.terms & corpus.df.keys() for word in weighed if word.tells]
    if sum(map(bool, known)) < LEAST_WORDS:
        return []
    terms = {term: corpus.df[term] for term in sorted(set().union(*known))}
    docs = [doc for doc in index.candidates(terms, Only(kinds=kinds), _CANDIDATES) if doc.role != "tool"]
    docs += [doc for doc in index.near(docs, _REACH) if doc.role != "tool"] if kinds == _TALK else []
    scored = rank(Query(asked, speakers, None), docs, corpus, Ranking(), limit=_RANKED)
    rows = {row.id: row for row in index.found([each.id for each in scored]) if is_new(row)}
    every = {doc.id: doc for doc in docs}
    chosen = choose_items(weighed, [every[each.id] for each in scored if each.id in rows], docs)
    return [rows[doc.id] for doc in chosen]


def _render(hits: list[Hit]) -> Bearing:
    if not hits:
        return NOTHING
    from looseleaf.models.tokens import estimate
    from looseleaf.text import untrusted
    from looseleaf.text.elements import elements_in, fences_in
    from looseleaf.text.excerpt import excerpt

    word = untrusted.word(new_id())
    lines: list[str] = []
    keys: list[str] = []
    is_fenced = False
    for hit in hits:
        text = excerpt(" ".join(hit.text.split()), (), _CLIP, estimate)
        is_own = is_at_least(hit.level, "said") and not (elements_in(hit.text) or fences_in(hit.text))
        shown = untrusted.inert(text, word) if is_own else untrusted.fenced(text, word)
        line = f"- {shown} ({'; '.join(_describe(hit))})"
        head = [HEADING, _NOTE, *([untrusted.notice(word)] if is_fenced or not is_own else [])]
        if estimate("\n".join((*head, *lines, line))) <= TOKENS:
            is_fenced = is_fenced or not is_own
            lines.append(line)
            keys.append(hit.where)
    head = [HEADING, _NOTE, *([untrusted.notice(word)] if is_fenced else [])]
    return Bearing("\n".join((*head, *lines)), tuple(keys)) if lines else NOTHING


def _describe(hit: Hit) -> Iterator[str]:
    from looseleaf.text.untrusted import one_line

    yield one_line(hit.path or hit.where)
    if hit.speaker:
        yield f"said by {one_line(hit.speaker, 60)}"
    yield from (each for each in (hit.date, hit.level) if each)
