"""Recall tests that people write for their own memory in `recall.tests.toml`: what recall must find and must not.

    [[test]]
    question = "Which language for code?"
    contains = ["English"]        # each in some hit; a nested list: any of these
    not_contains = ["Java"]       # in no hit
    abstains = false              # true: recall must find nothing
    as_of = "2026-03-01"          # also now, k, budget, topic, kind, agent, as for recall

A file that is not understood is refused whole, with the place: a test that is silently skipped is worse than none.
Letters are compared without regard to case, and any blanks are one.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import Invalid, NotFound, Refused, Unreadable
from looseleaf.base.immutable import frozen
from looseleaf.base.values import FOUND
from looseleaf.recall.question import LONGEST, question_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, NoReturn, Protocol

    from looseleaf.recall.hits import Hit
    from looseleaf.recall.recall import Recall
    from looseleaf.store.context import Context

    class Needs(Protocol):
        context: Context

        @property
        def recall(self) -> Recall: ...


NAME = "recall.tests.toml"
"""Its name, at the top of a memory."""

_KEYS = "question contains not_contains abstains as_of now k budget topic kind agent".split()
_ASKED = ("k", "budget", "topic", "kinds", "agent", "as_of", "now")
_SHOWN = 3
"""Hits that a failure shows, best first."""
_LINE = 100
"""Most characters of each."""


@frozen
class Expectation:
    """One test. Each of `contains` is a choice: one of its words must be in some hit."""

    question: str
    contains: tuple[tuple[str, ...], ...] = ()
    not_contains: tuple[str, ...] = ()
    abstains: bool | None = None
    as_of: str | None = None
    now: str | None = None
    k: int | None = None
    budget: int | None = None
    topic: str | None = None
    kinds: tuple[str, ...] | None = None
    agent: str | None = None
    where: str = ""


@frozen
class TestResult:
    """The result of a test: what is missing, what is unwanted and where, and the best hits in short."""

    expectation: Expectation
    missing: tuple[tuple[str, ...], ...] = ()
    unwanted: tuple[tuple[str, str], ...] = ()
    found: tuple[tuple[str, float, str], ...] = ()
    hits: int = 0
    why: str = ""
    """Why there are no hits."""

    @property
    def passed(self) -> bool:
        return not self.missing and not self.unwanted and self.silence_kept

    @property
    def silence_kept(self) -> bool:
        """True if recall found something exactly if the test says it should."""
        return self.expectation.abstains is None or self.expectation.abstains == (not self.hits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.expectation.question,
            "where": self.expectation.where,
            "passed": self.passed,
            "abstains": self.expectation.abstains,
            "missing": [list(choice) for choice in self.missing],
            "unwanted": [{"text": text, "where": where} for text, where in self.unwanted],
            "found": [{"where": where, "score": score, "text": text} for where, score, text in self.found],
            "hits": self.hits,
            "why": self.why,
        }


def load(text: str, where: str) -> list[Expectation]:
    """Read the tests of a file; `where` names it in errors."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Invalid(f"No test was run: {where} is not TOML ({error}). Fix it, and try again.") from None
    for key in data:
        if key != "test":
            _refuse(where, f"`{key}` is not known there", "Begin each test with a line [[test]].")
    tests = data.get("test", [])
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        _refuse(
            where, "`test` is not a list of tests", "Begin each test with a line [[test]], in two brackets."
        )
    if not tests:
        then = "Write one: [[test]], then a question and what its hits must contain."
        _refuse(where, "it holds no test", then)
    places = _find_places(text, where, len(tests))
    return [_read_expectation(test, place) for test, place in zip(tests, places, strict=True)]


def _find_places(text: str, where: str, count: int) -> list[str]:
    lines = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if re.match(r"\s*\[\[\s*[\"']?test[\"']?\s*\]\]", line)
    ]
    if len(lines) == count:
        return [f"{where}:{line}" for line in lines]
    return [f"{where}, test {number}" for number in range(1, count + 1)]


def _refuse(where: str, what: str, then: str) -> NoReturn:
    raise Invalid(f"No test was run: {where}: {what}. {then}")


def _read_expectation(test: dict[str, Any], where: str) -> Expectation:
    for key in test:
        if key not in _KEYS:
            _refuse(where, f"`{key}` is not known", f"A test may say: {', '.join(_KEYS)}.")
    question = test.get("question")
    if not isinstance(question, str) or not question.strip():
        _refuse(where, "there is no question", 'Give one: question = "Which language for code?"')
    if len(question) > LONGEST:
        _refuse(where, f"the question has {len(question):,} characters", f"At most {LONGEST:,} are read.")
    abstains = test.get("abstains")
    if abstains is not None and not isinstance(abstains, bool):
        _refuse(where, "`abstains` is neither true nor false", "Write it without quotes.")
    contains = tuple(_read_choices(test.get("contains", []), where))
    if abstains and contains:
        what = "nothing may be found (`abstains`), and something must be (`contains`)"
        _refuse(where, what, "Leave one of them out.")
    unwanted = tuple(_read_texts(test.get("not_contains", []), "not_contains", where))
    if not contains and not unwanted and abstains is None:
        _refuse(where, "it expects nothing", "Give `contains`, `not_contains` or `abstains`.")
    kinds = tuple(_read_texts(test["kind"], "kind", where)) if "kind" in test else None
    for kind in kinds or ():
        if kind not in FOUND:
            _refuse(where, f"there is no kind {kind!r}", f"Kinds are: {', '.join(FOUND)}.")
    return Expectation(
        question=question,
        contains=contains,
        not_contains=unwanted,
        abstains=abstains,
        as_of=_read_time(test, "as_of", where),
        now=_read_time(test, "now", where),
        k=_read_number(test, "k", where),
        budget=_read_number(test, "budget", where),
        topic=_read_name(test, "topic", where),
        kinds=kinds,
        agent=_read_name(test, "agent", where),
        where=where,
    )


