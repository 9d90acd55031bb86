"""How a sentence is read with the forms of its language: words that say a fact, where a clause begins with them.

What a form finds is a fact only if nothing in the sentence says otherwise: a question, a supposition, a report, a
joke, a part to play. The words of a fact are cut out of the sentence and never made up, but for dates, and its quote
stands in the sentence as it is. A sentence longer than `LONGEST` is not looked at, and every repetition in a pattern is
bounded: time is linear in the text.
"""

from __future__ import annotations

import re
from functools import cache

from looseleaf.core.lazy import lazy
from looseleaf.core.relations import BY_LABEL, SALIENCE
from looseleaf.distill.languages.tongues import SLOTS, tongue
from looseleaf.talk import Proposal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.core.dates import Dated
    from looseleaf.distill.languages.tongues import Form, Tongue
    from looseleaf.values import Kind, TimeSpan

LONGEST = 600
"""Characters of a sentence in which somebody says something about himself. What is longer is something else."""

_MOST_LEADS = 3
_LONGEST_OBJECT = 120
_LONGEST_ITEM = 6
_LIKINGS = frozenset({"Likes", "Dislikes", "Favourite"})
_DATED = frozenset({"Plan", "Goal", "Appointment", "Deadline", "Event"})
_MONTH_CHARS = len("2026-03")
_AFTER_DAY = lazy(
    r"([0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:の週|那周)?)?)(?:の(?!週))?(?=[\u3040-\u9fff])(?!の週|那周)"
)
_ON = lazy(r"\b(?:am|der|den|dem|zum|le|el|au|al)\s+\Z", re.IGNORECASE)
_MONTH = lazy(
    r"[0-9]{1,2}月|\b(?:jan(?:uar|vier)|jänner|enero|fe[bv]\w+|févr\w+|märz|mars|marzo|a[pbv]ril|mai|mayo|jun[io]\w?|juin"
    r"|jul[io]\w?|juillet|august|agosto|août|se[pt]\w+bre|september|setiembre|o[ck]t\w+|noviembre|nov\w+|d[eéi][cz]\w+)\b",
    re.IGNORECASE,
)
_DAY_OR_YEAR = lazy(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_ISO = lazy(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")


# --- a sentence, ready to be read --------------------------------------------------------

_QUOTED = lazy(
    r"„[^“”\"]{12,}[“”\"]|“[^”]{12,}”|\"[^\"]{12,}\"|«[^»]{14,}»|»[^«]{12,}«|「[^」]{6,}」|『[^』]{6,}』|`[^`]*`"
)
_INNER = lazy(
    r"(?<=\w)[.:](?=\w)|(?<=\d),(?=\d)|(?<=\d)\.(?= (?:[JFMASOND](?:an|eb|är|ar|pr|ai|un|ul|ug|ep|kt|ov|ez)|[a-zäöü]))"
)
_INNER_MARK = "\u2024"
_PLAIN = str.maketrans({"’": "'", "\u00a0": " ", "\u202f": " ", "\u3000": " ", "\n": " ", "\t": " "})
_CODE = lazy(r"[{}<>=;$|\\]{2}|=>|\w\(\w*\)|^\s*(?:def|class|import|return|const|let|var|function) |^\W*\w+=")


def prepared(sentence: str) -> str:
    """As long as the sentence, character for character, but dots inside words and dates are no ends, and what is
    quoted at length is blotted out: the speaker does not say it."""
    text = sentence.translate(_PLAIN)
    text = _QUOTED.sub(lambda found: "\x00" * len(found[0]), text)
    return _INNER.sub(_INNER_MARK, text)


def dated(language: Tongue, text: str, ts: float, *, past: bool = False) -> str:
    """With the days that are named relative to the message as dates. A month that is named keeps its name, and gets its
    year."""
    from looseleaf.core.dates import found

    text = _HAN_NUMBER.sub(_digits, text)
    parts: list[str] = []
    end = 0
    for date in found(text, ts, past=past):
        if date.is_relative:
            before = text[end : date.start]
            said = _day(language, date)
            parts += [_ON.sub("", before) if language.on and said.startswith(language.on) else before, said]
            end = date.end
    return "".join((*parts, text[end:])).replace("  ", " ").strip()


_HAN_NUMBER = lazy(r"(?<![一二三四五六七八九十])[一二三四五六七八九十]{1,3}(?=[月日号])")
_HAN_DIGITS = {character: number for number, character in enumerate("一二三四五六七八九", 1)}


def _digits(found: re.Match[str]) -> str:
    """A day or a month that is written in characters, as a number."""
    tens, ten, ones = found[0].rpartition("十")
    return str((_HAN_DIGITS.get(tens, 1) * 10 if ten else 0) + _HAN_DIGITS.get(ones, 0))


def _day(language: Tongue, date: Dated) -> str:
    """As the language writes it."""
    written, on, year = date.written, language.on, date.first[:4]
    if written == date.first or written.startswith("the weekend"):
        return f"{on} {date.first}".strip()
    if written.startswith("the week"):
        return language.week.format(date.first)
    if len(written) == _MONTH_CHARS and (month := _MONTH.search(date.text)):
        return (
            f"{year}年{month[0]}" if month[0].endswith("月") else f"{date.text}{' de' * (on == 'el')} {year}"
        )
    if written[0].isalpha():  # a season, in English
        return date.text if year in date.text or not on else f"{date.text} {year}"
    if written == year:
        return f"en {year}" if on in ("le", "el") else year + "年" * (not on)
    return written


# --- reading -----------------------------------------------------------------------------


def reader(table: str) -> Callable[[str, float], list[Proposal]]:
    """Who reads the sentences of a language by its table, which is made ready at the first one."""

    @cache
    def ready() -> Tongue:
        return tongue(table)

    return lambda sentence, ts: read(ready(), sentence, ts)


def read(language: Tongue, sentence: str, ts: float) -> list[Proposal]:
    """The facts of one sentence, in the order of its words."""
    if len(sentence) > LONGEST:
        return []
    text = prepared(sentence)
    parts = language.parts
    asked = parts["asks"].search(text)
    if asked and not parts["supposes"].search(text):
        text = text[: asked.start()]
    if parts["never"].search(text) or _CODE.search(text):
        return []
    found: list[tuple[int, int, Proposal]] = []
    starts, low = _starts(language, text), text.lower()
    for form in language.forms:
        if form.needles and not any(needle in low for needle in form.needles):
            continue
        pattern = language.pattern(form)
        for match in filter(None, (pattern.match(text, start) for start in starts)):
            if match.groupdict().get("drop") is not None and parts["other"].search(text, 0, match.start()):
                continue
            if parts["after"].match(text, match.end()) is None:
                continue
            before = list(found)
            for start, end, proposal in _facts(language, form, match, sentence, ts):
                if not any(start < other_end and other_start < end for other_start, other_end, _ in before):
                    found.append((start, end, proposal))
    return [proposal for _, _, proposal in sorted(found, key=lambda each: each[0])]


def _starts(language: Tongue, text: str) -> list[int]:
    """Where a clause begins: after what parts it from the one before, and after each of its leads."""
    starts: set[int] = set()
    for match in language.parts["begin"].finditer(text):
        at = match.end()
        starts.add(at)
        for _ in range(_MOST_LEADS):
            lead = language.parts["lead"].match(text, at)
            if lead is None:
                break
            at = lead.end()
            starts.add(at)
    return sorted(starts)


def _said(match: re.Match[str]) -> tuple[int, int]:
    """Where the words of the object stand: two facts may share a verb, but not what is said."""
    spans = [
        match.span(name) for name, said in match.groupdict().items() if said and name not in ("k", "drop")
    ]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _facts(
    language: Tongue, form: Form, match: re.Match[str], sentence: str, ts: float
) -> Iterator[tuple[int, int, Proposal]]:
    """Each with the place of its words."""
    groups = {name: sentence[slice(*match.span(name))] for name, said in match.groupdict().items() if said}
    was = _cut(language, groups.pop("was", "") + groups.pop("w", ""))
    if language.parts["hollow"].fullmatch(was):
        return
    fields = {"o": "", "p": "", "was": was}
    for name, words in groups.items():
        made = _fields(language, form, name, words, ts)
        if made is None:
            return
        fields |= made
    label, shape = form.relation.format(**fields), form.shape
    if label in _SORTS:
        rest = _clause(match)[1]
        if language.parts["negative"].search(rest):
            return
        if purpose := _purpose(rest):
            label, shape = "Decision", f"{{o}}{purpose}"
    elif label == "Decision" and (chosen := _chosen(language, fields["o"])):
        label, shape = chosen[0], "{o}"
        fields["o"] = chosen[1]
    known = BY_LABEL.get(label.casefold())
    kind: Kind = known.kind if known else "identity"
    corrects = "fix" in form.marks or bool(was) or language.parts["corrects"].search(match.string) is not None
    place = _said(match)
    for item in _items(language, fields["o"]) if "many" in form.marks else (fields["o"],):
        said = " ".join(shape.format(**(fields | {"o": item})).split()).strip(" ,:")
        said = _AFTER_DAY.sub(r"\1 ", said)
        if "many" in form.marks:
            start = sentence.find(item, place[0])
            place = (start, start + len(item)) if start >= 0 else place
        if said and len(said) <= _LONGEST_OBJECT and _holds(language, label, said, ts):
            yield (
                *place,
                Proposal(
                    relation=label,
                    object=said,
                    quote=sentence[slice(*match.span())].strip(),
                    topic="project" if "project" in form.marks else "user",
                    kind=kind,
                    time_span=_span(language, kind, match.string, said, ts),
                    valid_from=_begun(form, label, match, ts),
                    salience=0.95 if label == "Rule" else 0.6 if label in _LIKINGS else SALIENCE[kind],
                    correction=corrects and (kind not in ("event", "constraint") or "fix" in form.marks),
                    was=was or None,
                    ended="end" in form.marks,
                ),
            )


_SORTS = frozenset({"Database", "Framework", "Test runner", "Package manager", "Hosting"})
_LASTING = frozenset({"Home", "Employer", "Role", "Education"})
_BREAK = lazy(r"[,;:.!?()，。；：！？（）\x00]")
_SINCE = lazy(r"\b(?:seit|depuis|desde)\b|以来|から|自|起", re.IGNORECASE)
_PURPOSE = lazy(
    r"\s*(?:für|im|in (?:der|dem|unsere[rm])|pour|dans|para|en (?:el|la|nuestr[oa])|als|comme|como|做|作为|当) ?"
    r"(?:(?:den|die|das|unser\w*|le|la|les|nos|notre|el|los|las|nuestr\w+|une?|einen?|un[ao]?) |l')?"
    r"(?P<n>\S.{0,40})",
    re.IGNORECASE,
)
_WHOLE_WORK = lazy(
    r"(?:(?:haupt)?datenbank|base de (?:données|datos)|数据库|框架|包管理|测试|(?:test)?framework|tests?\b"
    r"|pruebas|projekt"
    r"|(?:ce |cet )?projet|(?:este )?proyecto|(?:diese[smn]? )?(?:projekt|repo)"
    r"|alles|tout|todo|jetzt|moment|ahora|team"
    r"|équipe|equipo|paket|paquets|paquetes|dépendances|dependencias|abhängigkeiten|gest|test|daten\b|(?:19|20)[0-9]{2})",
    re.IGNORECASE,
)
"""All of the work, or what such a tool is for anyway."""


def _clause(match: re.Match[str]) -> tuple[str, str]:
    """(the clause that a form stands in, what of it stands after the object)."""
    text = match.string
    end = found.start() if (found := _BREAK.search(text, match.end("o"))) else len(text)
    begin = max((each.end() for each in _BREAK.finditer(text, 0, match.start())), default=0)
    return text[begin:end], text[match.end("o") : end]


def _purpose(rest: str) -> str:
    """The part of the work that a tool is chosen for: a choice for one part says nothing of the others."""
    found = _PURPOSE.fullmatch(rest.rstrip())
    return "" if found is None or _WHOLE_WORK.match(found["n"]) else found[0].replace(_INNER_MARK, ".")


def _begun(form: Form, label: str, match: re.Match[str], ts: float) -> str | None:
    """The first day of when something began that goes on, where the words name it."""
    from looseleaf.core.dates import found

    clause = _clause(match)[0] if label in _LASTING and "end" not in form.marks else ""
    if not clause or not ("fix" in form.marks or _SINCE.search(clause)):
        return None
    days = [each.first for each in found(clause, ts, past=True)]
    return days[0] if days and days[0] <= _today(ts) else None


def _fields(language: Tongue, form: Form, name: str, words: str, ts: float) -> dict[str, str] | None:
    """What a group gives to the object; None if its words are none that a fact is made of."""
    if name in ("l", "c"):
        return {name: language.languages[words.lower()], name.upper(): words}
    if name == "v":  # what is in no table is the first person of a German verb
        return {"v": language.verbs.get(words.lower(), _infinitive(words.lower()))}
    if name == "k":
        english, relation = language.kin[words.lower()]
        return {"k": words, "K": english, "R": relation}
    words = _cut(language, words)
    parts = language.parts
    if not words or (name == "o" and parts["hollow"].fullmatch(words)):
        return None
    if not form.marks & {"not", "many"} and parts["negative"].search(words):
        return None
    if name == "d":
        day = dated(language, words, ts)
        iso = _ISO.search(day)
        return {"d": iso[0] if iso and form.relation == "Deadline" else day}
    if form.relation in _DATED:
        return {name: dated(language, words, ts, past=form.relation == "Event")}
    return {name: words}


_KNOWN = {
    "Database": "database",
    "Framework": "framework",
    "Test runner": "runner",
    "Package manager": "packer",
}


@cache
def _products() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((label, lazy(SLOTS[slot], re.IGNORECASE)) for label, slot in _KNOWN.items())


def _chosen(language: Tongue, words: str) -> tuple[str, str] | None:
    """A decision for a thing of a known sort says what is used: (relation, thing)."""
    found = language.parts["choice"].fullmatch(words)
    thing = found["o"].strip() if found else ""
    if found and _purpose(words[found.end("o") :]):
        return None
    dotless = thing.replace(".", _INNER_MARK)
    return next(((label, thing) for label, sort in _products() if sort.fullmatch(dotless)), None)


def _infinitive(verb: str) -> str:
    return f"{verb[:-1]}n" if verb.endswith("ere") else f"{verb}n"


_EDGES = "*_ ,、-"
_PAIRS = ("„“", "“”", "«»", "‹›", "「」", "『』", '""', "''")


def _cut(language: Tongue, words: str) -> str:
    """Without what hangs on it: politeness, fillers, marks, quotation marks around the whole or half of them."""
    words = " ".join(words.split()).strip(_EDGES)
    while cut := language.parts["tail"].search(words):
        words = words[: cut.start()].rstrip(_EDGES)
    for pair in _PAIRS:
        opener, closer = pair[0], pair[1]
        if words.startswith(opener) and words.find(closer, 1) in (-1, len(words) - 1):
            words = words[1:].removesuffix(closer).strip(_EDGES)
        elif words.endswith(closer) and opener not in words[:-1]:
            words = words[:-1].rstrip(_EDGES)
    return words


def _items(language: Tongue, words: str) -> Iterator[str]:
    """The items of a list, up to the first that is something else."""
    parts = language.parts
    for item in parts["joins"].split(words):
        item = _cut(language, item)
        if any((parts["stops"].match(item), parts["hollow"].fullmatch(item), parts["negative"].search(item))):
            return
        if len(item.split()) > _LONGEST_ITEM:
            return
        if item:
            yield item


def _span(language: Tongue, kind: Kind, text: str, said: str, ts: float) -> TimeSpan:
    parts = language.parts
    if kind == "commitment":
        return "future"
    if kind == "event":
        if parts["recent"].search(text):
            return "short_term"
        year = re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", said)
        return "medium_term" if year is None or year[0] == _today(ts)[:4] else "long_term"
    if kind == "constraint":
        return "short_term" if parts["once"].search(text) else "long_term"
    return "current" if kind != "decision" and parts["current"].search(text) else "long_term"


def _holds(language: Tongue, label: str, said: str, ts: float) -> bool:
    """What is to come has no date that is past, and what has been none that is to come; a rule stands."""
    if label == "Rule":
        return language.parts["here"].search(said) is None
    if label not in _DATED:
        return True
    today = _today(ts)
    dates = [date for date in _DAY_OR_YEAR.findall(said) if not today.startswith(date)]
    return all(date < today if label == "Event" else date > today for date in dates)


def _today(ts: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(ts, UTC).date().isoformat()
