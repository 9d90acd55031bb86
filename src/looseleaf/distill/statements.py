"""Statements: what a user's message states, as proposals, each with the words of the message that say it.

The selector picks the sentences worth keeping; slots are read where their form is sure. The rest of a kept sentence is
proposed as a line in the user's own words: the clauses it needs, without the words around them that add nothing, and
with the dates that relative times mean. Words that the user asks to remember ("remember that …") are kept too. The
quote of every proposal is an exact stretch of the message. Everything takes time linear in the message, of which a
bounded part is read.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Proposal
from looseleaf.base.paths import PROJECT, USER
from looseleaf.distill.selector import Around, clauses_of, has_orders, is_aside, marks_of, orders_of, select
from looseleaf.distill.slot_tables import read, with_items
from looseleaf.facts.placement import PEOPLE, PERHAPS
from looseleaf.facts.replacing import PLAIN, WIDE
from looseleaf.language.dates import found as dates_in
from looseleaf.language.own_words import mask_quotes, own_zones, speaks_of_text, works_on_language
from looseleaf.language.promises import asks_to_forget, is_request, place_of
from looseleaf.language.relations import BY_LABEL, SALIENCE
from looseleaf.language.sentences import is_decision, is_phatic, spans
from looseleaf.language.tables import pattern_of
from looseleaf.text.lines import NEVER, escape, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    from looseleaf.base.values import Kind
    from looseleaf.distill.selector import Scores
    from looseleaf.distill.slot_tables import Reading
    from looseleaf.language.dates import Dated
    from looseleaf.language.own_words import ZoneName

    T = TypeVar("T")


# --- a line in the user's own words -----------------------------------------------------

NOTE_CHARS = 280
"""A line in the user's words is cut at a clause before it gets longer."""

ASIDE = 0.4
SURELY_ASIDE = 0.9
"""From this chance on, a clause stands only beside a statement: a request, for example."""

_MOST_CLAUSES = 8


def kept_part(said: str, slots: Sequence[Reading], *, whole: bool) -> tuple[int, int] | None:
    """Return the clauses worth keeping that no slot covers; None if nothing is left."""
    places = clauses_of(said)
    if not 1 < len(places) <= _MOST_CLAUSES:
        left = not slots or _says_more(said, 0, len(said), slots)
        return (0, len(said)) if left else None
    kept = [True] * len(places)
    if not whole:
        beside = [is_aside(said, places, number) for number in range(len(places))]
        # A clause with a number in it says something: it goes only if that is all but certain.
        bars = [SURELY_ASIDE if any(map(str.isdigit, said[first:last])) else ASIDE for first, last in places]
        kept = [chance < bar for chance, bar in zip(beside, bars, strict=True)]
        if not any(kept):
            kept[beside.index(min(beside))] = True
    open_ones = [
        at
        for at, (first, last) in enumerate(places)
        if kept[at] and (not slots or _says_more(said, first, last, slots))
    ]
    if not open_ones:
        return None
    begin, end = open_ones[0], open_ones[-1]
    if begin == end == 0 and _REASON.match(said):  # "Because …, we chose …"
        end = 1
    if begin:
        before = said[slice(*places[begin - 1])]
        # The clause before says whom it is about, or what it is the reason for.
        if _RELATIVE.match(said, places[begin][0]) or (
            _REASON.match(said, places[begin][0]) and (kept[begin - 1] or is_decision(before))
        ):
            begin -= 1
    return places[begin][0], places[end][1]


_RELATIVE = pattern_of("wording", "relative", re.IGNORECASE)
_REASON = pattern_of("wording", "reason", re.IGNORECASE)


def _says_more(said: str, first: int, last: int, slots: Sequence[Reading]) -> bool:
    """Return True if a clause has telling words that no slot covers."""
    from looseleaf.language.terms import terms

    left = said[first:last]
    for each in sorted(slots, key=lambda one: one.start, reverse=True):
        start, end = max(each.start - first, 0), max(each.end - first, 0)
        left = left[:start] + " " + left[end:]
    return any(
        len(term) > 2 or not term.isascii() for term in terms(_FILLERS.sub(" ", left)) if term not in _NOTHING
    )


