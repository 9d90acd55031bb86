"""Tables of forms, one for each language, made into patterns.

A table is text, so that a language reads as what it is: words and how they stand together. Every repetition in a
pattern is bounded, so that reading a sentence of bounded length takes bounded time.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy, one_of
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_BREAKS = r",;:.!?()…\x00，。；：！？（）\n"
SLOTS = {
    "end": rf"(?=\s*(?:[{_BREAKS}]|\Z|\s[-–—])|\s+(?:<and>)\b)",
    "thing": rf"(?P<o>[^{_BREAKS}]{{1,90}}?)<end>",
    "part": rf"(?P<p>[^{_BREAKS}]{{1,60}}?)",
    "any": rf"[^{_BREAKS}]",
    "list": r"(?P<o>[^;:.!?()…\x00。；：！？（）\n]{1,120}?)(?=\s*(?:[;:.!?()…\x00。；：！？（）\n]|\Z|\s[-–—])"
    r"|,?\s+(?:<but>)\b)",
    "Word": r"(?-i:[A-ZÀ-ÖØ-Þ\u0391-\u03a9\u0410-\u042f\u3040-\u30ff\u4e00-\u9fff][\w'’&+#/-]*+)",
    "Words": r"<Word>(?:(?: (?:<particle>))?[ -]<Word>){0,3}",
    "Name": r"(?P<o><Words>)",
    "name": r"(?P<o><Words>|(?!(?:<noname>)\b)\w[\w'’-]++)<end>",
    "Was": r"(?P<was><Words>)",
    "Not": r"(?P<w><Words>)",
    "mail": r"[\w+-]+(?:\u2024[\w+-]+){0,4}@[\w-]+(?:\u2024[\w-]+){1,4}",
    "database": r"(?:postgres(?:ql)?|mysql|mariadb|sqlite|mongodb|redis|oracle|duckdb|clickhouse"
    r"|cockroachdb|cassandra|dynamodb|firestore|supabase|neo4j|couchdb|influxdb|timescaledb)(?: [0-9\u2024]+)?",
    "framework": r"(?:django|flask|fastapi|react|vue|angular|svelte|spring boot|rails|next\u2024js|laravel|express"
    r"|nuxt|remix|astro|symfony|flutter|nest\u2024?js|spring|htmx|hugo|gatsby|solid\u2024?js|phoenix)"
    r"(?: [0-9\u2024]+)?",
    "runner": r"(?:pytest|unittest|jest|vitest|mocha|junit|playwright|rspec|cypress|phpunit|karma)",
    "packer": r"(?:npm|pnpm|yarn|poetry|pip|uv|cargo|maven|gradle|bun|composer|conda|pipenv|pdm|hatch)",
    "program": r"(?:python|rust|golang|go|java|kotlin|typescript|javascript|c\+\+|c#|ruby|swift|php)(?: [0-9\u2024]+)?",
    "on": "",
    "after": "",
    "choice": "(?P<o>.+)",
    "asks": "(?!)",
    "supposes": "(?!)",
    "here": "(?!)",
    "age": r"(?P<o>[1-9][0-9]{0,2})(?![0-9])",
}
"""What stands for a part of a pattern in `<angle brackets>`; a language adds its own."""

COMMON = r"""
@ Database +project :: <weuse>(?P<o><database>)<used>
@ Framework +project :: <weuse>(?P<o><framework>)<used>
- <written>(?P<o><framework>)<used>
@ Test runner +project :: <weuse>(?P<o><runner>)<used>
@ Package manager +project :: <weuse>(?P<o><packer>)<used>
@ Programming language +project :: <written>(?P<o><program>)<used>
@ Hosting +project :: <wehost>(?P<o>(?-i:[A-Z])[A-Za-z0-9\u2024+-]*+(?: (?-i:[A-Z])[A-Za-z0-9\u2024-]*+){0,2})<used>
@ Licence +project :: <licence>(?P<o>MIT|Apache[ -]?(?:2(?:\u20240)?)?|[AL]?GPL(?:-?v?[23](?:\u20240)?)?
  |BSD(?:-[23]-Clause)?|MPL(?:-?2(?:\u20240)?)?)
