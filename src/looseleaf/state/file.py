"""`state.json` on disk: read strictly, held against its schema, and what it last was when it is broken (FORMAT §11.4).

Invariant: a file that is no sound state is never taken for an empty one, and nothing is written on top of it. The
schema's library costs more than a hook may take, so the hash of the bytes that were last found sound is kept in a view,
which may be deleted: then they are looked at again.
"""

from __future__ import annotations

import os
from functools import cache

from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.hashing import sha256
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.state.rules import compact, for_prompt
from looseleaf.state.text import Unsound, named, parsed, place_of, rendered
from looseleaf.store import records
from looseleaf.text.notation import encode
from looseleaf.text.times import clock, day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import Edit
    from looseleaf.pages.pages import Pages
    from looseleaf.state.rules import State
    from looseleaf.store.protocol import Store


# The views of the state (FORMAT §11.6): `views/state.toon`, the state as a prompt carries it, and the
# schema of `state.json`.

TOON = "views/state.toon"
SCHEMA = "views/state.schema.json"


def carried(state: State) -> str:
    """The state as TOON; as compact JSON where that is shorter, or says more than TOON can. Nothing for nothing."""
    shown = for_prompt(state)
    if not shown:
        return ""
    text, toon = compact(state), encode(shown)
    return toon if toon is not None and len(toon.encode()) < len(text.encode()) else text


def build_state(store: Store, state: State, schema: bytes) -> None:
    """Bring both up to date. That they cannot be written refuses nothing: they are made again another time."""
    for path, data in ((TOON, carried(state).encode()), (SCHEMA, schema)):
        try:
            there = store.get(path)
            if data and (there is None or there.data != data):
                store.view(path, data)
            elif there is not None and not data:
                store.delete(path, base=there.sha256)
        except Refused:
            pass


SOUND = "views/state.sound.json"
SOUND_SCHEMA = "state_sound.v1"
"""To be counted up with the schema of the state: what was sound for another one is looked at again."""

RESTORE = "`looseleaf state restore`"
RESTORED = "restored: "
"""How the reason of an edit begins that brings an earlier version back."""

_HIDDEN = "it"
"""How the library's sentences call a value: the value itself may be anything, and long."""


