"""Check: re-reads and re-hashes everything, and reports each problem as `path:line: message` (FORMAT §8).

Changes nothing, trusts no view, and continues after every problem. Of the views, it checks only the index.
"""

from __future__ import annotations

import os
import stat

from looseleaf.base.errors import Refused
from looseleaf.base.paths import DRAWERS, SETTINGS, STATE, fold_name, is_page, name_fault, path_fault
from looseleaf.base.values import Position, Problem, sha256
from looseleaf.facts.known_facts import KEY, count_uncompared, told_uncompared
from looseleaf.log.entries import FOLDER, entries_in, raw_md, read_entry, traces_of
from looseleaf.log.journal import (
    BACK,
    KNOWN_SCHEMAS,
    UNKNOWN,
    BrokenEdit,
    edit_of,
    forward,
    refuse_unknown,
)
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import Mark
from looseleaf.log.two_heads import find_heads
from looseleaf.memory.forget_again import check_forgets, forget_again
from looseleaf.memory.part_heads import TWO_HEADS, part_heads
from looseleaf.pages.grammar import parse
from looseleaf.pages.held import Held, copies_among, leftover_of, sure_original, vanished_together, why_held
from looseleaf.pages.outside_edits import UNEXPLAINED, Heads
from looseleaf.pages.settle import find_agent_copies, find_held, find_log_copies
from looseleaf.place.logs_behind import find_behind, told_behind
from looseleaf.state.file import next_step, parse_sound
from looseleaf.state.rules import Unsound
from looseleaf.store import JOURNAL, TOMBSTONES, records
from looseleaf.store.check_repair import ELSEWHERE, ENTRY_FILES, MISSING_FILE
from looseleaf.store.foreign import LEFT_OUT, is_newer
from looseleaf.store.losses import ACCEPTED, AS_IT_IS, TO_DO, acceptance, lost_place, problem_of
from looseleaf.store.machines import as_own, log_of, log_with
from looseleaf.store.machines import stream_of as stream_on
from looseleaf.store.streams import stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Edit, Record
    from looseleaf.memory.parts import Parts
    from looseleaf.store.protocol import Store

    _Place = tuple[Position, object, str | None]
    """How far a log was read, the id of the record before it, and the checksum up to it (None: not known)."""

_JOURNAL_FILE = "log/journal.jsonl"


