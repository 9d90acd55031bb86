"""Where imported items go. Only parts that are new here and not forgotten are taken. Vouched documents become pages,
vouched claims facts; other claims wait in review.

The beginning of an item that was imported before is held back until as many parts are read as it had then. Mostly they
are the same, and nothing is looked up; otherwise the log says which parts it has.

No page is overwritten: where it exists and differs, the document goes beside it, as `facts/<name>-imported.md`, with a
number if needed. A page that an import made and nothing else has changed follows its document when that is imported
again. The working state is never written. Claims about the user go to `facts/user.md`, not to `USER.md`: what another
program collected need not be in every prompt. Claims that do not fit on a page go to `facts/<topic>-2.md`, and so on.
"""

from __future__ import annotations

import time
from functools import partial

from looseleaf.base.errors import Outdated, Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE
from looseleaf.base.paths import STATE, is_page, name_fault, path_fault
from looseleaf.base.values import Fact
from looseleaf.facts.gate import UNVERIFIED
from looseleaf.facts.known_facts import Tombstones, fact_text, sentence_text
from looseleaf.facts.ledger import fact_id
from looseleaf.language.relations import SALIENCE, relation_of
from looseleaf.language.topic_words import topic_name
from looseleaf.log.journal import PERSON
from looseleaf.pages.grammar import add_fact, as_written, parse, replace_fact, topic_of
from looseleaf.pages.pages import Page
from looseleaf.store.reading import read_and_write
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import NOTE, bullet_text, worded
from looseleaf.text.spellings import MASK, each_text, is_nothing_else, sentences_in
from looseleaf.text.times import written
from looseleaf.transfer.import_ledger import record_of
from looseleaf.transfer.source import ImportClaim, ImportDocument, Talk, clip_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.log.recorder import RecordRequest
    from looseleaf.memory import Memory
    from looseleaf.store.protocol import Store
    from looseleaf.transfer.import_ledger import Hashes, ImportChain, ImportLedger, ImportTally, Prior
    from looseleaf.transfer.source import ImportMessage, Item

    Marked = tuple[ImportMessage, str]


# --- what is new, and not forgotten -----------------------------------------------------

_SAID = ("content", "tool_args", "tool_result", "tool_error", "reasoning")


_LOOKED_AT = 20_000
_ENDS = ".,;:!?\"'()[]{}"


