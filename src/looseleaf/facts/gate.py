"""The gate: what may become memory, and where it may stand (docs/DESIGN.md, FORMAT §13).

A level depends on where words entered, never on what a distiller or a caller says about them. A derived fact takes the
lowest level of its sources, repeating raises nothing, and only a person promotes.
"""

from __future__ import annotations

import re

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Proposal
from looseleaf.base.origins import CONFIDENCE, LEVELS, RECALLED, is_at_least, level_of, lowest
from looseleaf.base.paths import PROJECT, USER
from looseleaf.base.values import KINDS
from looseleaf.facts.evidence import OF_A_PERSON, Claim, forms_of, has_new_details, is_copied
from looseleaf.language.clauses import clauses_of, denies, located, sentences_of, spelled
from looseleaf.language.own_words import strip_pasted
from looseleaf.language.relations import BY_LABEL, ME, relation_name, relation_of
from looseleaf.language.value_keys import SENTENCES, key
from looseleaf.text.lines import escape, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from looseleaf.base.values import Level

    Said = tuple[str, str]

TIME_SPANS = ("short_term", "medium_term", "current", "long_term", "future")

UNVERIFIED = "unverified"
"""The tag of a fact whose quote is missing or does not support it. Such a fact never supersedes."""

_LESS_IF_SPELT_OTHERWISE = 0.1
_IF_UNVERIFIED = 0.3

LONGEST = 300
"""Characters of an object: anything longer is a text, not a fact."""

_LONGEST_QUOTE = 1000
_MOST_TAGS = 8
_LONGEST_TAG = 40
_OF_PEOPLE = frozenset({"ticked", "pinned", "approved", "checked", RECALLED, UNVERIFIED})
"""Tags that record a person's act or the gate's finding: a distiller cannot give them."""


# --- proposals -------------------------------------------------------------------------


def proposal_of(raw: Any) -> Proposal | None:
    """Read a distiller's proposal, as far as it makes sense. None if it has no relation, object or topic that a page
    could hold. The distiller's own certainty is ignored."""
    if not isinstance(raw, dict):
        return None
    texts = {name: raw.get(name) for name in ("relation", "object", "quote", "topic", "source")}
    if raw.get("topic") is None:
        texts["topic"] = "user"
    for name in ("quote", "source"):
        texts[name] = texts[name] or ""
    if not all(type(text) is str for text in texts.values()):
        return None
    relation, said = str(texts["relation"]).strip(), str(texts["object"]).strip()
    if not said or len(said) > LONGEST or not relation:
        return None
    quote, topic = str(texts["quote"])[:_LONGEST_QUOTE], str(texts["topic"]).strip() or "user"
    kind, span, was = (raw.get(name) for name in ("kind", "time_span", "was"))
    return Proposal(
        *(relation, said, quote, topic, kind if kind in KINDS else None, str(texts["source"])),
        time_span=span if span in TIME_SPANS else None,
        salience=_read_share(raw.get("salience")),
        valid_from=_read_date(raw.get("valid_from")),
        valid_to=_read_date(raw.get("valid_to")),
        correction=raw.get("correction") is True,
        was=was if type(was) is str and was.strip() else None,
        ended=raw.get("ended") is True,
        tags=_read_tags(raw.get("tags")),
        change=_read_share(raw.get("change")),
    )


def _read_share(raw: object) -> float | None:
    """Return a number from 0 to 1, or None."""
    return float(raw) if isinstance(raw, (int, float)) and type(raw) is not bool and 0 <= raw <= 1 else None


def _read_tags(raw: object) -> tuple[str, ...]:
    given = raw if isinstance(raw, (list, tuple)) else ()
    tags = (escape(tag[: 2 * _LONGEST_TAG])[:_LONGEST_TAG] for tag in given[:_MOST_TAGS] if type(tag) is str)
    return tuple(tag for tag in tags if tag and tag.casefold() not in _OF_PEOPLE)


_DATE = lazy(r"[12]\d{3}(?:-[01]\d(?:-[0-3]\d(?:T[\d:.]{5,15}Z?)?)?)?", re.ASCII)


def _read_date(value: object) -> str | None:
    return value if isinstance(value, str) and _DATE.fullmatch(value) else None


# --- evidence --------------------------------------------------------------------------


@frozen
class Witness:
    """One text of the material, with its source (a trace id, or path#lines), where it entered, and when.

    `stated`: the facts that the rules read in it (`reading_of`): the same proposal needs no other evidence. `tool`: the
    name of the tool that returned it. `order`: its place in the order of what was said, if `ts` does not give it.
    """

    source: str
    origin: str
    text: str
    ts: float
    stated: frozenset[tuple[object, ...]] = frozenset()
    tool: str = ""
    order: float | None = None
    person: str | None = None
    """Who said it, where the server tells people apart."""


