"""What was done in the material, and what was learnt: the one piece of work that was asked for, worked on and finished.

Nothing here is made up: each line is a sentence of somebody's, or its beginning.
"""

from __future__ import annotations

import re

from looseleaf.language.endings import content, is_done, is_fault, is_lesson, is_request, is_sure_lesson
from looseleaf.text.identifiers import clipped
from looseleaf.text.patterns import lazy

TITLE_WORDS = 8
SUMMARY_WORDS = 9
"""A summary has fewer than ten words, as the format says."""
TITLE_CHARS = 80
_LEAST_WORDS = 2
"""Words of its own that a request must have to be an episode: "then fix it" is none."""

_POLITE = lazy(
    r"\A\W*(?:(?:hi|hello|hey|ok|okay|so|now|then|please|kindly|can you|could you|would you|will you|i'd like you to|"
    r"i need you to|i want you to|let's|help me(?: to)?)\b[\s,!:]*)+",
    re.IGNORECASE,
)


class Work:
    """One request, what it took, and how it ended."""

    def __init__(self, request: str) -> None:
        self.request = request
        self.fault = ""
        self.calls = 0
        self.answers = 0
        self.solution = ""
        self.lesson = ""

    @property
    def is_finished(self) -> bool:
        return bool(self.solution) and (self.calls > 0 or self.answers > 1)


class Episodes:
    """Follows the talk, message by message; holds the work under way and the longest that was finished."""

    def __init__(self) -> None:
        self._now: Work | None = None
        self._best: Work | None = None

    def asked(self, sentences: list[str]) -> None:
        """A user's message. A request begins new work; a fault that is told with it is the problem."""
        request = next(
            (each for each in sentences if is_request(each) and len(content(each)) >= _LEAST_WORDS), ""
        )
        if request:
            self._settle()
            self._now = Work(request)
            self._now.fault = next((each for each in sentences if is_fault(each)), "")
        self._learn(sentences)

    def called(self) -> None:
        if self._now is not None:
            self._now.calls += 1

    def answered(self, sentences: list[str]) -> None:
        if self._now is None or not sentences:
            return
        self._now.answers += 1
        done = [each for each in sentences if is_done(each)]
        if done:
            about = content(self._now.request)
            best = max(done, key=lambda each: len(about & content(each)))
            if self._now.calls or about & content(best):
                self._now.solution = best
        self._learn(sentences)

    def _learn(self, sentences: list[str]) -> None:
        work = self._now
        if work is None:
            return
        for each in sentences:
            # What is only a reason gives way to what is called a lesson or a cause.
            if each != work.request and is_lesson(each) and (is_sure_lesson(each) or not work.lesson):
                work.lesson = each

    def _settle(self) -> None:
        work = self._now
        if work is not None and work.is_finished and (self._best is None or work.calls >= self._best.calls):
            self._best = work
        self._now = None

    def told(self) -> dict[str, str] | None:
        """The episode, or nothing, where nothing was finished."""
        self._settle()
        work = self._best
        if work is None:
            return None
        title = first_words(_POLITE.sub("", work.request) or work.request, TITLE_WORDS)
        told = {
            "title": clipped(title[:1].upper() + title[1:], TITLE_CHARS, "…"),
            "summary": first_words(work.solution, SUMMARY_WORDS),
        }
        told |= {"problem": work.fault} if work.fault else {"task": work.request}
        told["solution"] = work.solution
        if work.lesson:
            told["lesson"] = work.lesson
        return told


def first_words(text: str, most: int) -> str:
    """The beginning of a sentence; where there are no spaces, twice as many characters."""
    words = text.split()
    if len(words) > most:
        return " ".join(words[:most]).rstrip(",;:.") + "…"
    return clipped(" ".join(words).rstrip(".?!"), 10 * most, "…")