_NOTHING = frozenset(
    "btw lol haha tho though ok okay so hey hi hello please pls thanks thank fyi fwiw just actually also now "
    "anymore any more still already currently anymor".split()
)
_LEAD = pattern_of("wording", "lead", re.IGNORECASE)
_TAIL = pattern_of("wording", "tail", re.IGNORECASE)
_FILLERS = pattern_of("wording", "fillers", re.IGNORECASE)
LEANS = pattern_of("wording", "leans", re.IGNORECASE)


def trim_line(line: str) -> str:
    """Return a line without the words and marks around a statement that add nothing."""
    lead = _LEAD.match(line)
    kept = line[lead.end() :] if lead and len(line) - lead.end() >= 6 else line
    tail = _TAIL.search(kept)
    if tail and tail.start() >= 6:
        kept = kept[: tail.start()]
    kept = kept.strip(" ,;:~…—–-。，、")
    if kept.count("(") != kept.count(")"):
        kept = kept.strip("()") if kept.count("(") + kept.count(")") == 1 else kept
    return " ".join(kept.rstrip(".").split())


def clip_line(line: str) -> str:
    """Cut a line at a clause if it is too long."""
    if len(line) <= NOTE_CHARS:
        return line
    whole = [last for _, last in clauses_of(line) if 40 <= last <= NOTE_CHARS]
    return line[: whole[-1]] if whole else line[:NOTE_CHARS].rpartition(" ")[0] or line[:NOTE_CHARS]


AHEAD = pattern_of("wording", "ahead", re.IGNORECASE)
_ANY_DAY = pattern_of("wording", "any day", re.IGNORECASE)
_BEFORE_A_DAY = pattern_of("wording", "before a day", re.IGNORECASE)


def _is_one_day(line: str, date: Dated) -> bool:
    """Return True if a time can be written as a date: "never on a Friday" and "the Friday matinee" name none, and
    German "hier" is not yesterday."""
    if _ANY_DAY.search(line, 0, date.start) or line[date.end : date.end + 2].strip() in ("s", "'s"):
        return False
    if not date.text.isalpha() or not date.text.isascii():
        return True
    if date.text.casefold() == "hier":
        return _FRENCH.search(line) is not None
    return date.text.casefold() in _ALONE or _BEFORE_A_DAY.search(line, 0, date.start) is not None


_FRENCH = lazy(r"\b(?:je|j'|nous|on|le|la|les|est|avons|ai|suis)\b", re.IGNORECASE)
_ALONE = frozenset(
    "yesterday today tomorrow tonight heute gestern morgen aujourd ayer hoy ontem hoje ieri oggi domani gisteren "
    "vandaag".split()
)
"""Words that mean a day by themselves."""

PAST = pattern_of("wording", "past", re.IGNORECASE)
"""Words about the past: only with them, a day without a year is the last one before."""


def add_dates(line: str, ts: float, *, past: bool) -> str:
    """Add the date after each time that would mean another on another day."""
    parts: list[str] = []
    at = 0
    for date in dates_in(line, ts, past=past):
        is_told = line.startswith(" [", date.end) or date.written.casefold() in line.casefold()
        if date.is_relative and _is_one_day(line, date) and not is_told:
            parts += [line[at : date.end], f" [{date.written}]"]
            at = date.end
    made = "".join((*parts, line[at:]))
    return made if len(made) <= NOTE_CHARS + 20 else line


# --- the shape of a proposal ------------------------------------------------------------

OBJECT_CHARS = 120
OBJECT_WORDS = 18
"""A longer object is a story, not a fact."""

_OWN = {"likes": 0.6, "dislikes": 0.6, "favourite": 0.6, "allergy": 0.95, "condition": 0.9, "diet": 0.9}
"""Saliences that differ from the kind's: a taste matters less than a preference, and health more than a trait."""