@frozen
class Verdict:
    """The verdict of the evidence on a proposal."""

    level: Level
    origin: str
    source: str
    ts: float
    confidence: float
    verified: bool

    def order_by(self, witnesses: Sequence[Witness]) -> float | None:
        """Return the place of the words that it rests on in the order of what was said, if `ts` does not give it."""
        return next((each.order for each in witnesses if each.ts == self.ts), None)

    def as_conclusion(self) -> Verdict:
        """Return the same verdict, as a conclusion."""
        return Verdict("inferred", "assistant", self.source, self.ts, CONFIDENCE["inferred"], verified=False)

    def as_unnamed(self, witnesses: Sequence[Witness], name: str) -> Verdict:
        """Return the verdict on a thing that the user does not name: a conclusion, or a finding if others name it."""
        words = _forms_needed(name)
        users = _user_witnesses(witnesses)
        others = (each.text for each in witnesses if each not in users or _own_text(each) != each.text)
        if not any(words & forms_of(text) for text in others):
            return self.as_conclusion() if is_at_least(self.level, "said") else self
        return Verdict("tainted", MIXED, self.source, self.ts, CONFIDENCE["tainted"], verified=False)


def last_heard(witnesses: Sequence[Witness]) -> float | None:
    """Return the time of the witness that spoke last."""
    last = max(witnesses, key=lambda each: each.ts if each.order is None else each.order, default=None)
    return last.ts if last is not None else None


def reading_of(proposal: Proposal) -> tuple[object, ...]:
    """Return all that a proposal says: if it differs from the rules' reading in any part, it needs its own evidence."""
    members = ("topic", "relation", "object", "quote", "kind", "ended", "correction", "change", "salience")
    values = (getattr(proposal, name) for name in members)
    return (*values, proposal.was or "", frozenset(proposal.tags))


def judge(proposal: Proposal, witnesses: Sequence[Witness]) -> Verdict:
    """Judge a proposal by the best witness that has the quote and supports the proposal there. Otherwise give no more
    than the worst witness allows, with the words that hold the quote as the source.

    A quote alone proves nothing: a distiller may attach any words to any claim, or cut off a "not". So the sentence
    around the quote must support the proposal.
    """
    if proposal.quote.strip():
        readings = {reading_of(proposal)}
        if proposal.topic == PROJECT:  # rules' readings about the user may stand on the entry's own page
            readings.add((USER, *reading_of(proposal)[1:]))
        readers = [each for each in witnesses if readings & each.stated and proposal.quote in each.text]
        exact = readers or _find_sayers(proposal, witnesses, spelt_otherwise=False)
        said = exact or _find_sayers(proposal, witnesses, spelt_otherwise=True)
        if said:
            best = max(said, key=lambda each: (_rank(each), each.source == proposal.source))
            level, origin = level_of(best.origin), best.origin
            sure = round(CONFIDENCE[level] - (0.0 if exact else _LESS_IF_SPELT_OTHERWISE), 2)
            if level == "inferred" and not readers and _is_repeated_from_tool(proposal, witnesses):
                level, origin, sure = "tainted", "tool", CONFIDENCE["tainted"]
            return Verdict(level, origin, best.source, best.ts, sure, verified=True)
    latest = last_heard(witnesses) or 0.0
    if (user := find_support(proposal, witnesses)) is not None:
        # A conclusion from the user's own words, whatever a tool said beside them.
        return Verdict("inferred", "assistant", user.source, user.ts, CONFIDENCE["inferred"], verified=False)
    worst = min(witnesses, key=_rank, default=Witness("", "", "", 0.0))
    # No known speaker: at most a conclusion.
    level = lowest((level_of(worst.origin), "inferred"))
    origin = worst.origin if level == "tainted" else "assistant"
    if level == "tainted" and holders_of(proposal.quote, witnesses):
        origin = MIXED
    texts = "\n".join(each.text for each in witnesses)
    if level != "tainted" and _is_from_pasted(proposal, witnesses):
        level, origin = "tainted", PASTED
    elif level != "tainted" and witnesses and has_new_details(proposal.object, texts):
        level, origin = "tainted", NOBODY  # a number, a path or a name that none of its witnesses has
    return Verdict(level, origin, _find_holder(proposal, witnesses), latest, _IF_UNVERIFIED, verified=False)


def _rank(witness: Witness) -> int:
    return LEVELS.index(level_of(witness.origin))


