"""Held files and conflict copies lose what goes, as the pages do that they stand for (FORMAT §5.6, §17.2).

They are not what the journal says, so living it again does not change them; and what was forgotten must not come back
when a person settles them.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused
from looseleaf.base.paths import STATE
from looseleaf.forget.dependents import parse_json
from looseleaf.forget.rebase_edits import cut_state
from looseleaf.log.entries import FOLDER as ENTRIES
from looseleaf.pages.grammar import parse
from looseleaf.pages.held import UTF_16, Held, copies_among, decode_text, find_markers, is_blank, why_held
from looseleaf.pages.settle import find_log_copies
from looseleaf.store.documents import Removal
from looseleaf.store.machines import OTHERS
from looseleaf.store.records import BODIES
from looseleaf.store.root import ASIDE, STAGED
from looseleaf.text.diff import split_lines
from looseleaf.text.spellings import each_text, fold_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from looseleaf.facts.stones import Buried
    from looseleaf.forget.cut import Cut
    from looseleaf.forget.plan import ForgetPlan, Needs
    from looseleaf.forget.probe import Needles
    from looseleaf.store.protocol import Store, Switch

_ID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")


def find_taken(parts: Needs, cut: Cut) -> Iterator[str]:
    """Yield the held files that go whole, with their topic."""
    held = sorted(parts.pages.absorb.held.items())
    return (path for path, each in held if cut.takes_page(each.of or path) and parts.context.store.stat(path))


def find_state_copies(store: Store) -> Iterator[Held]:
    """Yield the conflict copies of the state."""
    for name, original in copies_among([stat.path for stat in store.list()]):
        if original == STATE:
            yield Held(name, "copy", of=original)


def cut_late(parts: Needs, copies: Iterable[Held]) -> list[str]:
    """Take out of copies of pages, or of the state, what was forgotten before they came; return those of which nothing
    was left. What the page says was said again."""
    store, gone = parts.context.store, list[str]()
    buried = parts.stones.heard()
    for held in copies if buried else ():
        try:
            document = store.get(held.path)
            head = parts.pages.absorb.head_bytes(held.of or "") or b""
            left = _cut_late(held.of or "", document.data, head, buried) if document is not None else b""
            if document is None or left == document.data:
                continue
            if is_blank(left):
                store.delete(held.path, base=document.sha256)
                if held.path in parts.pages.absorb.heads.copies:
                    parts.pages.absorb.note_copy(held.path, None)
                gone.append(held.path)
            else:
                store.put(held.path, left, base=document.sha256)
        except Refused as refused:
            parts.context.note(f"{held.path} may say what was forgotten. {refused}")
        else:
            parts.context.note(f"What was forgotten came back in {held.path}, and was taken out of it.")
    return gone


def _cut_late(path: str, data: bytes, head: bytes, buried: Buried) -> bytes:
    if path == STATE:
        said = {*each_text(parse_json(head.decode("utf-8", "replace")))}
        return cut_state(
            data,
            lambda value: any(buried.has_sentence(each) for each in each_text(value) if each not in said),
        )
    text = decode_text(data)
    lines = split_lines(data.decode("utf-8", "surrogateescape") if text is None else text)
    known = {line.strip() for line in head.decode("utf-8", "replace").splitlines()} | {""}
    new = {line for line in lines if line.strip() not in known}
    gone = {line for line in new if buried.has_line(path, line.strip().encode("utf-8", "replace").decode())}
    # The program's summary says the values of the lines.
    values = [fold_text(fact.object) for fact in parse(path, "\n".join(gone)).facts]
    told = (line for line in new if line.startswith("> Summary:"))
    gone |= {line for line in told if any(each in fold_text(line) for each in values)}
    if not gone:
        return data
    left = "".join(line for line in lines if line not in gone)
    return left.encode("utf-16" if data[:2] in UTF_16 and text is not None else "utf-8", "surrogateescape")


def cut_held(parts: Needs, plan: ForgetPlan, switch: Switch) -> None:
    """Stage what held pages, and copies of pages and logs, become without what goes, with the other files that
    change."""
    changed = switch.paths
    for held in (*parts.pages.absorb.held.values(), *find_state_copies(parts.context.store)):
        _cut_held_page(parts, plan, switch, held, is_changed=held.path in changed)
    copies = dict(find_log_copies(parts.context.store))
    _refuse_foreign(parts, plan, {*copies, *changed})
    for path, original in copies.items():
        folder, _, name = path.rpartition("/")
        if path.startswith(f"{ENTRIES}/") and name in parts.context.store.folders(folder):
            _cut_entry_copy(parts, plan, switch, path, original)
        else:
            _cut_log_copy(parts, plan, switch, path)


def _cut_entry_copy(parts: Needs, plan: ForgetPlan, switch: Switch, path: str, original: str) -> None:
    """Remove the copy of an entry that changes, or that holds what goes."""
    files, changed = [stat.path for stat in parts.context.store.list(path)], switch.paths
    documents = map(parts.context.store.get, files)
    is_told = any(each is not None and plan.needles.hits(each.data) for each in documents)
    if is_told or any(each.startswith((f"{path}/", f"{original}/")) for each in changed):
        switch.remove(*map(Removal, files))


def _cut_log_copy(parts: Needs, plan: ForgetPlan, switch: Switch, path: str) -> None:
    """Cut the lines of a log's copy that hold what goes, or are of records that change."""
    document = parts.context.store.get(path)
    if document is None:
        return
    lines = document.data.splitlines(keepends=True)
    stay = (
        line for line in lines if plan.changed_ids.isdisjoint(_ID.findall(line.decode("utf-8", "replace")))
    )
    left = _drop_lines(path, b"".join(stay), plan.needles)
    if left != document.data:
        switch.put(path, left, document.sha256, is_page=True)


