"""The plan to forget: what each file becomes, worked out in memory before anything is written."""

from __future__ import annotations

import json
from functools import cached_property

from looseleaf.base.ids import is_id, now, time_of
from looseleaf.base.messages import Trace
from looseleaf.base.origins import RECALLED
from looseleaf.base.paths import is_page
from looseleaf.base.values import sha256_or_none
from looseleaf.facts.known_facts import fact_text, sentence_text
from looseleaf.forget.cut import canonical_topics
from looseleaf.forget.dependents import (
    OWN_WORDS,
    ROLES,
    TOPICS,
    GoneTraces,
    Writes,
    lost_sentences,
    make_alone_test,
    member_names,
    names_one_of,
    parse_json,
    said_members,
    said_values,
    texts_of,
    words_of,
)
from looseleaf.forget.heard import Elsewhere
from looseleaf.forget.log_snapshot import LogMoved
from looseleaf.forget.probe import LEAST, Needles, telling_sentences
from looseleaf.forget.remake_entries import RemadeEntries
from looseleaf.forget.replay import Replay, World
from looseleaf.forget.rewrite_log import RewrittenLines, rewrite_journal
from looseleaf.log.entries import FOLDER
from looseleaf.log.journal import AGENT
from looseleaf.log.recorder import encode_view, view_of
from looseleaf.log.talk_streams import agent_of, talk_elsewhere
from looseleaf.pages.settle import aside_label
from looseleaf.place.placer import HELP
from looseleaf.store import JOURNAL, TOMBSTONES
from looseleaf.store.documents import Removal
from looseleaf.store.records import BODIES
from looseleaf.store.root import ASIDE, LATE, STAGED
from looseleaf.store.streams import REQUEST_KEY, REQUEST_SECONDS
from looseleaf.text.spellings import each_text, fold_text, masked_value, sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from looseleaf.base.values import Fact, Record
    from looseleaf.facts.known_facts import Facts
    from looseleaf.facts.stones import Stones
    from looseleaf.forget.cut import Cut
    from looseleaf.forget.log_snapshot import LogSnapshot
    from looseleaf.pages.pages import Pages
    from looseleaf.place.placer import Placer
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import OpenStore, Store, Switch

    class Needs(Protocol):
        context: Context
        store: OpenStore

        @property
        def known(self) -> Facts: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def placer(self) -> Placer: ...
        @property
        def stones(self) -> Stones: ...
        def build(self) -> object:
            """Bring the views up to date."""

        def hear(self) -> None:
            """Forget what other machines forgot; also in the logs that a merge made of this machine's own."""

        def close_views(self) -> None:
            """Close the open views until they are needed again."""

    Fates = dict[str, dict[str, Record | None]]

_TEXT_LEAST = 20
"""Fewest letters of a text whose hash a tombstone keeps: shorter ones are said again and again."""

_KEPT = ("# ", "- Updated: ", HELP.strip())
"""How the program's own lines on pages begin: they are no words of people."""


