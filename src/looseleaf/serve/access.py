"""Who may come in: programs by tokens, people by a link that is used once.

Everything is in one document of the server's state (`state.py`). A secret is shown once, when it is made; the document
has its SHA-256. Invariant: what a token does not name, it may not do, and may not see.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import time
from contextlib import contextmanager
from itertools import chain

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.paths import PROJECT, fold_name, safe_name
from looseleaf.language.relations import ME
from looseleaf.serve.state import FolderState, Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.serve.state import State

    Rows = dict[str, list[dict[str, Any]]]

SCOPES = ("read", "write", "review", "admin")
"""What a token may do: read; write as an agent; decide as a person does; all else (forget, import, tokens)."""
FOR = "@"
"""Between the names of an agent and of the person whose token it has: each person has talk of their own with it."""
_PERSON = re.compile(r"[^\W\d_](?:[\w-]{0,38}\w)?")
_NO_PERSONS = ME | {PROJECT, "agent", "home", "main", "nobody", "person", "program", "sessions", "unknown"}
EVERY = "*"
"""In place of the names of memories: all of them."""

CODE_SECONDS = 120.0
"""How long a link to sign in holds."""
VISIT_SECONDS = 12 * 3600.0
"""How long a person stays signed in."""
_BYTES = 32
_MOST = 10_000
"""The most tokens, links and visits: a document of a few megabytes."""
_FILE = "access.json"
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@frozen
class Token(Replaceable):
    """A token without its secret."""

    id: str
    name: str
    memories: tuple[str, ...]
    scopes: tuple[str, ...]
    agent: str = "main"
    voice: str = ""
    """`user`: what it records as a user's words is believed; else these words count as imported."""
    made: float = 0.0
    expires: float | None = None
    person: str = ""
    """Whose it is: what comes by it was said by this person. "": nobody is told apart."""
    only: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Memories in which it may do less than its scopes say: each with what it may do there."""

    def may(self, scope: str) -> bool:
        return scope in self.scopes

    def at(self, memory: str) -> Token:
        """Return the token as it is in one memory: with what it may do there."""
        scopes = dict(self.only).get(memory)
        return self if scopes is None else self.but(scopes=scopes)

    def sees(self, memory: str) -> bool:
        return EVERY in self.memories or memory in self.memories


PERSON = Token("page", "page", (EVERY,), SCOPES, voice="user")
"""A person who signed in on the page may do everything."""


class Access:
    """The tokens and visits of one server; any process may change them, and a running server sees it at once."""

    def __init__(self, state: State | str, clock: Callable[[], float] = time.time) -> None:
        """`state`: where it is kept, or the folder of that."""
        self.state: State = FolderState(state) if isinstance(state, str) else state
        self._clock = clock
        self._kept: tuple[Seen, Rows] = Seen(None, None), _empty()
        """The document as it was read, and its rows: one value, as several threads read."""

    @property
    def folder(self) -> str:
        """The folder of this machine for what belongs to the server."""
        return self.state.folder

    async def look_again(self) -> None:
        """Ask for what another server may just have changed."""
        if self.state.is_shared:
            await asyncio.to_thread(self.state.look_again, _FILE)

    # --- tokens --------------------------------------------------------------------------

    def tokens(self) -> list[Token]:
        """Return all tokens, oldest first, including those that have ended."""
        return [_token_of(row) for row in self._read()["tokens"]]

    def make_token(
        self,
        name: str,
        memories: Sequence[str],
        scopes: Sequence[str],
        *,
        agent: str = "main",
        voice: str = "",
        expires: float | None = None,
        person: str = "",
        only: Mapping[str, Sequence[str]] | None = None,
    ) -> tuple[Token, str]:
        """Make a token; return it and its secret, which is shown this once. `only`: memories in which it may do less
        than its scopes."""
        only = only or {}
        unknown = [each for each in (*scopes, *chain(*only.values())) if each not in SCOPES]
        if unknown or not scopes or not all(only.values()):
            raise Invalid(f"No token was made: the scopes are {', '.join(SCOPES)}; give one or more of them.")
        if not memories:
            raise Invalid(f"No token was made: name its memories, or {EVERY} for all.")
        if voice not in ("", "user"):
            raise Invalid("No token was made: the voice is `user`, or left out.")
        if any(not set(less) <= set(scopes) for less in only.values()):
            raise Invalid(
                "No token was made: in one memory it can do less than its scopes say, and nothing more."
            )
        agent = safe_name(agent, "agent's name")
        if person:
            agent = f"{agent}{FOR}{_check_person(person).lower()}"
        if expires is not None and expires <= self._clock():
            raise Invalid("No token was made: it would have ended already.")
        with self._changing() as rows:
            _refuse_full("tokens", rows["tokens"])
            known = {str(row.get("person") or "") for row in rows["tokens"]} - {person}
            other = next((each for each in known if fold_name(each) == fold_name(person)), None)
            if other:
                raise Invalid(f"No token was made: {person} is called {other} in others. Give that name.")
            taken = {row["id"] for row in rows["tokens"]}
            made = Token(
                _new_id(taken),
                name,
                tuple(memories),
                tuple(each for each in SCOPES if each in scopes),
                agent,
                voice,
                self._clock(),
                expires,
                person,
                tuple(
                    (each, tuple(scope for scope in SCOPES if scope in less)) for each, less in only.items()
                ),
            )
            secret = f"ll_{made.id}_{secrets.token_urlsafe(_BYTES)}"
            rows["tokens"].append({**_row_of(made), "hash": _hash(secret)})
        return made, secret

    def revoke(self, name: str) -> Token:
        """End a token, named by its id."""
        with self._changing() as rows:
            found = next((row for row in rows["tokens"] if row["id"] == name), None)
            if found is None:
                raise NotFound(f"No token was revoked: there is none with the id {name[:40]!r}.")
            rows["tokens"].remove(found)
        return _token_of(found)

    def leave(self, memory: str) -> None:
        """Take a memory that is gone out of all tokens, and end those that name no other: one that is made later under
        its name is another memory."""
        if not any(memory in row["memories"] for row in self._read()["tokens"]):
            return
        with self._changing() as rows:
            for row in rows["tokens"]:
                row["memories"] = [each for each in row["memories"] if each != memory]
                row["only"] = [each for each in row.get("only", ()) if each[0] != memory]
            rows["tokens"] = [row for row in rows["tokens"] if row["memories"]]

    def token_of(self, secret: str) -> Token | None:
        """Return the token of a secret, unless it has ended."""
        found = self._find("tokens", secret)
        return _token_of(found) if found is not None else None

    def may_as(self, agent: str, memory: str, scope: str) -> bool:
        """Return True if an agent may do something in a memory, by a token that has not ended."""
        tokens = [
            _token_of(row) for row in self._read()["tokens"] if row["agent"] == agent and self._is_live(row)
        ]
        return any(each.sees(memory) and each.at(memory).may(scope) for each in tokens)

    # --- people --------------------------------------------------------------------------

    def make_code(self, person: str = "") -> str:
        """Return a code with which a person signs in once, soon. `person`: who that is; what they decide has the
        name."""
        person = _check_person(person) if person else ""
        code = secrets.token_urlsafe(_BYTES)
        with self._changing() as rows:
            _refuse_full("codes", rows["codes"])
            row = {"hash": _hash(code), "expires": self._clock() + CODE_SECONDS}
            rows["codes"].append(row | ({"person": person} if person else {}))
        return code

    def is_code(self, code: str) -> bool:
        """True for a code that may still be spent."""
        return self._find("codes", code) is not None

    def spend(self, code: str) -> str | None:
        """Spend a code; return the secret of a visit, for a cookie. None: it was spent before, or is too old; then
        nothing is written, so that whoever guesses codes makes no work."""
        if not self.is_code(code):
            return None
        with self._changing() as rows:
            found = self._match(rows["codes"], code)
            if found is None:
                return None
            _refuse_full("visits", rows["visits"])
            rows["codes"].remove(found)
            visit = secrets.token_urlsafe(_BYTES)
            row = {"hash": _hash(visit), "expires": self._clock() + VISIT_SECONDS}
            rows["visits"].append(row | ({"person": found["person"]} if "person" in found else {}))
        return visit

    def person_of(self, visit: str) -> str:
        """Return who signed in; "" if nobody said."""
        found = self._find("visits", visit)
        return str(found.get("person") or "") if found is not None else ""

    def is_visit(self, visit: str) -> bool:
        """True while the person of a cookie is signed in."""
        return self._find("visits", visit) is not None

    def end_visit(self, visit: str | None = None) -> None:
        """Sign out: one visit, or all of them, with all links that were not used."""
        with self._changing() as rows:
            if visit is None:
                rows["visits"], rows["codes"] = [], []
            else:
                rows["visits"] = [row for row in rows["visits"] if row["hash"] != _hash(visit)]

    # --- the document --------------------------------------------------------------------

    def _find(self, kind: str, secret: str) -> dict[str, Any] | None:
        return self._match(self._read()[kind], secret)

    def _match(self, rows: list[dict[str, Any]], secret: str) -> dict[str, Any] | None:
        # Hashes of random secrets are compared: the time says nothing of the secret.
        given = _hash(secret)
        return next((row for row in rows if row["hash"] == given and self._is_live(row)), None)

    def _is_live(self, row: dict[str, Any]) -> bool:
        return row["expires"] is None or bool(row["expires"] > self._clock())

    def _read(self) -> Rows:
        place = self.state.place(_FILE)
        try:
            before, rows = self._kept
            seen = self.state.see(_FILE, before)
            if seen.data is None:
                return _empty()
            if seen is not before:
                read = json.loads(seen.data)
                rows = {name: read[name] for name in _empty()}
                self._kept = seen, rows
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(
                f"Nobody was let in: {place} cannot be read ({error}). Move it away, and make new tokens with "
                "`looseleaf token`."
            ) from None
        return rows

    @contextmanager
    def _changing(self) -> Iterator[Rows]:
        """Change the rows under a lock, and replace the document with what they became. What has ended leaves it;
        tokens stay for a while, so that a list can say that they have ended."""
        with self.state.changing(_FILE) as draft:
            rows = {name: list(each) for name, each in self._read().items()}
            for name in ("codes", "visits"):
                rows[name] = [row for row in rows[name] if self._is_live(row)]
            yield rows
            draft.data = json.dumps(rows, indent=1).encode() + b"\n"


def _check_person(name: str) -> str:
    """Return a person's name; refuse one that could be taken for something else."""
    if not _PERSON.fullmatch(name) or fold_name(name) in _NO_PERSONS:
        raise Invalid(
            f"No token was made: {name[:40]!r} cannot be a person's name here. Use up to 40 letters, digits, `-` and "
            "`_`, as in Mira or mira-k."
        )
    return name


