"""Pages: read, and changed from exactly what was read. An agent proposes; a person writes.

The hash of a page is its ETag. A change names the hash that it starts from (`If-Match`), or says that there is no page
yet (`If-None-Match: *`).
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Header, Path, Query
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.paths import canonical
from looseleaf.base.values import Receipt
from looseleaf.facts.gate import UNVERIFIED
from looseleaf.log.journal import AGENT, PERSON, PROGRAM
from looseleaf.place.guard_rules import fate_words
from looseleaf.serve.problems import NoCondition
from looseleaf.serve.rest import values
from looseleaf.serve.rest.cursors import Listing
from looseleaf.serve.rest.routes import Answer, Asking, Name, Read, Write, route
from looseleaf.text.diff import patched
from looseleaf.text.lines import undoubted, worded
from looseleaf.tools.page_tools import refuse_long

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Edit, Record
    from looseleaf.memory import Memory
    from looseleaf.pages.pages import Page

ETAG = re.compile('^"([0-9a-f]{64})"$')
_REVIEW = "review/"

Where = Annotated[
    str,
    Path(
        max_length=500,
        description="The path of the page. Its slashes may be encoded (`%2F`).",
        examples=["facts/project.md"],
    ),
]
_MATCH = Header(
    alias="If-Match", max_length=200, description="The ETag of the page that the change starts from."
)
_NONE = Header(alias="If-None-Match", max_length=200, description="`*`: there is no page yet.")
IfMatch = Annotated[str | None, _MATCH]
IfNoneMatch = Annotated[str | None, _NONE]
_TAGGED = {"headers": {"ETag": {"description": "The hash of the page.", "schema": {"type": "string"}}}}


class _PagePath(Convertor[str]):  # type: ignore[misc]
    """The path of a page, with its slashes; not the addresses below it, of its history and its authors."""

    regex = r"(?!.*/(?:history|who)$).*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("page", _PagePath())


def _seen(memory: Memory, asking: Asking, path: str) -> str:
    """Return the path of a page that the token sees: what waits in review is a person's, who decides there."""
    layer, _ = memory.parts.split_topic(path)
    decides = asking.is_person and memory.parts.may_in(layer.name if layer is not None else None, "review")
    if not decides and _is_in_review(path):
        raise NotFound(f"There is no page {path}.")
    return path


def _is_in_review(path: str) -> bool:
    return canonical(path.rpartition(":")[2]).casefold().startswith(_REVIEW)


def base_of(match: str | None, none: str | None) -> str | None:
    """Return the hash that a change starts from; None: there is no page."""
    if match is not None and none is not None:
        raise Invalid("Nothing was changed: give If-Match or If-None-Match, not both.")
    if none is not None:
        if none.strip() != "*":
            raise Invalid("Nothing was changed: If-None-Match must be `*`, for a page that is not there yet.")
        return None
    if match is None or match.strip() == "*":
        raise NoCondition(
            "Nothing was changed: send the ETag of the page that you read as If-Match, or `If-None-Match: *` for a new "
            "page."
        )
    found = ETAG.fullmatch(match.strip())
    if found is None:
        raise Invalid('Nothing was changed: If-Match must be one ETag: the sha256 of the page, in `"`.')
    return found[1]


@route("GET", "/memories/{memory}/pages", "read", values.listed(values.PageLine))
async def list_pages(memory: Name, asking: Read, part: Listing) -> Answer:
    """List the pages, by path."""

    def show(memory: Memory, path: str) -> dict[str, Any]:
        stat = memory.parts.context.store.stat(path)
        return {"path": path, "bytes": stat.size if stat is not None else 0}

    def read(memory: Memory) -> dict[str, Any]:
        paths = sorted(path for path in memory.pages.list() if asking.is_person or not _is_in_review(path))
        return part.of(paths, lambda path: [path], lambda path: show(memory, path))

    return Answer(await asking.read(read))


@route("GET", "/memories/{memory}/pages/{path:path}/history", "read", values.listed(values.Edit))
async def list_page_history(memory: Name, path: Where, asking: Read, part: Listing) -> Answer:
    """List the edits of a page, the newest first."""

    def read(memory: Memory) -> dict[str, Any]:
        edits = memory.history.edits(_seen(memory, asking, path))
        return part.of(edits, lambda edit: [edit.id], _edit, falls=True)

    return Answer(await asking.read(read))


def _edit(edit: Edit) -> dict[str, Any]:
    names = ("id", "ts", "path", "author", "reason", "base", "new", "undoes")
    hunks = [{"at": hunk.at, "removed": list(hunk.removed), "added": list(hunk.added)} for hunk in edit.hunks]
    return {name: getattr(edit, name) for name in names} | {"hunks": hunks}


@route("GET", "/memories/{memory}/pages/{path:path}/who", "read", values.listed(values.Signed))
async def list_page_authors(memory: Name, path: Where, asking: Read, part: Listing) -> Answer:
    """List the lines of a page as it is now, and who wrote each."""
    found = await asking.read(lambda memory: memory.explain.who(_seen(memory, asking, path)))
    return Answer(part.of(found, lambda line: [line.line], lambda line: line.to_dict()))


@route(
    "GET",
    "/memories/{memory}/pages/{path:page}",
    "read",
    values.Page,
    responses={200: _TAGGED, 304: {"description": "It is what you have already."}},
)
async def get_page(
    memory: Name,
    path: Where,
    asking: Read,
    as_of: Annotated[
        str | None, Query(max_length=200, description="A date: the page as it was then.")
    ] = None,
    none: IfNoneMatch = None,
) -> Response:
    """Get a page as it is, or as it was at a time."""

    def read(memory: Memory) -> Page:
        where = _seen(memory, asking, path)
        return memory.pages.read(where) if as_of is None else memory.history.page_at(where, as_of)

    page = await asking.read(read)
    if not page.exists:
        raise NotFound(f"There is no page {page.path}.")
    tag = f'"{page.sha256}"'
    if none is not None and tag in {each.strip() for each in none.split(",")}:
        return Response(status_code=304, headers={"etag": tag})
    return Answer({"path": page.path, "sha256": page.sha256, "text": page.text}, headers={"etag": tag})


