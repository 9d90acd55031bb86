"""A shared memory: of whom a fact is true, and whether a reviewer's yes is needed first (docs/TEAMS.md).

Several people talk to it, so nobody is "the user" there. What people say about themselves stands on a page named after
them; what they say about the work is the team's; a rule holds for all only once a reviewer has said yes. In doubt, a
fact is the team's, in its own words, with the name of the person who said it.
"""

from __future__ import annotations

from looseleaf.base.paths import PROJECT, USER
from looseleaf.facts.belonging import belongs_home, is_of_work, may_be_shown, private_kinds_of_line
from looseleaf.language.private_kinds import chances_of, private_kinds
from looseleaf.language.relations import ME, relation_name, relation_of
from looseleaf.language.topic_words import topic_name
from looseleaf.text.lines import NOTE, worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Fact
    from looseleaf.facts.gate import Witness

RULE = "constraint"
"""The kind of facts that bind everyone who works with the memory."""


ADDRESS = "address"
_PLACES = frozenset({"home", "hometown", "time zone"})
"""Relations of a person whose value colleagues may read: where people work from is no secret among them."""


def person_topic(person: str) -> str:
    """Return the topic of what is true of a person."""
    return topic_name(person)


def is_about_speaker(fact: Fact) -> bool:
    """Return True if a fact is about the person who said it, on the page of that name."""
    return fact.person is not None and fact.topic == person_topic(fact.person)


def speaker_of(proposal: Proposal, witnesses: Sequence[Witness]) -> str | None:
    """Return who said the words that a proposal rests on; None if that is unknown, or may be one of several."""
    named = {each.person for each in witnesses if each.source == proposal.source}
    quoting = {each.person for each in witnesses if proposal.quote and proposal.quote in each.text}
    every = {each.person for each in witnesses if each.origin in ("user", "person")}
    found = next((each for each in (named, quoting, every) if each), set())
    return next(iter(found)) if len(found) == 1 else None


def topic_in_team(topic: str, proposal: Proposal, witnesses: Sequence[Witness]) -> str:
    """Return the topic of a proposal in a shared memory. `topic`: the one it has in a person's own memory."""
    if topic not in (USER, PROJECT):
        return topic
    if is_rule(proposal):
        return PROJECT
    is_users = belongs_home(proposal) if proposal.relation == NOTE else topic == USER
    if not is_users:
        return PROJECT
    person = speaker_of(proposal, witnesses)
    return person_topic(person) if person is not None else USER


def why_it_waits(fact: Fact) -> str:
    """Return why a fact waits for a reviewer of a shared memory; "" for most."""
    said = f"{fact.person} said it" if fact.person is not None else "it is not known who said it"
    if fact.topic == USER:
        return "nobody is the user of a shared memory"
    if fact.kind == RULE or relation_of(fact.relation).kind == RULE:
        return f"a rule for all needs a reviewer's yes; {said}"
    about = USER if is_about_speaker(fact) else fact.topic
    kinds = private_kinds_of_line(worded(fact.relation, fact.object), about)
    if relation_name(fact.relation) in _PLACES:
        kinds -= private_kinds_of_line(fact.relation, about) | {ADDRESS}
    return f"private ({', '.join(sorted(kinds))}), and a team reads this memory; {said}" if kinds else ""


# --- from a person's own memory to the shared one under it --------------------------------

_LEAST = 0.35
"""A sentence with this chance of being about its writer stays with its writer."""


def is_rule(proposal: Proposal) -> bool:
    """Return True if a proposed fact binds everyone who works with the memory."""
    return proposal.kind == RULE or relation_of(proposal.relation).kind == RULE


def belongs_to_team(proposal: Proposal, sentence: str) -> bool:
    """Return True if a proposed fact is surely about the team's work, and the sentence that says it tells nothing
    else. In doubt it stays in the person's own memory."""
    if proposal.topic.casefold() in ME and not is_of_work(sentence):
        return False
    if private_kinds(proposal.object, proposal.relation) or belongs_home(proposal):
        return False
    _, home = chances_of(sentence)
    return home < _LEAST and may_be_shown(sentence)