def access_folder(root: str) -> str:
    """Return the folder for the access to what is served from `root`: in the user's settings, outside of any memory."""
    home = os.environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(home):  # the XDG specification ignores a relative path
        home = os.path.join(os.path.expanduser("~"), ".config")
    name = hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(home, "looseleaf", "serve", name)


def _empty() -> Rows:
    return {"tokens": [], "codes": [], "visits": []}


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _new_id(taken: set[str]) -> str:
    while True:
        made = "".join(secrets.choice(_LETTERS) for _ in range(6))
        if made not in taken:
            return made


_FULL = {
    "tokens": "No token was made: there are {:,} already. Revoke some that nobody uses.",
    "codes": "No link was made: {:,} were made in the last minutes and not used. Use one of those, or wait.",
    "visits": "Nobody was signed in: {:,} visits are open. Sign out everywhere, or wait until some end.",
}


def _refuse_full(kind: str, rows: list[dict[str, Any]]) -> None:
    if len(rows) >= _MOST:
        raise Refused(_FULL[kind].format(_MOST))


def _row_of(token: Token) -> dict[str, Any]:
    return {name: getattr(token, name) for name in Token.__match_args__}


def _token_of(row: dict[str, Any]) -> Token:
    given = {name: row[name] for name in Token.__match_args__ if name in row}
    only = tuple((str(name), tuple(scopes)) for name, scopes in row.get("only") or ())
    return Token(**given | {name: tuple(row[name]) for name in ("memories", "scopes")} | {"only": only})