_EDGES = lazy(r"\A[\s,;:.!?()\[\]*_~–—-]+|[\s,;:.!?(\[*_~–—-]+\Z")
_WRAPPED = lazy(r"([\"'“‘`])([^\"'“”‘’`]*)[\"'”’`]")


def tidy_object(text: str) -> str:
    """Return one line without marks at its ends; empty if it is too long to be a fact or says nothing."""
    text = " ".join(escape(_EDGES.sub("", text[: 4 * OBJECT_CHARS])).split())
    text = text.replace(" ,", ",")
    if wrapped := _WRAPPED.fullmatch(text):
        text = wrapped[2].strip()
    if text.count('"') % 2 or text.count("“") != text.count("”"):
        text = re.sub(r"[\"“”]", "", text)
    if text.count("(") != text.count(")"):
        text = text.replace("(", "").replace(")", "")
    if len(text) > OBJECT_CHARS or len(text.split()) > OBJECT_WORDS or not any(map(str.isalnum, text)):
        return ""
    return text


def make_proposal(
    relation: str,
    object: str,
    quote: str,
    *,
    topic: str = "user",
    ended: bool = False,
) -> Proposal:
    """Make a proposal of a relation of the table, with the weight and time span of that relation."""
    known = BY_LABEL.get(relation.casefold())
    kind = known.kind if known else "identity"
    return Proposal(
        relation,
        object,
        quote,
        topic=topic,
        kind=kind,
        time_span="future" if kind == "commitment" else "long_term",
        salience=_OWN.get(relation.casefold(), SALIENCE[kind]),
        ended=ended,
    )


def with_members(value: T, **given: Any) -> T:
    """Return the same value with other members."""
    members: tuple[str, ...] = type(value).__match_args__  # type: ignore[attr-defined]
    return type(value)(**({name: getattr(value, name) for name in members} | given))


# --- words that the user asks to remember -----------------------------------------------

_HOLLOW = lazy(
    r"(?:it|this|these|those|that|so|what|how|why|when|me|es|das|dies|was|ça|cela|ce que|eso|esto|lo que|"
    r"isso|isto|questo|ciò|dit|dat|"
    r"to \w+|the (?:milk|alamo|output|answer|function|format)|de \w+er)\b|(?:这|那|它|これ|それ|이거|그거)",
    re.IGNORECASE,
)
"""Words that say nothing alone, or a piece of work: they point at something elsewhere."""

_LEAST = 8


def asked_to_keep(sentence: str) -> tuple[int, int] | None:
    """Return the place of the words that a sentence asks to remember."""
    if not is_request(sentence) or asks_to_forget(sentence):
        return None
    start, end = place_of(sentence)
    words = sentence[start:end]
    least = _LEAST // 2 if words and not words.isascii() else _LEAST
    if len(words) < least or (_HOLLOW.match(words) and len(words) < 40):
        return None
    return start, end


# --- sentences that state a fact --------------------------------------------------------

SENTENCES = 200
"""The most sentences of one message that are read: no one types more."""

DRAWER = 0.36
TOP = 0.5
ERRAND = 0.68
ORDER = 0.48
DECIDED = 0.1
"""Least chances of being worth keeping: to become a line; to stand at the top of the folder; to become a line for a
plan or wish, for an order, for a plain decision."""

MAY_CHANGE = 0.035
MAY_BE_KEPT = 0.03
"""From `MAY_CHANGE` on, a sentence is compared with held facts; below `MAY_BE_KEPT`, only plain slots are read."""
FORBIDS = 0.5
"""From this chance on, a sentence is not to be remembered, whatever else it says."""

QUOTED: dict[ZoneName, float] = {"own": 0.5, "loose": 0.35, "after": 0.18}
"""By zone: below this chance of being another's words, a sentence counts as the user's."""

SURELY_OWN = 0.15
SPOKEN_OF = 0.05
ALONE_OWN = 0.65
ANOTHERS = 0.9
"""A sentence may stand at the top if its chance of being another's words is below: `SURELY_OWN` normally; `SPOKEN_OF`
in a message of one line that asks for work on a text; `ALONE_OWN` in a message of one line that mentions no text and no
one else; `ANOTHERS` in such a message of a few lines, of which every sentence below it is the user's."""
SURELY_WORTH = 0.95
SURE_RULE = 0.4
"""The chance of being worth keeping from which a line has the full salience of its kind; and the chance of being a rule
from which it is one."""
LOW = 0.35
"""The salience of a kept line that is not sure enough for the top (`facts/placement.py`)."""

