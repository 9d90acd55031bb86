"""The screen Pages: read, edit, history, and whose each line is.

A form carries the hash of the text that it began from. Invariant: what two people and an agent write is all there: a
form that is late is shown beside what came in between, and saves nothing by itself.
"""

from __future__ import annotations

import asyncio
import re
from itertools import islice
from urllib.parse import quote

from looseleaf.base.errors import Invalid, NotFound, Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import DRAWERS, STATE, page_path
from looseleaf.explain.writes import DISTILLED
from looseleaf.log.journal import PERSON
from looseleaf.pages.pages import page_of_topic
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.forms import Note, WrongForm, done, read_form
from looseleaf.serve.web.render import page, prose, shown
from looseleaf.serve.web.together import together
from looseleaf.serve.web.wording import plural
from looseleaf.text.diff import unified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.values import Edit, Receipt
    from looseleaf.memory import Memory
    from looseleaf.pages.pages import Page
    from looseleaf.serve.web.ask import Screen
    from looseleaf.serve.web.forms import Form

EDITS = 50
"""Edits of a page that are listed at once."""
_SINCE = 5
"""Edits that are named where a form is late, and lines with invisible characters."""
_CLIP = 200
_HASH = re.compile(r"[0-9a-f]{64}")
_HEADINGS = {
    "": "Read whole in every prompt",
    "facts": "Facts, by topic",
    "episodes": "What was done",
    "days": "Days",
}
_REVIEW = "review"


# --- the list, and a page ----------------------------------------------------------------


@frozen
class Listed:
    path: str
    summary: str


async def _list(request: Request) -> Response:
    return page(request, "pages.html", **await ask(request, _read_list), wanted="")


def _read_list(memory: Memory) -> dict[str, Any]:
    known = {line.path: line for line in memory.pages.index()}
    groups: dict[str, list[Listed]] = {name: [] for name in ("", *DRAWERS)}
    for path in memory.pages.list():
        line = known.get(path)
        groups[path.rpartition("/")[0]].append(Listed(path, line.summary if line is not None else ""))
    groups["days"].reverse()
    return {
        "groups": [
            (_HEADINGS.get(name, "Waiting for you"), found) for name, found in groups.items() if found
        ],
        "farther": [line for line in known.values() if ":" in line.path],
    }


async def _create(request: Request) -> Response:
    """Go to the form of a new page, named by its path or its topic."""
    wanted = ""
    try:
        form = await read_form(request)
        wanted = form["path"].strip()
        path = await ask(request, lambda memory: page_of_topic(wanted, memory.views.topics()))
    except Refused as refused:
        wanted = refused.form["path"] if isinstance(refused, WrongForm) else wanted
        told = await ask(request, _read_list)
        return page(
            request, "pages.html", status=status_of(refused)[0], error=str(refused), wanted=wanted, **told
        )
    return done(request, f"{_at(request, path)}/edit")


async def _read(request: Request) -> Response:
    path, as_of = request.path_params["path"], request.query_params.get("as_of", "").strip()

    def read(memory: Memory) -> dict[str, Any]:
        now = memory.pages.read(path)
        then = now
        if as_of:
            try:
                then = memory.history.page_at(path, as_of)
            except Invalid as invalid:
                return _shown(now) | {"as_of": as_of, "error": str(invalid), "status": 422}
        return _shown(then) | {"as_of": as_of, "now": now.exists}

    told = await ask(request, read)
    told["prose"] = None if told["is_data"] else await asyncio.to_thread(prose, told["text"])
    status = told.pop("status", 200 if told["exists"] else 404)
    return page(request, "pages_read.html", status=status, **told)


def _shown(found: Page) -> dict[str, Any]:
    return {
        "path": found.path,
        "exists": found.exists,
        "hash": found.sha256 or "",
        "text": found.text,
        "is_data": found.path.endswith(STATE),
        "now": found.exists,
    }


# --- editing -----------------------------------------------------------------------------


def as_typed(found: Page) -> str:
    """Return a page's text as a form carries it; refuse one that a form would change."""
    try:
        text = found.data.decode()
    except UnicodeDecodeError:
        raise Refused(
            f"{found.path} cannot be edited here: it is not UTF-8 text. Save it as UTF-8 with an editor, and try again."
        ) from None
    typed = text.replace("\r\n", "\n")
    if "\r" in typed or "\0" in typed or text.count("\r\n") not in (0, text.count("\n")):
        raise Refused(
            f"{found.path} cannot be edited here: it has line ends or characters that a form cannot carry. Use an "
            "editor."
        )
    return typed


def unseen_in(text: str) -> list[str]:
    """Return the lines with invisible characters, these named: a form shows none of them."""
    lines = enumerate(text.split("\n"), 1)
    named = (f"line {number}: {shown(line)}" for number, line in lines if shown(line) != line)
    return [each if len(each) <= _CLIP else f"{each[:_CLIP]}…" for each in islice(named, _SINCE)]


