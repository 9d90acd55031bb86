"""What the user vouches for: documents become the pages that they are, claims become lines on pages of facts.

Nobody's page is overwritten: where a page is there and says something else, the document goes beside it, as
`facts/<name>-imported.md`, with a number if need be. A page that an import made, and that nobody has touched since,
follows its document when that is imported again. Claims about the user go to `facts/user.md`, not to `USER.md`: what
somebody else's program collected need not be in every prompt.
"""

from __future__ import annotations

from looseleaf.core.diff import split_lines
from looseleaf.core.grammar import add_fact, as_written, parse, replace_fact
from looseleaf.core.heads import PERSON
from looseleaf.core.lines import NOTE, bullet_text
from looseleaf.core.paths import is_page, path_fault
from looseleaf.core.vocabulary import topic_name
from looseleaf.errors import Refused, Stale
from looseleaf.forget.tombstones import Tombstones, fact_text
from looseleaf.importers.items import Claim, Document
from looseleaf.importers.ledger import record_of
from looseleaf.importers.reading import clipped
from looseleaf.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.importers.ledger import Hashes, Ledger
    from looseleaf.importers.summary import Tally
    from looseleaf.memory import Memory

_MOST = 10
"""Pages of one name that imports make beside each other."""


class Vouched:
    def __init__(self, memory: Memory, format_: str, hashes: Hashes, ledger: Ledger, tally: Tally) -> None:
        self._memory = memory
        self._format = format_
        self._hashes = hashes
        self._ledger = ledger
        self._tally = tally
        self._tombstones = Tombstones(memory.store)
        self._claims: dict[str, list[tuple[Claim, str]]] = {}
        memory.absorb()  # once: each edit does it again, and looking at each page need not

    def look(self, item: Document | Claim, name: str) -> None:
        """Only say what would be done."""
        what = type(item).__name__.lower()
        fate = self._fate(item, name)
        self._tally.add(what, fate, item.title if isinstance(item, Document) else clipped([item.text]))
        if fate in ("new", "grown"):
            self._tally.at(item.ts)
            self._tally.facts += isinstance(item, Claim)
            path = _wanted(item) if isinstance(item, Document) else _page_of(item)
            if path not in self._tally.pages:
                self._tally.pages.append(path)

    def take(self, item: Document | Claim, name: str) -> None:
        """A document at once; a claim together with the others of its page, by `finish`."""
        fate = self._fate(item, name)
        if fate not in ("new", "grown"):
            self._tally.add(type(item).__name__.lower(), fate)
        elif isinstance(item, Claim):
            self._claims.setdefault(_page_of(item), []).append((item, name))
        else:
            self._put(item, name, fate)

    def finish(self) -> None:
        for path, claims in self._claims.items():
            self._add(path, claims)
        self._claims = {}

    def _fate(self, item: Document | Claim, name: str) -> str:
        prior = self._ledger.prior(name)
        is_there = prior is not None and prior.is_done and prior.is_mine
        if is_there and prior is not None and prior.content == self._content(item):
            return "known"
        if isinstance(item, Claim):
            given = fact_text(item.topic, item.relation or NOTE, item.text)
            if self._tombstones.are_there and self._tombstones.holds("fact", given):
                return "forgotten"
        return "grown" if is_there else "new"

    def _content(self, item: Document | Claim) -> str:
        if isinstance(item, Document):
            return self._hashes.of("text", self._memory._clean(item.text))
        return self._line(*as_written(item.relation or NOTE, self._memory._clean(item.text)))

    def _line(self, relation: str, said: str) -> str:
        return self._hashes.of("line", relation, said)

    # --- documents -----------------------------------------------------------------------

    def _put(self, document: Document, name: str, fate: str) -> None:
        text = self._memory._clean(document.text)
        wanted = _wanted(document)
        for path in (wanted, *_beside(wanted)):
            try:
                if not self._written(path, text, name):
                    continue
            except Refused as refused:
                self._tally.add("document", "bad")
                self._tally.note(f"{document.title[:80]!r} was passed over: {refused}")
                return
            more = {
                "content": self._content(document),
                "count": 1,
                "mine": True,
                "page": self._hashes.of(path),
            }
            self._ledger.append([record_of("done", self._format, name, self._memory.agent, traces=0, **more)])
            self._tally.add("document", fate, document.title)
            self._tally.at(document.ts)
            self._tally.pages.append(path)
            return
        self._tally.add("document", "bad")
        self._tally.note(
            f"{document.title[:80]!r} was passed over: {wanted} and the pages beside it are there and say something "
            "else. Move one of them away, and import again."
        )

    def _written(self, path: str, text: str, name: str) -> bool:
        """Whether the page says it now: it was free, said it already, or was this document's own, as it was left."""
        prior = self._ledger.prior(name)
        page = Page(path, self._memory._pages.absorb.read(path))
        if page.exists and page.text == text:
            return True
        is_own = prior is not None and prior.page == self._hashes.of(path)
        is_left = prior is not None and prior.content == self._hashes.of("text", page.text)
        if page.exists and not (is_own and is_left):
            return False
        reason = f"imported from {self._format}"
        try:
            self._memory.edit(path, text, base=page.sha256, reason=reason, author=PERSON)
        except Stale:  # somebody saved it in this moment
            return False
        return True

    # --- claims --------------------------------------------------------------------------

    def _add(self, path: str, claims: list[tuple[Claim, str]]) -> None:
        """All claims of a page by one edit. Repeated, because a crash came between, it finds them there."""
        added = 0

        def change(text: str) -> str:
            nonlocal added
            facts = parse(path, text).facts
            here = {(fact.relation, fact.object) for fact in facts}
            own = {self._line(fact.relation, fact.object): (fact.relation, fact.object) for fact in facts}
            new: list[tuple[str, str]] = []
            added = 0
            for claim, name in claims:
                line = as_written(claim.relation or NOTE, self._memory._clean(claim.text))
                if line in here:
                    continue
                here.add(line)
                added += 1
                prior = self._ledger.prior(name)
                before = own.get(prior.content) if prior is not None and prior.is_mine else None
                if before is not None:
                    text = _replaced(text, path, before, line)
                else:
                    new.append(line)
            return _with_lines(text, path, new)

        fates = [self._fate(claim, name) for claim, name in claims]
        try:
            self._memory.edit(path, change, reason=f"imported from {self._format}", author=PERSON)
        except Refused as refused:
            for _ in claims:
                self._tally.add("claim", "bad")
            self._tally.note(f"What is claimed of {claims[0][0].topic[:80]!r} was passed over: {refused}")
            return
        page = self._hashes.of(path)
        self._ledger.append(
            [
                record_of(
                    "done",
                    self._format,
                    name,
                    self._memory.agent,
                    content=self._content(claim),
                    count=1,
                    traces=0,
                    mine=True,
                    page=page,
                )
                for claim, name in claims
            ]
        )
        for (claim, _), fate in zip(claims, fates, strict=True):
            self._tally.add("claim", fate, clipped([claim.text]))
            self._tally.at(claim.ts)
        self._tally.facts += added
        self._tally.pages.append(path)