KINDS_OF_FACTS: dict[str, Kind] = {
    "profile": "trait", "preference": "preference", "rule": "constraint", "project": "trait", "decision": "decision",
    "plan": "commitment", "event": "event", "other": "trait",
}  # fmt: skip
_WORK = frozenset({"project", "decision"})
_BARS = {"plan": ERRAND, "preference": ERRAND, "rule": ORDER}
_UNREAL = pattern_of("wording", "unreal", re.IGNORECASE)
_SUPPOSES = pattern_of("wording", "supposes", re.IGNORECASE)

_STANDING = pattern_of("wording", "standing", re.IGNORECASE)
"""A standing order, in a form that says so: "never push to main"."""


@frozen
class Sentence:
    """A sentence of a message: its place, its words on one line without quoted text, and its scores. `is_alone`:
    nothing in the message mentions a text, others' words, or role-play, and it has few lines; `is_spoken_of`: it has
    one line, which asks for work on a text."""

    start: int
    end: int
    text: str
    scores: Scores
    around: Around
    is_alone: bool = False
    is_spoken_of: bool = False

    @property
    def zone(self) -> ZoneName:
        return self.around.zone

    @property
    def is_own(self) -> bool:
        return self.scores.quoted < (ANOTHERS if self.is_alone else QUOTED[self.zone])

    @property
    def is_surely_own(self) -> bool:
        """True if it may stand at the top of the folder: nothing suggests another author."""
        if self.is_alone:
            return self.scores.quoted < (ALONE_OWN if self.around.lines == 1 else ANOTHERS)
        bar = SPOKEN_OF if self.is_spoken_of else SURELY_OWN
        return self.zone == "own" and self.scores.quoted < bar

    @property
    def keep(self) -> float:
        """The chance that it is worth keeping. A change is worth knowing, too, and so is a standing order by its form;
        a mere supposition is not, unless it is a rule for such a case."""
        best = max(self.scores.keep, 0.9 * self.scores.change if self.scores.keep >= 0.2 else 0.0)
        if self.zone == "own" and self.scores.kind == "rule" and _STANDING.match(self.text):
            best = max(best, TOP, ORDER)
        is_unreal = _SUPPOSES.match(self.text) is not None and (
            self.scores.kind != "rule" or _UNREAL.search(self.text) is not None
        )
        return best if self.is_own and not is_unreal else 0.0

    @property
    def is_kept(self) -> bool:
        """Plans, wishes and orders are mostly errands: they need a higher chance; plain decisions need a lower one."""
        if self.keep >= _BARS.get(self.scores.kind, DRAWER):
            return True
        return self.keep >= DECIDED and self.scores.change >= MAY_CHANGE and is_decision(self.text)


@lru_cache(128)
def sentences_of(text: str, asked: str = "") -> tuple[Sentence, ...]:
    """Return the sentences of a message that are, or may be, the user's own. `asked`: the assistant's last words; only
    the first sentence is read as an answer to them."""
    if asked and (unasked := sentences_of(text)):
        first, *others = unasked
        around = with_members(first.around, asked=asked)
        return with_members(first, around=around, scores=select(first.text, around)), *others
    read = parts_of(text)
    said = [_without_addresses(words) for _, _, words, _ in read]
    lines, marks = (read[0][3].lines, read[0][3].marks) if read else (1, "")
    plain = _without_addresses(text)
    is_spoken_of = lines == 1 and works_on_language(plain)
    is_alone = lines <= _FEW_LINES and not speaks_of_text(plain) and not any(map(has_orders, said))
    is_alone = is_alone and (lines == 1 or not _MARKS & set(marks.split()))
    return tuple(
        Sentence(start, end, words, select(words, around), around, is_alone, is_spoken_of)
        for start, end, words, around in read
    )


