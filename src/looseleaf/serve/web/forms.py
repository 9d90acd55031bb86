"""What a person posts: read, checked for its form's token, answered by a redirect that says what happened."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen
from looseleaf.serve.sign import form_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_FIELDS = 200


class Form(dict[str, str]):
    """The fields of a form; a field that is not there is "". Line ends are one character, as on pages."""

    def __missing__(self, name: str) -> str:
        return ""


class WrongForm(Invalid):
    """A form that was not made here, or by an earlier visit. `form`: what is typed in it, to be shown again."""

    def __init__(self, form: Form) -> None:
        super().__init__(
            "Nothing was changed: the form is from an earlier visit. It is shown again as you filled it in: send it "
            "once more."
        )
        self.form = form


async def typed_in(request: Request) -> Form:
    """Read what was typed into a posted form, whoever sent it."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qsl(body, keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        raise Invalid("Nothing was changed: the form has too many fields.") from None
    return Form((name, value.replace("\r\n", "\n")) for name, value in fields)


async def read_form(request: Request) -> Form:
    """Read a posted form, and refuse one that has not this visit's token."""
    form = await typed_in(request)
    request.state.form = form  # what is refused is shown again, with all that was typed
    if not hmac.compare_digest(form["token"].encode(), form_token(request.state.visit).encode()):
        raise WrongForm(form)
    return form


@frozen
class Note:
    """What a post did, told once on the next screen. `undo`: the address that takes it back; "" where nothing does.
    `fields`: what that form carries. `is_lasting`: it quotes nothing that could be forgotten."""

    text: str
    undo: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    is_lasting: bool = False


class Notes:
    """The notes of all visits. Invariant: none is shown, or kept when it is asked for, once anything was forgotten in
    the memory that it may quote."""

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._notes: OrderedDict[str, tuple[str, Note, object]] = OrderedDict()

    def put(self, visit: str, note: Note, name: str = "", edition: object = None) -> str:
        """Keep a note for a visit, by a name, else a new one; return the name. `edition`: of the memory that it may
        quote."""
        name = name or secrets.token_urlsafe(9)
        self._notes[name] = (visit, note, None if note.is_lasting else edition)
        if len(self._notes) > self._most:
            self._notes.popitem(last=False)
        return name

    def take(self, visit: str, name: str, edition: object = None) -> Note | None:
        """Return a note of a visit. It stays for a while, as the page may be loaded again: until something is forgotten
        in its memory, whose edition is told."""
        owner, note, made_at = self._notes.get(name, ("", None, None))
        if note is None or owner != visit:
            return None
        if made_at not in (None, edition):
            del self._notes[name]
            return None
        return note


def back_of(request: Request, form: Form, default: str) -> str:
    """Return the screen of this memory that a form came from; another address is not gone to."""
    home, given = f"/m/{request.path_params['name']}/", form["back"]
    is_own = given.startswith(home) and given.isprintable() and not set(given) & set(" \\<>\"'")
    return given if is_own and "//" not in given and "/../" not in given else default


def done(request: Request, address: str, note: Note | None = None) -> Response:
    """Answer a post: go to a screen, which says what happened."""
    if note is not None:
        base, _, anchor = address.partition("#")
        edition = getattr(request.state, "edition", None)
        name = request.app.state.notes.put(request.state.visit, note, edition=edition)
        join = "&" if "?" in base else "?"
        address = f"{base}{join}{urlencode({'note': name})}" + (f"#{anchor}" if anchor else "")
    return RedirectResponse(address, 303)