def schema_text() -> bytes:
    """The schema that this package ships."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "schemas", "state.schema.json"), "rb") as file:
        return file.read()


@cache
def _validator() -> Any:
    """None where the library is missing."""
    import json

    try:
        from jsonschema_rs import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator(json.loads(schema_text()), mask=_HIDDEN)


def refuse_unsound(state: State, text: str) -> bool:
    """Hold a state against the schema: Unsound with the place of the first fault. Whether that could be done."""
    validator = _validator()
    if validator is None:
        return False
    error = next(iter(validator.iter_errors(state)), None)
    if error is not None:
        path = [each if isinstance(each, int) else str(each) for each in error.instance_path]
        what = f"`{named(path)}`: " if path else ""
        raise Unsound(f"this is no state ({what}{error.message})", *place_of(text, path))
    return True


def examined(data: bytes) -> State | None:
    """What the bytes of a state say (None: nothing), looked at from all sides; Unsound for what is none."""
    state = parsed(data)
    if state is not None:
        refuse_unsound(state, data.decode())
    return state


@frozen
class Good:
    """A version of the state that was sound, and when it became so."""

    state: State
    data: bytes
    ts: float

    @property
    def when(self) -> str:
        return f"{day(self.ts)} {clock(self.ts)} UTC"


class StateFile:
    def __init__(self, store: Store, pages: Pages, note: Callable[[str], None]) -> None:
        self._store = store
        self._pages = pages
        self._note = note
        self._sound: str | None = None

    def read(self) -> tuple[State | None, str | None]:
        """The state (None: there is none) and the hash of its file; Unsound for one that is broken."""
        try:
            page = self._pages.top(STATE)
        except (Unwritten, Busy):
            raise
        except Refused as refused:  # a link, no permission, too large
            why = str(refused).removeprefix(f"{STATE} was not read: ").partition(". ")[0]
            raise Unsound(why.rstrip(".")) from refused
        if not page.exists:
            return None, None
        name = page.sha256 or ""
        state = parsed(page.data)
        if state is None and self.last_good() is not None:  # not one that somebody has just begun
            raise Unsound("there is nothing, and there was a state", 1)
        if state is not None and name != self._sound and name != self._remembered():
            if refuse_unsound(state, page.data.decode()):
                self.remember(name)
            else:
                self._note(
                    f"{STATE} was not held against its schema: the package jsonschema-rs is not installed. "
                    "`pip install jsonschema-rs` mends that."
                )
        self._sound = name
        return state, page.sha256

    def text_of(self, state: State) -> str:
        """The text of a new state, which is as sound as what is read: else Refused."""
        try:
            text = rendered(state)
            refuse_unsound(parsed(text.encode()) or {}, text)
        except Unsound as unsound:
            why = unsound.why
        except (TypeError, ValueError, RecursionError):  # some object of Python's that JSON has not
            why = "a value in it is none that JSON has"
        else:
            return text
        raise Refused(f"{STATE} was not changed: in what was to be written, {why}. Give other values.")

    def refused(self, unsound: Unsound) -> Refused:
        """Why nothing is written on top of what is there."""
        good = self.last_good()
        return Refused(f"{STATE} was left as it is: {_said(unsound)}. {next_step(unsound, good)}")

    def built(self, state: State, name: str | None) -> None:
        """It was written, and has this hash: what is made of it is brought up to date."""
        self.remember(name)
        build_state(self._store, state, schema_text())

    # --- while it is broken -----------------------------------------------------------------

    def now(self) -> State:
        """The state, or what it last was; nothing, where there is none. What is wrong is noted."""
        try:
            found, name = self.read()
            if name is None and STATE in self._pages.absorb.heads.pages and (good := self.last_good()):
                self._note(f"{STATE} was removed. {RESTORE} brings back the version of {good.when}.")
            return found or {}
        except Unsound as unsound:
            good = self.last_good()
            instead = f"the version of {good.when} is used" if good else "no version of it was sound"
            self._note(f"{STATE} was not read: {_said(unsound)}; {instead}. {next_step(unsound, good)}")
            return good.state if good else {}

    def shown(self) -> State:
        """What of it a prompt carries."""
        return for_prompt(self.now())

    def last_good(self) -> Good | None:
        """The newest version in the history of the page that was sound."""
        for edit, data in self._versions():
            if data is not None:
                try:
                    state = examined(data)
                except Unsound:
                    continue
                if state is not None:
                    return Good(state, data, edit.ts)
        return None

    def _versions(self) -> Iterator[tuple[Edit, bytes | None]]:
        """From what the journal last knows, back to the first; without those that cannot be made again."""
        now = self._pages.absorb.head_bytes(STATE)
        for edit in self._pages.history.back(STATE):
            try:
                yield edit, self._pages.history.after(edit, now)
            except Refused:
                continue

    # --- what was found sound ----------------------------------------------------------------

    def sound(self, name: str | None, data: bytes) -> State | None:
        """What a version with this hash says; None: it is no sound state. One that is known is only read."""
        try:
            is_known = name is not None and name in (self._sound, self._remembered())
            return parsed(data) if is_known else examined(data)
        except Unsound:
            return None

    def _remembered(self) -> str | None:
        try:
            document = self._store.get(SOUND)
            raw = records.whole(document.data if document else b"")
            return str(raw["sha256"]) if raw["schema"] == SOUND_SCHEMA else None
        except (Refused, LookupError, TypeError, ValueError):
            return None

    def remember(self, name: str | None) -> None:
        """The bytes of this hash are sound."""
        self._sound = name
        try:
            self._store.view(SOUND, records.encode({"schema": SOUND_SCHEMA, "sha256": name}))
        except Refused:
            pass  # looked at again another time


def _said(unsound: Unsound) -> str:
    return f"in {unsound.where}, {unsound.why}" if unsound.where else unsound.why


def next_step(unsound: Unsound, good: Good | None) -> str:
    if good is None:
        return "Mend it with an editor." if unsound.line else "Move that file away."
    back = f"{RESTORE} brings back the version of {good.when}"
    return f"Mend it, or {back}." if unsound.line else f"Move that file away; then {back}."


def hash_of(text: str) -> str:
    return sha256(text.encode())
