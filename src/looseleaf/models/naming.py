"""Names and ids that a provider takes: those it would refuse are changed, always the same one in the same way."""

from __future__ import annotations

import hashlib
import re

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import ToolCallSpec
from looseleaf.base.replies import Called, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.base.replies import Event


@frozen
class Spelling:
    """What a name may be made of (`beyond`: a pattern of what it may not), how long it may be, how it may begin."""

    beyond: str | None = None
    chars: int = 64
    begins: str | None = None

    def fitted(self, name: str) -> str:
        """The name itself where it fits; else what is left of it, and a hash, so that two never become one."""
        fit = re.sub(self.beyond, "_", name) if self.beyond else name
        if self.begins and not re.match(self.begins, fit):
            fit = f"_{fit}"
        if fit == name and 0 < len(name) <= self.chars:
            return name
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{fit[: self.chars - 9]}_{mark}"


def with_own_names(events: Iterable[Event], names: Iterable[tuple[str, str]]) -> Iterator[Event]:
    """What was read, with the tools' own names where they had to be offered under others (`Rendered.names`)."""
    own = dict(names)
    for event in events:
        if isinstance(event, Called):
            yield Called(_named(event.call, own))
        elif isinstance(event, Reply) and event.calls:
            members = {name: getattr(event, name) for name in Reply.__match_args__}
            yield Reply(**members | {"calls": tuple(_named(call, own) for call in event.calls)})
        else:
            yield event


def _named(call: ToolCallSpec, own: dict[str, str]) -> ToolCallSpec:
    return ToolCallSpec(call.id, own.get(call.name, call.name), call.arguments, call.opaque)