# --- changing ----------------------------------------------------------------------------


async def _change(asking: Asking, path: str, act: Callable[[Memory], Receipt]) -> Answer:
    def again(memory: Memory, found: list[Record]) -> Receipt | None:
        if not asking.is_person:
            return repeat_proposal(memory, found, path, act)
        edit = _own_edit(memory, found, path, PERSON)
        return _receipt(edit) if edit is not None else None

    receipt = await asking.write(act, again)
    asking.made(receipt.id)
    headers = {"etag": f'"{receipt.new}"'} if receipt.new is not None else {}
    return Answer(receipt.to_dict() | {"held": list(receipt.held)}, headers=headers)


def _own_edit(memory: Memory, found: list[Record], path: str, author: str) -> Edit | None:
    """Return the edit of a page that a request made, unless it never became the page."""
    ids = {record.get("id") for record in found if record.get("author") == author}
    edits = memory.history.edits(path) if ids else iter(())
    return next((edit for edit in edits if edit.id in ids), None)


def _receipt(edit: Edit, held: Sequence[str] = ()) -> Receipt:
    return Receipt(edit.id, edit.path, edit.base, edit.new, edit.added, edit.removed, held=tuple(held))


def repeat_proposal(
    memory: Memory, found: list[Record], path: str, act: Callable[[Memory], Receipt]
) -> Receipt:
    """Return what a proposal answered, from the records that it wrote. What is held back is written first: if nothing
    more was, the proposal is made again, which asks for nothing twice."""
    author = f"{AGENT}{memory.agent}"
    told = dict(_held_in(found, path, author))
    edit = _own_edit(memory, found, path, author)
    if edit is not None:
        return _receipt(edit, [*told.values()])
    receipt = act(memory)
    held = tuple(told.get(each.partition(": ")[2], each) for each in receipt.held)
    edits = [each for each in found if each.get("kind") == "edit" and each.get("author") in (author, PROGRAM)]
    edits.sort(key=lambda each: not str(each.get("path")).startswith(_REVIEW))
    name = str(edits[0]["id"]) if edits and not receipt.changed else receipt.id
    return receipt.but(id=name, held=held)


def _held_in(found: list[Record], path: str, author: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that were put elsewhere than they were meant for, each with the sentence on it."""
    for record in found:
        page = str(record.get("path"))
        if record.get("kind") != "edit" or record.get("author") not in (author, PROGRAM):
            continue
        for fact in record.get("facts", ()):
            line = f"“{worded(str(fact.get('relation')), undoubted(str(fact.get('object'))))}”"
            if page.startswith(_REVIEW):
                yield line, f"{fate_words('asked')}: {line}"
            elif UNVERIFIED in fact.get("tags", ()):
                fate = "found" if fact.get("level") == "tainted" else "noted"
                yield line, f"{fate_words(fate, page if page != path else None)}: {line}"


@route(
    "PUT",
    "/memories/{memory}/pages/{path:page}",
    "write",
    values.Receipt,
    problems=(412, 428),
    responses={200: _TAGGED},
)
async def put_page(
    memory: Name,
    path: Where,
    asking: Write,
    body: values.PutPage,
    match: IfMatch = None,
    none: IfNoneMatch = None,
) -> Answer:
    """Write a page. An agent proposes: lines that it may not write there stand in a drawer as its own notes, or wait in
    review, and `held` says which."""
    base = base_of(match, none)

    def act(memory: Memory) -> Receipt:
        if asking.is_person:
            return memory.pages.edit(path, body.text, base=base, reason=body.reason, author=PERSON)
        refuse_long(memory, path, body.text)
        return memory.pages.propose(path, body.text, base=base, reason=body.reason)

    return await _change(asking, path, act)


@route(
    "PATCH",
    "/memories/{memory}/pages/{path:page}",
    "write",
    values.Receipt,
    problems=(412, 428),
    responses={200: _TAGGED},
)
async def patch_page(
    memory: Name, path: Where, asking: Write, body: values.PatchPage, match: IfMatch = None
) -> Answer:
    """Replace texts of a page, each found exactly once; all or none. An agent proposes."""
    base = base_of(match, None)
    patches = [(each.old, each.new) for each in body.patches]

    def act(memory: Memory) -> Receipt:
        if asking.is_person:
            return memory.pages.patch(path, patches, base=base, reason=body.reason, author=PERSON)

        def change(text: str) -> str:
            new = patched(path, text, patches)
            refuse_long(memory, path, new, text)
            return new

        return memory.pages.propose(path, change, base=base, reason=body.reason)

    return await _change(asking, path, act)


@route(
    "DELETE",
    "/memories/{memory}/pages/{path:page}",
    "write",
    values.Receipt,
    problems=(412, 428),
)
async def delete_page(memory: Name, path: Where, asking: Write, match: IfMatch = None) -> Answer:
    """Remove a page. Its history stays, and undo brings it back. An agent removes only what is its own."""
    base = base_of(match, None)

    def act(memory: Memory) -> Receipt:
        if asking.is_person:
            return memory.pages.delete(path, base=base, reason="removed over the API", author=PERSON)
        return memory.pages.propose(path, None, base=base, reason="removed over the API")

    return await _change(asking, path, act)
