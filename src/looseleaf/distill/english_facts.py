"""What an English clause says of the speaker and of those near to them, and what of it has ended."""

from __future__ import annotations

import re

from looseleaf.distill import english_likes, english_person, english_places, english_things
from looseleaf.distill.english_forms import Found, cut, own
from looseleaf.distill.english_places import as_place
from looseleaf.distill.english_words import DIETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.distill.english_clauses import Clause


_NO_MORE = r"(?: (?:any ?more|any longer|at all any ?more|these days|now))"
_ENDED: list[tuple[str, re.Pattern[str]]] = [
    (relation, re.compile(pattern, re.IGNORECASE))
    for relation, patterns in {
        "Employer": (
            rf"i (?:don't|do not) work (?:at|for) (?P<o>.+?){_NO_MORE}.*",
            r"i no longer work (?:at|for) (?P<o>.+)",
            r"i(?:'ve)? (?:just |recently )?(?:left|quit) (?:my job at )?(?P<o>(?-i:[A-Z]).+)",
            r"i(?:'m| am) no longer (?:at|with) (?P<o>.+)",
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
        ),
        "Owns": (
            r"i(?:'ve)? (?:just |recently |finally )?sold my (?P<o>[\w -]+)",
            r"i no longer (?:own|have|drive) (?P<o>.+)",
        ),
        "Hobby": (r"i(?:'ve)? (?:stopped|given up|gave up|quit) (?:playing|doing|going) (?P<o>.+)",),
        "Trait": (
            (
                r"i(?:'ve| have)? (?:just |recently |finally )?(?:quit|stopped|given up|gave up) "
                r"(?P<o>smoking|"
                r"drinking|gambling|vaping|biting my nails)\b(?! (?:coffee|tea|\w+ coffee|alcohol|beer|wine|"
                r"soda|milk|energy)).*"
            ),
            r"i (?:don't|no longer) (?P<o>smoke|drink|vape)(?: any ?more)?\b(?! \w).*",
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
        words = own(match, clause)
        words = as_place(words) if relation == "Home" else cut(words)
        if relation == "Diet" and not re.search(r"any ?more|no longer", clause.text, re.IGNORECASE):
            return
        if words:
            topic = "project" if clause.text.lower().startswith("we") else "user"
            yield Found(relation, words, ended=True, correction=True, topic=topic)
            return


_FORMS = (
    *english_person.FORMS.all,
    *english_places.FORMS.all,
    *english_likes.FORMS.all,
    *english_things.FORMS.all,
)
_NEGATED = re.compile(
    r"\A(?:i|we)(?:'m| am|'re| are)? (?:not|never|don't|do not|didn't|wasn't|can't|cannot|won't|haven't)\b",
    re.IGNORECASE,
)
_MAY_NEGATE = frozenset({"Dislikes", "Diet", "Trait"})


def facts(clause: Clause) -> Iterator[Found]:
    """The first form that fits says it all."""
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