PASTED, NOBODY, MIXED = "pasted", "nobody", "mixed"
"""The origins of pasted text, of words that no one said, and of the user's mixed with others' words: all untrusted."""


def holders_of(quote: str, witnesses: Sequence[Witness]) -> list[Witness]:
    """Return the user's messages whose own words contain a quote."""
    users = _user_witnesses(witnesses) if quote.strip() else ()
    return [each for each in users if located(quote, _own_text(each)) is not None]


def _user_witnesses(witnesses: Iterable[Witness]) -> list[Witness]:
    return [each for each in witnesses if is_at_least(level_of(each.origin), "said")]


def _forms_in(own: Iterable[str]) -> frozenset[str]:
    """Return the forms of all words of these texts."""
    return frozenset().union(*map(forms_of, own))


def _forms_needed(claim: str) -> set[str]:
    """Return the forms of the words that a claim needs."""
    return {word.form for word in Claim(claim).words}


def _is_repeated_from_tool(proposal: Proposal, witnesses: Sequence[Witness]) -> bool:
    """Return True if the assistant only repeats a tool: half of the words that are not the user's stand there."""
    is_known = relation_of(proposal.relation).label.casefold() in BY_LABEL
    said = proposal.object if is_known else f"{proposal.relation} {proposal.object}"
    left = _forms_needed(said) - _forms_in(map(_own_text, _user_witnesses(witnesses)))
    foreign = (each.text for each in witnesses if level_of(each.origin) == "tainted")
    return bool(left) and any(2 * len(left & forms_of(text)) >= len(left) for text in foreign)


def _is_from_pasted(proposal: Proposal, witnesses: Sequence[Witness]) -> bool:
    """Return True if a conclusion takes its quote, or words that the user did not write, from a pasted text."""
    said = [(each.text, _own_text(each)) for each in witnesses if level_of(each.origin) == "said"]
    mixed = [(text, own) for text, own in said if own != text]
    foreign = forms_of(proposal.object) - _forms_in(own for _, own in said) if mixed else frozenset()
    return any(
        (located(proposal.quote, text) is not None and located(proposal.quote, own) is None)
        or foreign & forms_of(text)
        for text, own in mixed
    )


def find_support(proposal: Proposal, witnesses: Sequence[Witness]) -> Witness | None:
    """Return the user's message that supports a conclusion. It holds the quote in the user's own words; at least half
    of the value's words are the user's, and none of the others comes from elsewhere; numbers, paths and names are the
    user's. Taint follows words: a tool that spoke in the session takes nothing away."""
    users = _user_witnesses(witnesses)
    holders = holders_of(proposal.quote, witnesses)
    if not holders:
        return None
    foreign = [each.text for each in witnesses if level_of(each.origin) == "tainted"]
    foreign += [each.text for each in users if _own_text(each) != each.text]
    label = relation_of(proposal.relation).label
    label = "" if label.casefold() in BY_LABEL else proposal.relation
    if not is_drawn_from(proposal.object, [_own_text(each) for each in users], foreign, label):
        return None
    return next((each for each in holders if each.source == proposal.source), holders[-1])


def is_drawn_from(value: str, own: Sequence[str], others: Iterable[str], label: str = "") -> bool:
    """Return True if a value is a conclusion from these words of the user: half of its words stand there, and all of
    its numbers, paths and names; no other word of it, or of its label, comes from tools, pasted texts or others."""
    return _is_drawn_from(Claim(value), value, own, others, label)


def _is_drawn_from(
    wanted: Claim, value: str, own: Sequence[str], others: Iterable[str], label: str = ""
) -> bool:
    said = _forms_in(own)
    words = {word.form for word in wanted.words}
    left = words - said
    if wanted.hidden or 2 * len(left) > len(words):
        return False
    if has_new_details(f"{label.casefold()} {value}", "\n".join(own)):
        return False
    foreign = left | (_forms_needed(label) - said - _LABELLING if label else frozenset())
    if foreign and any(foreign & forms_of(text) for text in others):
        return False
    return _denies_alike(value, words, own)


_LABELLING = frozenset(
    "account address amount area budget bucket channel class client code command contact cost count database date day "
    "default deploy distance due duration email environment event file folder format frequency goal host hour interval "
    "key kind label language layout length level limit line list location login mail memory method mode module money "
    "month name note number order owner path person phone place plan policy port price process provider reason release "
    "reminder rent report repository review role rule schedule server service setting setup size source start state "
    "status style supplier support system target task team term test time title tool type unit user value version "
    "week work year".split()
)
"""Words that labels consist of, also where a tool uses them."""