def as_stored(typed: str, found: Page) -> str:
    """Return what was typed as the page has its lines: ended, and as they end there."""
    text = typed if typed.endswith("\n") else f"{typed}\n"
    return text.replace("\n", "\r\n") if b"\r\n" in found.data else text


@frozen
class Conflict:
    """A form that is late. `theirs` is the page now (None: it is gone), `edits` what came in between; `both` is all of
    it together, unless nobody knows any more what the form began from (None)."""

    theirs: str | None
    hash: str
    edits: tuple[Edit, ...]
    their_diff: str
    your_diff: str
    both: str | None
    meets: bool


async def _edit(request: Request) -> Response:
    path = request.path_params["path"]

    def read(memory: Memory) -> dict[str, Any]:
        found = memory.pages.read(path)
        text = as_typed(found)
        return _shown(found) | {"text": text, "unseen": unseen_in(text)}

    return page(request, "pages_edit.html", **await ask(request, read), reason="", late=None)


async def _save(request: Request) -> Response:
    path = request.path_params["path"]
    try:
        form = await read_form(request)
    except WrongForm as wrong:
        return _again(request, path, wrong.form, wrong)
    text, reason = form["text"], " ".join(form["reason"].split())

    def save(memory: Memory) -> Receipt | Conflict | None:
        if "text" not in form or (form["base"] and not _HASH.fullmatch(form["base"])):
            raise Invalid(f"{path} was not saved: the form is incomplete. Open the page again.")
        if not text.strip():
            raise Invalid(
                f"{path} was not saved: the text is empty. Remove the page, if that is what you want."
            )
        now = memory.pages.read(path)
        stored = as_stored(text, now)
        if now.exists and now.data == stored.encode("utf-8", "surrogatepass"):
            return None  # posted twice
        as_typed(now)
        try:
            return memory.pages.edit(
                path, stored, base=form["base"] or None, reason=reason or "edited on the page", author=PERSON
            )
        except Stale:
            return _conflict(memory, path, form["base"], text)

    try:
        made = await ask(request, save)
    except Refused as refused:
        return _again(request, path, form, refused)
    if isinstance(made, Conflict):
        return _again(request, path, form, None, made)
    return done(request, _at(request, path), _note_of(request, path, made))


def _again(
    request: Request, path: str, form: Form, refused: Refused | None, late: Conflict | None = None
) -> Response:
    """Show a form again as it was filled in."""
    told = {
        "path": path,
        "exists": bool(form["base"]),
        "hash": form["base"],
        "text": form["text"],
        "reason": form["reason"],
        "late": late,
        "is_data": path.endswith(STATE),
        "unseen": unseen_in(form["text"]),
    }
    status = 412 if refused is None else status_of(refused)[0]
    return page(request, "pages_edit.html", status=status, error=str(refused or ""), **told)


def _note_of(request: Request, path: str, receipt: Receipt | None) -> Note:
    if receipt is None or not receipt.changed:
        return Note(f"{path} says this already.")
    did = [f"{plural(receipt.added, 'line')} added"] if receipt.added else []
    did += [f"{plural(receipt.removed, 'line')} removed"] if receipt.removed else []
    return Note(f"{path} was saved: {', '.join(did)}.", f"{_at(request, path)}/undo", (("edit", receipt.id),))


def _conflict(memory: Memory, path: str, base: str, yours: str) -> Conflict:
    now = memory.pages.read(path)
    theirs = as_typed(now) if now.exists else None
    began = memory.parts.pages.history.rebuild(path, base) if base else b""
    edits: list[Edit] = []
    for edit in islice(memory.history.edits(path), _SINCE):
        if edit.new == base:
            break
        edits.append(edit)
    if began is None:
        both, meets, old = None, True, ""
    else:
        old = began.decode("utf-8", "replace").replace("\r\n", "\n")
        both, meets = together(old, theirs or "", yours) if theirs is not None else (None, True)
    return Conflict(
        theirs,
        now.sha256 or "",
        tuple(edits),
        "" if began is None else unified(old, theirs or "", path, path),
        "" if began is None else unified(old, yours, path, path),
        both,
        meets,
    )


async def _delete(request: Request) -> Response:
    path = request.path_params["path"]
    form = await read_form(request)

    def remove(memory: Memory) -> Receipt:
        if not _HASH.fullmatch(form["base"]):
            raise Invalid(f"{path} was not removed: the form is incomplete. Open the page again.")
        return memory.pages.delete(path, base=form["base"], reason="removed on the page", author=PERSON)

    receipt = await ask(request, remove)
    note = Note(f"{path} was removed.", f"{_at(request, path)}/undo", (("edit", receipt.id),))
    return done(request, f"{_home(request)}/pages", note)