def _read_choices(value: object, where: str) -> Iterator[tuple[str, ...]]:
    for each in value if isinstance(value, list) else [value]:
        choice = tuple(_read_texts(each, "contains", where))
        if not choice:
            _refuse(where, "`contains` has an empty choice", "Put a text into it, or leave it out.")
        yield choice


def _read_texts(value: object, key: str, where: str) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, str) or not each.strip():
            _refuse(where, f"`{key}` must hold only texts", f'Write texts in quotes: {key} = ["…"].')
        yield each


def _read_time(test: dict[str, Any], key: str, where: str) -> str | None:
    value = test.get(key)
    if value is None:
        return None
    from looseleaf.text.times import parse_when

    # TOML has its own dates; both spellings count the same.
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    try:
        parse_when(text)
    except Refused:
        _refuse(where, f"`{key}` is not a date: {text!r}", "Write 2026-02-24, or 2026-02-24T15:30.")
    return text


def _read_number(test: dict[str, Any], key: str, where: str) -> int | None:
    value = test.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        _refuse(
            where, f"`{key}` is not a whole number of at least 1", f"Write one without quotes: {key} = 10."
        )
    return value


def _read_name(test: dict[str, Any], key: str, where: str) -> str | None:
    value = test.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        _refuse(where, f"`{key}` is not a name", f'Write it in quotes: {key} = "…".')
    return value


def judge(expectation: Expectation, hits: Sequence[Hit]) -> TestResult:
    """Check whether the hits are what the test expects. An outdated text is no answer; but with `as_of`, a fact that
    was found was true then."""
    was_true = expectation.as_of is not None
    texts = [
        (_normalize(hit.text), _place_of(hit))
        for hit in hits
        if not hit.is_over or (was_true and hit.kind == "fact")
    ]

    def places_of(word: str) -> list[str]:
        return [where for text, where in texts if _normalize(word) in text]

    missing = tuple(choice for choice in expectation.contains if not any(map(places_of, choice)))
    unwanted = tuple((word, where) for word in expectation.not_contains for where in places_of(word))
    found = tuple((_place_of(hit), hit.score, _first_line(hit.text)) for hit in hits[:_SHOWN])
    return TestResult(expectation, missing, unwanted, found, len(hits), getattr(hits, "why", ""))


def _normalize(text: str) -> str:
    from unicodedata import normalize

    return " ".join(normalize("NFC", text).casefold().split())


def _place_of(hit: Hit) -> str:
    return hit.where or hit.path


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _LINE else f"{line[: _LINE - 1].rstrip()}…"


def run(parts: Needs, path: str | None = None) -> list[TestResult]:
    """Run the tests of a file, or of the memory's `recall.tests.toml`."""
    where = path if path is not None else NAME
    data = _read_tests(path) if path is not None else _read_own_tests(parts)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid(f"No test was run: {where} is not UTF-8. Save it as that and try again.") from None
    found = []
    for test in load(text, where):
        given: dict[str, Any] = {name: getattr(test, name) for name in _ASKED}
        found.append(judge(test, parts.recall(question_of(test.question, **given))))
    return found


def _read_own_tests(parts: Needs) -> bytes:
    # Read like a page: no link out of the folder, no pipe that never answers.
    document = parts.context.store.get(NAME, parts.context.policy.page_bytes)
    if document is None:
        raise NotFound(
            f"No test was run: there is no {NAME} in {parts.context.name}. Write one, or name a file: "
            "looseleaf test FILE."
        )
    return document.data


def _read_tests(path: str) -> bytes:
    import os

    try:
        if not os.path.isfile(path):
            raise NotFound(f"No test was run: {path} is not a file. Name one that holds tests.")
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        said = f"No test was run: {path} could not be read ({why})."
        raise Unreadable(f"{said} Name one that you may read.") from error


def report(outcomes: Iterable[TestResult]) -> str:
    """Return a line per test, with what a failed one expected and found, and a count."""
    every = list(outcomes)
    failed = sum(not outcome.passed for outcome in every)
    lines = [line for outcome in every for line in _format_result(outcome)]
    tests = f"{len(every)} test{'' if len(every) == 1 else 's'}"
    lines.append(f"{tests}: {len(every) - failed} passed, {failed} failed.")
    return "\n".join(lines)


def _format_result(outcome: TestResult) -> Iterator[str]:
    test = outcome.expectation
    question = " ".join(test.question.split())
    if outcome.passed:
        yield f"ok    {question}"
        return
    yield f"FAIL  {question}  ({test.where})" if test.where else f"FAIL  {question}"
    for choice in test.contains:
        mark, end = ("-", "  is missing") if choice in outcome.missing else (" ", "")
        yield f"    {mark} {' or '.join(map(_quote, choice))}{end}"
    for text, where in outcome.unwanted:
        yield f"    + {_quote(text)}  should not be there: {where}"
    if not outcome.silence_kept:
        yield "    + nothing should be found" if test.abstains else "    - something should be found"
    yield f"      found {outcome.hits}:" if outcome.hits else f"      found nothing. {outcome.why}".rstrip()
    for where, score, text in outcome.found:
        yield f"        {score:.2f}  {where}  {text}"
    if outcome.hits > len(outcome.found):
        yield f"        … and {outcome.hits - len(outcome.found)} more"


def _quote(text: str) -> str:
    return f'"{" ".join(text.split())}"'
