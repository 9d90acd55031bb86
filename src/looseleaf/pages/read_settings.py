"""The settings of a memory, as its `looseleaf.toml` has them."""

from __future__ import annotations

import tomllib

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.paths import SETTINGS
from looseleaf.base.policy import Policy, policy_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.store.protocol import Store


def read_settings(store: Store, file: str, agent: str | None = None) -> Policy:
    """Return the policy: the defaults with the changes of the settings (for an agent). `file` names them to people."""
    found = store.get(SETTINGS, Policy().page_bytes)
    return parse_settings(found.data if found else b"", file, agent)


def parse_settings(data: bytes, file: str, agent: str | None = None) -> Policy:
    """Return the policy that a text sets, or refuse it. Settings for other agents are checked, too."""
    try:
        return policy_from(tomllib.loads(data.decode()), file, agent)
    except Refused:  # an Invalid is a ValueError too, and already says which line is wrong
        raise
    except (ValueError, RecursionError) as error:
        from looseleaf.pages.held import find_markers

        markers = find_markers(data)
        why = f"it has conflict markers, from line {markers[0][0]}" if markers else str(error)
        raise Invalid(
            f"The memory was not opened: {file} could not be read ({why}). Fix it, or delete it to use the defaults."
        ) from error