def _wanted(document: Document) -> str:
    """Where a document would stand; a place that is none is made one of facts."""
    path = document.page or ""
    if path and path_fault(path) is None and is_page(path):
        return path
    title = document.title.removesuffix(".md") or document.topic or "imported"
    return f"facts/{topic_name(title)}.md"


def _beside(path: str) -> list[str]:
    """Where a document goes if its page is taken."""
    name = path.rpartition("/")[2].removesuffix(".md").lower()
    return [f"facts/{name}-imported{number}.md" for number in ("", *(f"-{each}" for each in range(2, _MOST)))]


def _page_of(claim: Claim) -> str:
    path = f"facts/{claim.topic}.md"
    is_good = "/" not in claim.topic and path_fault(path) is None
    return path if is_good else f"facts/{topic_name(claim.topic or 'imported')}.md"


def _replaced(text: str, path: str, old: tuple[str, str], new: tuple[str, str]) -> str:
    """The page with one line said anew, where nobody has changed it meanwhile."""
    line = next(fact.line for fact in parse(path, text).facts if (fact.relation, fact.object) == old)
    return replace_fact(text, path, line or 0, *new)


def _with_lines(text: str, path: str, new: list[tuple[str, str]]) -> str:
    """The page with these facts more: the first where a careful person would put it, the others below it."""
    if not new:
        return text
    text = add_fact(text, path, *new[0])
    line = max(fact.line or 0 for fact in parse(path, text).facts if (fact.relation, fact.object) == new[0])
    lines = split_lines(text)
    end = "\r\n" if lines[line - 1].endswith("\r\n") else "\n"
    more = [f"- {bullet_text(*each)}{end}" for each in new[1:]]
    return "".join((*lines[:line], *more, *lines[line:]))
