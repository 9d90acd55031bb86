"""The views of the state (FORMAT §11.6): `views/state.toon`, the state as a prompt carries it, and the schema of
`state.json`. Made of the state alone: the same state gives the same bytes.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.state.rules import compact, for_prompt
from looseleaf.text.notation import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.state.rules import State
    from looseleaf.store.protocol import Store

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
