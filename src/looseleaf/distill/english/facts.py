"""What an English clause says of the speaker and of those near to them, and what of it has ended."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english import likes, person, places, things, undertakings
from looseleaf.distill.english.clauses import Clause
from looseleaf.distill.english.forms import Found, cut, own
from looseleaf.distill.english.places import as_place
from looseleaf.distill.english.words import DIETS, KIN, PETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_NO_MORE = r"(?: (?:any ?more|any longer|at all any ?more|these days|now))"
_SPOUSE = "|".join(word for word, relation in KIN.items() if relation == "Partner")
_PARTED = (
    r"(?:'ve| have)?(?: just| recently| finally)* (?:split up|broke up|broken up|separated|got divorced|"
    r"gotten divorced|divorced|are (?:divorced|separated|no longer together)|aren't together any ?more)"
    r"(?! from each)\b.*"
)
_ENDED: list[tuple[str, re.Pattern[str]]] = [
    (relation, lazy(pattern, re.IGNORECASE))
    for relation, patterns in {
        "Employer": (
            rf"i (?:don't|do not) work (?:at|for) (?P<o>.+?){_NO_MORE}.*",
            r"i no longer work (?:at|for) (?P<o>.+)",
            (
                r"i(?:'ve)? (?:just |recently |finally )?(?:left|"
                r"quit) (?:my job at )?(?P<o>(?-i:[A-Z])(?!.*\bago\b).+)"
            ),
            r"i(?:'m| am) no longer (?:at|with) (?P<o>.+)",
        ),
        "Allergy": (
            (
                r"i(?:'m| am) (?:no longer|not) (?:actually )?allergic to (?P<o>(?!any|every|it\b|that\b).+?)"
                r"(?:,? (?:after all|any ?more|any longer|at all|as it turns out))"
            ),
            r"i(?:'m| am) no longer allergic to (?P<o>.+)",
            (
                r"(?:it )?turns out(?: that)? i(?:'m| am|'ve never been| was never) (?:not )?(?:actually )?allergic to "
                r"(?P<o>(?!any|every|it\b|that\b).+?)(?:,? (?:after all|at all))?"
            ),
        ),
        "Partner": (
            (
                rf"(?P<e>my (?:{_SPOUSE}) and i|(?:we|i)(?='ve| have| just| recently| got| divorced| separated))"
                rf"{_PARTED}"
            ),
            (
                rf"(?P<e>my (?:{_SPOUSE})) (?:has |just |recently )*(?:left me|divorced me|broke up with me|"
                r"dumped me)\b.*"
            ),
            (
                r"(?:my \w+ )?(?P<o>(?-i:[A-Z])\w+) and i(?:'ve| have)?(?: just| recently)? (?:split up|"
                r"broke up|broken up|"
                r"separated|got divorced|divorced|are no longer together|aren't together any ?more)\b.*"
            ),
        ),
        "Pet": (
            (
                rf"(?:my|our) (?:\w+ )?(?P<k>{'|'.join(sorted(PETS))}),? (?P<o>(?-i:[A-Z])\w+),? "
                r"(?:has |just |sadly |recently )*"
                r"(?:died|passed away|passed|had to be put (?:down|to sleep)|was put (?:down|to sleep))\b.*"
            ),
            (
                rf"(?:my|our) (?:old |little )?(?P<o>{'|'.join(sorted(PETS))}) "
                r"(?:has |just |sadly |recently )*"
                r"(?:died|passed away|passed|had to be put (?:down|to sleep))\b.*"
            ),
        ),
        "Home": (rf"i (?:don't|do not) live in (?P<o>.+?){_NO_MORE}.*", r"i no longer live in (?P<o>.+)"),
        "Likes": (
            r"i (?:don't|do not) (?:really )?(?:like|love|enjoy) (?P<o>.+?) any ?more.*",
            r"i no longer (?:like|love|enjoy) (?P<o>.+)",
        ),
        "Uses": (
            rf"i (?:don't|do not) use (?P<o>.+?){_NO_MORE}.*",
            r"i no longer use (?P<o>.+)",
            r"i(?:'ve)? stopped using (?P<o>.+)",
            rf"we (?:don't|do not) use (?P<o>.+?){_NO_MORE}.*",
            r"we(?:'ve)? (?:no longer use|stopped using|dropped|got rid of) (?P<o>(?-i:[A-Z])[\w.+-]+)",
        ),
        "Diet": (
            r"i(?:'m| am) (?:not an? |no longer (?:an? )?|not )(?P<o>"
            + "|".join(sorted(DIETS))
            + r")(?: any ?more)?.*",
            (
                r"(?P<e>i) (?:now )?(?:eat|started eating|have started eating|am eating|'m eating) "
                r"(?:meat|fish|dairy|eggs|gluten|everything|animal products)(?: and \w+)? again\b.*"
            ),
            (
                r"(?P<e>i)(?:'ve| have)? (?:just |recently )?(?:gone|went) back to eating "
                r"(?:meat|fish|dairy|everything)\b.*"
            ),
        ),
        "Owns": (
            r"i(?:'ve)? (?:just |recently |finally )?sold my (?P<o>[\w -]+)",
            r"i no longer (?:own|have|drive) (?P<o>.+)",
            r"i (?:don't|do not) (?:own|have) (?P<o>an? .+?) any ?more.*",
        ),
        "Hobby": (r"i(?:'ve)? (?:stopped|given up|gave up|quit) (?:playing|doing|going) (?P<o>.+)",),
        "Trait": (
            (
                r"i(?:'ve| have)? (?:just |recently |finally )?(?:quit|stopped|given up|gave up) "
                r"(?P<o>smoking|"
                r"drinking|gambling|vaping|biting my nails)\b(?! (?:coffee|tea|\w+ coffee|alcohol|beer|"
                r"wine|"
                r"soda|milk|energy)).*"
            ),
            r"i (?:no longer (?P<o>smoke|drink|vape)|don't (?P<p>smoke|drink|vape) any ?more)\b.*",
        ),
    }.items()
    for pattern in patterns
]


def ended(clause: Clause) -> Iterator[Found]:
    """What holds no more, where only that is said."""
    for relation, ending in _ENDED:
        match = ending.fullmatch(clause.text)
        if match is None:
            continue
        if "e" in ending.groupindex:  # whatever it was
            yield Found(relation, "", ended=True, correction=True)
            return
        words = own(match, clause) or (own(match, clause, "p") if "p" in ending.groupindex else "")
        words = as_place(words) if relation == "Home" else cut(words)
        words = (
            re.sub(r" (?:in|last|this|on|two|a) (?:\w+ )?\w+(?: ago)?\Z", "", words)
            if relation in ("Employer", "Owns")
            else words
        )
        if relation == "Diet" and not re.search(r"any ?more|no longer", clause.text, re.IGNORECASE):
            return
        if "k" in ending.groupindex:
            words = f"{words} ({match['k'].lower()})"
        if words:
            topic = "project" if clause.text.lower().startswith("we") else "user"
            yield Found(relation, words, ended=True, correction=True, topic=topic)
            return


_FORMS = (
    *person.FORMS.all,
    *places.FORMS.all,
    *likes.FORMS.all,
    *things.FORMS.all,
    *undertakings.FORMS.all,
)
_NEGATED = lazy(
    r"\A(?:i|we)(?:'m| am|'re| are)? (?:not|never|don't|do not|didn't|wasn't|can't|cannot|won't|haven't)\b",
    re.IGNORECASE,
)
_MAY_NEGATE = frozenset({"Dislikes", "Diet", "Trait"})


_ASIDE = lazy(
    r",? (?:for (?:[\w-]+ ){1,4}(?:years|months|weeks|ages|decades)(?: now| already)?|for (?:years|ages|"
    r"decades)(?: now)?|"
    r"since (?:i was|my|the|birth|childhood|school|(?:19|20)\d\d|last)\b.{0,40}|(?:most|all|a lot) of the "
    r"time|all the time|"
    r"every (?:single )?(?:day|week|weekend|morning|night|evening|summer|winter|sunday|saturday)|at "
    r"(?:work|home|the weekend|weekends|school|night)|"
    r"on (?:weekends|sundays|saturdays|the weekend)|(?:after|before) (?:work|school)|more than anything(?: "
    r"else)?|like (?:crazy|mad)|"
    r"when(?:ever)? i can|to be (?:exact|precise|fair|honest)|and (?:that|so|always|never|it|"
    r"proud)\b.{0,60}|twice a \w+|once a \w+)\Z",
    re.IGNORECASE,
)
"""How long, how often and how much: beside what is said."""


def facts(clause: Clause) -> Iterator[Found]:
    """The first form that fits says it all."""
    text = _ASIDE.sub("", _ASIDE.sub("", clause.text))
    if len(text) < len(clause.text) and len(text.split()) > 1:
        clause = Clause(text, clause.own[: len(text)], clause.quote)
    found = list(ended(clause))
    if found:
        yield from found
        return
    is_negated = _NEGATED.match(clause.text) is not None
    for pattern, read in _FORMS:
        match = pattern.fullmatch(clause.text)
        if match is None:
            continue
        found = [each for each in read(match, clause) if not is_negated or each.relation in _MAY_NEGATE]
        if found:
            yield from found
            return