def check(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong, each by the path as it lies in the folder."""
    for problem in _check(parts):
        yield Problem(parts.store.place(problem.path), problem.line, problem.message, problem.severity)


def _check(parts: Parts) -> Iterator[Problem]:
    store = parts.context.store
    damaged: set[str] = set()
    accepted = _accepted_entries(store)
    lost_on = {log_of(name): _accepted_entries(store, stream_on(name, JOURNAL)) for name in store.machines()}
    for problem in store.check():
        known = lost_on.get(log_with(problem.path), accepted)
        if not _is_older_entry(store, problem) and not _is_accepted(problem, known):
            damaged |= {problem.path} if problem.severity == "error" else set()
            yield problem
    for line in store.read(JOURNAL):
        schema = line.record.get("schema")
        if not isinstance(schema, str) or schema not in KNOWN_SCHEMAS:
            yield Problem(_JOURNAL_FILE, None, f"a record has the format {schema!r}, which is not known here")
            return  # the journal cannot be understood, so nothing can be compared with it
    yield from _check_chains(store)
    for machine in store.machines():
        yield from _check_chains_of(store, machine)
    yield from _check_marks(store)
    yield from check_forgets(parts)
    behind = find_behind(store, parts.store.machine)
    for machine in (name for name, each in behind.items() if not each.went_on):
        yield Problem(f"{log_of(machine)}/journal.jsonl", None, told_behind(machine), "note")
    for reference in _missing_entries(store, accepted):
        yield Problem(
            f"{FOLDER}/{reference}", None, f"this entry is gone; the journal names it. {_TO_DO_ENTRY}"
        )
    lost, _ = count_uncompared(store)
    if lost:
        yield Problem(KEY, None, told_uncompared(lost).removesuffix("."))
    yield from (problem for problem in _check_places(store) if problem.path not in damaged)
    yield from _check_pages(parts)
    yield from copy_problems(parts)
    # The one view that needs it: SQLite notices damage only where it reads, and misses words until then.
    from looseleaf.index.opening import index_faults
    from looseleaf.index.sqlite import VIEW

    for fault in index_faults(store):
        then = "`looseleaf build --full` rebuilds it, and touches nothing else"
        yield Problem(
            VIEW if store.tables is None else "index", None, f"the index is damaged: {fault}. {then}", "note"
        )


def _is_older_entry(store: Store, problem: Problem) -> bool:
    """True if the problem is only an entry of an older format, which is readable."""
    folder, _, file = as_own(problem.path).rpartition("/")
    if not folder.startswith(f"{FOLDER}/") or file not in ("meta.json", "summary.json"):
        return False
    try:
        return "upgraded" in read_entry(store, folder.removeprefix(f"{FOLDER}/")).meta
    except Refused:
        return False


def _check_chains(store: Store) -> Iterator[Problem]:
    """Check that each page's edits follow from each other, and that each gives the text it records.

    A `lost` record stands where repair found damage: it explains one later break of each page, not a second one.
    """
    void = {str(line.record.get("edit")) for line in store.read(JOURNAL) if line.record.get("kind") == "void"}
    texts: dict[str, bytes | None] = {}
    heads: dict[str, str | None] = {}
    lost = 0
    explained: dict[str, int] = {}
    if len(find_heads(line.record for line in store.read(JOURNAL))) > 1:
        yield Problem(_JOURNAL_FILE, None, f"{TWO_HEADS}; `looseleaf repair` parts them, and takes in both")
        return
    for line in store.read(JOURNAL):
        lost += line.record.get("kind") == "lost"
        edit = edit_of(line.record)
        if edit is None:
            if line.record.get("kind") == "edit":
                yield Problem(_JOURNAL_FILE, None, f"the edit {line.record.get('id')} makes no sense")
        elif path_fault(edit.path):
            yield Problem(
                _JOURNAL_FILE,
                None,
                f"the edit {edit.id} names a path that no file of a memory has: {edit.path!r}",
            )
        elif edit.id not in void:
            message = _follow(edit, texts, heads)
            if message:
                is_new = lost == explained.get(edit.path, 0)
                explained[edit.path] = lost
                yield Problem(_JOURNAL_FILE, None, message, "error" if is_new else "note")


def _check_chains_of(store: Store, machine: str) -> Iterator[Problem]:
    """Check the same of another machine's journal, by the hashes: what is wrong there is mended there. One problem is
    named: after the first, the journal says little."""
    records = [line.record for line in store.read(stream_on(machine, JOURNAL))]
    if any(map(is_newer, records)):
        return  # it is not read
    void = {str(record.get("edit")) for record in records if record.get("kind") == "void"}
    heads: dict[str, str | None] = {}
    gaps = 0
    explained: dict[str, int] = {}
    message = TWO_HEADS if len(find_heads(records)) > 1 else ""
    for record in () if message else records:
        gaps += record.get("kind") in ("lost", LEFT_OUT)
        edit = edit_of(record)
        if edit is not None and edit.id not in void:
            if edit.base != heads.get(edit.path):
                if explained.get(edit.path, 0) == gaps:
                    message = f"the edit {edit.id} of {edit.path} does not follow from the one before it"
                    break
                explained[edit.path] = gaps
            heads[edit.path] = edit.new
    if message:
        path = stream_files(stream_on(machine, JOURNAL))[0]
        yield Problem(path, None, f"{message}; this is the log of {machine}: {ELSEWHERE}")


def _follow(edit: Edit, texts: dict[str, bytes | None], heads: dict[str, str | None]) -> str | None:
    """Add one edit to the replay; return what is wrong with it, if anything."""
    message = None
    if edit.base != heads.get(edit.path):
        message = f"the edit {edit.id} of {edit.path} does not follow from the one before it: one is missing"
    known = edit.path in texts or edit.path not in heads
    heads[edit.path] = edit.new
    if edit.whole or (known and message is None):
        try:
            texts[edit.path] = forward(edit, texts.get(edit.path))
            return message
        except BrokenEdit as broken:
            message = f"{broken} ({edit.path})"
    if edit.new is None:
        texts[edit.path] = None
    else:
        texts.pop(edit.path, None)  # unknown until the next whole text
    return message


def _check_marks(store: Store) -> Iterator[Problem]:
    """Check that each compaction's mark is readable."""
    for line in store.read(JOURNAL):
        if line.record.get("kind") == "mark":
            try:
                Mark.from_record(line.record)
            except (KeyError, TypeError, ValueError):
                yield Problem(_JOURNAL_FILE, None, f"the mark {line.record.get('id')} makes no sense")


# --- entries: published before the journal names them, and removed only by forgetting, with what names them -------

_TO_DO_ENTRY = TO_DO.replace("the file", "it").removesuffix(".")


def _missing_entries(store: Store, accepted: set[str]) -> list[str]:
    """Return the entries that the journal names, that are not there, and whose loss no person accepted."""
    named: dict[str, None] = {}
    for line in store.read(JOURNAL):
        if line.record.get("kind") in ("placed", "mark"):
            entries = (line.record.get(member) for member in ("entry", "later"))
            named |= dict.fromkeys(str(entry) for entry in entries if entry)
    try:
        there = set(entries_in(store))
    except Refused:
        return []  # unreadable, which is reported, is not gone
    return [reference for reference in named if reference not in there and reference not in accepted]


def _accepted_entries(store: Store, journal: str = JOURNAL) -> set[str]:
    """Return the entries whose loss, whole or in part, a person accepted."""
    records = (line.record for line in store.read(journal) if line.record.get("kind") == ACCEPTED)
    lists = (record.get("entries") for record in records)
    return {str(each) for some in lists if isinstance(some, list) for each in some}


def _is_accepted(problem: Problem, accepted: set[str]) -> bool:
    """True if the problem is a missing file of an entry, and a person accepted its loss."""
    reference = as_own(problem.path).removeprefix(f"{FOLDER}/").rpartition("/")[0]
    return problem.message.startswith(MISSING_FILE) and reference in accepted


def _repair_entries(parts: Parts) -> list[str]:
    """Make again what the log has of lost entries, and accept the rest of the loss; return a sentence for each."""
    store = parts.context.store
    accepted, done = _accepted_entries(store), []
    lost = _missing_entries(store, accepted)
    for reference in entries_in(store):
        files = {stat.path.rpartition("/")[2] for stat in store.list(f"{FOLDER}/{reference}")}
        missing = [name for name in ENTRY_FILES if name not in files]
        if missing == ["raw.md"] and (raw := _raw_again(parts, reference)) is not None:
            store.put(f"{FOLDER}/{reference}/raw.md", raw, base=None)
            done.append(f"{FOLDER}/{reference}/raw.md: made again from what was said")
        elif missing and reference not in accepted:
            lost.append(reference)
    if lost:
        store.append(JOURNAL, [acceptance((), entries=lost)])
    return done + [f"{FOLDER}/{each}: what is missing is accepted" for each in sorted(lost)]


def _accept_key(parts: Parts) -> list[str]:
    """Accept that what was forgotten under a lost key is not recognized any more."""
    store = parts.context.store
    lost, keys = count_uncompared(store)
    if not lost:
        return []
    parts.context.redact("")  # makes a new key, if there is none
    store.append(JOURNAL, [acceptance((), keys=keys)])
    return [f"{KEY}: what was forgotten before is not recognized any more; that is accepted"]


def _raw_again(parts: Parts, reference: str) -> bytes | None:
    """Return the `raw.md` of an entry that was made of talk; None if the log no longer has all of that."""
    store = parts.context.store
    try:
        entry = read_entry(store, reference)
        traces = list(traces_of(store, entry)) if "traces" in entry.meta else []
    except Refused:
        return None
    ids = "\n".join(trace.id for trace in traces)
    if not traces or sha256(ids.encode()) != entry.meta.get("source_sha256"):
        return None
    return raw_md(reference.rpartition("/")[2], traces, parts.context.policy.raw_bytes)


def _check_places(store: Store) -> Iterator[Problem]:
    """Check the places up to which each agent's log was distilled and compacted: the record there, and the checksum of
    the log up to it (FORMAT §4.5)."""
    places = _read_places(store)
    losses = _lost_places(store, places)
    for stream, loss in losses.items():
        yield problem_of(loss, is_gone=stream not in store.streams())
    for (stream, kind), (place, _, sum) in places.items():
        if stream not in losses and sum is not None and store.sum(stream, place) not in (None, sum):
            reader = "distilling" if kind == "placed" else "compacting"
            message = f"the records that {reader} has read are not the ones that were there"
            yield Problem(stream_files(stream)[0], None, message)


def _read_places(store: Store) -> dict[tuple[str, str], _Place]:
    """Return how far each stream of traces was read, by stream and kind of record. A forget changes checksums; a
    journaled loss, or a repair, moves records."""
    places: dict[tuple[str, str], _Place] = {}
    forgotten = max((str(line.record.get("id")) for line in store.read(TOMBSTONES)), default="")
    for line in store.read(JOURNAL):
        record, kind = line.record, str(line.record.get("kind"))
        stream = stream_of(str(record.get("agent")))
        if kind == BACK:
            places = {key: place for key, place in places.items() if key[0] != record.get("stream")}
        elif kind == "placed" and record.get("through") and record.get("last"):
            known = record.get("sum") if str(record.get("id")) > forgotten else None
            places[stream, kind] = Position(*map(int, record["through"])), record["last"], known
        elif kind == "mark" and record.get("sum") and str(record.get("id")) > forgotten:
            segment, offset = record["until"]
            places[stream, kind] = Position(int(segment), int(offset)), None, record["sum"]
    return places


def _lost_places(store: Store, places: dict[tuple[str, str], _Place]) -> dict[str, Record]:
    """Return the losses of streams that have not what was read of them; by stream, the farthest place that is lost."""
    lost: dict[str, Record] = {}
    for (stream, _), (place, last, _) in sorted(places.items(), key=lambda each: each[1][0]):
        loss = lost_place(store, stream, place, last)
        lost |= {stream: loss} if loss is not None else {}
    return lost


def _accept_places(store: Store) -> list[str]:
    """Accept what logs lost that only the journal remembered; return a sentence for each."""
    losses = _lost_places(store, _read_places(store))
    if losses:
        store.append(JOURNAL, [*losses.values(), acceptance([*losses.values()])])
    return [f"{stream_files(stream)[0]}: {AS_IT_IS}" for stream in losses]


def _check_pages(parts: Parts) -> Iterator[Problem]:
    heads, kept = Heads(parts.context.store), Heads(parts.context.store)
    heads.catch_up()
    kept.load()
    heads.is_proven = kept.is_proven
    copies = parts.pages.absorb.copies()
    found: set[str] = set()
    for folder in ("", *DRAWERS):
        try:
            entries = _entries(parts, folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Problem(folder or ".", None, f"this folder could not be read ({error.strerror})")
            continue
        twins: dict[str, str] = {}
        for name, mode in entries:
            path = f"{folder}/{name}" if folder else name
            if folder and stat.S_ISDIR(mode):
                yield Problem(path, None, "this folder is not a drawer: nothing in it is read", "note")
            elif path in copies:
                yield held_problem(copies[path])
            elif leftover_of(name):
                message = f"a merge or a patch left this beside {leftover_of(name)}; it is not read"
                yield Problem(path, None, message, "note")
            elif path not in heads.pages and is_page(path) and parts.pages.absorb.is_misspelt(path):
                pass  # its page is held, and told below
            elif is_page(path) and not name.startswith("."):  # hidden files are editors' and systems' own
                found.add(path)
                yield from _check_page(parts, path, mode, heads)
            other = twins.setdefault(fold_name(name), name)
            if other != name:
                yield Problem(path, None, f"some systems take this name for {other}")
    for path in sorted(kept.taken):
        if path.endswith(".md"):
            message = "another machine's page of this name waits: a file is here whose name some systems take for it"
            yield Problem(path, None, f"{message}. Rename one of them, on the machine that has it")
    known = [path for path, head in sorted(heads.pages.items()) if head.sha256 is not None]
    gone = [path for path in known if path not in found and path_fault(path) is None]
    held = gone if vanished_together(len(gone), len(known)) else heads.gone
    for path in gone:
        elsewhere = parts.pages.absorb.find_elsewhere(path)
        if not parts.store.edited_outside:
            yield from _check_row(parts, path)
        elif elsewhere is not None:
            yield held_problem(elsewhere)
        elif path in held:
            yield held_problem(Held(path, "gone"))
        else:
            yield Problem(path, None, "this page is gone; the next command journals that", "note")


_SETTLE = "The last good version is used until `looseleaf settle` decides"
_BY_HAND = "Compare the two, and move it away"


def held_problem(held: Held) -> Problem:
    """Return the problem of a file that waits for a person."""
    then = "It is not read until `looseleaf settle` decides" if held.of else _SETTLE
    return Problem(held.path, held.line, f"this {held.says}. {then}")


_OWN_FILES = (STATE, SETTINGS, "recall.tests.toml")


def held_problems(parts: Parts) -> Iterator[Problem]:
    """Yield the problems of files that wait for a person, pages first. Outside edits are journaled before."""
    yield from map(held_problem, find_held(parts))
    yield from copy_problems(parts)


def copy_problems(parts: Parts) -> Iterator[Problem]:
    """Report copies that a synchronizing program made of other files than pages: no command reads them."""
    for name, original in copies_among([name for name, _ in _entries(parts, "")]):
        if original in _OWN_FILES:
            yield Problem(name, None, f"this is a conflict copy of {original}, and is not read. {_BY_HAND}")
    for copy, original in find_log_copies(parts.context.store):
        yield _log_copy(parts, copy, original)
    for copy, original in find_agent_copies(parts.context.store):
        says = f"this is a conflict copy of {original}, and is read as the log of another agent"
        yield Problem(copy, None, f"{says}. {_BY_HAND}")


def _log_copy(parts: Parts, path: str, original: str) -> Problem:
    says = f"this is a conflict copy of {original}, and is not read"
    store = parts.context.store
    streams = {stream: stream_files(stream) for stream in store.streams()}
    files = (
        stream
        for stream, (file, archive) in streams.items()
        if original == file or original.startswith(archive)
    )
    stream = next(files, None)
    try:
        document = store.get(path)
    except Refused:
        document = None
    if document is None or stream is None:
        return Problem(path, None, f"{says}. {_BY_HAND}")
    pieces = (piece.record for line in document.data.split(b"\n") if line for piece in records.pieces(line))
    held = {str(record.get("id")) for record in pieces if record is not None}
    own = {str(line.record.get("id")) for line in store.read(stream)}
    new = len(held - own)
    if not new:
        return Problem(path, None, f"{says}. The log has all of its records", "note")
    return Problem(
        path, None, f"{says}. The log lacks {new:,} of its {len(held):,} record{'s' * (len(held) != 1)}"
    )


def _entries(parts: Parts, folder: str) -> list[tuple[str, int]]:
    """Return names and modes in a folder, by name. A folder that is a link is not followed: its target is not ours."""
    if not parts.store.edited_outside:
        return [(each.path.rpartition("/")[2], stat.S_IFREG) for each in parts.store.list(folder)]
    fd = os.open(
        os.path.join(parts.context.path, folder),
        os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (os.O_NOFOLLOW if folder else 0),
    )
    found: list[tuple[str, int]] = []
    try:
        for name in sorted(os.listdir(fd)):
            try:
                found.append((name, os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode))
            except FileNotFoundError:
                pass  # just removed
    finally:
        os.close(fd)
    return found


def _check_page(parts: Parts, path: str, mode: int, heads: Heads) -> Iterator[Problem]:
    fault = name_fault(path.rpartition("/")[2])
    if fault:
        yield Problem(path, None, f"this is not read as a page: its name {fault}")
        return
    if not stat.S_ISREG(mode):
        yield Problem(
            path, None, "this is not read: it is a link or not a regular file; put a real file in its place"
        )
        return
    try:
        document = parts.context.store.get(path, parts.context.policy.page_bytes)
    except Refused as refused:
        yield Problem(path, None, str(refused))
        return
    if document is None:
        return
    head = heads.get(path)
    if document.sha256 != head.sha256 and not parts.store.edited_outside:
        yield from _check_row(parts, path)
    elif document.sha256 != head.sha256:
        held = why_held(path, document.data, lambda: parts.pages.absorb.head_bytes(path))
        if held is not None:
            yield held_problem(held)
            return
        author, reason = heads.author(path)
        is_ours = document.sha256 == heads.left(path) and document.sha256 != head.base  # else: interrupted
        if reason == UNEXPLAINED and is_ours:
            why = "the program left this page as it is, and the journal does not know of it: records are missing"
            yield Problem(path, None, f"{why}. `looseleaf repair` goes on without them")
        elif author == UNKNOWN:
            message = (
                "this page was changed, and the journal cannot tell by whom; the next command journals that"
            )
            yield Problem(path, None, message, "note")
        else:
            yield Problem(path, None, "this page was changed outside; the next command journals that", "note")
    elif sure_original(path.rpartition("/")[2]):
        message = "this looks like a conflict copy, and was taken for a page before such copies were known"
        yield Problem(path, None, f"{message}. If it is one, move its lines over, and delete it", "note")
    if path == STATE:
        yield from _check_state(parts, document.data)
        return
    try:
        text = document.data.decode()
    except UnicodeDecodeError as error:
        line = document.data.count(b"\n", 0, error.start) + 1
        yield Problem(path, line, "this line is not UTF-8 text; save the page as UTF-8 with an editor")
        return
    unclosed = parse(path, text).unclosed
    if unclosed is not None:
        yield Problem(
            path, unclosed, "what begins here never ends: nothing below it is read as facts", "note"
        )


def _check_row(parts: Parts, path: str) -> Iterator[Problem]:
    """Look again at a page of a database that is not its head: it may have been written since the journal was read."""
    heads = Heads(parts.context.store)
    heads.catch_up()
    document = parts.context.store.get(path)
    if (document.sha256 if document is not None else None) != heads.get(path).sha256:
        yield Problem(
            path,
            None,
            "this is not as its last edit left it; `looseleaf repair` puts that back, and keeps this",
        )


def _put_back(parts: Parts) -> list[str]:
    """Put back the pages of a database that are not as their last edits left them; return a sentence for each."""
    store, absorb, done = parts.store, parts.pages.absorb, list[str]()
    absorb.know()
    there = {each.path for folder in ("", *DRAWERS) for each in store.list(folder) if is_page(each.path)}
    for path in sorted(there.union(absorb.heads.pages.there())):
        document, head = store.get(path), absorb.head_bytes(path)
        if (document.data if document is not None else None) == head:
            continue
        kept = (
            f"; what was there is in {store.put_aside(document.data, path)}" if document is not None else ""
        )
        if head is not None:
            store.put(path, head, base=document.sha256 if document is not None else None)
        elif document is not None:
            store.delete(path, base=document.sha256)
        done.append(f"{path}: as its last edit left it{kept}")
    return done


def _check_state(parts: Parts, data: bytes) -> Iterator[Problem]:
    try:
        if parse_sound(data) is None and parts.state.file.last_good() is not None:
            raise Unsound("it is empty, but there was a state", 1)
    except Unsound as unsound:
        good = parts.state.file.last_good()
        step = next_step(unsound, good).rstrip(".") if good is not None else ""
        yield Problem(STATE, unsound.line, unsound.told + (f"; {step[0].lower()}{step[1:]}" if step else ""))


def repair(parts: Parts) -> list[str]:
    store = parts.context.store
    for line in store.read(JOURNAL):
        # A newer program's records are not ours to repair; one without a checksum is not trusted.
        if line.checked:
            refuse_unknown(line.record)
    parts.pages.absorb()  # while it can still be told whose the changes are
    done = store.repair()
    with store.lock():
        parted = part_heads(parts) if parts.store.edited_outside else _put_back(parts)
        done += _accept_places(store) + _repair_entries(parts) + _accept_key(parts)
    parts.pages.absorb.read_again()
    done += forget_again(parts)
    done += parts.others.go_on()
    if parted:
        parts.pages.absorb()  # takes in the others
    parts.notes[:] = [note for note in parts.notes if not note.endswith(TO_DO)]  # it is accepted now
    return parted + done
