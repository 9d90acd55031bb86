"""What other machines wrote into their logs, taken in: pages are woven from all machines' changes, and facts joined.

Taking in is the same on every machine: each reads all logs and comes to the same pages. Only this machine's log is
written to: an edit for each page that changes, then a record of the facts of which something else is known now. How far
the other logs were read is kept in a view; read again, they change nothing.
"""

from __future__ import annotations

import time

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE, lowest
from looseleaf.base.paths import STATE, same_name
from looseleaf.base.values import START, Position, changed_ns, sha256, sha256_or_none
from looseleaf.facts.joined import join, worth
from looseleaf.facts.known_facts import Facts
from looseleaf.facts.ledger import address_of
from looseleaf.facts.page_lines import shard_of
from looseleaf.facts.woven import (
    Verdict,
    put_on,
)
from looseleaf.log.journal import (
    EXTERNAL,
    MERGED,
    PERSON,
    PROGRAM,
    make_edit,
    record_of,
)
from looseleaf.log.talk_streams import talk_elsewhere
from looseleaf.pages.grammar import parse
from looseleaf.pages.held import copies_among, new_lines
from looseleaf.pages.outside_edits import is_same_log
from looseleaf.place.brought_files import KEPT, told_of
from looseleaf.place.logs_behind import WITHOUT, find_behind, told_behind, told_without
from looseleaf.place.proofs import Proofs, without_levels
from looseleaf.place.woven_page import (
    PageLog,
    WovenPage,
    last_texts,
    page_logs,
    plain_part,
    woven_page,
    woven_text,
)
from looseleaf.state.rows import own_rows, state_of
from looseleaf.store import JOURNAL, JOURNAL_SCHEMA
from looseleaf.store.foreign import LEFT_OUT, is_newer, is_page_path
from looseleaf.store.machines import log_of, stream_of
from looseleaf.store.other_log import OtherLog
from looseleaf.store.streams import RACY_NS, stream_files
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import body, undoubted
from looseleaf.text.weave import Change, Weave, find_base, joined, split_parts, weave_both

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Protocol

    from looseleaf.base.values import Document, Edit, Fact, Level, Record
    from looseleaf.facts.stones import Buried
    from looseleaf.place.brought_files import BroughtFiles
    from looseleaf.place.brought_files import Needs as BroughtNeeds
    from looseleaf.place.logs_behind import Behind
    from looseleaf.store.context import Context

    class Needs(BroughtNeeds, Protocol):
        @property
        def brought_files(self) -> BroughtFiles: ...


REASON = "merged"
"""The reason of an edit that takes in what other machines wrote."""


@frozen
class News:
    """What is new in another machine's log: the pages and topics that it changed, where it ends, and how many records
    are left out. `is_newer`: it has records of a newer program, which may mean anything."""

    machine: str
    pages: frozenset[str]
    topics: frozenset[str]
    end: list[object]
    left_out: int = 0
    is_newer: bool = False


