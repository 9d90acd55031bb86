"""Obey: what the user says to forget leaves pages, days, episodes and the state at once, and is offered for forgetting.

The words stay in the log, which nothing but `forget` rewrites: a note says how. Doing it again changes nothing.
"""

from __future__ import annotations

from functools import partial

from looseleaf.conversation.turns import traces_back
from looseleaf.core.diff import split_lines
from looseleaf.core.grammar import replace_fact
from looseleaf.core.heads import OBEYED, PERSON
from looseleaf.core.lazy import lazy
from looseleaf.core.ledger import fact_id
from looseleaf.core.lines import NOTE, as_written, worded
from looseleaf.core.names import USER
from looseleaf.core.replacing import without
from looseleaf.core.state import Change, items_of, title_of
from looseleaf.distill.forbidding import bears_on, forbidden_by, telling
from looseleaf.errors import Busy, Refused, Unwritten
from looseleaf.page import Rewritten
from looseleaf.place.place import known, line_on
from looseleaf.store.clock import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from looseleaf.core.state import State as Values
    from looseleaf.distill.forbidding import Forbidden
    from looseleaf.pages import Pages
    from looseleaf.place.place import Place
    from looseleaf.place.state import State
    from looseleaf.store.protocol import Store
    from looseleaf.talk import Trace
    from looseleaf.values import Fact

_MADE = lazy(r" \([^()]*entry \w+\)\s*\Z")
"""What the program itself adds at the end of a day's line: nobody asked to forget that."""

_LOOKED_BACK = 50
"""Traces before a prohibition among which the message before it is looked for."""


