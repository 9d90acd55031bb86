"""`state.json` on disk: read strictly, validated, and its last sound version while it is broken (FORMAT §11.4).

Invariant: a broken file is never taken for an empty one, and nothing overwrites it. Loading the schema library costs
more time than a hook has, so a view keeps the hash of the bytes last found sound; if it is deleted, they are validated
again.
"""

from __future__ import annotations

import os
from functools import cache

from looseleaf.base.errors import Busy, Invalid, Outdated, Refused, Unwritten
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.pages.outside_edits import load_view, save_view
from looseleaf.state.rules import (
    Unsound,
    compact,
    for_prompt,
    format_path,
    format_state,
    parse_state,
    place_of,
)
from looseleaf.store import records
from looseleaf.text.notation import encode
from looseleaf.text.times import clock, day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.pages.pages import Pages
    from looseleaf.state.rules import State
    from looseleaf.store.protocol import Store


# --- views (FORMAT §11.6): the state as a prompt carries it, and the schema of `state.json` ---

TOON = "views/state.toon"
SCHEMA = "views/state.schema.json"


def format_for_prompt(state: State) -> str:
    """Return the state as TOON, or as compact JSON where that is shorter or TOON cannot express it; "" if empty."""
    shown = for_prompt(state)
    if not shown:
        return ""
    text, toon = compact(state), encode(shown)
    return toon if toon is not None and len(toon.encode()) < len(text.encode()) else text


def build_state(store: Store, state: State, schema: bytes) -> None:
    """Update both views. One that cannot be written is only a cache, and is rebuilt later."""
    for path, data in ((TOON, format_for_prompt(state).encode()), (SCHEMA, schema)):
        try:
            there = store.get(path)
            if data and (there is None or there.data != data):
                store.view(path, data)
            elif there is not None and not data:
                store.delete(path, base=there.sha256)
        except Outdated:
            raise
        except Refused:
            pass


SOUND = "views/state.sound.json"
SOUND_SCHEMA = "state_sound.v1"
"""Raise it with the state's schema: files found sound by an older one are validated again."""

RESTORE = "`looseleaf state restore`"
RESTORED = "restored: "
"""How the reason of an edit that restores an earlier version begins."""

_HIDDEN = "it"
"""The name for a value in the library's messages: the value itself may be anything, and long."""


def schema_text() -> bytes:
    """Return the schema that this package ships."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "data", "state", "state.schema.json"), "rb") as file:
        return file.read()


@cache
def _load_validator() -> Any:
    """Load the validator; None if the library is missing."""
    import json

    try:
        from jsonschema_rs import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator(json.loads(schema_text()), mask=_HIDDEN)


def refuse_unsound(state: State, text: str) -> bool:
    """Validate a state: Unsound with the place of the first fault; False if the library is missing."""
    validator = _load_validator()
    if validator is None:
        return False
    error = next(iter(validator.iter_errors(state)), None)
    if error is not None:
        path = [each if isinstance(each, int) else str(each) for each in error.instance_path]
        what = f"`{format_path(path)}`: " if path else ""
        raise Unsound(f"this is not a state ({what}{error.message})", *place_of(text, path))
    return True


def parse_sound(data: bytes) -> State | None:
    """Parse and validate the bytes of a state (None: empty); Unsound if broken."""
    state = parse_state(data)
    if state is not None:
        refuse_unsound(state, data.decode())
    return state


@frozen
class GoodVersion:
    """A sound version of the state, and its time."""

    state: State
    data: bytes
    ts: float

    @property
    def when(self) -> str:
        return f"{day(self.ts)} {clock(self.ts)} UTC"


class StateFile:
    """`state.json` of a memory: its current and its last sound version."""

    def __init__(self, store: Store, pages: Pages, note: Callable[[str], None]) -> None:
        self._store = store
        self._pages = pages
        self._note = note
        self._sound: str | None = None

    def read(self) -> tuple[State | None, str | None]:
        """Read the state (None: none) and the hash of its file; Unsound if it is broken."""
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
        state = parse_state(page.data)
        if state is None and self.last_good() is not None:  # not a newly created file
            raise Unsound("it is empty, but there was a state", 1)
        if state is not None and name != self._sound and name != self._read_sound_hash():
            if refuse_unsound(state, page.data.decode()):
                self.remember(name)
            else:
                self._note(
                    f"{STATE} was not validated: the package jsonschema-rs is not installed. "
                    "Run `pip install jsonschema-rs`."
                )
        self._sound = name
        return state, page.sha256

    def text_of(self, state: State) -> str:
        """Return the text of a new state; Refused if it would not be sound."""
        try:
            text = format_state(state)
            refuse_unsound(parse_state(text.encode()) or {}, text)
        except Unsound as unsound:
            why = unsound.why
        except (TypeError, ValueError, RecursionError):  # a Python object that JSON lacks
            why = "a value is not valid JSON"
        else:
            return text
        raise Invalid(f"{STATE} was not changed: in the new state, {why}. Give other values.")

    def refused(self, unsound: Unsound) -> Refused:
        """Return the error that explains why the broken file is not overwritten."""
        good = self.last_good()
        return Refused(f"{STATE} was left as it is: {_fault_text(unsound)}. {next_step(unsound, good)}")

    def build_views(self, state: State, name: str | None) -> None:
        """Update the views after a write; `name` is the new hash."""
        self.remember(name)
        build_state(self._store, state, schema_text())

    def now(self) -> State:
        """Return the state, or its last sound version, or {}. Faults are noted."""
        try:
            found, name = self.read()
            if name is None and STATE in self._pages.absorb.heads.pages and (good := self.last_good()):
                self._note(f"{STATE} was removed. {RESTORE} brings back the version of {good.when}.")
            return found or {}
        except Unsound as unsound:
            good = self.last_good()
            instead = f"the version of {good.when} is used" if good else "no version of it was sound"
            self._note(f"{STATE} was not read: {_fault_text(unsound)}; {instead}. {next_step(unsound, good)}")
            return good.state if good else {}

    def last_good(self) -> GoodVersion | None:
        """Return the newest sound version in the page's history that can be rebuilt."""
        now = self._pages.absorb.head_bytes(STATE)
        for edit in self._pages.history.back(STATE):
            try:
                data = self._pages.history.after(edit, now)
                state = parse_sound(data) if data is not None else None
            except (Refused, Unsound):
                continue
            if data is not None and state is not None:
                return GoodVersion(state, data, edit.ts)
        return None

    def sound(self, name: str | None, data: bytes) -> State | None:
        """Return the state in a version with this hash; None if not sound. A known one is not validated again."""
        try:
            is_known = name is not None and name in (self._sound, self._read_sound_hash())
            return parse_state(data) if is_known else parse_sound(data)
        except Unsound:
            return None

    def _read_sound_hash(self) -> str | None:
        return load_view(self._store, SOUND, SOUND_SCHEMA).get("sha256")

    def remember(self, name: str | None) -> None:
        """Keep the hash of sound bytes."""
        self._sound = name
        save_view(self._store, SOUND, records.encode({"schema": SOUND_SCHEMA, "sha256": name}))


def _fault_text(unsound: Unsound) -> str:
    return f"in {unsound.where}, {unsound.why}" if unsound.where else unsound.why


def next_step(unsound: Unsound, good: GoodVersion | None) -> str:
    if good is None:
        return "Fix it with an editor." if unsound.line else "Move that file away."
    back = f"{RESTORE} brings back the version of {good.when}"
    return f"Fix it, or {back}." if unsound.line else f"Move that file away; then {back}."