def _refuse_foreign(parts: Needs, plan: ForgetPlan, known: Container[str]) -> None:
    """Refuse if what goes stands in a file of `log/` that is not the program's, or in its name."""
    store = parts.store
    own = {path for stream in store.streams() for path, *_ in store.segments(stream).values()}
    for path in _log_files(store):
        if path in own or path in known:
            continue
        document = parts.context.store.get(path)
        if (document is not None and plan.needles.hits(document.data)) or _is_named_so(plan, path):
            raise Refused(
                f"Nothing was forgotten: {path} holds what is to go, and is no file of this program. Delete it, or "
                "move it out of the memory, and repeat this."
            )


def _log_files(store: Store) -> Iterator[str]:
    """Yield the files of `log/`, except those of entries, of other machines, and those that `ForgetPlan` removes."""
    folders = ["log"]
    while folders:
        here = folders.pop()
        try:
            below, files = store.folders(here), store.list(here)
        except Refused:
            continue  # a link, or not to be read: `check` names it
        paths = (f"{here}/{name}" for name in below)
        folders += [each for each in paths if each not in (ASIDE, STAGED, BODIES, ENTRIES, OTHERS)]
        yield from (stat.path for stat in files)


def _is_named_so(plan: ForgetPlan, path: str, of: str = "") -> bool:
    """True if a file's name holds what goes, and not only the name of what it is a copy of, or of an agent."""
    return not plan.names and bool(plan.needles.find(path) - plan.needles.find(of))


def _cut_held_page(parts: Needs, plan: ForgetPlan, switch: Switch, held: Held, *, is_changed: bool) -> None:
    """`is_changed`: the page's last good version changes too."""
    path = held.path
    document = parts.context.store.get(path)
    if document is None:
        return
    if held.of is not None and _is_named_so(plan, path, held.of) and not plan.cut.takes_page(held.of):
        raise Refused(
            f"Nothing was forgotten: the name of {path} holds what is to go. Decide on it with `looseleaf settle`, and "
            "repeat this."
        )
    bare = _bare_markers(document.data, plan.needles) if held.why == "conflict" else document.data
    left = plan.cut.cut_version(held.of or path, bare)
    if left is not None and held.of == STATE:
        left = cut_state(left, lambda value: bool(plan.needles.find("\n".join(each_text(value)))))
    left = None if left is None else _drop_lines(path, left, plan.needles)
    is_cut = left != document.data
    if left is None or (held.of is not None and is_cut and is_blank(left)):
        switch.remove(Removal(path, document.sha256))
        return
    # Without a line, or beside a shorter head, a page that is held may look like what a person saved.
    if held.of is None and (is_cut or is_changed) and not is_blank(document.data):
        again = why_held(path, left, lambda: plan.head_after(path))
        if held.why == "cut" or again is None or again.why != held.why:
            raise _unsettled_error(path)
    if is_cut:
        switch.put(path, left, document.sha256, is_page=True)


def _bare_markers(data: bytes, needles: Needles) -> bytes:
    """Return a page whose conflict markers have no labels that hold what goes: it stays in conflict."""
    lines = data.split(b"\n")
    for number, marker in find_markers(data):
        if needles.hits(marker):
            lines[number - 1] = marker[:7]
    return b"\n".join(lines)


def _drop_lines(path: str, data: bytes, needles: Needles) -> bytes:
    """Return what is left of a file without the lines that hold what goes."""
    if not needles.hits(data):
        return data
    left = b"".join(line for line in data.splitlines(keepends=True) if not needles.hits(line))
    if needles.hits(left):  # across the end of a line
        raise _unsettled_error(path)
    return left


def _unsettled_error(path: str) -> Refused:
    return Refused(
        f"Nothing was forgotten: {path} waits for a person's word, and what is to go cannot be cut out of it. Decide "
        "on it with `looseleaf settle`, and repeat this."
    )