def parts_of(text: str) -> list[tuple[int, int, str, Around]]:
    """Return the sentences of a message before they are scored: the place of each, its words, and its surroundings."""
    shown = mask_quotes(text)
    found = [
        (start, end, zone) for start, end, zone in _sentence_spans(text, shown) if has_words(shown[start:end])
    ]
    found = found[:SENTENCES]
    lines, marks = text.count("\n", 0, 40_000) + 1, marks_of(text)
    parts: list[tuple[int, int, str, Around]] = []
    before = ""
    said = [" ".join(shown[start:end].split()) for start, end, _ in found]
    for place, ((start, end, zone), words, orders) in enumerate(
        zip(found, said, orders_of([*map(_without_addresses, said)]), strict=True)
    ):
        line = text.rfind("\n", 0, start) + 1
        is_new = not text[line:start].strip(" \t-*+•>#0123456789.)")
        around = Around("", before, place, len(found), lines, is_new, marks, zone, orders)
        parts.append((start, end, words, around))
        before = words
    return parts


_ADDRESS = lazy(r"(?:https?://|\bwww\.)[^\s<>]+")


def _without_addresses(text: str) -> str:
    """Return a text without the words of its web addresses: `heron.example/poem` asks for no poem."""
    return _ADDRESS.sub(_bare_address, text) if "://" in text or "www." in text else text


def _bare_address(found: re.Match[str]) -> str:
    address = found[0]
    return "https://x" + address[len(address.rstrip(".,;:!?)]}'\"»”。，！？")) :]


_FEW_LINES = 8
_MARKS = frozenset({"quotes", "fences", "heads", "labels", "closes", "blank"})
"""The most lines of a message that may be all the user's; and marks of lines that are not."""


def has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _sentence_spans(text: str, shown: str) -> Iterator[tuple[int, int, ZoneName]]:
    """Yield the sentences, zone by zone; lines that a program broke are one."""
    block: tuple[int, int, ZoneName] | None = None
    for zone in own_zones(text):
        if block is not None:
            gap = text[block[1] : zone.start]
            is_full = len(shown[block[0] : block[1]].rpartition("\n")[2].rstrip()) >= _FULL
            is_open = shown[block[0] : block[1]].rstrip()[-1:] not in ".!?。！？:：…"
            is_near = not gap.strip() and "\n\n" not in gap + text[block[1] - 1 : zone.start]
            is_same = block[2] == zone.name and not _LISTED.match(shown, zone.start)
            if is_near and is_same and is_full and is_open:
                block = (block[0], zone.end, zone.name)
                continue
            yield from _split_block(shown, block)
        block = (zone.start, zone.end, zone.name)
    if block is not None:
        yield from _split_block(shown, block)


_FULL = 60
_LISTED = lazy(r"[ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t]")
_ITEM = lazy(r"[ \t]*(?:(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+)?(?:\[[ x]\] )?")


def _split_block(shown: str, block: tuple[int, int, ZoneName]) -> Iterator[tuple[int, int, ZoneName]]:
    start, end, name = block
    item = _ITEM.match(shown, start)
    start = item.end() if item else start
    for first, last in spans(shown[start:end]):
        yield start + first, start + last, name


# --- proposals -------------------------------------------------------------------------


def statements(
    text: str, ts: float, source: str = "", *, asked: str = "", everything: bool = False
) -> list[Proposal]:
    """Return the facts that a user's message, said at `ts`, states. `everything`: the user gave it to be remembered."""
    return [with_members(each, source=source) for each in _statements(text, ts, asked, everything)]


@lru_cache(128)
def _statements(text: str, ts: float, asked: str, everything: bool) -> tuple[Proposal, ...]:
    """Cached for a while: placing reads again what was distilled."""
    found: list[Proposal] = []
    earlier: Sentence | None = None
    for each in sentences_of(text, asked):
        wanted = everything or (each.is_own and asked_to_keep(each.text) is not None)
        proposed = list(_propose(text, each, earlier, ts, wanted=wanted))
        notes = [one for one in (*found[-1:], *proposed[-1:]) if one.relation == "note"]
        if proposed and len(notes) == 2 and notes[0].quote in notes[1].quote:
            found.pop()  # the new line contains the one before it
        found += proposed
        earlier = each
    return tuple(each for each in found if not _LONE.search(each.quote + each.object))