@ Port +project :: <port>(?P<o>[0-9]{2,5})(?![0-9])
@ Branch +project :: <branch>(?P<o>[A-Za-z][A-Za-z0-9_/-]{1,30})
@ Version +project :: <version>(?P<o>v?[0-9]+(?:\u2024[0-9]+){1,3})
@ Repository +project :: <repository>(?P<o>[A-Za-z][A-Za-z0-9_:/\u2024.@-]{5,80}?)(?=[\s,;。，]|\.?\Z)
"""
"""The forms of a project, which are the same in every language but for the words around them."""


@frozen
class Form:
    """One way to say a relation. The groups of its pattern: `o` and `p` the parts of the object, `was` or `w` what it
    was before, `d` a date, `k` a relative or an animal, `v` a verb, `l` and `c` names of languages, `drop` an empty one
    where the subject was left out. `shape` makes the object of them; `{K}` is the English word for `k`, `{R}` the
    relation of such a one, and `{L}` the word itself of `l`. A sentence without any of `needles` has not the form."""

    relation: str
    shape: str
    marks: frozenset[str]
    words: str
    needles: frozenset[str]


@frozen
class Tongue:
    """One language, ready for use. `parts` are the patterns that every language has (see `PARTS`). To compile all
    forms takes half a second, so each is compiled when a sentence first has one of its needles."""

    parts: Mapping[str, re.Pattern[str]]
    forms: tuple[Form, ...]
    on: str
    week: str
    kin: Mapping[str, tuple[str, str]]
    languages: Mapping[str, str]
    verbs: Mapping[str, str]
    slots: Mapping[str, str]
    compiled: dict[str, re.Pattern[str]]

    def pattern(self, form: Form) -> re.Pattern[str]:
        if form.words not in self.compiled:
            self.compiled[form.words] = lazy(_filled(form.words, self.slots), re.IGNORECASE)
        return self.compiled[form.words]


PARTS = tuple(
    (
        "never begin lead hollow negative tail joins stops corrects current recent once other after choice "
        "asks supposes here"
    ).split()
)
"""`never`: the sentence says no fact. `begin` ends where a clause begins, and after it may stand a `lead` (hello, by
the way). `hollow`: an object that says nothing (it, that, you). `negative`: words that turn a form round, unless it is
marked `+not`. `tail`: what may hang after an object. `joins` part the items of a list, and `stops` begins one that is
none. `corrects`: what was believed before is wrong. `current`, `recent`, `once`: for now, days ago, for this task.
`other`: what stands before a clause without a subject is about somebody else. `after`: what may follow a form, where a
clause that says more of a noun looks like one that states. `choice`: a thing (`o`) among the words of a decision.
`asks`: a last clause that asks something else; what stands before it is said all the same, unless it `supposes`.
`here`: the one thing at hand; what is told of it is no standing rule."""

_NOT_FAMILY = frozenset({"Pet", "Friend", "Colleague", "Manager"})
"""Of these a name is worth knowing, but not where they live and what they do."""

_MARKS = lazy(r" \+(\w+)")
_SLOT = lazy(r"(?<!\(\?P)<([A-Za-z]+)>")


def tongue(table: str) -> Tongue:
    """The language that a table describes. Its lines:

    `name = pattern` a slot or one of `PARTS`; `@ Relation = shape +mark :: pattern` a form, and `- pattern` more of the
    same; `word > English` a language's name, `word > English > Relation` a relative or an animal,
    `word > infinitive > verb` a verb, several of them parted by `; `; an indented line goes on with the one above it;
    `#` a remark.
    """
    slots = dict(SLOTS)
    heads: list[tuple[str, str]] = []
    kin: dict[str, tuple[str, str]] = {}
    languages: dict[str, str] = {}
    verbs: dict[str, str] = {}
    head = ""
    for line in _whole_lines(table + COMMON):
        if line.startswith("@ "):
            head, _, pattern = line[2:].partition(" :: ")
            heads.append((head, pattern))
        elif line.startswith("- "):
            heads.append((head, line[2:]))
        elif " = " in line:
            name, _, pattern = line.partition(" = ")
            slots[name] = pattern
        else:
            for entry in line.split("; "):
                words, meaning, *relation = entry.split(" > ")
                for word in words.split():
                    if relation == ["verb"]:
                        verbs[word] = meaning
                    elif relation:
                        kin[word] = (meaning, relation[0])
                    else:
                        languages[word] = meaning
    slots |= {
        "kin": _either(word for word, (_, relation) in kin.items() if relation != "Pet"),
        "family": _either(word for word, (_, relation) in kin.items() if relation not in _NOT_FAMILY),
        "pet": _either(word for word, (_, relation) in kin.items() if relation == "Pet"),
        "lang": _either(languages),
        "verb": _either(verbs),
    }
    needles = _Needles(slots)
    return Tongue(
        parts={name: lazy(_filled(slots[name], slots), re.IGNORECASE) for name in PARTS},
        forms=tuple(_form(head, words, needles) for head, words in heads),
        on=slots["on"],
        week=slots["week"],
        kin=kin,
        languages=languages,
        verbs=verbs,
        slots=slots,
        compiled={},
    )


def _whole_lines(table: str) -> Iterator[str]:
    held = ""
    for line in table.splitlines():
        if line.startswith(" "):
            held += line.lstrip(" ")
        elif line and not line.startswith("#"):
            if held:
                yield held
            held = line
    if held:
        yield held


def _either(words: Iterable[str]) -> str:
    """The longest first, so that none is cut short."""
    return one_of(map(re.escape, words)) or "(?!)"


def _form(head: str, words: str, needles: _Needles) -> Form:
    relation, _, shape = _MARKS.sub("", head).partition(" = ")
    return Form(relation, shape or "{o}", frozenset(_MARKS.findall(head)), words, needles.of(words))


def _filled(words: str, slots: Mapping[str, str]) -> str:
    while _SLOT.search(words):
        words = _SLOT.sub(lambda found: f"(?:{slots[found[1]]})", words)
    return words


# --- needles -----------------------------------------------------------------------------

_TOKEN = lazy(
    r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\(\?P<\w+>|\(\?(?:-?\w*:|<?[=!])|<[A-Za-z]+>|[()|]|[^\\]", re.DOTALL
)
_REPEAT = lazy(r"(?:[?*+]|\{[0-9,]+\})[?+]?")
_LETTER = lazy(r"[^\W_0-9]|[ '-]")


class _Needles:
    """Letters of which every text that has a pattern has some: the longest that can be told. Slots are read once."""

    def __init__(self, slots: Mapping[str, str]) -> None:
        self._slots = slots
        self._known: dict[str, frozenset[str]] = {}
        self._tokens: list[str] = []
        self._at = 0

    def of(self, words: str) -> frozenset[str]:
        outer = self._tokens, self._at
        self._tokens, self._at = _TOKEN.findall(words), 0
        found = frozenset(self._either())
        self._tokens, self._at = outer
        return found

    def _slot(self, name: str) -> frozenset[str]:
        if name not in self._known:
            self._known[name] = self.of(self._slots[name])
        return self._known[name]

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ")"

    def _either(self) -> set[str]:
        """Of alternatives, to the end of the group: those of each, or none if one has none."""
        branches = [self._row()]
        while self._next() == "|":
            self._at += 1
            branches.append(self._row())
        self._at += 1
        return set().union(*branches) if all(branches) else set()

    def _row(self) -> set[str]:
        best: set[str] = set()
        run = ""
        while self._next() not in "|)":
            token = self._next()
            self._at += 1
            if _LETTER.fullmatch(token) and self._next() not in "?*+{":
                run += token.lower()
                continue
            best = _better(best, {run})
            run = ""
            inner = self._either() if token[0] == "(" else self._slot(token[1:-1]) if token[0] == "<" else ()
            if not self._is_optional() and token[-1] not in "=!":
                best = _better(best, set(inner))
        return _better(best, {run})

    def _is_optional(self) -> bool:
        """Whether what was just read may be missing; goes past what says so."""
        said = _REPEAT.match("".join(self._tokens[self._at : self._at + 8]))
        if said is None:
            return False
        self._at += len(said[0])
        return said[0][0] in "?*" or said[0].startswith(("{0", "{,"))


def _better(one: set[str], other: set[str]) -> set[str]:
    return max(one, other, key=lambda each: min(map(len, each), default=0)) if all(other) else one
