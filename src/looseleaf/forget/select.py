"""Which cut a selector asks for: a fact, a topic, a session, an origin, or words. Refused where it means nothing."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.facts.gate import proposal_of
from looseleaf.facts.tombstones import fact_text
from looseleaf.forget.cut import Cut
from looseleaf.forget.remake_entries import topic_of_proposal
from looseleaf.language.topic_words import topic_name
from looseleaf.log.entries import FOLDER, entries_in, read_entry, traces_of
from looseleaf.text.spellings import folded
from looseleaf.text.words import each_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Fact
    from looseleaf.facts.known_facts import Facts
    from looseleaf.store.protocol import Store

SELECTORS = ("fact", "topic", "session", "origin", "match")
_LEAST = 3
"""Letters that words must have to be forgotten wherever they stand."""

_LEAST_UNSPACED = 2
"""The same in scripts whose words are a character or two."""


def asked(given: Mapping[str, str | None]) -> tuple[str, str]:
    """The one selector that was given, and what it names."""
    chosen = [(name, what) for name, what in given.items() if what is not None]
    if len(chosen) != 1 or not chosen[0][1].strip():
        names = ", ".join(f"`--{name}`" for name in SELECTORS[:-1])
        raise Refused(f"Nothing was forgotten: say what to forget by one of {names} or `--{SELECTORS[-1]}`.")
    return chosen[0][0], chosen[0][1].strip()


def canonical_topics(facts: Facts) -> Callable[[str], str]:
    """Topics by the names that entries give them."""
    known = [*(topic for topic in facts.topics if "/" not in topic), "user", "project"]
    return lambda name: topic_name(name, known)


def cut_for(store: Store, facts: Facts, by: str, what: str, agent: str | None) -> Cut:
    """What is to go. `facts` are up to date."""
    match by:
        case "fact":
            fact = facts.find(what)
            return _of_facts(store, facts, by, fact.id or what, [fact], frozenset())
        case "topic":
            if what == "sessions":
                raise Refused(
                    "Nothing was forgotten: sessions is no topic, but where talk of every topic is kept. "
                    "`looseleaf sessions` lists them; forget one by `--session`, or all talk by `--origin user`."
                )
            topics = canonical_topics(facts)
            name = what if what in facts.topics or what in store.folders(FOLDER) else topics(what)
            if name not in facts.topics and name not in store.folders(FOLDER):
                known = sorted(topic for topic in facts.topics if "/" not in topic and topic != "sessions")
                raise Refused(
                    f"Nothing was forgotten: there is no topic {what!r}. There are: {', '.join(known) or 'none'}."
                )
            return _of_facts(store, facts, by, name, facts.of(name), frozenset({name}))
        case "match":
            words = folded(what)
            if sum(map(str.isalnum, words)) < (
                _LEAST_UNSPACED if max(words, default="") >= "\u2e80" else _LEAST
            ):
                raise Refused(
                    f"Nothing was forgotten: {what!r} is too short, and would take most sentences with it. "
                    f"Give at least {_LEAST} letters."
                )
            return Cut(by, what, agent, words=(words,))
        case _:
            return Cut(by, what, agent)


def _of_facts(
    store: Store, facts: Facts, by: str, what: str, chosen: Iterable[Fact], topics: frozenset[str]
) -> Cut:
    """These facts, whoever said them: with the sentences of all sources that say them."""
    chosen = list(chosen)
    texts = frozenset(fact_text(each.topic, each.relation, each.object) for each in chosen)
    named = {
        each.id or ""
        for topic in {each.topic for each in chosen}
        for each in facts.of(topic)
        if fact_text(each.topic, each.relation, each.object) in texts
    }
    cut = Cut(by, what, facts=texts, named=frozenset(named), topics=topics)
    return cut.quoting(_quotes(store, facts, cut, chosen))


def _quotes(store: Store, facts: Facts, cut: Cut, chosen: list[Fact]) -> dict[str, tuple[str, ...]]:
    """By source, the words that say one of the facts."""
    found: dict[str, set[str]] = {}
    topics = canonical_topics(facts)
    for reference in entries_in(store):
        own = reference.rpartition("/")[0]
        try:
            entry = read_entry(store, reference)
        except Refused:
            continue
        taken: list[Proposal] = []
        for raw in entry.summary.get("facts", ()):
            proposal = proposal_of(raw)
            if proposal is not None and cut.takes_fact(
                topic_of_proposal(topics, proposal, own), proposal.relation, proposal.object
            ):
                taken.append(proposal)
        if not taken:
            continue
        if "traces" in entry.meta:
            said = {
                trace.id: folded(" ".join(each_text(trace.to_record()))) for trace in traces_of(store, entry)
            }
        else:
            path = f"{FOLDER}/{entry.meta.get('raw') or reference}/raw.md"
            document = store.get(path)
            said = {path: folded(document.data.decode("utf-8", "replace") if document else "")}
        for proposal in taken:
            _say(found, said, proposal.quote, proposal.object)
    for fact in chosen:
        for source in fact.sources:
            if fact.quote:
                found.setdefault(source.partition("#")[0], set()).add(folded(fact.quote))
    return {source: tuple(sorted(words)) for source, words in found.items()}


def _say(found: dict[str, set[str]], said: dict[str, str], quote: str, value: str) -> None:
    """The quote where it stands; where it stands nowhere, the value."""
    for words in (folded(quote), folded(value)):
        where = [source for source, text in said.items() if words and words in text]
        for source in where:
            found.setdefault(source, set()).add(words)
        if where:
            return
