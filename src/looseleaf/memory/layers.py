"""Layers: the memories that are read under an open one (docs/LAYERS.md, FORMAT §19).

The *nearer* memory is the one that is opened; *farther* ones are opened when they are first needed, each with its own
store, and only for reading. What is about the user is written to the home memory, which is opened anew for that.
Invariant: a layer that is absent, locked, damaged or another user's costs a note, never an answer.
"""

from __future__ import annotations

import os
import re

from looseleaf.base.errors import Outdated, Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.policy import Policy
from looseleaf.pages.folder import is_home, is_memory, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Generic, Protocol, TypeVar

    class LayerParts(Protocol):
        def close(self) -> None: ...

    T = TypeVar("T")
    P = TypeVar("P", bound=LayerParts)
else:
    from typing import Generic, TypeVar

    P = TypeVar("P")

HOME = "home"
FOLDER = ".looseleaf"

_MOST = 8
"""Layers under a memory: more are a mistake."""

_PATIENCE = 0.02
"""Seconds to wait for the lock of a farther memory, to bring its views up to date: an answer does not wait for it."""


@frozen
class Layer:
    """A memory under another: what it is called in places and lines, and its folder."""

    name: str
    path: str


def find_layers(path: str, policy: Policy, note: Callable[[str], None]) -> list[Layer]:
    """Return the memories under the one at a path, nearest first; note those that are left out."""
    found: list[Layer] = []
    seen = {os.path.realpath(path)}
    waiting = [(path, policy.over if policy.over is not None else _default_over(path))]
    while waiting:
        of, over = waiting.pop(0)
        named: set[str] = set()
        for given in over:
            where = os.path.normpath(os.path.join(of, os.path.expanduser(given)))
            real = os.path.realpath(where)
            if real == os.path.realpath(of) or real in named or real == os.path.realpath(path):
                why = "named twice" if real in named else "the memory itself, or above it"
                note(f"The layer {given!r} of {of} was left out: it is {why}.")
                continue
            named.add(real)
            if real in seen or not _may_be_read(where, given, note, is_named=policy.over is not None):
                continue
            if len(found) >= _MOST:
                note(f"The layer {given!r} of {of} was left out: a memory lies over at most {_MOST} others.")
                continue
            seen.add(real)
            found.append(Layer(_name_layer(where, {each.name for each in found}), where))
            try:
                further = settings(where).over
            except Refused as refused:
                note(f"The layers under {where} were left out: {refused}")
                continue
            waiting += [(where, further)] if further else []
    return found


def _default_over(path: str) -> tuple[str, ...]:
    """A project's memory lies over the home memory; any other, such as a named one, is alone."""
    chosen = os.environ.get("LOOSELEAF_HOME")
    is_chosen = bool(chosen) and os.path.realpath(os.path.expanduser(chosen or "")) == os.path.realpath(path)
    is_project = os.path.basename(path) == FOLDER and not is_chosen
    home = os.path.join(os.path.expanduser("~"), FOLDER)
    return (home,) if is_project and os.path.isabs(home) and not is_home(path) else ()


def _may_be_read(where: str, given: str, note: Callable[[str], None], *, is_named: bool) -> bool:
    try:
        if not os.path.isdir(where):
            if is_named:
                note(f"The layer {given!r} was left out: there is no folder {where}.")
            return False
        if os.stat(where).st_uid != os.getuid():
            note(f"The layer {given!r} was left out: it belongs to another user.")
            return False
        if not is_memory(where):
            if is_named:
                note(f"The layer {given!r} was left out: {where} is not a memory.")
            return False
    except (OSError, Refused) as error:
        note(f"The layer {given!r} was left out: {error}")
        return False
    return True


def _name_layer(where: str, taken: set[str]) -> str:
    if is_home(where):
        return HOME
    folder = os.path.dirname(where) if os.path.basename(where) == FOLDER else where
    name = re.sub(r"[^\w-]+", "-", os.path.basename(folder)).strip("-") or "layer"
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, _MOST + 3))
    return next(each for each in names if each not in taken and each != HOME)


class Layers(Generic[P]):
    """The layers under one memory, each opened once it is needed. `open_layer` opens one, to read it or to write."""

    def __init__(
        self,
        path: str,
        policy: Policy,
        note: Callable[[str], None],
        open_layer: Callable[[Layer, Policy, bool], P],
    ) -> None:
        self.found = find_layers(path, policy, note)
        self._policy, self._note = policy, note
        self._open_layer = open_layer
        self._opened: dict[tuple[str, bool], P] = {}

    def close(self) -> None:
        for parts in self._opened.values():
            parts.close()
        self._opened.clear()

    def each(self, read: Callable[[P], T]) -> list[tuple[str, T]]:
        """Read something of each layer; one that cannot be read is noted, and left out."""
        done: list[tuple[str, T]] = []
        for layer in self.found:
            try:
                done.append((layer.name, self._read_layer(layer, read)))
            except (Refused, OSError) as error:
                self._close_layer(layer)
                self._note(f"The layer {layer.name} ({layer.path}) could not be read: {error}")
        return done

    def _read_layer(self, layer: Layer, read: Callable[[P], T]) -> T:
        try:
            return read(self.reading(layer))
        except Outdated:  # something was forgotten there meanwhile
            self._close_layer(layer)
            return read(self.reading(layer))

    def reading(self, layer: Layer) -> P:
        """Return a layer opened for reading: nothing but its views may change."""
        return self._open(layer, reads_only=True)

    def writing(self, layer: Layer) -> P:
        """Return a layer opened as any memory is, to write to it."""
        return self._open(layer, reads_only=False)

    def named(self, name: str) -> Layer | None:
        return next((layer for layer in self.found if layer.name == name), None)

    @property
    def home(self) -> Layer | None:
        return self.named(HOME)

    def split(self, name: str) -> tuple[Layer | None, str]:
        """Split `home:USER.md:5` into the layer and the place in it; None: the memory itself."""
        first, colon, rest = name.partition(":")
        layer = self.named(first) if colon else None
        return (layer, rest) if layer is not None else (None, name)

    def _open(self, layer: Layer, *, reads_only: bool) -> P:
        key = layer.name, reads_only
        if key not in self._opened:
            policy = settings(layer.path)
            changed = {"semantic": self._policy.semantic, "layers": False}
            changed |= {"lock_seconds": min(policy.lock_seconds, _PATIENCE)} if reads_only else {}
            policy = Policy(**members_of(policy) | changed)
            self._opened[key] = self._open_layer(layer, policy, reads_only)
        return self._opened[key]

    def _close_layer(self, layer: Layer) -> None:
        parts = self._opened.pop((layer.name, True), None)
        try:
            if parts is not None:
                parts.close()
        except (Refused, OSError):
            pass  # it could not be read either