# --- history -----------------------------------------------------------------------------


async def _history(request: Request) -> Response:
    path, before = request.path_params["path"], request.query_params.get("before", "")

    def read(memory: Memory) -> dict[str, Any]:
        edits = memory.history.edits(path)
        if before:
            for edit in edits:
                if edit.id == before:
                    break
        found = list(islice(edits, EDITS + 1))
        layer, _ = memory.parts.split_place(path)
        last = None if layer is not None else memory.parts.pages.history.last_to_undo(page_path(path))
        return {
            "path": path,
            "exists": memory.pages.read(path).exists,
            "edits": found[:EDITS],
            "older": found[EDITS - 1].id if len(found) > EDITS else "",
            "undone": {edit.undoes for edit in found if edit.undoes},
            "brief": brief,
            "last": last,
        }

    return page(request, "pages_history.html", **await ask(request, read))


async def _version(request: Request) -> Response:
    """Show one edit: what it changed."""
    path, name = request.path_params["path"], request.path_params["edit"]

    def read(memory: Memory) -> dict[str, Any]:
        edit = _find_edit(memory, path, name)
        old, new = (
            (data or b"").decode("utf-8", "replace").replace("\r\n", "\n")
            for data in memory.history.versions(edit)
        )
        return {
            "path": path,
            "exists": memory.pages.read(path).exists,
            "edit": edit,
            "entry": entry[1] if (entry := DISTILLED.fullmatch(edit.reason)) is not None else "",
            "brief": brief,
            "diff": unified(old, new, path, path),
            "text": new,
            "hash": memory.pages.read(path).sha256 or "",
        }

    return page(request, "pages_version.html", **await ask(request, read))


def _find_edit(memory: Memory, path: str, name: str) -> Edit:
    found = next((edit for edit in memory.history.edits(path) if edit.id == name), None)
    if found is None:
        raise NotFound(f"{path} has no edit {name[:40]}. It may have been forgotten.")
    return found


async def _restore(request: Request) -> Response:
    """Write a page again as an edit left it."""
    path, name = request.path_params["path"], request.path_params["edit"]
    form = await read_form(request)

    def restore(memory: Memory) -> Receipt:
        edit = _find_edit(memory, path, name)
        text = memory.history.versions(edit)[1]
        if text is None:
            raise Invalid(f"{path} was not changed: this edit removed it. Take the one before.")
        try:
            whole = text.decode()
        except UnicodeDecodeError:
            raise Refused(f"{path} was not changed: it was not UTF-8 text then.") from None
        reason = f"as it was after the edit {edit.id}"
        return memory.pages.edit(path, whole, base=form["base"] or None, reason=reason, author=PERSON)

    receipt = await ask(request, restore)
    return done(request, _at(request, path), _note_of(request, path, receipt))


async def _undo(request: Request) -> Response:
    path = request.path_params["path"]
    form = await read_form(request)

    def undo(memory: Memory) -> Edit:
        last = memory.parts.pages.history.last_to_undo(page_path(path))
        if form["edit"] and (last is None or last.id != form["edit"]):
            raise Refused(
                f"Nothing was undone: this edit of {path} is undone already, or the page has changed since. Its "
                "history shows the edits."
            )
        return memory.history.undo(path, author=PERSON)[0]

    edit = await ask(request, undo)
    note = Note(f"Undone in {path}: {edit.reason}")
    return done(request, _at(request, path) if edit.base else f"{_home(request)}/pages", note)


async def _who(request: Request) -> Response:
    path = request.path_params["path"]

    def read(memory: Memory) -> dict[str, Any]:
        return {"path": path, "exists": True, "lines": memory.explain.who(path), "brief": brief}

    return page(request, "pages_who.html", **await ask(request, read))


def brief(reason: str) -> str:
    """Return an edit's reason in few words: what was distilled has an id, which nobody reads."""
    return "distilled from talk" if DISTILLED.fullmatch(reason) else reason


def _home(request: Request) -> str:
    return f"/m/{request.path_params['name']}"


def _at(request: Request, path: str) -> str:
    return f"{_home(request)}/pages/{quote(path)}"


ROUTES: list[Screen] = [
    ("/pages", ["GET"], _list),
    ("/pages", ["POST"], _create),
    ("/pages/{path:path}/edit", ["GET"], _edit),
    ("/pages/{path:path}/edit", ["POST"], _save),
    ("/pages/{path:path}/delete", ["POST"], _delete),
    ("/pages/{path:path}/undo", ["POST"], _undo),
    ("/pages/{path:path}/history", ["GET"], _history),
    ("/pages/{path:path}/history/{edit}", ["GET"], _version),
    ("/pages/{path:path}/history/{edit}", ["POST"], _restore),
    ("/pages/{path:path}/who", ["GET"], _who),
    ("/pages/{path:path}", ["GET"], _read),
]
