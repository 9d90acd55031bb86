"""Forms that say who and what is near to the speaker: kin, friends, animals, things, tools, work in hand."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.forms import HAVE, IM, NAME, Forms, Found, cut, own
from looseleaf.distill.english.likes import VAGUE
from looseleaf.distill.english.person import as_trade
from looseleaf.distill.english.places import as_place
from looseleaf.distill.english.words import CONDITIONS, DEMONYMS, DIETS, ILL, KIN, KIN_WORD, OLDER, is_trade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.distill.english.clauses import Clause

FORMS = Forms()


def _kin(word: str) -> str:
    return KIN.get(word.lower(), "")


def _with_kind(relation: str, name: str, word: str) -> str:
    return f"{name} ({word.lower()})" if relation == "Pet" else name


@FORMS.form(
    rf"i live (?:together )?with my (?:{OLDER})?(?P<k>{KIN_WORD})(?:,? (?P<o>{NAME}),?)?(?: in (?P<p>.+))?"
)
def _lives_with(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    relation, name = _kin(match["k"]), own(match, clause)
    if relation and name:
        yield Found(relation, _with_kind(relation, name, match["k"]))
    where = re.sub(
        r"\Aan? (?:\w+ )?(?:flat|house|apartment|place|home|studio) in ", "", own(match, clause, "p")
    )
    if home := as_place(where):
        yield Found("Home", home)


_POSSESSIVE = (
    r"name|nickname|hostname|ip(?: address)?|serial number|licen[cs]e plate|number plate|registration|"
    r"breed|husband|wife|"
    r"partner|boyfriend|girlfriend|school|teacher|nursery|kindergarten|doctor|vet|shoe size|size|"
    r"password hint|model|"
    r"favou?rite \w+|blood type|bedtime|middle name|maiden name|address|username|handle"
)


@FORMS.form(
    rf"(?:my|our) (?:{OLDER})?(?P<k>[a-z][a-z-]+)'s (?P<r>{_POSSESSIVE}) (?:is|are)(?: called| named|"
    rf" now)? "
    r"(?P<o>(?!not|too|very|so|the same|wrong|broken|full|down|a |an |on |in |at |still|never|"
    r"always)[\w'.@/: -]{1,40}?)"
    r"(?:,? (?:if|in case|so|because|by the way|btw)\b.*)?"
)
def _possessed(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    """Anything of somebody's or something's that has a value of its own."""
    word, what = match["k"].lower(), match["r"].lower()
    if word in (
        "it",
        "that",
        "what",
        "let",
        "who",
        "function",
        "class",
        "variable",
        "module",
        "method",
        "file",
    ):
        return
    words = own(match, clause)
    if re.match(r"(?:irrelevant|unknown|missing|empty|secret|private|unclear)\b", words, re.IGNORECASE):
        return
    if what == "name" and _kin(word) in ("Partner", "Manager"):
        yield Found(_kin(word), words)
    else:
        yield Found(f"{_SAME_KIN.get(word, word).capitalize()}'s {what}", words)


_UNNAMED = frozenset(
    "function variable class method file table column branch script package library project repo repository module "
    "service test bug field parameter command folder directory document name app company band team podcast blog "
    "startup employer".split()
)


@FORMS.form(rf"(?:my|our) (?:\w+ )?(?P<k>[a-z][a-z-]+) (?:is|are) (?:called|named) (?P<o>{NAME})(?:,.*)?")
def _called(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    word = match["k"].lower()
    if word not in _UNNAMED and word not in KIN and not word.endswith("s"):
        yield Found(f"{word.capitalize()}'s name", own(match, clause))


@FORMS.form(
    rf"(?:(?:my|our) |(?=(?:mom|mum|dad|grandma|grandpa)\b))"
    rf"(?:(?P<a>\d{{1,2}})[- ]years?[- ]old )?(?P<b>{OLDER})?(?P<k>{KIN_WORD})"
    rf"(?:,? (?P<o>{NAME}))?,?(?P<s>'s)? (?P<rest>.+)"
)
def _relative(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    word, name = match["k"].lower(), own(match, clause)
    relation = _kin(word)
    rest = clause.own[match.start("rest") :]
    if name and relation:
        yield Found(relation, _with_kind(relation, name, word))
    if match["a"]:
        yield Found(f"{_SAME_KIN.get(word, word).capitalize()}'s age", match["a"])
    named = re.match(
        rf"(?:is|are|was)(?: called| named)? (?P<n>{NAME})(?: now| these days)?(?:\s*\Z|[,.].*| and\b.*)",
        rest,
    )
    if named is None:
        named = re.match(r"(?:is|was) (?:called|named) (?P<n>\w+)", rest)
    if named and not match["s"] and relation and named["n"].lower() not in DEMONYMS:
        yield Found(relation, _with_kind(relation, named["n"], word))
        return
    is_short = match["s"] and re.match(
        r"(?:an?|called|named|from|in|at|\d|allergic|\w+ing)\b", rest, re.IGNORECASE
    )
    if is_short:
        rest = f"is {rest}"  # "my husband's a carpenter"
    for label, said_so in _OF_RELATIVES[bool(match["s"]) and not is_short]:
        said = said_so.match(rest)
        if said is None:
            continue
        words = (
            as_place(said["o"])
            if label in ("home", "hometown")
            else as_trade(said["o"])
            if label == "role" and not said["o"].startswith(("works", "teaches"))
            else cut(said["o"])
        )
        if label == "role" and not is_trade(words) and not re.search("works|teaches", said[0]):
            continue
        if words:
            if label == "name" and relation in ("Partner", "Manager"):
                yield Found(relation, words)
            else:
                yield Found(f"{_SAME_KIN.get(word, word).capitalize()}'s {label}", words)


_NEAR = (
    r"(?:next[- ]door )?neighbou?r|therapist|doctor|dentist|landlord|landlady|lawyer|accountant|teacher|"
    r"trainer|coach|mentor|"
    r"hairdresser|gp|assistant|advisor|tutor|psychiatrist|physio|nanny|cleaner|godson|goddaughter"
)


@FORMS.form(
    rf"my (?P<k>{_NEAR})(?:'s name is|'s called| is called| is named| is) (?P<o>(?:(?:Mr|Mrs|Ms|Dr|"
    rf"Prof)\.? )?{NAME})"
)
def _near(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    yield Found(f"{match['k'].capitalize()}'s name", own(match, clause))


@FORMS.form(
    rf"(?:my|our) (?:{OLDER})?(?:two |three )?(?P<k>(?:{KIN_WORD})s|children|twins|wives)(?: are| are "
    r"called| are named|,| called)? "
    rf"(?P<o>{NAME}(?:(?:, | and |, and ){NAME})+)\b.*"
)
def _several(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    word = {"children": "child", "twins": "child"}.get(
        match["k"].lower(), match["k"].lower().removesuffix("s")
    )
    for name in re.split(r", and | and |, ", own(match, clause)):
        if relation := _kin(word):
            yield Found(relation, _with_kind(relation, name, word))


_SAME_KIN = {
    "bro": "brother",
    "sis": "sister",
    "hubby": "husband",
    "gf": "girlfriend",
    "bf": "boyfriend",
    "dad": "father",
    "mum": "mother",
    "mom": "mother",
    "gran": "grandmother",
    "grandma": "grandmother",
    "grandpa": "grandfather",
}
_OF_RELATIVES = {
    False: [
        (
            "home",
            lazy(
                r"(?:still |now |currently )?(?:lives?|living|is based|resides) in (?P<o>.+)", re.IGNORECASE
            ),
        ),
        ("hometown", lazy(r"(?:is|comes) (?:originally )?from (?P<o>.+)", re.IGNORECASE)),
        ("employer", lazy(rf"works (?:at|for) (?:the )?(?P<o>{NAME})", re.IGNORECASE)),
        ("role", lazy(r"(?:is|works as) an? (?P<o>.+)", re.IGNORECASE)),
        (
            "role",
            lazy(
                r"(?P<o>works (?:\w+ )?(?:in|at) (?:an?|the) \w+"
                r"(?: (?!there|here|now|and|in|at|on|for|with|as|so)\w+)?)",
                re.IGNORECASE,
            ),
        ),
        ("role", lazy(r"(?P<o>teaches \w+(?: \w+)?)", re.IGNORECASE)),
        (
            "education",
            lazy(
                r"(?:is )?(?:still |now |currently )?(?:studying|studies|"
                r"majoring in) (?:at )?(?P<o>(?!hard|for)\w.+)",
                re.IGNORECASE,
            ),
        ),
        (
            "education",
            lazy(r"has (?P<o>an? (?:phd|degree|doctorate|master's|bachelor's|mba)\b.*)", re.IGNORECASE),
        ),
        ("condition", lazy(rf"(?:has|is)(?: also)? (?P<o>{CONDITIONS}|{ILL})\b", re.IGNORECASE)),
        (
            "age",
            lazy(
                r"(?:is|just turned|turned|is turning) (?P<o>\d{1,3})(?: years old| now|\Z|,| and| last|"
                r" this| yesterday|"
                r" today| in| on| so)",
                re.IGNORECASE,
            ),
        ),
        ("birthday", lazy(r"was born (?:on|in) (?P<o>.*\d.*)", re.IGNORECASE)),
        ("allergy", lazy(r"is (?:\w+ly )?allergic to (?P<o>.+)", re.IGNORECASE)),
        ("diet", lazy(rf"is (?:an? )?(?P<o>{'|'.join(sorted(DIETS))})\b", re.IGNORECASE)),
    ],
    True: [
        ("name", lazy(rf"name is (?P<o>{NAME})", re.IGNORECASE)),
        ("birthday", lazy(r"birthday is (?:on )?(?:the )?(?P<o>.+)", re.IGNORECASE)),
        ("age", lazy(r"(?:is )?(?P<o>\d{1,3})(?: years old|\Z)", re.IGNORECASE)),
        ("email", lazy(r"e-?mail(?: address)? is (?P<o>[^\s@]+@[^\s@]+\w)", re.IGNORECASE)),
        ("phone", lazy(r"(?:phone )?number is (?P<o>\+?\d[\d ()/-]{5,20}\d)", re.IGNORECASE)),
        ("employer", lazy(rf"(?:employer|company) is (?P<o>{NAME})", re.IGNORECASE)),
    ],
}


@FORMS.form(
    rf"{IM} an? (?:single |proud |stay-at-home )?(?:mum|mom|mother|dad|father|parent) (?:of|to) "
    rf"(?P<n>\w+)(?: \w+)?(?:[,:] (?P<o>{NAME}(?:(?:, | and |, and ){NAME})*))?.*"
)
def _parent_of(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    names = own(match, clause)
    for name in filter(None, re.split(r", and | and |, ", names)):
        yield Found("Child", name)


@FORMS.form(
    rf"(?:{HAVE}|we(?: have|'ve got| got)|i(?:'ve)? (?:just |recently )?(?:adopted|got)) (?P<n>an?|one|two|"
    r"three|four|five|\d)(?: \w+)?? "
    rf"(?:{OLDER})?(?P<k>(?:{KIN_WORD}))(?:s|ren)?(?P<rest>\b.*)?"
)
def _has_kin(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    word = match["k"].lower()
    relation = _kin(word)
    rest = clause.own[match.end("k") :]
    names = re.search(
        rf"(?:called|named|,|:|names? (?:is|are)|-) (?P<o>{NAME}(?:(?:, | and |, and ){NAME})*)", rest
    )
    if not relation or re.match(
        r"\s+(?:who|in|that|of|coming|visiting|over|question|asking)\b(?! named| called)", rest
    ):
        return
    if names:
        for name in re.split(r", and | and |, ", names["o"]):
            yield Found(relation, _with_kind(relation, name.strip(), word))
        for other in _AND_A.finditer(rest[names.end() :]):
            if relation := _kin(other["k"]):
                yield Found(relation, _with_kind(relation, other["o"], other["k"]))
    elif relation == "Pet" and not re.match(r"s?\s+\w+ing\b", rest):
        count = "" if match["n"].lower() in ("a", "an", "one") else match["n"] + " "
        plural = re.match(r"s\b", rest)
        yield Found(relation, f"{count}{word}{'s' if plural else ''}")
    elif relation in ("Child", "Sibling") and re.match(r"(?:s|ren)?(?:\s*\Z|[,.]| and\b)", rest):
        count = "" if match["n"].lower() in ("a", "an") else match["n"] + " "
        end = re.match(r"(?:s|ren)?", rest)
        yield Found(relation, f"{count}{word}{end[0] if end else ''}")


_AND_A = lazy(rf"\b(?:and|,) an? (?:\w+ )??(?P<k>(?i:{KIN_WORD})) (?:called|named) (?P<o>{NAME})")
_CARS = (
    r"(?:car|van|bike|bicycle|motorbike|motorcycle|boat|house|flat|apartment|cabin|cottage|camper|"
    r"scooter|piano|guitar|telescope|3d printer|kindle|macbook|thinkpad|iphone|laptop|tablet|"
    r"greenhouse|garden|farm|bakery|restaurant|shop|company)"
)
_BRANDS = (
    r"(?-i:Volvo|Toyota|Honda|BMW|Audi|Tesla|Ford|Fiat|Renault|Peugeot|Volkswagen|VW|Mazda|Subaru|"
    r"Skoda|Kia|Hyundai|Nissan|Opel|Seat|Citroën|Mercedes|Porsche|Vespa|Yamaha|Ducati|Brompton|"
    r"Canon|Nikon|Leica|Fender|Gibson|Prusa|Steam Deck|Nintendo|PlayStation|Xbox|Kindle|MacBook|"
    r"ThinkPad|Framework|Garmin|Fuji)"
)
FORMS.plain(
    "Owns",
    r"i(?: also| now)? own (?P<o>.+)",
    rf"i drive (?P<o>an? (?:[\w-]+ )*?{_BRANDS}.*|an? (?:\w+ )?{_CARS}\b.*)",
    rf"{HAVE} (?P<o>an? (?:[\w-]+ ){{0,2}}{_BRANDS}.*)",
    rf"my (?:\w+ )?{_CARS} is (?P<o>an? (?:[\w-]+ ){{0,2}}{_BRANDS}.*)",
    rf"{HAVE} (?P<o>an? (?:[\w-]+ ){{0,2}}{_CARS})\b(?! (?:question|problem|issue|reservation|booked)).*",
)


def as_tool(words: str) -> str:
    if re.match(r"my ", words, re.IGNORECASE) and not re.search(r"[A-Z0-9]", words[1:]):
        return ""  # what somebody has in him is no tool
    words = re.sub(
        r" (?:for|at|to|on|as|in|every|all|when|whenever|daily|with which|because)\b.*\Z",
        "",
        cut(words),
        flags=re.IGNORECASE,
    )
    words = re.sub(r" and [a-z].*\Z", "", words)
    return (
        ""
        if VAGUE.match(words)
        or re.search(
            r"\b(?:below|above|function|method|following|same|wrong|word|term)\b", words, re.IGNORECASE
        )
        or len(words.split()) > 7
        else words.split(",")[0]
    )


@FORMS.form(
    r"i(?:'ve| have)?(?: just| recently| finally| now)* (?:switched|moved|migrated|changed|went)(?: over)? "
    r"from (?P<was>[\w .+#-]+?) to (?P<o>[\w .+#-]+)"
)
def _switched(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    tool, was = as_tool(own(match, clause)), cut(own(match, clause, "was"))
    if tool and was:
        yield Found("Uses", tool, was=was, correction=True)


FORMS.plain(
    "Uses",
    r"i(?: mostly| mainly| usually| always| only| also| currently| now| still| primarily)? use "
    r"(?P<o>(?!to\b|it\b|this|that|the (?:word|term)).+)",
    r"i run (?P<o>(?:arch|ubuntu|debian|fedora|nixos|linux|windows|macos|gentoo|mint)(?: linux)?(?: "
    r"\d+)?)\b.*",
    rf"{IM} (?:on|running|using) (?P<o>(?:an? |my )?(?:\w+ )?(?:windows|ubuntu|macos|mac|linux|fedora|"
    r"debian|arch|nixos|android|ios|macbook|thinkpad|chromebook|iphone|pixel|vim|neovim|emacs|vs "
    r"?code)\b[\w .]*)(?:,.*)?",
    r"my (?:\w+ )?(?:editor|ide|shell|terminal|browser|os|operating system|laptop|phone|computer|keyboard|"
    r"camera|note-taking app|password manager|distro|main machine|machine)(?:'s| is| is "
    r"called(?! an? ))(?: currently)? (?P<o>(?=an? |(?-i:[A-Z0-9])|vim|emacs|neovim|zsh|fish|bash|helix|vs "
    r"?code)(?!not|broken|slow|too|very|so|dead|acting|old|new\b|on|out|at|in|the (?:one|same|"
    r"problem)|really|always|a mess|freez|crash|over).+)",
    shape=as_tool,
)


@FORMS.form(
    r"i(?: mostly| mainly| usually)? (?:use|run) (?P<o>[\w .+#-]+?) on (?:an?|my) (?P<p>(?:\w+ )?(?:mac|"
    r"macbook|linux|windows|thinkpad|pc|laptop|chromebook|pixel|iphone|ipad|raspberry pi|"
    r"framework)\b[\w ]*)"
)
def _uses_on(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    for group in ("o", "p"):
        if words := as_tool(own(match, clause, group)):
            yield Found("Uses", words)


FORMS.all.insert(0, FORMS.all.pop())