_TAG = lazy(
    r",? (?:do|does|is|are|was|were|wo|would|ca|could|have|has)n't (?:i|you|he|she|it|we|they)\?\s*\Z"
)
"""A question at the end that only asks for a yes."""


def _denies_alike(value: str, words: set[str], own: Sequence[str]) -> bool:
    """Return True if the user's words deny as a value does: a value that denies has words of a clause that denies; any
    other has most of its words from elsewhere. "Never push to main" is no reason to push there."""
    sentences = [_TAG.sub("", each) for text in own for each in sentences_of(spelled(text))]
    clauses = [each for sentence in sentences for each in clauses_of(sentence)]
    shared = [(len(words & forms_of(clause)), is_denied) for clause, is_denied in clauses]
    most = max((count for count, _ in shared), default=0)
    if denies(spelled(value)):
        return most == 0 or any(is_denied for count, is_denied in shared if count)
    return most == 0 or not all(is_denied for count, is_denied in shared if count == most)


def _find_holder(proposal: Proposal, witnesses: Sequence[Witness]) -> str:
    """Return the source whose words hold the quote, whatever they say with it: the one that the distiller named, else
    the least trusted. Empty if there is none: no words can be shown for it."""
    holders = [each for each in witnesses if located(proposal.quote, each.text) is not None]
    found = min(holders, key=lambda each: (each.source != proposal.source, _rank(each)), default=None)
    return found.source if found is not None else ""


def claim_of(proposal: Proposal) -> Claim:
    """Return the claim that the words must support. A relation with a name of its own needs no words; any other must be
    said too, and so must its owner ("Sister's home")."""
    was = (proposal.was or "") if proposal.correction else ""
    said = proposal.object
    if was:
        said = said.removesuffix(f" instead of {was}")  # its removal is checked by itself
    relation = relation_of(proposal.relation).label
    whose, _, own = relation.rpartition("'s ")
    if own.casefold() in BY_LABEL:
        claim = f"{whose} {said}" if whose else said
        # "My pronouns are they/them" is about no one else.
        is_own = proposal.topic.casefold() in ME and not whose and own.casefold() != "pronouns"
        return Claim(claim, own.casefold(), was=was, ended=proposal.ended, is_own=is_own)
    return Claim(f"{proposal.relation} {said}", was=was, ended=proposal.ended)


def supports(claim: str, text: str) -> bool:
    """Return True if one sentence of the text supports the claim, or is it."""
    wanted, whole = Claim(claim), spelled(claim).strip(_AROUND)
    is_there = whole != "" and not wanted.hidden and whole in spelled(text)
    is_whole = is_there and any(each.strip(_AROUND) == whole for each in sentences_of(spelled(text)))
    return is_whole or wanted.is_said_in(text)


_AROUND = " \n\t.!。！"


def mentions(claim: str, text: str) -> bool:
    """Return True if one sentence of the text has the words of the claim, in any order, whatever it says of them."""
    return Claim(claim, only_named=True).is_said_in(text)


def _find_sayers(proposal: Proposal, witnesses: Sequence[Witness], *, spelt_otherwise: bool) -> list[Witness]:
    """Return the witnesses that support a proposal where they hold the quote."""
    quote = proposal.quote
    heard = [each for each in witnesses if spelt_otherwise or quote in each.text]
    # A quote may include pasted or requested text beside the user's words: only the user's words count.
    kept = strip_pasted(quote).strip() or quote
    own = ((each, _own_text(each)) for each in heard)
    found = ((each, located(quote, text) or located(kept, text)) for each, text in own)
    places = [(each, place) for each, place in found if place is not None]
    claim = claim_of(proposal)
    said = [each for each, place in places if claim.is_said_in(place, each.ts)]
    was, relation = proposal.was or "", relation_of(proposal.relation)
    name = relation.label.casefold()
    is_of_a_person = name in OF_A_PERSON and proposal.topic.casefold() in ME
    is_sentence = name in SENTENCES or (name in BY_LABEL and not is_of_a_person)
    if not said and is_sentence and not proposal.ended:
        said = [each for each, _ in places if is_copied(proposal.object, _own_text(each))]
    if said and was and relation.many:
        # Another value goes as well: a speaker of no lower level must have named it.
        return [each for each in said if _is_named(was, name, level_of(each.origin), witnesses)]
    corrected = claim.corrected() if proposal.correction and was and not said else None
    if corrected is not None:
        said = [each for each, place in places if corrected.is_said_in(place, each.ts)]
        return [each for each in said if _is_named(was, name, level_of(each.origin), witnesses)]
    return said


def _own_text(witness: Witness) -> str:
    """Return a user's message without pasted text. Other messages are untrusted anyway."""
    return strip_pasted(witness.text) if witness.origin == "user" else witness.text


