"""What another machine forgot, found in this one's log (FORMAT §20.6).

The other machine's tombstone has only hashes. What they stand for is found by hashing what is here: so this machine
learns nothing from them that it does not know.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.facts.known_facts import fact_text, sentence_text
from looseleaf.facts.stones import NOTHING_AGAIN, origins_of, said_again
from looseleaf.facts.woven import part_in
from looseleaf.forget.cut import cut_heard
from looseleaf.log.entries import FOLDER, entries_in, read_entry
from looseleaf.log.journal import BrokenEdit, edit_of, forward
from looseleaf.pages.grammar import new_page
from looseleaf.state.rows import rows_of
from looseleaf.store import JOURNAL
from looseleaf.store.machines import stream_of
from looseleaf.store.root import ASIDE, LATE, STAGED
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import undoubted
from looseleaf.text.spellings import each_text, sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.base.values import Document, Record
    from looseleaf.facts.known_facts import Facts
    from looseleaf.facts.stones import Again, Buried, Stones
    from looseleaf.forget.cut import Cut
    from looseleaf.store.protocol import Store


def find_heard(store: Store, facts: Facts, held: Iterable[str], buried: Buried, again: Again) -> Cut:
    """Return what must be cut from this machine's log, and from held files, because others forgot it. `facts` must be
    up to date. `again`: what was said since by machines that had
    heard."""
    topics = {
        name for name in {*facts.topics, *store.folders(FOLDER)} if buried.holds("asked", f"topic\n{name}")
    }
    echoed = buried.with_echoes
    chosen = [
        fact
        for fact in facts.all()
        if (text := fact_text(fact.topic, fact.relation, fact.object)) not in again.facts
        and (fact.topic in topics or echoed.holds("fact", text))
    ]
    found = _Found(buried, again)
    for stream in store.streams():
        if stream.startswith("traces/"):
            for line in store.read(stream):
                found.take_trace(line.record)
    for line in store.read(JOURNAL):
        found.take_edit(line.record)
    for reference in entries_in(store):
        found.take_text(store, reference)
    for path in (*held, *(stat.path for folder in (ASIDE, LATE, STAGED) for stat in store.list(folder))):
        found.take_file(store.get(path))
    return cut_heard(store, facts, chosen, frozenset(topics), found, again)


class _Found:
    """What stands in the sources of this machine and is forgotten."""

    def __init__(self, buried: Buried, again: Again) -> None:
        self._buried = buried
        self._echoed = buried.with_echoes
        self._again = again
        self._seen: set[str] = set()
        self.words: set[str] = set()
        self.sessions: set[str] = set()
        self.origins: set[str] = set()
        self.lines: set[str] = set()
        self.quotes: dict[str, set[str]] = {}

    def take_trace(self, record: Record) -> None:
        self._take_origin(str(record.get("origin") or ""))
        session = record.get("session_id")
        if isinstance(session, str) and self._is_new(f"session\n{session}"):
            self.sessions |= {session} if self._buried.holds("session", session) else set()
        said = {
            name: value for name, value in record.items() if name not in ("schema", "id", "ts", "turn_id")
        }
        name = str(record.get("id"))
        self._take_texts(each_text(said), name, is_gone=name in self._buried.gone)

    def _take_origin(self, origin: str) -> None:
        for name in origins_of(origin):
            if self._is_new(f"origin\n{name}") and self._buried.holds("asked", f"origin\n{name}"):
                self.origins.add(name)

    def take_edit(self, record: Record) -> None:
        edit = edit_of(record)
        if edit is None:
            return
        for hunk in edit.hunks:
            lines = (*hunk.removed, *hunk.added)
            self._take_lines(line for line in lines if not self._again.has(edit.path, line))

    def take_file(self, document: Document | None) -> None:
        if document is not None:
            self._take_lines(document.data.decode("utf-8", "replace").splitlines())

    def _take_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            plain = sentence_text(line)
            for each in (plain, plain.removeprefix("summary: ")):
                if self._is_new(f"line\n{each}") and self._echoed.holds("sentence", each):
                    self.lines.add(each)
            self._take_words(line)

    def take_text(self, store: Store, reference: str) -> None:
        from looseleaf.base.errors import Refused

        try:
            entry = read_entry(store, reference)
        except Refused:
            return
        self._take_origin(str(entry.meta.get("origin", "document")))
        document = store.get(f"{entry.folder}/raw.md") if "traces" not in entry.meta else None
        if document is not None:
            text = document.data.decode("utf-8", "replace")
            source = f"{FOLDER}/{entry.meta.get('raw') or reference}/raw.md"
            self._take_texts([text], source, is_gone=reference.rpartition("/")[2] in self._buried.gone)

    def _take_texts(self, texts: Iterable[str], source: str, *, is_gone: bool = False) -> None:
        """`is_gone`: the source went whole, and came back with an old file."""
        for text in texts:
            for sentence in sentences_in(text):
                plain = sentence_text(sentence)
                if plain and (is_gone or self._buried.holds("sentence", plain)):
                    self.quotes.setdefault(source, set()).add(plain)
            self._take_words(text)

    def _take_words(self, text: str) -> None:
        self.words |= self._buried.words_in(text, self._seen)

    def _is_new(self, text: str) -> bool:
        if text in self._seen:
            return False
        self._seen.add(text)
        return True


@frozen
class Elsewhere:
    """What the logs of other machines say now: the lines of their pages and the rows of their states (None: those
    machines have not forgotten yet); the ids of sources that went; and what was said again since it was forgotten."""

    lines: frozenset[str] | None
    gone: frozenset[str]
    again: Again = NOTHING_AGAIN

    def keep(self, path: str, old: bytes | None, new: bytes | None, *, has_own_summary: bool) -> bytes | None:
        """Return the page that a merge made from another, without lines that no machine has any more. The program's own
        stay: they say what stands on the page. `has_own_summary`: the summary is one of these."""
        if new is None or self.lines is None:
            return new
        before, after = (_told_on(path, each) for each in (old, new))
        if before is None or after is None:
            return new
        known = {*map(_plain, before)}
        known |= self.lines
        left = [
            line
            for line in after
            if not line.strip()
            or _plain(line) in known
            or _is_kept(path, line, has_own_summary=has_own_summary)
        ]
        if left == after:
            return new
        if path == STATE:
            from looseleaf.state.rows import state_of

            return state_of((line, "") for line in left)
        return "".join(left).encode()


def read_elsewhere(store: Store, stones: Stones, buried: Buried) -> Elsewhere:
    """Read the logs of other machines. `buried`: what this machine is to forget. Of mere echoes, what it wrote itself
    stays."""
    lines: set[str] = set()
    echoed = buried.with_echoes
    again = [
        (path, line)
        for path, _, line in (_lines_of(store, JOURNAL) if buried.echoes else ())
        if echoed.has_line(path, line) and not buried.has_line(path, line)
    ]
    for machine in store.machines():
        for path, ts, line in _lines_of(store, stream_of(machine, JOURNAL)):
            lines.add(_plain(line))
            if echoed.has_line(path, line) and not stones.takes(machine, ts, path, line):
                again.append((path, line))
    return Elsewhere(frozenset(lines), buried.gone, said_again(again))


def _lines_of(store: Store, stream: str) -> Iterator[tuple[str, float, str]]:
    """Yield the lines that a machine itself put on pages, and the rows of its state, each with its page and time."""
    state: bytes | None = None
    for each in store.read(stream):
        edit = edit_of(each.record)
        if edit is None:
            continue
        added = [line for hunk in edit.hunks for line in hunk.added]
        if edit.path == STATE:
            before = {*split_lines(rows_of(state) or "")}
            try:
                state = forward(edit, state)
            except BrokenEdit:
                state = None
            added = [row for row in split_lines(rows_of(state) or "") if row not in before]
        if edit.merge is None:
            yield from ((edit.path, edit.ts, line) for line in added)


def _is_kept(path: str, line: str, *, has_own_summary: bool) -> bool:
    part = part_in(path, line) if path != STATE else None
    if part == "title":
        return line.rstrip() == new_page(path).rstrip()
    return part == "updated" or (part == "summary" and has_own_summary)


def _told_on(path: str, data: bytes | None) -> list[str] | None:
    try:
        text = rows_of(data) if path == STATE else (data or b"").decode()
    except UnicodeDecodeError:
        return None
    return None if text is None else text.splitlines(keepends=True)


def _plain(line: str) -> str:
    return undoubted(line.strip())
