"""Forms that say who the speaker is: name, age, place, work, school, family status, faith, food."""

from __future__ import annotations

import re

from looseleaf.distill.english.forms import (
    HAVE,
    HEDGE,
    IM,
    NAME,
    Forms,
    Found,
    capital,
    cut,
    first_part,
    own,
)
from looseleaf.distill.english.words import DEMONYMS, DIETS, GIVEN, LANGUAGES, RELIGIONS, is_trade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.distill.english.clauses import Clause

FORMS = Forms()


_NO_NAME = (
    frozenset(
        "batman groot superman spartacus legion ok okay sorry done back sure fine good new not so here "
        "there glad happy ready".split()
    )
    | DEMONYMS
    | RELIGIONS
    | DIETS
    | LANGUAGES
    | frozenset(
        "monday tuesday wednesday thursday friday saturday sunday adhd it hr cto ceo cfo pm qa gp".split()
    )
)


@FORMS.form(
    rf"(?:{IM})(?: called| named)? (?P<o>{NAME})(?:(?:,? (?:from|here|by|and|a|an|the)\b| \().*|,.*)?"
)
def _named(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    name = own(match, clause).rstrip(".")
    if all(part in DEMONYMS for part in name.lower().split("-")):
        yield Found("Nationality", name)
    elif name.lower() not in _NO_NAME and name.split()[0].lower() not in _NO_NAME:
        yield Found("Name", name)


FORMS.plain(
    "Name",
    rf"(?:{IM}|it's|its|this is)(?: called| named)? (?P<o>{'|'.join(sorted(GIVEN))})(?: here)?",
    shape=str.capitalize,
)


@FORMS.form(
    r"(?:my (?:full |first |real )?name(?:'s| is)(?: spelled| spelt| written)?|it(?:'s| is) (?:spelled|"
    r"spelt)|the name's|i(?:'m| am) called|(?:please |just |you can |"
    r"you may |"
    r"(?:all )?my friends |every(?:body|one) |people |they |most people )*calls? me|i (?:usually )?go by|"
    r"i'm known as|i(?:'ve)? changed my name to)"
    rf"(?: actually| also| now)? (?P<o>{NAME}|\w[\w'-]{{1,20}})(?P<rest>\b.*)?"
)
def _my_name(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    name = own(match, clause).strip("\"'“”.,")
    rest = match["rest"] or ""
    if "/" in rest[:1]:
        yield Found("Pronouns", (name + re.split(r"[\s,]", rest)[0]).strip("."))
    elif name.lower() not in {
        "a",
        "an",
        "the",
        "when",
        "if",
        "later",
        "back",
        "not",
        "crazy",
        "on",
        "at",
        "tomorrow",
        "in",
    }:
        was = re.search(rf"\bnot (?P<w>{NAME})", clause.own[match.end("o") :])
        yield Found("Name", name, was=was["w"] if was else None, correction=bool(was))


_NO_ONE = frozenset(
    "nothing everything same right still not all new someone something come over out down only it's none "
    "nobody me stuck looky look see happy good glad".split()
)


@FORMS.form(rf"(?:it's |it is |this is )?(?P<o>{NAME}) (?:here|speaking)")
def _here(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    name = own(match, clause)
    if name.split()[0].lower() not in _NO_ONE | _NO_NAME and len(name.split()) < 4:
        yield Found("Name", name)


@FORMS.form(r"(?:an? )?(?P<o>[\w -]{3,50}?)(?: (?:at|for|with) (?P<e>" + NAME + r"))? here(?:,.*)?")
def _trade_here(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    """ "Nurse here": who speaks as one."""
    role = own(match, clause)
    if is_trade(role) and not re.match(r"(?:the|my|our|no|is|any|your|new|another)\b", role, re.IGNORECASE):
        yield Found("Role", role)
        if employer := own(match, clause, "e"):
            yield Found("Employer", employer)


@FORMS.form(rf"i do (?P<r>[\w ]{{2,25}}?) (?:at|for) (?:an? [\w -]+? called )?(?P<o>{NAME})")
def _does_at(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    yield Found("Role", own(match, clause, "r"))
    yield Found("Employer", own(match, clause))


@FORMS.form(rf"{IM} (?:at|with) (?P<o>{NAME})(?: now)?,? instead of (?P<w>{NAME})(?: now)?")
def _instead(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    yield Found("Employer", own(match, clause), was=own(match, clause, "w"), correction=True)


@FORMS.form(r"(?:speaking )?as an? (?P<o>[\w -]+?)(?: myself)?,? (?:i|my)\b(?! want| need| should).*")
def _as_a(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    words = own(match, clause)
    aged = re.match(r"(?P<n>[1-9]\d)[- ]years?[- ]old ", words, re.IGNORECASE)
    if aged:
        words = words[aged.end() :]
    role = as_trade(words)
    if is_trade(role):
        if aged:
            yield Found("Age", aged["n"])
        yield Found("Role", role)


FORMS.plain(
    "Pronouns",
    r"my pronouns are (?P<o>.+)",
    r"i use (?P<o>\w+/\w+(?:/\w+)?)(?: pronouns)?.*",
    rf"{IM} (?P<o>(?:she|he|they)/\w+).*",
)


@FORMS.form(
    rf"(?:{IM}|i(?:'ve)? (?:just |recently )?turn(?:ed)?|my age is)(?: a)? (?P<o>[1-9]\d?|"
    r"1[01]\d)(?P<rest>\b.*)?"
)
def _age(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    rest = match["rest"] or ""
    if re.match(
        r"(?: years? old|-years?-old| y/?o| years? of age| now| today| this year| yesterday| last \w+| in "
        r"\w+| on \w+|"
        r" already|,|\.|\Z)",
        rest,
        re.IGNORECASE,
    ):
        yield Found("Age", own(match, clause))
    trade = re.match(r"[- ]years?[- ]old (?P<t>[\w -]+)", rest, re.IGNORECASE)
    if trade and is_trade(cut(trade["t"]).split(" from ")[0]):
        yield Found("Role", cut(trade["t"]).split(" from ")[0])


FORMS.plain(
    "Birthday",
    r"my (?:birthday|date of birth|bday|b-day)(?:'s| is)(?: on)?(?: the)? (?P<o>.*\d.*)",
    r"i was born on(?: the)? (?P<o>.*?\d{4}|.*\d\w*(?: of \w+)?(?: \w+)?)\b(?: in .*)?",
    rf"i was born in (?P<o>(?:\w+ )?(?:19|20)\d\d){HEDGE}",
)
FORMS.plain(
    "Nationality",
    r"i (?:have|hold)(?: a)? dual (?:citizenship|nationality)[,:] (?P<o>.+)",
    r"i (?:have|hold) an? (?P<o>\w+) (?:passport|citizenship)\b.*",
    shape=str,
)
FORMS.plain(
    "Nationality", r"my nationality is (?P<o>\w+)", r"i(?:'m| am) an? (?P<o>\w+) (?:citizen|national).*"
)


def as_trade(words: str) -> str:
    """What somebody is by trade, without where and for whom."""
    if re.match(
        r"(?:an? )?(?:team|group|pair|couple|usual|expected|intended|well|such|normal|always)\b",
        words,
        re.IGNORECASE,
    ):
        return ""
    words = re.sub(
        r"(?<!\bhead)(?<!\bdirector)(?<!\bvp)(?<!\bprofessor)(?<!\bchief) (?:at|in|for|on|with|from|by|who|"
        r"working|and|based|of|specialising|specializing|since|near|here|"
        r"living)\b.*\Z",
        "",
        cut(words),
        flags=re.IGNORECASE,
    )
    return words.split(",")[0].strip()


@FORMS.form(
    rf"(?:{IM}|i work|i've been working|{IM} working|i'm employed|i was (?:just |recently )?promoted to|"
    r"i(?:'ve been| recently got| just got| got)(?: just| recently)? promoted to)"
    r"(?: as)?(?: back)? (?:an?|the|our|lead|chief|head of|senior|junior) (?P<o>.+)"
)
def _role(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    words = clause.own[match.start("o") :].strip()
    lead = re.search(
        r"\b(lead|chief|head of|senior|junior) \Z", clause.own[: match.start("o")], re.IGNORECASE
    )
    words = (lead[0] if lead else "") + words
    works = re.match(
        r"i (?:work|was|got|recently|just)|i've been working|i(?:'m| am) (?:working|employed)",
        match[0],
        re.IGNORECASE,
    )
    role = as_trade(words)
    if not role or (not works and not is_trade(role)) or len(role.split()) > 6:
        return
    if re.match(
        r"(?:bit|little|lot|kind|sort|huge|big|total|complete|fan|few|team|company|part)\b",
        role,
        re.IGNORECASE,
    ):
        return
    before = re.search(r"\b(?:not an?|no longer an?) (?P<w>[\w -]+)", words, re.IGNORECASE)
    yield Found("Role", role, was=before["w"].strip() if before else None)
    if at := re.search(rf"\b(?:at|for) (?:the )?(?P<a>{NAME})", words):
        is_school = re.search(r"\bstudent\b|\bphd\b", role, re.IGNORECASE)
        yield Found("Education" if is_school else "Employer", at["a"])
    elif len(words) > len(role):
        company = re.match(rf".*? (?:of|at|called) (?P<a>{NAME})", words)
        if company and re.search(r"\b(?:ceo|cto|cfo|founder|owner|director)\b", role, re.IGNORECASE):
            yield Found("Employer", company["a"])


FORMS.plain(
    "Role",
    r"my (?:job|profession|occupation|role|job title|day job)(?:'s| is)(?: that of)?(?: an?| as an?| the)? "
    r"(?P<o>.+)",
    rf"{IM} (?P<o>retired|unemployed|self-employed|freelancing){HEDGE}(?:,.*)?",
    r"i (?P<o>freelance)(?: as.*)?",
    r"i (?:do|make|write|sell|fix|build|design|restore) (?P<o>[\w -]+) for a living\b.*",
    rf"(?:{IM} working|i work|i've been working) as (?P<o>[\w -]+)",
    r"i (?P<o>teach (?:\w+ )?(?:maths?|mathematics|physics|chemistry|biology|english|history|geography|"
    r"music|art|german|french|spanish|yoga|primary school|high school|kindergarten|piano|guitar|"
    r"swimming|computer science|philosophy|literature))\b.*",
    shape=lambda words: {"freelance": "freelancer"}.get(
        words.lower(), re.sub(r"\Ateach ", "teaches ", as_trade(words))
    ),
)


def _employer(words: str) -> str:
    if called := re.match(rf"an? [\w -]+? (?:called|named) (?P<n>{NAME})", words):
        return called["n"]
    words = re.sub(
        r" (?:as|in|on|last|this|next|yesterday|doing|where|since|from|with|and|for|part-time|full-time|"
        r"now|until|again|once more)\b.*\Z",
        "",
        cut(words),
        flags=re.IGNORECASE,
    )
    words = words.split(",")[0].strip()
    # A thing without a name of its own ("a bakery", "home", "myself") is no employer.
    return words if capital(words) and words.lower() not in DEMONYMS else ""


@FORMS.form(rf"(?:i work|{IM} working|i'm employed)(?: \w+ly)? (?:at|for|with) (?P<o>.+?),? as an? (?P<r>.+)")
def _works_as(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if employer := _employer(own(match, clause)):
        yield Found("Employer", employer)
    if role := as_trade(own(match, clause, "r")):
        yield Found("Role", role)


FORMS.plain(
    "Employer",
    r"i(?: now| currently| still| actually)? work(?: remotely| part-time| full-time| nights|"
    r" freelance)? (?:at|for) (?P<o>.+)",
    r"i(?:'ve| have)?(?: just| recently)? (?:got|landed|took|accepted) (?:an? )?(?:new )?(?:job|"
    r"position|role) (?:at|with) (?P<o>.+)",
    rf"{IM} (?:working|employed) (?:at|for|by|with) (?P<o>.+)",
    r"i(?:'ve)?(?: just| recently)? (?:joined|started (?:working |a new job |a job |work )?(?:at|with|"
    r"for)) (?P<o>.+)",
    r"my (?:new )?(?:employer|company)(?:'s| is)(?: called)? (?P<o>.+)",
    r"i(?:'ve)?(?: just| recently)? (?:changed|switched) jobs? (?:and )?(?:.*)?to (?P<o>.+)",
    shape=_employer,
)


def _school(words: str) -> str:
    words = re.sub(
        r" (?:and|as|for|back in|last|in (?:19|20)\d\d|years|while|this)\b.*\Z",
        "",
        cut(words),
        flags=re.IGNORECASE,
    )
    return words.strip()


FORMS.plain(
    "Education",
    r"i(?:'m| am)?(?: currently| still)? (?:study|studying)(?: \w+)?? at (?P<o>(?:the )?(?-i:[A-Z]).+)",
    r"i(?:'m| am)?(?: currently| still)? (?:study|studying|studied|majored in|majoring in|major in)(?: "
    r"for)? (?P<o>(?!hard|late|tonight"
    r"|all|every|for|the (?:docs|code|problem)|this|that|how|it\b).+)",
    r"i(?:'ve)? (?:graduated|got my (?:degree|phd|master's)) (?:from|at) (?P<o>(?:the )?(?-i:[A-Z]).+)",
    r"i(?:'ve)? (?:graduated|got my (?:degree|phd|master's)) in (?P<o>.+)",
    rf"{HAVE} (?P<o>an? (?:phd|master's|masters|master|bachelor's|bachelor|mba|ba|bsc|msc|ma|degree|"
    r"doctorate)\b.*)",
    r"i (?:went to|attend|go to|attended) (?P<o>[\w' ]*(?:university|college|school|institute|mit|"
    r"eth)\b.*)",
    rf"{IM} doing (?P<o>(?:a|my) (?:phd|master's|masters|mba)\b.*)",
    shape=_school,
)
FORMS.plain(
    "Email",
    r"(?:my (?:new |work |private )?e-?mail(?: address)?(?:'s| is)|you can (?:reach|email|mail) me (?:at|"
    r"on)) (?P<o>[^\s@,]+@[^\s@,]+\w)\b.*",
)
FORMS.plain(
    "Phone",
    r"(?:my (?:new )?(?:phone|mobile|cell|telephone)?(?: ?number| phone)?(?:'s| is)|call me on|you can "
    r"call me (?:at|on)|reach me on)"
    r" (?P<o>\+?\d[\d ()/-]{5,20}\d).*",
    r"(?:you can )?(?:reach|call|text) me (?:at|on) (?P<o>\+?\d[\d ()/-]{5,20}\d).*",
)
FORMS.plain(
    "Marital status",
    rf"{IM} (?:happily |recently |newly |a )?(?P<o>married|divorced|single|engaged|widowed|separated|"
    rf"widow(?:er|ed)?)(?! to\b){HEDGE}"
    r"(?: (?:with|and|for|since)\b.*|,.*)?",
    r"i (?:just |recently )?got (?P<o>married|divorced|engaged)(?! to\b| with\b| in the\b).*",
)


@FORMS.form(
    rf"(?:{IM}|i got|we(?:'re| are)) (?:happily |just |recently )?(?P<s>married|engaged) to (?P<o>{NAME}).*"
)
def _married(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    yield Found("Partner", own(match, clause))
    yield Found("Marital status", match["s"].lower())


FORMS.plain(
    "Gender",
    rf"{IM} an? (?P<o>(?:trans |cis )?(?:woman|man|guy|girl|boy)){HEDGE}",
    r"i identify as (?:an? )?(?P<o>(?:non-?binary|trans\w*|genderfluid|agender|female|male|(?:trans |cis "
    r")?(?:woman|man)))\b.*",
)
FORMS.plain("Manager", rf"i report to (?P<o>{NAME}).*")
FORMS.plain(
    "Religion",
    rf"{IM}(?: an?)?(?: practi[sc]ing| devout| lapsed)? (?P<o>{'|'.join(sorted(RELIGIONS))}){HEDGE}(?:,.*)?",
    r"my religion is (?P<o>\w+)",
)
FORMS.plain(
    "Nationality",
    rf"{IM}(?: half)? (?P<o>{'|'.join(sorted(DEMONYMS))}){HEDGE}(?: (?:but|and)\b.*|,(?! half).*)?",
    rf"{IM} (?P<o>half (?:{'|'.join(sorted(DEMONYMS))}),? (?:and )?half (?:{'|'.join(sorted(DEMONYMS))}))",
    shape=str,
)
FORMS.plain(
    "Diet",
    rf"{IM}(?: an?| strictly| mostly| on an?| strict| always)* (?P<o>{'|'.join(sorted(DIETS))})(?: "
    rf"diet)?{HEDGE}(?: (?:and|but|so|since)\b.*|,.*)?",
    rf"i (?:only )?(?:eat|keep|follow)(?: an?| only| strictly)* (?P<o>{'|'.join(sorted(DIETS))})\b.*",
    shape=lambda words: words.lower() if words.lower() in DIETS else words,
)


@FORMS.form(
    r"i(?:'ve| have)?(?: just| recently)? (?:(?:don't|do not|never|no longer|can't|cannot)(?: "
    r"really)?(?P<e> eat| drink)|"
    r"(?:stopped|quit|gave up|given up)(?P<f> eating| drinking)) (?P<o>.+)"
)
def _no_food(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    food = re.sub(r"\A(?:any|no) ", "", first_part(own(match, clause)))
    generic = (
        r"(?:much|enough|out|at|a lot|breakfast|lunch|that|this|it|these|those|before|after|while|"
        r"anything|here|there|well)\b"
    )
    if food and not re.match(generic, food, re.IGNORECASE) and len(food.split()) < 5:
        stopped = (
            match["f"] is not None
            or "no longer" in match[0].lower()
            or re.search(r"\bany ?more\b", clause.text, re.IGNORECASE) is not None
        )
        yield Found("Diet", f"no {food}", correction=stopped)