_TASTES = ("Likes", "Dislikes")
"""Their plain forms count only in a sentence that says nothing else: they may belong to an errand."""

_PLAIN_CHARS = 60
"""A sentence that says its fact and nothing else is short."""

_LONE = lazy("[\ud800-\udfff]", in_ascii=NEVER)
"""Half a character: it cannot be written down."""


def _propose(
    text: str, sentence: Sentence, earlier: Sentence | None, ts: float, *, wanted: bool
) -> Iterator[Proposal]:
    words, keep = sentence.text, sentence.keep
    is_forbidden = not wanted and sentence.scores.forbid >= max(FORBIDS, keep)
    if is_phatic(words) or len(words) < 2 or is_forbidden:
        return
    cut = asked_to_keep(words) or (0, len(words))
    is_worth = wanted or keep >= MAY_BE_KEPT
    if not is_worth and (not sentence.is_own or len(words) > _PLAIN_CHARS):
        return
    said = words[cut[0] : cut[1]]
    readings = [
        each
        for each in with_items(said, read(said))
        if is_worth or (each.is_plain and (each.label not in _TASTES or sentence.around.count == 1))
    ]
    slots = [each for each in readings if each.label != "was"]
    if not (is_worth or slots):
        return
    if slots and earlier is not None and earlier.is_own and LEANS.match(trim_line(said)):
        # "It's called pricewatch": the sentence before may say what it is ("my flask app").
        before = [each for each in read(earlier.text) if each.label != "was" and not each.ended]
        for each in before if earlier.keep < MAY_BE_KEPT else ():
            quote = text[earlier.start : earlier.end]
            yield from _propose_slot(each, quote, ts, earlier.text, is_change=False, was=None, level=keep)
    quote = text[sentence.start : sentence.end]
    gone = [each.value for each in readings if each.label == "was"]
    is_change = sentence.scores.change >= PLAIN or bool(gone)
    is_kept = wanted or sentence.is_kept
    may_change = sentence.scores.change >= MAY_CHANGE
    if not is_kept:
        # After a pasted text no form is sure by itself.
        slots = [each for each in slots if sentence.zone != "after" and (not each.ended or may_change)]
        if words.rstrip().endswith(("?", "？")) and keep < DRAWER / 2:
            return
        if (is_change or may_change) and not slots and sentence.is_own:
            yield from _propose_if_change(said, sentence, quote, ts, gone)
            return
        is_change = False
    level = 1.0 if wanted else keep if sentence.is_surely_own else min(keep, DRAWER)
    was = gone[0] if gone else None
    for each in slots:
        sure = 1.0 if each.is_plain and sentence.is_surely_own else level
        for one in _propose_slot(each, quote, ts, said, is_change=is_change, was=was, level=sure):
            yield one if wanted or sentence.is_surely_own else with_members(one, salience=LOW)
    if not is_kept:
        return
    part = kept_part(said, slots, whole=wanted)
    if part is None:
        return
    first, last = part
    line = said[first:last]
    is_near = earlier is not None and len(earlier.text) < 120 and earlier.zone == sentence.zone
    if earlier is not None and is_near and LEANS.match(trim_line(line)):
        # "It is called …": the sentence before says what it is.
        together = " ".join(mask_quotes(text)[earlier.start : sentence.start].split())
        line = f"{trim_line(together)} {line}" if together else line
        quote = text[earlier.start : sentence.end]
    kind = kind_of(sentence.scores)
    changed = {"correction": True, "change": round(sentence.scores.change, 3)} if may_change else {}
    for note in _propose_note(
        line, quote, kind, ts, sentence.scores, is_change=is_change, gone=gone, level=level
    ):
        yield with_members(note, **changed)