class OtherMachines:
    """Takes in, when called, what other machines wrote since."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._policy, self._note = context.store, context.policy, context.note
        self._parts = parts
        self._facts: dict[str, Facts] = {}
        self._looks: dict[str, tuple[tuple[int, ...], list[object] | None]] = {}
        """By machine, how its journal's file looked, and where the journal ended."""
        self._logs: Mapping[str, Mapping[str, PageLog]] = {}
        self._proofs = Proofs(self._store, trusts=self._policy.trust_external_edits)
        self._newer: set[str] = set()
        self._behind: set[str] = set()
        """The machines whose logs lack something, and of which that was said."""
        self._works = self._keeps = False
        """`keeps`: lines of a page that no log has stay on it."""

    def __call__(self) -> None:
        absorb = self._parts.pages.absorb
        if self._works or not self._has_news():
            return
        self._works = True
        try:
            with absorb.threads, self._store.lock():
                absorb.know(recovers=True)
                freed = self._freed()
                machines = self._parts.store.machines()
                behind = self._find_behind()
                if self._wait(behind):
                    return
                for machine in absorb.heads.doubted:
                    absorb.heads.taken.pop(machine, None)  # all of it again: more may be proven now
                news = [each for each in map(self._read, machines) if each is not None]
                if self._refuse_newer(news):
                    return
                for each in news:
                    self._drop_gone(each.machine)
                if not (news or freed) or not all(map(self._is_whole, machines)):
                    return
                if behind:
                    self._take_without(behind, news)
                    for machine in sorted(behind):
                        self._note(f"{told_without(machine).capitalize()}.")
                else:
                    self._take(news, freed)
                self._tell_left_out(news)
        finally:
            self._works = False

    def _refuse_newer(self, news: Sequence[News]) -> bool:
        """True if a newer program wrote one of the logs: until this one is as new, nothing is taken in."""
        newer = [each.machine for each in news if each.is_newer]
        for machine in newer:
            if machine not in self._newer:
                self._newer.add(machine)
                self._note(
                    f"The log of {machine} has records of a newer looseleaf. Until this one is updated, nothing of "
                    "other machines is taken in."
                )
        return bool(newer)

    def _find_behind(self) -> dict[str, Behind]:
        taken = self._parts.pages.absorb.heads.taken
        places = {name: place for name, place in taken.items() if not name.endswith(".md")}
        return find_behind(self._store, self._parts.store.machine, places)

    def _wait(self, behind: Mapping[str, Behind]) -> bool:
        """True if a log lacks what was taken in of it, and may be back."""
        waits = {machine for machine, each in behind.items() if not each.went_on}
        for machine in sorted(waits - self._behind):
            self._behind.add(machine)
            self._note(told_behind(machine))
        return bool(waits)

    def go_on(self) -> list[str]:
        """Take in what there is, though logs lack what was taken in of them. Return a sentence for each log."""
        with self._parts.pages.absorb.threads, self._store.lock():
            behind = find_behind(self._store, self._parts.store.machine)
            if behind:
                machines = self._parts.store.machines()
                self._take_without(behind, [each for each in map(self._read, machines) if each is not None])
        return [told_without(machine) for machine in sorted(behind)]

    def _take_without(self, behind: Mapping[str, Behind], news: list[News]) -> None:
        """Take in what there is. What only the pages have of the rest stays on them."""
        absorb = self._parts.pages.absorb
        for machine in behind:
            absorb.heads.taken.pop(machine, None)
        self._keeps = True
        try:
            self._take(news, [path for path in absorb.heads.pages if is_page_path(path)])
        finally:
            self._keeps = False
        record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": clock.now(), "kind": WITHOUT}
        last = {machine: each.last for machine, each in behind.items()}
        self._store.append(JOURNAL, [record | {"machines": last}])

    def _tell_left_out(self, news: Sequence[News]) -> None:
        for each in news:
            if each.left_out:
                many = "1 record" if each.left_out == 1 else f"{each.left_out:,} records"
                self._note(f"{many} in the log of {each.machine} {MAKE_NO_SENSE}")

    def undone(self, path: str, edit: str, head: bytes | None) -> bytes | None:
        """Return a page without an edit of this machine, where others wrote since."""
        for machine in self._find_behind():
            raise Refused(f"Nothing was undone. {told_behind(machine)}")
        own = self._parts.store.machine
        capped = Proofs(self._store, trusts=self._policy.trust_external_edits).capped
        logs = page_logs(self._store, own, self._parts.store.machines(), {path}, capped).get(path, {})
        page = woven_page(path, logs, own, self._parts.stones)
        page.take_arrivals()
        return page.undone(own, edit, head)

    # --- what is new -----------------------------------------------------------------------

    def _has_news(self) -> bool:
        taken = self._parts.pages.absorb.heads.taken
        others = self._parts.store.machines()
        if any(self._end(name) not in (None, taken.get(name)) for name in others):
            return True
        doubted = self._parts.pages.absorb.heads.doubted
        return bool(self._freed()) or any(each != self._find_talk() for each in doubted.values())

    def _find_talk(self) -> str:
        """Return what changes when talk or entries of other machines arrive: what their logs claim may rest on it."""
        machines = self._parts.store.machines()
        stats = (self._store.stat(stream_files(each)[0]) for each in talk_elsewhere(self._store))
        folders = (f"{log_of(machine)}/entries" for machine in machines)
        topics = [f"{folder}/{topic}" for folder in folders for topic in self._store.folders(folder)]
        entries = [name for topic in topics for name in self._store.folders(topic)]
        return sha256(repr(([stat and stat.mark for stat in stats], entries)).encode())

    def _freed(self) -> list[str]:
        """Return the pages that waited for a name, and can have it now."""
        waiting = [path for path in self._parts.pages.absorb.heads.taken if path.endswith(".md")]
        return [path for path in waiting if self._twin_of(path) is None]

    def _twin_of(self, path: str) -> str | None:
        """Return the file whose name some systems take for that of a page that has no file here."""
        folder, slash, name = path.rpartition("/")
        names = self._parts.store.names(folder)
        twins = (each for each in names if same_name(each, name)) if name not in names else iter(())
        return next((f"{folder}{slash}{each}" for each in sorted(twins)), None)

    def _is_whole(self, machine: str) -> bool:
        """True if the journal that is here knows what its machine has forgotten. If not, it is older than the
        tombstones beside it, and the newer one is on its way."""
        stones = {stone.id for stone in self._parts.stones.of(machine)}
        if stones:
            for line in self._store.read(stream_of(machine, JOURNAL)):
                if line.record.get("kind") == "forgotten":
                    stones.discard(str(line.record.get("id")))
        return not stones

    def _drop_gone(self, machine: str) -> None:
        """Drop entries and bodies that a machine removed when it forgot: not every copier carries that. So the versions
        of pages that it had displaced."""
        buried = self._parts.stones.heard(machine)
        if not buried:
            return
        self._parts.store.drop_aside(lambda data: False)
        log, remove = log_of(machine), self._parts.store.remove_from
        for topic in self._store.folders(f"{log}/entries"):
            for entry in buried.gone.intersection(self._store.folders(f"{log}/entries/{topic}")):
                remove(machine, f"{log}/entries/{topic}/{entry}")
        for stat in self._store.list(f"{log}/bodies"):
            if buried.holds("body", stat.path.rpartition("/")[2]):
                remove(machine, stat.path)

    def _end(self, machine: str) -> list[object] | None:
        """Return where the journal of a machine ends. It is read only if its file looks different."""
        path = stream_files(stream_of(machine, JOURNAL))[0]
        stat = self._store.stat(path)
        looked = self._looks.get(machine)
        if looked is not None and stat is not None and looked[0] == stat.mark:
            return looked[1]
        last = next(self._store.read_back(stream_of(machine, JOURNAL)), None)
        end = None if last is None else [*last.end, last.record.get("id")]
        if stat is not None and changed_ns(stat.mark) < time.time_ns() - RACY_NS:
            self._looks[machine] = stat.mark, end
        return end

    def _read(self, machine: str) -> News | None:
        """Return what is new in a log. If it is no longer the log that was read, all of it is new."""
        stream = stream_of(machine, JOURNAL)
        place = self._parts.pages.absorb.heads.taken.get(machine)
        start = START
        if place is not None and is_same_log(self._store, Position(place[0], place[1]), place[2], stream):
            start = Position(place[0], place[1])
        pages: set[str] = set()
        topics: set[str] = set()
        end: list[object] | None = None
        left_out = 0
        for line in self._store.read(stream, start):
            record = line.record
            end = [*line.end, record.get("id")]
            if is_newer(record):
                return News(machine, frozenset(), frozenset(), end, is_newer=True)
            left_out += record.get("kind") == LEFT_OUT
            if record.get("kind") in ("edit", "void"):
                pages.add(str(record.get("path")))
                topics.add(shard_of(str(record.get("path"))) or "")
                topics.update(str(raw.get("topic")) for raw in record.get("facts", ()))  # an item of review
            elif record.get("kind") in ("fact", "placed"):
                topics.add(str(record.get("topic")))
                for raw in (*record.get("raised", ()), *record.get("history", ())):
                    topics.add(str(raw.get("topic")))
                topics.update(str(topic) for topic, *_ in record.get("restated", ()))
            elif record.get("kind") == MERGED:
                topics.update(str(raw.get("topic")) for raw in record.get("facts", ()))
        if end is None:
            return None
        return News(machine, frozenset(pages), frozenset(topics - {""}), end, left_out)

    # --- taking it in ----------------------------------------------------------------------

    def _take(self, news: list[News], freed: Sequence[str] = ()) -> None:
        absorb = self._parts.pages.absorb
        self._parts.known.catch_up()
        talk = self._find_talk()  # before it is read: what comes meanwhile is looked at the next time
        self._proofs = Proofs(self._store, trusts=self._policy.trust_external_edits)
        paths = {*freed, *(path for each in news for path in each.pages)}
        files = self._parts.store
        logs = page_logs(self._store, files.machine, files.machines(), paths, self._proofs.capped)
        reversed_here = [
            path
            for path in sorted(paths)
            if self._parts.brought_files.absorb_reversal(path, logs.get(path, {}))
        ]
        if reversed_here:
            logs = page_logs(self._store, files.machine, files.machines(), paths, self._proofs.capped)
        for machine in (self._parts.store.machine, *self._parts.store.machines()):
            self._facts_of(machine).catch_up()
        arrived: dict[str, tuple[str, Edit]] = {}
        self._logs = logs
        for path in sorted(paths):
            page = woven_page(path, logs.get(path, {}), files.machine, self._parts.stones)
            arrived |= page.take_arrivals()
            self._weave_page(page, logs.get(path, {}))
        self._parts.known.catch_up()
        authors = {
            name: edit.author
            for page in logs.values()
            for log in page.values()
            for name, edit in log.edits.items()
        }
        told = self._join_facts(news, arrived, authors)
        if told:
            record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": clock.now(), "kind": MERGED}
            self._store.append(JOURNAL, [record | told])
        self._drop_states()
        absorb.heads.catch_up()
        absorb.heads.doubted = dict.fromkeys(sorted(self._proofs.doubted), talk)
        absorb.heads.take_in({each.machine: each.end for each in news})

    def _drop_states(self) -> None:
        """Remove conflict copies of the state that a log has as a version of it: what they say is woven in."""
        names = [stat.path for stat in self._store.list()]
        copies = [name for name, original in copies_among(names) if original == STATE]
        files = self._parts.store
        logs = page_logs(self._store, files.machine, files.machines(), {STATE} if copies else ())
        for name in copies:
            document = files.get(name, self._policy.page_bytes)
            if document is not None and any(document.sha256 in log.versions for log in logs[STATE].values()):
                self._store.delete(name, base=document.sha256)

    def _weave_page(self, page: WovenPage, logs: Mapping[str, PageLog]) -> None:
        absorb, machine, path = self._parts.pages.absorb, self._parts.store.machine, page.path
        edit_id, found = new_id(), Verdict()
        weave = page.weave()
        latest = page.latest(weave)
        if latest is None:
            found = page.judge(weave)
            if found != Verdict():
                there = frozenset(page.seen) - {machine}
                change = Change(
                    edit_id, (), page.seen, drops=found.drops, contests=found.contests, alone=there
                )
                weave = page.weave((machine, change))
        new = page.made(weave) if latest is None else latest.page
        head = absorb.head_bytes(path)
        absorb.heads.taken.pop(path, None)
        if head is None and new is not None and (twin := self._twin_of(path)) is not None:
            absorb.heads.take_in({path: [0, 0, None]})
            self._note(f"{path} of {', '.join(sorted(page.seen))} waits: {twin} {TAKE_FOR_ONE}")
            return
        seen = {name: last for name, last in page.seen.items() if name != machine}
        if new == head and found == Verdict() and page.is_told(weave, machine):
            return
        writers = {undoubted(body(line.text).strip()): line.writer for line in weave.lines()}
        told = self._told(path, head, new, writers)
        edit = make_edit(edit_id, clock.now(), path, PROGRAM, REASON, head, new, facts=told).but(
            merge=_merge_of(seen, found, page.machine_of(latest)), summary=page.summary_author(weave)
        )
        self._put(path, logs, edit, head, new)
        if self._keeps and head is not None:
            self._keep(path, head, weave)

    def _keep(self, path: str, head: bytes, weave: Weave) -> None:
        """Put lines that no log has any more on their page again."""
        text_of = woven_text(path)
        now = self._parts.pages.absorb.head_bytes(path)
        text, before = (text_of(each) or "" for each in (now, head))
        told = {line.text.strip() for line in (*weave.lines(), *(line for line, _ in weave.removed()))}
        lost = [line for line in new_lines(text, before) if line not in told]
        if path != STATE:
            # No log proves now whose words they were, but this machine knew the proof.
            persons = {line for line in lost if self._is_persons(path, line)}
            self._parts.brought_files.put_back(path, before, persons, PERSON)
            self._parts.brought_files.put_back(path, before, {*lost} - persons)
        elif lost:
            made = state_of((row, "") for row in (*split_lines(text), *lost))
            edit = self._parts.pages.absorb.edit_from_head(path, made, PROGRAM, KEPT)
            self._store.put(path, made, base=sha256_or_none(now), record=record_of(edit))

    def _is_persons(self, path: str, line: str) -> bool:
        """True if a person said or confirmed what a line says."""
        said = {(fact.relation, fact.object) for fact in parse(path, line).facts}
        known = self._parts.known.of(shard_of(path) or "")
        return any(
            (fact.relation, fact.object) in said and fact.level in ("said", "confirmed") for fact in known
        )

    def _put(
        self, path: str, logs: Mapping[str, PageLog], edit: Edit, head: bytes | None, new: bytes | None
    ) -> None:
        """Journal a merged page, and put it in place of a file that is a known version. Any other file has words of a
        person: they are put on the merged page, as an edit of their own."""
        if not is_page_path(path):
            return  # only pages are made of logs
        absorb = self._parts.pages.absorb
        document = self._parts.store.get(path, self._policy.page_bytes)
        there = document.sha256 if document is not None else None
        known = {
            sha256_or_none(head),
            sha256_or_none(new),
            *(each for log in logs.values() for each in log.versions),
        }
        if there in known and there is not None and there != sha256_or_none(new):
            if new is None:
                self._store.delete(path, base=there, record=record_of(edit))
            else:
                self._store.put(path, new, base=there, record=record_of(edit))
            absorb.heads.catch_up()
            return
        if there is None and head is None and new is not None:
            self._store.put(path, new, base=None, record=record_of(edit))
            absorb.heads.catch_up()
            return
        author, reason = absorb.heads.author(path)
        self._store.append(JOURNAL, [record_of(edit)])
        absorb.heads.catch_up()
        absorb.keep_copy(path, new)
        if document is not None and there not in known and not absorb.hold(path, document):
            versions = [woven_text(path)(head), *last_texts(path, logs.values())]
            self._put_on(path, document, versions, new, author, reason)

    def _put_on(
        self,
        path: str,
        document: Document,
        versions: Iterable[str | None],
        new: bytes | None,
        author: str,
        reason: str,
    ) -> None:
        """Put what a person did to a file on the merged page. The version most like the file is taken for the one that
        the person changed."""
        text_of = woven_text(path)
        file, merged = text_of(document.data), text_of(new)
        if file is None or merged is None:
            return  # it stays as it is, and is absorbed as an outside edit
        texts = [text for text in versions if text is not None]
        base = find_base(texts, file)
        if path == STATE:
            rows = weave_both(base, merged, own_rows(file, base, [merged, *texts]))
            machine = self._parts.store.machine
            made = state_of((row, machine) for row in split_lines(rows) if row.strip())
        else:
            file = _own_words(file, base, [merged, *texts])
            made = put_on(path, base, merged, file).encode()
        if made == new:
            self._store.put(path, made, base=document.sha256)
        elif made != document.data:
            outside = self._parts.pages.absorb.edit_from_head(path, made, author, reason)
            record = record_of(outside) | {"taken": document.sha256}
            self._store.put(path, made, base=document.sha256, record=record)
            self._parts.pages.absorb.heads.catch_up()

    def _told(
        self, path: str, head: bytes | None, new: bytes | None, writers: Mapping[str, str]
    ) -> tuple[Record, ...]:
        """Return what the machines know of the facts on the lines that are new here, or marked. `writers`: by line, the
        machine that wrote it, which knows best."""
        text, before = (new or b"").decode(), (head or b"").decode("utf-8", "replace")
        lines = text.splitlines()
        old = {(fact.relation, fact.object) for fact in parse(path, before).facts}
        known = {name: self._facts_by_words(name, path) for name in {self._parts.store.machine, *self._facts}}
        found: list[Record] = []
        for read in parse(path, text).facts:
            if (read.relation, read.object) in old:
                continue
            line = undoubted(lines[(read.line or 1) - 1].strip())
            machines = sorted(known, key=lambda name: name != writers.get(line))
            words = sorted({read.object, undoubted(read.object)})
            like = [
                fact
                for name in machines
                for said in words
                for fact in known[name].get((read.relation, said), ())
            ]
            # One that is on no page gave way to one that is gone: it is again what it was.
            on_page = next((fact for fact in like if fact.path == path), None)
            fact = on_page or max(like, key=worth, default=None)
            if fact is not None:
                for each in like:  # what one machine decided is not taken back by what another knows
                    fact = join(fact, each, stands=True) if each.id == fact.id else fact
                found.append(told_of(fact) | {"relation": read.relation, "object": read.object})
        return tuple(found)

    def _facts_by_words(self, machine: str, path: str) -> Mapping[tuple[str, str], list[Fact]]:
        """Return what a machine knows, or knew, of the lines of a page, by their words."""
        found: dict[tuple[str, str], list[Fact]] = {}
        for fact in self._proven_facts(machine, shard_of(path) or ""):
            found.setdefault((fact.relation, fact.object), []).append(fact)
        return found

    def _proven_facts(self, machine: str, topic: str) -> list[Fact]:
        """Return the facts of a topic as a machine knows them, with no higher level than is proven now."""
        found = self._facts_of(machine).of(topic)
        if machine == self._parts.store.machine:
            return found
        return [self._proofs.capped_fact(fact, machine) for fact in found]

    def _facts_of(self, machine: str) -> Facts:
        if machine == self._parts.store.machine:
            return self._parts.known
        if machine not in self._facts:
            log = OtherLog(self._store, machine, without_levels)

            def head(path: str) -> bytes | None:
                from looseleaf.pages.history import History

                return History(log).texts().get(path)

            trusts = self._policy.trust_external_edits
            self._facts[machine] = Facts(log, head, trusts=trusts)
        return self._facts[machine]

    def _join_facts(
        self, news: Iterable[News], arrived: Mapping[str, tuple[str, Edit]], authors: Mapping[str, str]
    ) -> Record:
        """Return the facts of which this machine knows something else once it has read the others' logs. Also those
        that take the place of another on their line, because two machines made a fact of the same words: of the two,
        the one with the lower id."""
        before: dict[tuple[str, str], Fact] = {}
        now: dict[tuple[str, str], Fact] = {}
        lines: dict[tuple[str, str, str], str] = {}
        retold: dict[str, str] = {}
        for topic in {topic for each in news for topic in each.topics}:
            for fact in self._parts.known.of(topic):
                before[topic, fact.id or ""] = fact
                now[topic, fact.id or ""] = self._attributed(fact, arrived, authors)
                if fact.path is not None:
                    lines[fact.path, fact.relation, fact.object] = fact.id or ""
        for each in news:
            unheard = self._parts.stones.unheard(each.machine)
            for topic in sorted(each.topics):
                for told in self._proven_facts(each.machine, topic):
                    fact = self._attributed(told, arrived, authors)
                    at = topic, fact.id or ""
                    held = now.get(at)
                    if held is None and unheard and _is_told(unheard, fact):
                        continue
                    if held is not None and held.path is not None:  # it says what its line says here
                        both = join(held, fact, stands=True)
                        now[at] = both.but(object=held.object, path=held.path)
                    else:
                        now[at] = join(held or fact, fact, stands=False).but(path=None)
                    line = fact.path or "", fact.relation, fact.object
                    other = lines.get(line)
                    if other is not None and other != fact.id:
                        first, last = sorted((other, fact.id or ""))
                        mine, theirs = now[topic, first], now[topic, last]
                        now[topic, first] = join(mine, theirs.but(id=first), stands=True).but(path=fact.path)
                        now[topic, last] = theirs.but(
                            status="superseded", superseded_by=first, valid_to=None, path=None
                        )
                        if other != first:
                            retold[first] = retold.pop(other, other)
                            lines[line] = first
        self._end_replaced(now)
        changed = {
            at: fact.but(path=None, line=None)
            for at, fact in sorted(now.items())
            if at not in before or fact.but(path=None, line=None) != before[at].but(path=None, line=None)
        }
        record: Record = {"facts": [fact.to_dict() for fact in changed.values()]}
        record["retold"] = [
            [old, now[at].to_dict()] for at in sorted(now) if (old := retold.get(at[1])) is not None
        ]
        return {name: value for name, value in record.items() if value}

    def _end_replaced(self, facts: dict[tuple[str, str], Fact]) -> None:
        """Say of values that gave way to one of another machine to which, and when: when that one began."""
        stand: dict[tuple[str, str, str], list[Fact]] = {}
        for (topic, _), fact in facts.items():
            at = address_of(fact)
            if fact.path is not None and fact.status == "current" and not at.many:
                stand.setdefault((topic, at.slot, at.within), []).append(fact)
        for key, fact in facts.items():
            if fact.status != "superseded" or fact.valid_to is not None or fact.superseded_by is not None:
                continue
            at = address_of(fact)
            found = stand.get((key[0], at.slot, at.within), ())
            if len(found) == 1 and found[0].valid_from is not None and not address_of(fact).many:
                end = max(found[0].valid_from, fact.valid_from or "")
                facts[key] = fact.but(superseded_by=found[0].id, valid_to=end)

    def _attributed(
        self, fact: Fact, arrived: Mapping[str, tuple[str, Edit]], authors: Mapping[str, str]
    ) -> Fact:
        """Return a fact with the level that it really has, if it only seemed to be a person's because the file came
        before the log that explains it."""
        edits = [source.rpartition("@")[2] for source in fact.sources]
        found = [arrived[name] for name in edits if name in arrived]
        if not found or any(name not in arrived and authors.get(name, PERSON) in _PERSONS for name in edits):
            return fact
        machine, edit = found[0]
        while edit.id in arrived:  # it only passed on what had come there
            machine, edit = arrived[edit.id]
        level = lowest(
            (fact.level or "tainted", _level_at(fact, edit, self._logs[edit.path][machine], arrived))
        )
        if level == fact.level:
            return fact  # its level was not too high
        return fact.but(level=level, confidence=CONFIDENCE[level], decided_at=edit.ts)