def _is_named(value: str, relation: str, least: Level, witnesses: Sequence[Witness]) -> bool:
    named = Claim(value, relation, only_named=True)
    heard = (each for each in witnesses if is_at_least(level_of(each.origin), least))
    return any(named.is_said_in(_own_text(each), each.ts) for each in heard)


def is_named_as(value: str, relation: str, witnesses: Sequence[Witness]) -> bool:
    """Return True if the user's own words name a value of a relation."""
    return _is_named(value, relation_of(relation).label.casefold(), "said", witnesses)


def is_plain_label(label: str, witnesses: Sequence[Witness]) -> bool:
    """Return True if a label or a name adds only the user's words and words that labels consist of."""
    said = _forms_in(map(_own_text, _user_witnesses(witnesses)))
    return _forms_needed(label) <= said | _LABELLING and len(label) <= _LONGEST_LABEL


_LONGEST_LABEL = 60


def is_said_by_user(title: str, witnesses: Sequence[Witness]) -> bool:
    """Return True if the user said it: only then may words stand where every prompt shows them."""
    users = (each for each in witnesses if each.origin in ("user", "person"))
    return any(supports(title, strip_pasted(each.text)) for each in users)


def is_named_by_user(name: str, witnesses: Sequence[Witness]) -> bool:
    """Return True if every word of a name is the user's own, in any order."""
    own = [strip_pasted(each.text) for each in witnesses if each.origin in ("user", "person")]
    words = _forms_needed(name)
    return bool(words) and words <= _forms_in(own) and not has_new_details(name, "\n".join(own))


# --- words of a session -----------------------------------------------------------------

_HEARD = 200
"""The number of last messages that are read for the facts they state."""


class Spoken:
    """The words of the session in which an agent writes: the user's messages, and whether a tool spoke. Answers are
    cached: a page has many lines, and a session many messages."""

    __slots__ = ("_facts", "_own", "_said", "_stated", "read", "tools", "user")

    def __init__(
        self,
        user: Sequence[str] = (),
        tools: bool = False,
        stated: Callable[[str], Sequence[Said]] | None = None,
        read: Sequence[Said] = (),
    ) -> None:
        """`stated` returns the facts of a message, as (relation, object). `read`: what others said, as (tool, text)."""
        self.user = tuple(user)
        self.tools = tools
        self.read = tuple(read)
        self._stated = stated
        self._facts: dict[str, Sequence[Said]] = {}
        self._own: list[tuple[str, str]] | None = None
        self._said: dict[Said, bool] = {}

    @property
    def is_doubtful(self) -> bool:
        """True if an agent may have heard something from others than the user: a tool spoke, or the user did not."""
        return self.tools or not self.user

    def has(self, said: str, relation: str = "note") -> bool:
        """Return True if one message of the user says it, by itself or of a relation."""
        known = self._said.get((relation, said))
        if known is None:
            if self._own is None:
                self._own = [(own, spelled(own)) for own in map(strip_pasted, self.user)]
            claim = claim_of(Proposal(relation, said, ""))
            known = any(claim.is_said_in(own, spelt=spelt) for own, spelt in self._own)
            known = known and self._is_stated(said, relation)
            if (
                not known and relation_name(relation) in SENTENCES
            ):  # a rule, a plan or the like, word for word
                known = any(is_copied(said, own) for own, _ in self._own)
            self._said[relation, said] = known
        return known

    def is_source_of(self, said: str, relation: str = "note") -> bool:
        """Return True if it is a conclusion from one of the user's messages, with no word from others."""
        label = "" if relation_name(relation) in BY_LABEL else relation
        own = [each for text in self.user if (each := strip_pasted(text)).strip()]
        others = [text for _, text in self.read] + [text for text in self.user if strip_pasted(text) != text]
        claim = Claim(said)
        return any(_is_drawn_from(claim, said, [each], others, label) for each in own)

    def _is_stated(self, said: str, relation: str) -> bool:
        """Check a claim after a tool spoke. Words are then not enough for a relation that needs none of its own ("Eve
        wrote to me" makes no name): a message must state the fact and, for a relation with one value, the last message
        that states any."""
        name = relation_name(relation)
        if not self.tools or self._stated is None or name == "note" or name not in BY_LABEL:
            return True
        for text in self.user[: -_HEARD - 1 : -1]:
            if text not in self._facts:
                self._facts[text] = self._stated(text)
            values = [value for label, value in self._facts[text] if relation_name(label) == name]
            if any(key(value, relation) == key(said, relation) for value in values):
                return True
            if values and not relation_of(relation).many:
                return False
        return False