class ForgottenFilter:
    """A filter for forgotten content: by name, by whole text and by sentence, in any file and under any name; and by
    the very words that someone asked to forget since the filter was made: what it reads was there before. `clean` takes
    the secrets out of a text."""

    def __init__(self, store: Store, clean: Callable[[str], str]) -> None:
        self._store = store
        self._stones = Tombstones(store)
        self._clean = clean
        self._since = self._seen = store.edition()

    @property
    def is_any(self) -> bool:
        return self._stones.are_there

    def has_more(self) -> bool:
        """True if something was forgotten since this was last asked."""
        before, self._seen = self._seen, self._store.edition()
        return before != self._seen

    def is_before(self, ts: float | None) -> bool:
        """True if something was forgotten after this time: then words from before may be among it."""
        last = self._stones.last
        return ts is not None and last is not None and ts <= last

    def is_unchanged(self, given: Mapping[str, Any]) -> bool:
        """True if nothing in these members was forgotten."""
        values = [value for name, value in given.items() if name not in ("correlation_id", "turn_id", "ts")]
        return all(
            not self._is_forgotten_text(text)
            and self.strip_text(text) == text
            and not self._was_asked_for(text)
            for value in values
            for text in each_text(value)
        )

    def _was_asked_for(self, text: str) -> bool:
        """True if a text has the very words that someone asked to forget."""
        words = text[:_LOOKED_AT].split()
        runs = (
            " ".join(words[at : at + count]) for count in range(1, 5) for at in range(len(words) - count + 1)
        )
        return any(
            self._stones.holds("asked", f"match\n{each}") for run in runs for each in {run, run.strip(_ENDS)}
        )

    def has_item(self, name: str) -> bool:
        return self.is_any and self._stones.holds("item", name)

    def has(self, item: Item, name: str, session: str) -> bool:
        """True if an item is forgotten: of a document all, of a claim any sentence, since half a claim would be another
        claim."""
        if not self.is_any or self.has_item(name) or self._stones.holds("session", session):
            return self.is_any
        if isinstance(item, Talk):
            return False
        text = self._clean(item.text)
        left = self.strip_text(text)
        if self._is_forgotten_text(text):
            return True
        if isinstance(item, ImportDocument):
            return left != text and is_nothing_else(left)
        fact = fact_text(item.topic, item.relation or NOTE, text)
        return left != text or self._stones.holds("fact", fact)

    def strip_page(self, text: str) -> str:
        """Return a cleaned text for a page without its forgotten sentences, and without lines that are left empty."""
        left = self.strip_text(text)
        lines = zip(text.split("\n"), left.split("\n"), strict=True)
        return "\n".join(line for old, line in lines if line == old or not is_nothing_else(line))

    def strip_request(self, asked: RecordRequest) -> RecordRequest | None:
        """Return a cleaned request without its forgotten sentences; None if nothing is left."""
        if not self.is_any:
            return asked
        given = {name: getattr(asked, name) for name in _SAID}
        if any(self._is_forgotten_text(given[name]) for name in ("content", "tool_result", "tool_error")):
            return None
        left = {name: self._strip_value(value) for name, value in given.items()}
        if left == given:
            return asked
        if all(is_nothing_else(text) for value in left.values() for text in each_text(value)):
            return None
        return type(asked)(**{name: getattr(asked, name) for name in type(asked).__match_args__} | left)

    def strip_text(self, text: str) -> str:
        """Return the text without its forgotten sentences; line ends stay."""
        if not self.is_any:
            return text
        parts: list[str] = []
        at = 0
        is_late = self._store.edition() != self._since
        for sentence in sentences_in(text):
            start = text.index(sentence, at)
            end = start + len(sentence)
            plain = sentence_text(sentence)
            is_gone = plain and self._stones.holds("sentence", plain)
            is_gone = is_gone or (is_late and self._was_asked_for(sentence))
            parts += [text[at:start], MASK if is_gone else sentence]
            at = end
        return "".join((*parts, text[at:]))

    def _is_forgotten_text(self, text: object) -> bool:
        return isinstance(text, str) and bool(text.strip()) and self._stones.holds("text", text)

    def _strip_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.strip_text(value)
        if isinstance(value, dict):
            return {self.strip_text(name): self._strip_value(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._strip_value(inner) for inner in value]
        return value


HELD = 20_000_000
"""The most characters of a beginning that are held back; past that the log is read."""


class NewParts:
    """An iterator over the new parts of an item, each with its mark. `chain` collects all marks, `recorded` reads those
    in the log. `is_loose`, at the end: the log has parts that the item lacks."""

    def __init__(
        self,
        said: Iterable[Marked],
        chain: ImportChain,
        prior: Prior | None,
        recorded: Callable[[], set[str]],
    ) -> None:
        self._said = said
        self._chain = chain
        self._prior = prior
        self._recorded = recorded
        self._seen: set[str] = set()
        self._left: set[str] = set()
        """Marks in the log that did not come yet."""

    @property
    def is_loose(self) -> bool:
        return bool(self._left)

    def __iter__(self) -> Iterator[Marked]:
        held: list[Marked] | None = None if self._prior is None else []
        size = 0
        for each, mark in self._said:
            self._chain.add(mark)
            if held is None:
                yield from self._take_unseen([(each, mark)])
                continue
            held.append((each, mark))
            size += len(each.text) + 100
            prior = self._prior
            if prior is not None and prior.is_done and self._chain.count < prior.count and size < HELD:
                continue  # too few to compare
            if prior is not None and self._chain.is_of(prior) and not prior.is_loose:
                self._seen = {mark for _, mark in held}
            else:
                self._read_recorded()
            yield from self._take_unseen(held)
            held = None
        if held:  # shorter than before
            self._read_recorded()
            yield from self._take_unseen(held)

    def _read_recorded(self) -> None:
        self._seen = self._recorded()
        self._left = set(self._seen)

    def _take_unseen(self, held: list[Marked]) -> Iterator[Marked]:
        for each, mark in held:
            self._left.discard(mark)
            if mark not in self._seen:
                self._seen.add(mark)
                yield each, mark


# --- claims that wait for a person ------------------------------------------------------


@frozen
class Doubt:
    """An unvouched claim, the mark and session of its trace, and its name in the ledger. `again`: its ledger record, if
    it is recorded already and review had no place for it."""

    claim: ImportClaim
    mark: str
    session: str
    name: str
    again: Prior | None


def ask_person(memory: Memory, doubts: Sequence[tuple[Doubt, str]], format_: str) -> tuple[int, set[str]]:
    """Put claims, each with the id of its trace, into review. Return how many were added, and the names of those
    without a place. A claim that waits already or was rejected is not asked again."""
    now = time.time()
    facts = [_pending_fact(memory, doubt.claim, trace, f"import:{format_}", now) for doubt, trace in doubts]
    memory.parts.notebook.catch_up()
    asked = memory.parts.placer.ask(
        [(fact, f"{format_} had it") for fact in facts], f"imported from {format_}"
    )
    full = {doubt.name for (doubt, _), fact in zip(doubts, facts, strict=True) if fact.id in asked.full}
    return len(asked.added), full


def _pending_fact(memory: Memory, claim: ImportClaim, trace: str, origin: str, now: float) -> Fact:
    topic = claim.topic if name_fault(claim.topic) is None else topic_name(claim.topic or "imported")
    relation, said = as_written(claim.relation or NOTE, memory.parts.redact(claim.text))
    kind = relation_of(relation).kind
    ts = now if claim.ts is None else claim.ts
    return Fact(
        topic,
        topic,
        relation,
        said,
        kind,
        id=fact_id(topic, origin, relation, said),
        confidence=CONFIDENCE["tainted"],
        salience=SALIENCE[kind],
        tags=(UNVERIFIED,),
        sources=(trace,),
        origin=origin,
        level="tainted",
        valid_from=written(ts),
        recorded_at=now,
        status="pending",
    )


# --- vouched documents and claims -------------------------------------------------------

_MOST = 10
"""The most pages of one name that imports make beside each other."""

_SPARE = 1000
"""Bytes left on a page of claims for its heading."""

_TRIES = 5
_IN_A_ROW = 200
"""Pages written before the folder is scanned again."""


class VouchedItems:
    """Documents and claims that the user vouches for, on their way to pages."""

    def __init__(
        self,
        memory: Memory,
        format_: str,
        hashes: Hashes,
        ledger: ImportLedger,
        tally: ImportTally,
        forgotten: ForgottenFilter,
        *,
        here: bool,
    ) -> None:
        self._memory, self._format, self._hashes, self._here = memory, format_, hashes, here
        self._ledger, self._tally, self._forgotten = ledger, tally, forgotten
        self._claims: dict[str, list[tuple[ImportClaim, str]]] = {}
        self._edits = 0
        memory.pages.absorb()  # so that no page has to

    def preview(self, item: ImportDocument | ImportClaim, name: str) -> None:
        """Count what would be done."""
        fate = self._fate_of(item, name)
        if fate in ("new", "grown") and self._passes_over(item):
            return
        if isinstance(item, ImportDocument):
            path, title = _page_of_document(item), item.title
            page = Page(path, self._memory.parts.pages.absorb.read(path))
            # A dry run makes no key, and so redacts no secrets.
            fate = "known" if fate == "new" and page.exists and page.text == item.text else fate
        else:
            path, title = _first_page(item), clip_title(item.text)
        self._tally.add(item.KIND, fate, title)
        if fate in ("new", "grown"):
            self._tally.add_time(item.ts)
            self._tally.facts += isinstance(item, ImportClaim)
            if path not in self._tally.pages:
                self._tally.pages.append(path)

    def take(self, item: ImportDocument | ImportClaim, name: str) -> None:
        """Write a document at once; keep a claim until `finish` writes all of its page."""
        fate = self._fate_of(item, name)
        if fate not in ("new", "grown"):
            self._tally.add(item.KIND, fate)
        elif self._passes_over(item):
            return
        elif isinstance(item, ImportClaim):
            self._claims.setdefault(self._page_of_claim(item, name), []).append((item, name))
        else:
            act = partial(self._write_document, item, name, fate)
            read_and_write(self._memory.parts.context.store, act)

    def _passes_over(self, item: ImportDocument | ImportClaim) -> bool:
        """True if an item is private, and git tracks the folder: then a note says so."""
        if isinstance(item, ImportDocument):
            title, topic, lines = item.title, topic_of(_page_of_document(item)), item.text.split("\n")
        else:
            title, topic, lines = item.text, item.topic, [worded(item.relation or NOTE, item.text)]
        kinds = self._memory.parts.kept_out(topic, lines) if not self._here else ""
        if kinds:
            self._tally.add(item.KIND, "bad")
            self._tally.note(
                f"{clip_title(title)!r} was passed over: it is private ({kinds}), and git tracks the folder. Import it "
                "into the home memory (--memory ~/.looseleaf), or add --here."
            )
        return bool(kinds)

    def finish(self) -> None:
        for path, claims in self._claims.items():
            read_and_write(self._memory.parts.context.store, partial(self._add_left, path, claims))
        self._claims = {}

    def _add_left(self, path: str, claims: list[tuple[ImportClaim, str]]) -> None:
        """Add the claims that were not forgotten since they were read."""
        left = [each for each in claims if not self._forgotten.has(*each, "")]
        if left:
            self._add_claims(path, left)

    def content(self, item: ImportDocument | ImportClaim) -> str:
        """Return the hash of an item's text on a page."""
        if isinstance(item, ImportDocument):
            return self._hashes.of("text", self._memory.parts.redact(item.text))
        return self._hashes.of("line", *self._line_of(item))

    def _line_of(self, claim: ImportClaim) -> tuple[str, str]:
        return as_written(claim.relation or NOTE, self._memory.parts.redact(claim.text))

    def _fate_of(self, item: ImportDocument | ImportClaim, name: str) -> str:
        prior = self._ledger.prior(name)
        if prior is None or not prior.is_done or not prior.is_mine:
            return "new"
        is_known = prior.content == self.content(item)
        if isinstance(item, ImportDocument):  # perhaps without its forgotten parts
            is_known = is_known or prior.content == self._hashes.of("text", self._text_to_write(item))
        return "known" if is_known else "grown"

    def _text_to_write(self, document: ImportDocument) -> str:
        return self._forgotten.strip_page(self._memory.parts.redact(document.text))

    def _done_record(self, name: str, content: str, path: str) -> dict[str, Any]:
        told = {"content": content, "count": 1, "traces": 0, "mine": True, "page": self._hashes.of(path)}
        return record_of("done", self._format, name, self._memory.agent, **told)

    def _write_document(self, document: ImportDocument, name: str, fate: str) -> None:
        text = self._text_to_write(document)
        wanted = _page_of_document(document)
        fault = f"{wanted} and the pages beside it are there and say something else. Move one away, and import again."
        own = wanted.rpartition("/")[2].removesuffix(".md").lower()
        for path in (wanted, *_numbered_pages(f"facts/{own}-imported.md")):
            try:
                written = self._write_page(path, text, name)
            except Outdated:
                raise
            except Refused as refused:
                fault = str(refused)
                break
            if written is None:
                continue
            if not written:  # something else, perhaps another import, wrote it
                self._ledger.catch_up()
                fate = "known"
            prior = self._ledger.prior(name)
            if written or prior is None or not prior.is_mine or self._fate_of(document, name) != "known":
                content = self._hashes.of("text", text)
                self._ledger.append([self._done_record(name, content, path)])
            self._tally.add("document", fate, document.title)
            if written:
                self._tally.forgotten += text != self._memory.parts.redact(document.text)
                self._tally.add_time(document.ts)
                self._tally.pages.append(path)
            return
        self._tally.add("document", "bad")
        self._tally.note(f"{document.title[:80]!r} was passed over: {fault}")

    def _write_page(self, path: str, text: str, name: str) -> bool | None:
        """Write a page that is free, or that this document wrote and nothing else changed. False: it already says this.
        None: it says something else."""
        for _ in range(_TRIES):
            prior = self._ledger.prior(name)
            page = Page(path, self._memory.parts.pages.absorb.read(path))
            if page.exists and page.text == text:
                return False
            is_own = prior is not None and prior.page == self._hashes.of(path)
            is_left = prior is not None and prior.content == self._hashes.of("text", page.text)
            if page.exists and not (is_own and is_left):
                return None
            reason, pages = f"imported from {self._format}", self._memory.parts.pages
            # Without a scan of the folder each time: for thousands of pages that would cost the most.
            pages.in_a_row = bool(self._edits % _IN_A_ROW)
            self._edits += 1
            try:
                self._memory.pages.edit(path, text, base=page.sha256, reason=reason, author=PERSON)
            except Stale:  # saved meanwhile: read again
                self._ledger.catch_up()
                continue
            finally:
                pages.in_a_row = False
            return True
        return None

    def _page_of_claim(self, claim: ImportClaim, name: str) -> str:
        """Return the page that has the claim's line already, else its topic's."""
        path = _first_page(claim)
        prior = self._ledger.prior(name)
        was = prior.page if prior is not None and prior.is_mine else ""
        return next((each for each in _numbered_pages(path) if was == self._hashes.of(each)), path)

    def _add_claims(self, path: str, claims: list[tuple[ImportClaim, str]]) -> None:
        most = self._memory.policy.page_bytes - _SPARE
        large = [each for each in claims if len(each[0].text.encode("utf-8", "replace")) * 2 > most]
        if large:  # escaped, it may fit on no page
            self._note_refused(large, "it is longer than a page may be.")
        left = [each for each in claims if each not in large]
        pages = _numbered_pages(_first_page(claims[0][0]))
        for where in pages[pages.index(path) :] if left else ():
            try:
                left = self._add_to_page(where, left)
            except Outdated:
                raise
            except Refused as refused:
                self._note_refused(left, str(refused))
                return
            if not left:
                return
        if left:
            self._note_refused(left, f"{path} and the pages after it are full.")

    def _note_refused(self, claims: list[tuple[ImportClaim, str]], why: str) -> None:
        for _ in claims:
            self._tally.add("claim", "bad")
        first, topic = clip_title(claims[0][0].text), claims[0][0].topic[:80]
        what, were = f"The claim {first!r}", "was"
        if len(claims) > 1:
            what, were = f"{len(claims):,} claims, the first {first!r},", "were"
        self._tally.note(f"{what} of {topic!r} {were} passed over: {why}")

    def _add_to_page(self, path: str, claims: list[tuple[ImportClaim, str]]) -> list[tuple[ImportClaim, str]]:
        """Add as many claims as fit on a page in one edit, and return the others. After a crash, a repeat finds them
        there."""
        most = self._memory.policy.page_bytes - _SPARE
        fates: list[str] = []

        def change(text: str) -> str:
            fates.clear()
            size = len(text.encode())
            here = {(fact.relation, fact.object) for fact in parse(path, text).facts}
            own = {self._hashes.of("line", *line): line for line in here}
            new: list[tuple[str, str]] = []
            for claim, name in claims:
                line = self._line_of(claim)
                if line in here:
                    fates.append("known")
                    continue
                prior = self._ledger.prior(name)
                before = own.get(prior.content) if prior is not None and prior.is_mine else None
                size += _line_bytes(line) - (_line_bytes(before) if before is not None else 0)
                if size > most:
                    break
                here.add(line)
                fates.append(self._fate_of(claim, name))
                if before is not None:
                    text = _replace_line(text, path, before, line)
                else:
                    new.append(line)
            return _add_lines(text, path, new)

        self._memory.pages.edit(path, change, reason=f"imported from {self._format}", author=PERSON)
        taken, left = claims[: len(fates)], claims[len(fates) :]
        self._ledger.append([self._done_record(name, self.content(claim), path) for claim, name in taken])
        for (claim, _), fate in zip(taken, fates, strict=True):
            self._tally.add("claim", fate, clip_title(claim.text))
            if fate != "known":
                self._tally.add_time(claim.ts)
        added = len(fates) - fates.count("known")
        self._tally.facts += added
        if added:
            self._tally.pages.append(path)
        return left


def _page_of_document(document: ImportDocument) -> str:
    """Return the page of a document; a page of facts, where its own is not allowed."""
    path = document.page or ""
    if path and path != STATE and path_fault(path) is None and is_page(path):
        return path
    title = document.title.removesuffix(".md") or document.topic or "imported"
    return f"facts/{topic_name(title)}.md"


def _numbered_pages(path: str) -> list[str]:
    """Return a page, and those that continue it."""
    stem = path.removesuffix(".md")
    return [path, *(f"{stem}-{number}.md" for number in range(2, _MOST))]


def _first_page(claim: ImportClaim) -> str:
    path = f"facts/{claim.topic}.md"
    is_good = "/" not in claim.topic and path_fault(path) is None
    return path if is_good else f"facts/{topic_name(claim.topic or 'imported')}.md"


def _line_bytes(line: tuple[str, str]) -> int:
    """Return the most bytes that a line takes on a page."""
    return len(bullet_text(*line).encode()) + 4


def _replace_line(text: str, path: str, old: tuple[str, str], new: tuple[str, str]) -> str:
    line = next(fact.line for fact in parse(path, text).facts if (fact.relation, fact.object) == old)
    return replace_fact(text, path, line or 0, *new)


def _add_lines(text: str, path: str, new: list[tuple[str, str]]) -> str:
    """Return the page with these facts added: the first in its best place, the others below it."""
    if not new:
        return text
    text = add_fact(text, path, *new[0])
    line = max(fact.line or 0 for fact in parse(path, text).facts if (fact.relation, fact.object) == new[0])
    lines = split_lines(text)
    end = "\r\n" if lines[line - 1].endswith("\r\n") else "\n"
    more = [f"- {bullet_text(*each)}{end}" for each in new[1:]]
    return "".join((*lines[:line], *more, *lines[line:]))