MAKE_NO_SENSE = (
    "make no sense, or are about files that are no pages, and are left out. `looseleaf check` names them."
)
TAKE_FOR_ONE = (
    "is here, and some systems take the two names for one. Rename one of them, on the machine that has it."
)
_PERSONS = (PERSON, EXTERNAL)


def _level_at(fact: Fact, edit: Edit, log: PageLog, arrived: Collection[str]) -> Level:
    """Return the level of a fact on the page that an edit left, by the edit that put its line there. (What its machine
    says of it may come from one that took a file for a person's.)"""
    said = undoubted(fact.object)
    level: Level = "inferred"
    for each in log.edits.values():
        told = [
            raw
            for raw in each.facts
            if raw.get("relation") == fact.relation and undoubted(raw["object"]) == said
        ]
        if told:
            level = told[0].get("level") or level
        elif each.id not in arrived and any(
            plain_part(line).removeprefix("- ") in (said, f"{fact.relation}: {said}")
            for hunk in each.hunks
            for line in hunk.added
        ):
            level = "confirmed" if each.author in _PERSONS else "inferred"
        if each.id == edit.id:
            break
    return level


def _own_words(file: str, base: str, versions: Iterable[str]) -> str:
    """Return a file without the lines that machines wrote and that its base does not have: a program that merges files
    (git) brought them, or marked the lines that are there."""
    before = {plain_part(part) for part in split_parts(base)}
    brought = {plain_part(part) for text in versions for part in split_parts(text)} - before - {""}
    own: list[str] = []
    for part in split_parts(file):
        plain = plain_part(part)
        if plain not in brought:
            own.append(part.replace(body(part).strip(), plain) if plain in before else part)
    return joined(own)


def _merge_of(seen: Mapping[str, str], found: Verdict, like: str | None) -> Record:
    merge: Record = {"seen": dict(sorted(seen.items()))}
    if like in seen:
        merge["as"] = like
    pairs = {"drops": found.drops, "contests": found.contests}
    return merge | {
        name: [[list(one), list(other)] for one, other in each] for name, each in pairs.items() if each
    }


def _is_told(unheard: Buried, fact: Fact) -> bool:
    """True if a fact is forgotten, and its machine has not heard of that. (What it only took in from elsewhere is on no
    page any more.)"""
    buried = unheard if fact.status == "current" else unheard.with_echoes
    return buried.has_told(fact.to_dict())