def kind_of(scores: Scores) -> str:
    """Return the likeliest kind; a weak rule is none, because a rule ranks before all else."""
    if max(scores.kinds) <= 0:
        return "profile"
    if scores.kind == "rule" and scores.of("rule") < SURE_RULE:
        return max((each for each in KINDS_OF_FACTS if each != "rule"), key=scores.of)
    return scores.kind


def _propose_if_change(
    said: str, sentence: Sentence, quote: str, ts: float, gone: Sequence[str]
) -> Iterator[Proposal]:
    """Propose a sentence that deserves a line only if it changes something held."""
    part = kept_part(said, (), whole=False)
    line = said[part[0] : part[1]] if part else said
    for note in _propose_note(
        line, quote, sentence.scores.kind, ts, sentence.scores, is_change=True, gone=gone, level=DRAWER
    ):
        yield with_members(note, tags=(*note.tags, PERHAPS), change=round(sentence.scores.change, 3))


_NOW = pattern_of("wording", "now")
"""Words after a value that add nothing: it holds now anyway. "Apocalypse Now" is a name."""

_NEAR = 25
"""The characters after a slot in which a date belongs to it."""


def _propose_slot(
    reading: Reading, quote: str, ts: float, said: str, *, is_change: bool, was: str | None, level: float
) -> Iterator[Proposal]:
    value = tidy_object(_NOW.sub("", reading.value.strip("`")))
    if not value and not reading.ended:
        return
    if reading.label in ("Deadline", "Birthday", "Release"):
        value = add_dates(value, ts, past=False)
    proposal = make_proposal(
        reading.label,
        value or reading.label,
        quote,
        topic=USER if reading.topic == "user" else PROJECT,
        ended=reading.ended,
    )
    named = was if was and was.casefold() != value.casefold() else None
    dates = dates_in(said, ts, past=not AHEAD.search(said))
    near = (date.first for date in dates if reading.start <= date.start <= reading.end + _NEAR)
    since = next(near, None)
    proposal = with_members(proposal, valid_from=since, correction=is_change, was=named)
    if level < TOP:
        proposal = with_members(proposal, salience=min(proposal.salience or 1, 0.6))
    yield proposal


def _propose_note(
    line: str,
    quote: str,
    kind: str,
    ts: float,
    scores: Scores,
    *,
    is_change: bool,
    gone: Sequence[str],
    level: float,
) -> Iterator[Proposal]:
    line = clip_line(trim_line(line))
    if not _says_something(line) and level < 1:
        return
    past = (is_change or kind == "event") and PAST.search(line) is not None and not AHEAD.search(line)
    said = add_dates(escape(line), ts, past=past)
    fact_kind = KINDS_OF_FACTS[kind]
    is_work = kind in _WORK or (
        kind in ("rule", "plan") and scores.of("project") + scores.of("decision") > 0.35
    )
    salience = LOW
    if level >= TOP:  # the surer that it is worth keeping, the more
        salience = SALIENCE[fact_kind] * (0.7 + 0.3 * min((level - TOP) / (SURELY_WORTH - TOP), 1.0))
    if kind == "event":
        salience = min(salience, 0.5 if level >= 0.9 else LOW)
    yield Proposal(
        "note",
        said,
        quote,
        topic=PROJECT if is_work else USER,
        kind=fact_kind,
        time_span="future" if kind == "plan" else "long_term",
        salience=round(salience, 2),
        correction=is_change,
        was=gone[0] if gone else None,
        tags=(PEOPLE,) if kind == "other" else (),
    )


_REDACTED = "[redacted "


def _says_something(line: str) -> bool:
    """Return True if a line can stand alone: with a name, a number, or enough words."""
    if not has_words(line) or (_REDACTED in line and len(line) < 40):
        return False
    if WIDE.search(line):
        return len(line) > 3
    words = line.split()
    return (
        len(words) > 3
        or (len(words) > 1 and any(map(str.isdigit, line)))
        or any(each[:1].isupper() for each in words[1:])
        or (len(words) > 1 and len(line) > 13)
    )