class ForgetPlan:
    """A plan, made from logs as they were when everything was absorbed and recovered. New files go to the `switch`;
    None: they are only counted."""

    def __init__(
        self,
        parts: Needs,
        cut: Cut,
        logs: LogSnapshot,
        switch: Switch | None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._parts = parts
        self._logs, self._switch = logs, switch
        self.lost_elsewhere: list[str] = []
        """The sentences that go from what other machines recorded, when they hear of it."""
        self._elsewhere = elsewhere or self._look_elsewhere(cut)
        self._store: Store = logs
        self._follows = False
        """True if lines are read that came after the snapshot."""
        topics = canonical_topics(parts.known)
        self._before = parts.known.all()
        grown: Cut | None = cut
        while grown is not None:
            self._replay_history(grown, topics)
            grown = self._cut.with_quotes(self._find_recalled())
        self.needles = self._collect_needles()
        self._leftovers: list[Removal] = []
        self._looked_at: set[str] = set()
        self._lines = self._rewrite_prompts()

    def _look_elsewhere(self, cut: Cut) -> Elsewhere | None:
        """Find what goes from the talk of other machines: what is known here of it goes now."""
        gone: set[str] = set()
        for stream in talk_elsewhere(self._logs.under):
            for line in self._logs.under.read(stream):
                left = cut.cut_trace(agent_of(stream), line.record)
                if left is line.record:
                    continue
                lost = texts_of(line.record) if left is None else lost_sentences(line.record, left)
                self.lost_elsewhere += (each for text in lost for each in sentences_in(text))
                gone |= {str(line.record.get("id"))} if left is None else set()
        return Elsewhere(None, frozenset(gone)) if gone else None

    def _replay_history(self, cut: Cut, topics: Callable[[str], str]) -> None:
        """Replay history without what is to go."""
        policy, count = self._parts.context.policy, self._parts.context.count
        grown: Cut | None = cut
        while grown is not None:
            cut = grown
            self._gone: list[tuple[str, Record]] = []
            """Traces that go, each with its stream."""
            self._changed: list[tuple[str, Record, Record]] = []
            """Traces that lose sentences, and what is left of them."""
            self._fates = self._cut_traces(cut)
            made = RemadeEntries(self._store, policy, cut, self._fates, count, topics)
            # If the rules find the fact in another sentence, that says it as well.
            grown = cut.with_quotes(made.more)
        self._cut, self._made = cut, made
        self._world = World(self._store, self._left_of, made.files)
        gone = self._collect_gone()
        name = self._switch.name if self._switch is not None else ""
        told = self._before, name, self._elsewhere
        self._replay = Replay(self._store, self._world, cut, made, gone, policy, topics, *told)
        self._replay()
        self._after = self._replay.facts()
        there = {(fact.topic, fact.relation, fact.object) for fact in self._after}
        self._facts_gone = [
            fact for fact in self._before if (fact.topic, fact.relation, fact.object) not in there
        ]

    def _cut_traces(self, cut: Cut) -> Fates:
        """Find what is left of each changed trace. Recalled text goes with its source."""
        fates: Fates = {}
        recalled: list[tuple[str, Record]] = []
        self._sessions: set[str] = set()
        """The sessions that stay."""
        self._members: set[str] = set()
        """The names of members in traces that stay."""
        for stream, record in self._read_traces():
            left = cut.cut_trace(stream.partition("/")[2], record)
            is_recalled = RECALLED in (record.get("tags") or ())
            if left is not record:
                self._record_change(fates, stream, record, left)
            elif is_recalled:
                recalled.append((stream, record))
            if left is not None and not is_recalled:
                self._sessions.add(str(left.get("session_id")))
                if cut.words:
                    self._members.update(member_names(left))
        self._has_recalled = bool(recalled)
        if recalled and fates:
            own = Needles(telling_sentences(self._read_gone_sentences()))
            for stream, record in recalled:
                words = tuple(own.find(" ".join(each_text(said_members(record)))))
                if words:
                    said = {name: masked_value(value, words) for name, value in said_members(record).items()}
                    self._record_change(fates, stream, record, {**record, **said})
        return fates

    def _find_recalled(self) -> dict[str, set[str]]:
        """Return, for each recalled trace, the facts in it that go and that nothing else says."""
        if not self._has_recalled:
            return {}
        recalled = (each for each in self._read_traces() if RECALLED in (each[1].get("tags") or ()))
        there = (self._left_of(stream, record) for stream, record in recalled)
        texts = {str(each.get("id")): " ".join(each_text(said_members(each))) for each in there if each}
        if not texts:
            return {}
        facts = (
            each for fact in self._facts_gone for each in (f"{fact.relation}: {fact.object}", fact.object)
        )
        own = Needles(each for each in facts if sum(map(str.isalnum, each)) >= LEAST)
        own = own.without("\n".join(each_text(said_values(record))) for record in self._read_kept())
        own = own.without(f"{fact.relation}: {fact.object}" for fact in self._after)
        return {name: own.find(text) for name, text in texts.items()}

    def _record_change(self, fates: Fates, stream: str, record: Record, left: Record | None) -> None:
        fates.setdefault(stream, {})[str(record.get("id"))] = left
        if left is None:
            self._gone.append((stream, record))
        else:
            self._changed.append((stream, record, left))

    def _read_traces(self) -> Iterator[tuple[str, Record]]:
        for stream in self._store.streams():
            if stream.startswith("traces/"):
                for line in self._store.read(stream):
                    yield stream, line.record

    def _left_of(self, stream: str, record: Record) -> Record | None:
        return self._fates.get(stream, {}).get(str(record.get("id")), record)

    def _read_gone_sentences(self) -> Iterator[str]:
        """Yield the sentences that went."""
        for _, record in self._gone:
            yield from texts_of(record)
        for _, record, left in self._changed:
            yield from lost_sentences(record, left)

    def _collect_gone(self) -> GoneTraces:
        gone: dict[str, set[str]] = {}
        changed: dict[str, set[str]] = {}
        for ids, found in ((gone, self._gone), (changed, self._changed)):
            for stream, record, *_ in found:
                ids.setdefault(stream.partition("/")[2], set()).add(str(record.get("id")))
        if not gone and not changed:
            return GoneTraces({}, {}, lambda sentence: False, Writes())
        words = fold_text("\n".join(self._read_gone_sentences()))
        alone = make_alone_test(self._read_kept_lines(), words, self._read_kept_texts)
        traces = self._read_traces() if self._cut.is_of_sources else ()
        writes = Writes(traces, lambda stream, record: self._left_of(stream, record) is None)
        return GoneTraces(gone, changed, alone, writes)

    def _read_kept_lines(self) -> Iterator[str]:
        """Yield the sentences that windows keep of compacted talk."""
        marks = (line.record for line in self._store.read(JOURNAL) if line.record.get("kind") == "mark")
        for record in marks:
            said = record.get("semantic")
            yield from map(str, said if isinstance(said, list) else ())

    def _read_kept_texts(self) -> Iterator[str]:
        return ("\n".join(each_text(said_values(each))) for each in self._read_kept())

    def _read_kept(self) -> Iterator[Record]:
        return (record for _, record in self._read_staying_traces())

    def _read_staying_traces(self) -> Iterator[tuple[str, Record]]:
        for stream, record in self._read_traces():
            left = self._left_of(stream, record)
            if left is not None and RECALLED not in (left.get("tags") or ()):
                yield stream, left

    def _collect_needles(self) -> Needles:
        """Return what must be nowhere now: what went, unless something that stays says it too."""
        gone_lines = (line for line in self._replay.lines_gone() if not line.startswith(_KEPT))
        # Views have summaries too: look for their text, without the label.
        bare = (line.lstrip("-*+#> ").removeprefix("[ ] ").removeprefix("Summary: ") for line in gone_lines)
        lines = [*bare, *(fact.quote for fact in self._facts_gone if fact.quote)]
        gone = [*telling_sentences((*self._read_gone_sentences(), *self._made.lost))]
        gone += [fact.object for fact in self._facts_gone if sum(map(str.isalnum, fact.object)) >= LEAST]
        told = {*gone, *telling_sentences(each for each in lines if not self._cut.holds(each))}
        beside = {*telling_sentences(filter(self._cut.holds, lines))} - told
        self._beside = {each for each in beside if not self._cut.holds(each)}
        """Sentences that only went with the line in which they stood."""
        found = Needles((*gone, *telling_sentences(lines))).without(self._read_staying())
        alone = (
            word for word in self._cut.words if not self._cut.again.says(word) and not self._is_ours(word)
        )
        return Needles({*found.texts, *alone})

    def _is_ours(self, word: str) -> bool:
        """True if the words are now only the program's own: member names, and what it puts on pages. For these, only
        the sentences that went can be looked for."""
        if self.names:
            return False
        names = {*self._members}
        names.update(name for record in self._read_journal() for name in member_names(record))
        if not any(word in fold_text(name) for name in (*names, *TOPICS, *OWN_WORDS)):
            return False
        if any(word in each for each in (*TOPICS, "main")):
            return True  # in every path and summary
        entries = (ROLES.sub("", text) for text in self._read_entries())
        pages = ((path, data) for path, data in self._world.documents.items() if is_page(path))
        return not (
            any(map(self._cut.holds, self._read_records()))
            or any(self._cut.holds(parse_json(text)) for text in entries)
            or any(self._cut.cut_version(path, data) != data for path, data in pages)
        )

    def _read_records(self) -> Iterator[Record]:
        """Yield traces and journal as they will be; edits without their lines, which are checked on their pages."""
        yield from self._read_kept()
        yield from self._read_journal()

    def _read_journal(self) -> Iterator[Record]:
        for record in self._world.journal:
            yield {name: value for name, value in record.items() if name != "diff"}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names that hold the words and stay: whose they are, and how to remove them."""
        if not self._cut.words:
            return ()
        topics = {*self._parts.known.topics, *self._store.folders(FOLDER)} - TOPICS
        streams = (stream.partition("/") for stream in self._store.streams())
        agents = {name for kind, _, name in streams if kind in ("traces", "prompts")}
        authors = (str(record.get("author")) for record in self._world.journal)
        agents |= {name.removeprefix(AGENT) for name in authors if name.startswith(AGENT)}
        kinds = {"topic": topics, "agent": agents - {"main"}, "session": self._sessions}
        found = [
            (kind, name) for kind, names in kinds.items() for name in sorted(names) if self._cut.holds(name)
        ]
        return tuple(
            f"the {kind} {name}" + (f" (`looseleaf forget --{kind} '{name}'`)" if kind != "agent" else "")
            for kind, name in found
        )

    def _read_staying(self) -> Iterator[str]:
        """Yield all that stays, as texts; also what other machines recorded."""
        for record in self._read_kept():
            yield "\n".join(each_text(record))
        for record in self._world.journal:
            yield "\n".join(each_text(record))
        for fact in self._after:
            yield f"{fact.relation}: {fact.object}\n{fact.quote or ''}"
        yield from self._read_entries()
        for stream in talk_elsewhere(self._logs.under):
            for line in self._logs.under.read(stream):
                left = self._cut.cut_trace(agent_of(stream), line.record)
                if left is not None and RECALLED not in (left.get("tags") or ()):
                    yield "\n".join(each_text(said_values(left)))

    def _read_entries(self) -> Iterator[str]:
        for topic in self._store.folders(FOLDER):
            for entry in self._world.folders(f"{FOLDER}/{topic}"):
                for file in ("raw.md", "summary.json", "meta.json"):
                    document = self._world.get(f"{FOLDER}/{topic}/{entry}/{file}")
                    if document is not None:
                        yield document.data.decode("utf-8", "replace")

    @property
    def mentions(self) -> tuple[str, ...]:
        """Other places that name the value of a forgotten fact: traces and lines of pages."""
        if self._cut.by != "fact":
            return ()
        words = {fold_text(fact.object) for fact in self._facts_gone if len(fact.object) >= 3}
        found: list[str] = []
        for path, data in sorted(self._world.documents.items()):
            lines = data.decode("utf-8", "replace").split("\n") if is_page(path) else []
            found += [f"{path}:{at}" for at, line in enumerate(lines, 1) if names_one_of(words, [line])]
        for stream, record in self._read_staying_traces():
            if names_one_of(words, each_text(said_values(record))):
                found.append(f"{record.get('turn_id')} of {stream.partition('/')[2]}")
        return tuple(found)

    @property
    def cut(self) -> Cut:
        """The cut, with all sentences that were found to go."""
        return self._cut

    def head_after(self, path: str) -> bytes | None:
        """Return the last journaled bytes of a page, as they will be."""
        return self._world.documents.get(path)

    @cached_property
    def changed_ids(self) -> frozenset[str]:
        """The ids of records that go or lose something."""
        return frozenset(str(old.get("id")) for old in self._changed_records())

    @property
    def changed_requests(self) -> list[str]:
        """The keys of requests whose records go or lose something: a server does not do these again."""
        least = now() - REQUEST_SECONDS
        marks = (
            str(old["request"])[:REQUEST_KEY]
            for old in self._changed_records()
            if "request" in old and is_id(str(old.get("id"))) and time_of(str(old["id"])) >= least
        )
        return sorted({*marks})

    def _changed_records(self) -> Iterator[Record]:
        yield from (old for old, new in self._replay.written if not (len(new) == 1 and new[0] is old))
        yield from (old for _, old in self._gone)
        yield from (old for _, old, _ in self._changed)

    def count(self, most: int) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
        """Return how many of each kind go, and the first of them; all facts."""
        traces = [words_of(record) for _, record in self._gone if Trace.from_record(record) is not None]
        traces += [
            " ".join(lost_sentences(old, left)) or words_of(old)
            for _, old, left in self._changed
            if Trace.from_record(old) is not None
        ]
        asked = sorted(self._facts_gone, key=self._explain_fact)
        facts = [f"{fact.relation}: {fact.object}{self._explain_fact(fact)}" for fact in asked]
        entries = sorted(self._made.gone | self._made.again)
        # Titles and dates last: they go only with the page that was made for the rest.
        lines = sorted(
            filter(None, self._replay.lines_gone()), key=lambda line: (line.startswith(_KEPT), line)
        )
        kinds = {"traces": traces, "entries": entries, "facts": facts, "lines": lines}
        counts = {name: len(found) for name, found in kinds.items()} | {"prompts": self._lines.changed}
        shown = {name: found if name == "facts" else found[:most] for name, found in kinds.items()}
        return counts, {name: tuple(found) for name, found in shown.items() if found}

    def _explain_fact(self, fact: Fact) -> str:
        """Return why a fact goes that was not asked for."""
        if self._cut.by != "fact" or self._cut.takes_fact(fact.topic, fact.relation, fact.object):
            return ""
        return " (said in the same sentence)"

    def list_buried(self) -> Iterator[tuple[str, str]]:
        """Yield what a tombstone keeps from coming back: kinds and texts, to be hashed."""
        # Of whole sources, only texts too long to be a common phrase.
        least = _TEXT_LEAST if self._cut.is_of_sources else 0
        yield from (("session", name) for name in self._cut.sessions)
        yield from (("asked", f"topic\n{name}") for name in self._cut.topics)
        yield from (("asked", f"origin\n{name}") for name in self._cut.origins)
        yield from (("words", words) for words in self._cut.words)
        elsewhere = (each for each in map(sentence_text, self.lost_elsewhere) if each)
        yield from (("sentence", text) for text in elsewhere if len(text) >= least)
        yield from (("body", name) for name in self._lines.dropped - self._lines.bodies.named)
        for _, record in self._gone:
            session = record.get("session_id")
            if isinstance(session, str) and session and session not in self._sessions:
                yield "session", session
            given = record.get("tool_result")
            text = given.get("text") if isinstance(given, dict) else None
            if str(record.get("origin")).startswith("import") and len(str(text or "")) >= _TEXT_LEAST:
                yield "text", str(text)  # a document imported as data, even under another name
        for record in [*(old for _, old in self._gone), *(old for _, old, _ in self._changed)]:
            mark = record.get("correlation_id")
            if isinstance(mark, str) and mark:
                yield "item", mark
            is_imported = str(record.get("origin")).startswith("import")
            if is_imported and len(str(record.get("content"))) >= _TEXT_LEAST:
                yield "text", str(record["content"])
        for reference in self._made.gone | self._made.again:
            entry = self._made.old.get(reference)
            document = self._store.get(f"{FOLDER}/{reference}/raw.md")
            if entry is not None and "traces" not in entry.meta and document is not None:
                yield "text", document.data.decode("utf-8", "replace")
        sentences = {*map(sentence_text, self.needles.texts)} - {*map(sentence_text, self._beside)}
        yield from (("sentence", text) for text in sentences if text and len(text) >= least)
        if not self._cut.is_of_sources:
            for fact in self._facts_gone:
                yield "fact", fact_text(fact.topic, fact.relation, fact.object)

    @property
    def gone_ids(self) -> list[str]:
        """The ids of traces and entries that go, here and elsewhere."""
        traces = {str(record.get("id")) for _, record in self._gone}
        traces |= self._elsewhere.gone if self._elsewhere is not None else set()
        return sorted(filter(is_id, traces | {name.rpartition("/")[2] for name in self._made.gone}))

    @property
    def changes_anything(self) -> bool:
        """True if a log, a page or an entry becomes another."""
        changed = any(not (len(new) == 1 and new[0] is old) for old, new in self._replay.written)
        return changed or bool(self._gone or self._changed or self._made.files or self._lines.changed)

    def _rewrite_prompts(self) -> RewrittenLines:
        """Rewrite the prompts and other streams without what goes."""
        changed = (old for old, new in self._replay.written if not (len(new) == 1 and new[0] is old))
        first = min((float(old.get("ts") or 0.0) for old in changed), default=float("inf"))
        dirty = tuple(self._replay.dirty)

        def left(stream: str, record: Record) -> Record | None:
            if stream.startswith("traces/"):
                return self._left_of_trace(stream, record)
            agent = stream.partition("/")[2]
            if self._cut.takes(record.get("session"), None, agent):
                return None
            is_made = record.get("kind") in ("snapshot", "changes")
            if is_made and float(record.get("ts") or 0.0) >= first:
                text = json.dumps(record, ensure_ascii=False)
                if any(path in text for path in dirty):
                    return None
            words = {name: value for name, value in record.items() if name != "session"}
            return None if self.needles.find(" \n".join(each_text(words))) else record

        limit = self._parts.context.policy.body_bytes
        lines = RewrittenLines(self._logs, limit, self.needles, left, self._switch)
        for stream in self._other_streams():
            lines.take(stream)
        return lines

    def _other_streams(self) -> list[str]:
        """Return the streams of prompts, calls and imports."""
        own = (JOURNAL, TOMBSTONES)
        return [
            each for each in self._logs.under.streams() if not each.startswith("traces/") and each not in own
        ]

    def _left_of_trace(self, stream: str, record: Record) -> Record | None:
        if self._follows:
            is_recalled = RECALLED in (record.get("tags") or ())
            words = " ".join(each_text(said_members(record))) if is_recalled else ""
            if self._cut.cut_trace(stream.partition("/")[2], record) is not record or self.needles.find(
                words
            ):
                raise LogMoved
        return self._left_of(stream, record)

    def stage(self, stone: Record) -> None:
        """Stage what every file becomes. Needs no lock."""
        assert self._switch is not None
        lines, put = self._lines, self._switch.put
        for stream in self._store.streams():
            if stream.startswith("traces/"):
                lines.take(stream)
        journal = rewrite_journal(self._logs, self._replay.written, stone, lines.bodies, self.needles)
        for number, new in journal:
            lines.staged[JOURNAL, number] = put("", new)
        for path, data in self._made.files.items():
            if data is not None:
                put(path, data)
            else:
                self._switch.remove(Removal(path))
        for path in sorted(self._replay.dirty):
            was, now = self._replay.before.get(path), self._world.documents.get(path)
            if was == now:
                continue
            if now is not None:
                put(path, now, sha256_or_none(was), is_page=True)
            elif was is not None:
                self._switch.remove(Removal(path, sha256_or_none(was)))
        self._leftovers = list(self._find_leftovers())

    def follow(self) -> int:
        """Stage what was said since the plan was made; return the number of its bytes. Raise `LogMoved` if some of that
        goes as well."""
        self._follows = True
        streams = [*self._other_streams(), *filter(_is_of_traces, self._logs.under.streams())]
        return sum(map(self._lines.follow, streams))

    def finish(self) -> dict[str, bytes]:
        """Complete the switch, under the lock: all is followed. Return the views that others need at once."""
        assert self._switch is not None
        named = self._lines.bodies.named
        for path, data in self._lines.bodies.files.items():
            if path.rpartition("/")[2] in named:
                self._switch.put(path, data)
        removals = [*self._leftovers, *self._find_leftovers()]
        self._switch.remove(*(each for each in removals if each.path.rpartition("/")[2] not in named))
        self._lines.place()
        return {
            view_of(stream.partition("/")[2]): encode_view(*found)
            for stream, found in self._lines.tallies.items()
        }

    def _find_leftovers(self) -> Iterator[Removal]:
        """Yield bodies that no line names now, and files set aside or left by a killed process that hold what goes;
        each only once."""
        for stat in self._store.list(BODIES):
            name = stat.path.rpartition("/")[2]
            is_free = self._is_new(stat.path) and name not in self._lines.bodies.named
            if is_free and (name in self._lines.dropped or self._is_held(stat.path)):
                yield Removal(stat.path)
        paths = {str(old.get("id")): str(old.get("path")) for old, _ in self._replay.written}
        labels = {aside_label(f"facts/{topic}.md").replace("/", ".") for topic in self._cut.topics}
        # Entries are published under the lock: if it is ours, their writers are dead.
        left = self._store.folders(STAGED) if self._follows else ()
        dead = (f"{STAGED}/{name}" for name in left if name.endswith(".dir"))
        for folder in (ASIDE, LATE, STAGED, *dead):
            for stat in self._store.list(folder):
                edit, _, label = stat.path.rpartition("/")[2].partition("-")
                is_dirty = paths.get(edit) in self._replay.dirty or label in labels
                if self._is_new(stat.path) and (is_dirty or self._is_held(stat.path)):
                    yield Removal(stat.path)

    def _is_new(self, path: str) -> bool:
        """True if this was not asked before."""
        is_new = path not in self._looked_at
        self._looked_at.add(path)
        return is_new

    def _is_held(self, path: str) -> bool:
        document = self._store.get(path)
        if document is None:
            return False
        names = (str(record.get("id")) for _, record in self._gone)
        name = path.rpartition("/")[2]
        return bool(self.needles.hits(document.data) or self.needles.find(name)) or any(
            name.encode() in document.data for name in names
        )


def _is_of_traces(stream: str) -> bool:
    return stream.startswith("traces/")