class Obey:
    """`note` is told what was done, and how the log forgets as well."""

    def __init__(
        self,
        store: Store,
        pages: Pages,
        place: Place,
        state: Callable[[], State],
        stream: str,
        note: Callable[[str], None],
    ) -> None:
        self._store, self._pages, self._place, self._state = store, pages, place, state
        self._stream, self._note = stream, note

    def __call__(self, trace: Trace) -> int:
        """How many lines left their pages by what a message forbids."""
        found = forbidden_by(trace)
        if found is None or not found.is_sure:
            return 0  # in doubt nothing is learnt from it, and nothing goes
        before = self._before(trace) if found.before else None
        with self._pages.absorb.threads, self._store.lock():
            self._place.catch_up()
            held = self._place.facts.all()
            gone = [fact for fact in held if self._is_meant(fact, trace, before, found)]
            if (
                not gone
                and before is None
                and found.is_certain
                and found.over
                and not self._is_known(trace, found)
            ):
                # Nothing that is held has its words ("wipe that number"): what was said last is meant.
                before = self._before(trace)
                said = [fact for fact in held if fact.level != "confirmed"]
                gone = [fact for fact in said if self._is_meant(fact, trace, before, found)]
            meant = [each for each in (trace, before) if each is not None]
            done = sum(
                self._try(partial(self._take, fact, found, [each.id for each in meant])) for fact in gone
            )
            texts = [each.content for each in meant]
            for path in self._diaries():
                done += self._try(partial(self._clean_page, path, found, texts))
            self._try(partial(self._clean_state, found, texts))
        if done:
            self._note(
                f"{done} line{'s' * (done != 1)} removed from the pages, as the user asked. "
                "The log still has the words; `looseleaf forget --match WORD` removes them for good."
            )
        return done

    def _before(self, trace: Trace) -> Trace | None:
        """The message of the user's before this one."""
        for number, each in enumerate(traces_back(self._store, self._stream)):
            if number > _LOOKED_BACK:
                break
            if each.trace_type == "user" and each.id < trace.id and each.session_id == trace.session_id:
                return each
        return None

    def _is_known(self, trace: Trace, found: Forbidden) -> bool:
        """Whether what is named was said lately, whatever became of it: then only that is meant, even on a second
        run."""
        for number, each in enumerate(traces_back(self._store, self._stream)):
            if number > _LOOKED_BACK:
                break
            if each.trace_type == "user" and each.id < trace.id:
                said = telling(each.content)
                if any(one <= said for one in found.over):
                    return True
        return False

    @staticmethod
    def _is_named(fact: Fact, found: Forbidden) -> bool:
        """What a person confirmed goes only if all that is named stands in it."""
        line = f"{worded(fact.relation, fact.object)} {fact.quote or ''}"
        if fact.level == "confirmed":
            return any(each <= telling(line) for each in found.over)
        return any(bears_on(line, each) for each in found.over)

    def _is_meant(self, fact: Fact, trace: Trace, before: Trace | None, found: Forbidden) -> bool:
        if fact.status != "current" or fact.path is None:
            return False
        if trace.id in fact.sources or (before is not None and before.id in fact.sources):
            return True
        if fact.sources and fact.level != "confirmed" and min(fact.sources) > trace.id:
            return False  # it was said after that
        return (found.is_all and fact.topic == USER) or self._is_named(fact, found)

    @staticmethod
    def _said_there(fact: Fact, sources: Collection[str]) -> bool:
        return any(source in sources for source in fact.sources)

    def _take(self, fact: Fact, found: Forbidden, sources: Collection[str]) -> int:
        """Take a line away; of one that only shares words with what is to be forgotten, the clause that does."""
        rest = ""
        if fact.relation == NOTE and not self._said_there(fact, sources):
            rest = without(fact.object, lambda clause: any(bears_on(clause, each) for each in found.over))
        if not rest:
            self._place.remove(fact, OBEYED)
            return 1
        path = fact.path or ""
        label, said = as_written(fact.relation, rest)
        new = fact.but(id=fact_id(fact.id or "", said), object=said, relation=label)

        def change(text: str) -> Rewritten:
            text = replace_fact(text, path, line_on(fact, path, text), label, said)
            return Rewritten(self._place.summarised(path, text, (known(new),)), (known(fact), known(new)))

        self._pages.rewrite(path, change, reason=OBEYED, author=PERSON)
        self._place.facts.catch_up()
        return 1

    def _diaries(self) -> list[str]:
        return [path for path in self._pages.paths() if path.startswith(("days/", "episodes/"))]

    def _clean_page(self, path: str, found: Forbidden, texts: list[str]) -> int:
        """Take the lines away that tell of it."""
        openings = [" ".join(text.split())[:40].casefold() for text in texts]
        page = self._pages.page(path).text
        lines = split_lines(page)
        kept = [
            line
            for line in lines
            if not any(bears_on(_MADE.sub("", line), each) for each in found.over)
            and not any(opening and opening in line.casefold() for opening in openings)
        ]
        if len(kept) == len(lines):
            return 0
        self._pages.rewrite(
            path, lambda text: Rewritten("".join(kept) if text == page else text), reason=OBEYED
        )
        return len(lines) - len(kept)

    def _clean_state(self, found: Forbidden, texts: list[str]) -> int:
        openings = [" ".join(text.split())[:40].casefold() for text in texts]

        def is_told(text: str) -> bool:
            return any(bears_on(text, each) for each in found.over) or any(
                opening and opening in text.casefold() for opening in openings
            )

        def change(state: Values, **_: object) -> Change:
            new = {
                name: "" if isinstance(value, str) and is_told(value) else value
                for name, value in state.items()
            }
            for name in ("decisions_recent", "tasks_open"):
                if items_of(state, name):
                    new[name] = [each for each in items_of(state, name) if not is_told(title_of(each))]
            return Change(new)

        state = self._state()
        if any(map(is_told, _texts(state.shown()))):
            state.move(change, now(), OBEYED, [])
            return 1
        return 0

    def _try(self, act: Callable[[], int]) -> int:
        try:
            return act()
        except (Unwritten, Busy):
            raise
        except Refused as refused:
            self._note(str(refused))
            return 0


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if telling(value) else []
    if isinstance(value, dict):
        value = list(value.values())
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []
