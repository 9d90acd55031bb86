"""Layers: the memories that are read under an open one (docs/LAYERS.md, FORMAT §19).

The *nearer* memory is the one that is opened; *farther* ones are opened when they are first needed, each with its own
store, and only for reading. What is about the user is written to the home memory, which is opened anew for that.
Invariant: a layer that is absent, locked, damaged or another user's is left out with a note; the answer comes anyway.
"""

from __future__ import annotations

import json
import os
import re

from looseleaf.base.errors import NotFound, Outdated, Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.paths import SETTINGS, is_address, quoted
from looseleaf.base.policy import Policy
from looseleaf.pages.folder import (
    NAME,
    home_path,
    is_at_home,
    is_home,
    is_memory,
    is_projects,
    refuse_lost_log,
    settings,
)
from looseleaf.store.context import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Generic, Protocol, TypeVar

    class LayerParts(Protocol):
        finds_own_talk_only: bool

        def close(self) -> None: ...

    Walls = Callable[[str, str], bool]
    """Whether one may do something (read, write, review) in the memory at a folder or an address."""

    T = TypeVar("T")
    P = TypeVar("P", bound=LayerParts)
else:
    from typing import Generic, TypeVar

    P = TypeVar("P")

HOME = "home"


def nothing(where: str, scope: str) -> bool:
    """Walls that let nothing through."""
    return False


_IN_LAYER = re.compile(r"([\w-]{2,}):(?:f_[0-9a-f]{1,12}|.+\.md(?:[:#].*)?)")
"""A page, a place or a fact of a layer."""

_MOST = 8
"""The most layers under a memory: more are a mistake."""

_PATIENCE = 0.02
"""Seconds to wait for the lock of a farther memory, to bring its views up to date: an answer does not wait longer."""


@frozen
class Layer:
    """A memory under another: what it is called in places and lines, and its folder or address."""

    name: str
    where: str

    @property
    def path(self) -> str:
        """The folder, or the address as it may be shown."""
        return shown_name(self.where)

    @property
    def command(self) -> str:
        """The command that works in it, as it is typed."""
        from shlex import quote

        return f"looseleaf --memory {f'~/{NAME}' if self.name == HOME else quote(self.path)}"


def find_layers(
    path: str, policy: Policy, note: Callable[[str], None], missed: list[str] | None = None
) -> list[Layer]:
    """Return the memories under the one at a path, nearest first; note those that are left out. `missed` gets those
    that should be there and cannot be read, each with the reason. A home memory that was never made is not missed."""
    found: list[Layer] = []
    own = _real(path)
    seen = {own}
    waiting = [(path, policy.over if policy.over is not None else _default_over(path))]
    while waiting:
        of, over = waiting.pop(0)
        named: set[str] = set()
        told = _named_in_file(of) if over else ()
        for given in over:
            try:
                where = _locate(given, of)
            except Refused as refused:
                note(f"A layer of {shown_name(of)} was left out: {refused}")
                continue
            shown, real = shown_name(given), _real(where)
            if real in (_real(of), own) or real in named:
                why = "named twice" if real in named else "the memory itself, or above it"
                note(f"The layer {shown!r} of {shown_name(of)} was left out: it is {why}.")
                continue
            named.add(real)
            if real in seen:
                continue
            if given in told and _may_be_strangers(of, real):
                note(
                    f"The layer {shown!r} of {of} was left out: git tracks the {SETTINGS} there, so that others may "
                    f"have named it, and it lies outside the repository. To read it, put `trust_over = "
                    f"[{json.dumps(real, ensure_ascii=False)}]` into ~/{NAME}/{SETTINGS}."
                )
                continue
            fault = _why_unreadable(where, is_named=policy.over is not None)
            if fault:
                note(f"The layer {shown!r} was left out: {fault}")
                if missed is not None:
                    missed.append(f"{_name_layer(where, set())}: {fault}")
            if fault is not None:
                continue
            if len(found) >= _MOST:
                note(
                    f"The layer {shown!r} of {shown_name(of)} was left out: a memory lies over at most {_MOST} others."
                )
                continue
            seen.add(real)
            found.append(Layer(_name_layer(where, {each.name for each in found}), where))
            try:
                further = settings(where).over
            except Refused as refused:
                note(f"The layers under {shown_name(where)} were left out: {refused}")
                continue
            waiting += [(where, further)] if further else []
    return found


def refuse_no_layer(name: str, layers: Layers[Any] | None) -> None:
    """Refuse a place in a layer that is not there."""
    named = _IN_LAYER.fullmatch(name)
    if named is None:
        return
    why = layers.explain_missing(named[1]) if layers is not None else ""
    if not why and named[1] == HOME:
        why = f"there is no home memory. `looseleaf init ~/{NAME}` makes one, which lies under those of projects."
    why = why or "`looseleaf status` names the layers; a path of this memory contains no `:`."
    why = why[:1].upper() + why[1:]
    raise NotFound(f"Nothing was done: the path {quoted(name)} is of no layer under this memory. {why}")


def _named_in_file(of: str) -> tuple[str, ...]:
    try:
        return settings(of).over or ()
    except (OSError, Refused):
        return ()  # a program gave the policy


def _may_be_strangers(of: str, real: str) -> bool:
    """True if others may have named a layer: in settings that git tracks, outside of their repository, and the home
    memory's settings do not say that it is trusted."""
    from looseleaf.place.tracked import find_repository, is_file_tracked

    top = find_repository(of) if not is_address(of) else None
    if top is None or is_at_home(of) or is_home(real) or _lies_in(real, top):
        return False
    return not any(_lies_in(real, each) for each in _trusted(of)) and is_file_tracked(
        os.path.join(of, SETTINGS)
    )


def _trusted(of: str) -> Iterator[str]:
    """Yield the folders that the home memory's settings trust: those of the memory itself do not count."""
    home = home_path()
    try:
        told = settings(home).trust_over if not is_home(of) else None
    except (OSError, Refused):
        return
    for each in told or ():
        try:
            yield _real(_locate(each, home))
        except Refused:
            continue


def _locate(given: str, of: str) -> str:
    """Return the folder or the address that the settings of a memory name."""
    if is_address(given):
        from looseleaf.pages.in_database import read_address

        named = read_address(given)
        own = read_address(of).of(named.namespace) if is_address(of) else named
        return (
            own.where if own.shown == named.shown else named.where
        )  # of the same database: it needs no password
    given = os.path.expanduser(given)
    if is_address(of) and not os.path.isabs(given):
        from looseleaf.pages.in_database import read_address

        return read_address(of).of(given).where
    path = os.path.normpath(os.path.join(of, given))
    if os.sep not in given and given not in (os.curdir, os.pardir) and not os.path.lexists(path):
        path = os.path.join(
            os.path.dirname(os.path.abspath(of)), given
        )  # a name: of a memory beside this one
    return path


def _real(where: str) -> str:
    """Return one name for each memory, however it is reached."""
    return shown_name(where) if is_address(where) else os.path.realpath(where)


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _default_over(path: str) -> tuple[str, ...]:
    """A project's memory lies over the home memory; any other, such as a named one, stands alone."""
    chosen = os.environ.get("LOOSELEAF_HOME")
    is_chosen = bool(chosen) and os.path.realpath(os.path.expanduser(chosen or "")) == os.path.realpath(path)
    home = home_path()
    return (home,) if is_projects(path) and not is_chosen and os.path.isabs(home) else ()


def _why_unreadable(where: str, *, is_named: bool) -> str | None:
    """Return why a memory cannot be read; "" if it was never made, and no one named it; None if it can."""
    if is_address(where):
        try:
            return None if is_memory(where) else f"there is no memory at {shown_name(where)}."
        except Refused as refused:
            return str(refused)
    why: str | None = None
    try:
        if not os.path.isdir(where):
            if os.path.islink(where):
                why = f"{where} is a link, and leads to no folder."
            elif _is_there(where):
                why = f"{where} is not a folder."
            else:
                why = f"there is no folder {where}." if is_named else ""
        elif os.stat(where).st_uid != os.getuid():
            why = "it belongs to another user."
        elif not is_memory(where):
            refuse_lost_log(where)
            why = f"{where} is not a memory." if is_named else ""
    except (OSError, Refused) as error:
        why = str(error)
    return why


def _is_there(where: str) -> bool:
    try:
        os.lstat(where)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _name_layer(where: str, taken: set[str]) -> str:
    if is_address(where):
        from looseleaf.pages.in_database import read_address

        folder = read_address(where).namespace
    elif is_home(where):
        return HOME
    else:
        folder = os.path.dirname(where) if os.path.basename(where) == NAME else where
    name = re.sub(r"[^\w-]+", "-", os.path.basename(folder)).strip("-") or "layer"
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, _MOST + 3))
    return next(each for each in names if each not in taken and each != HOME)


class Layers(Generic[P]):
    """The layers under one memory, each opened when it is first needed. `open_layer` opens one, to read it or to
    write."""

    def __init__(
        self,
        path: str,
        policy: Policy,
        note: Callable[[str], None],
        open_layer: Callable[[Layer, Policy, bool], P],
        walls: Callable[[], Walls | None] = lambda: None,
    ) -> None:
        self.missed: list[str] = []
        """Layers that should be there and cannot be read, each with the reason."""
        self.found = find_layers(path, policy, note, self.missed)
        self._policy, self._note = policy, note
        self._open_layer, self._walls = open_layer, walls
        self._opened: dict[tuple[str, bool], P] = {}

    def close(self) -> None:
        for parts in self._opened.values():
            parts.close()
        self._opened.clear()

    @property
    def seen(self) -> list[Layer]:
        """The layers that may be read: for who may not read one, it is not there."""
        return [layer for layer in self.found if self.may(layer, "read")]

    def may(self, layer: Layer, scope: str) -> bool:
        walls = self._walls()
        return walls is None or walls(layer.where, scope)

    def each(self, read: Callable[[P], T]) -> list[tuple[str, T]]:
        """Read something of each layer; one that cannot be read is noted, and left out."""
        done: list[tuple[str, T]] = []
        for layer in self.seen:
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
        """Return a layer opened for reading: nothing but its views may change. What others said there is found only by
        one who decides there."""
        parts = self._open(layer, reads_only=True)
        parts.finds_own_talk_only = not self.may(layer, "review")
        return parts

    def writing(self, layer: Layer) -> P:
        """Return a layer opened as any memory is, to write to it."""
        if not self.may(layer, "write"):
            raise Refused(f"Nothing was done in the layer {layer.name}: this may only read it.")
        return self._open(layer, reads_only=False)

    def named(self, name: str) -> Layer | None:
        return next((layer for layer in self.seen if layer.name == name), None)

    @property
    def home(self) -> Layer | None:
        return self.named(HOME)

    def split(self, name: str) -> tuple[Layer | None, str]:
        """Split `home:USER.md:5` into the layer and the place in it; None: the memory itself."""
        first, colon, rest = name.partition(":")
        layer = self.named(first) if colon else None
        return (layer, rest) if layer is not None else (None, name)

    def explain_missing(self, name: str) -> str:
        """Return why there is no layer of a name, as far as that is known, and anybody may know it."""
        return (
            ""
            if self._walls() is not None
            else next((why.partition(": ")[2] for why in self.missed if why.startswith(f"{name}: ")), "")
        )

    def _open(self, layer: Layer, *, reads_only: bool) -> P:
        key = layer.name, reads_only
        if key not in self._opened:
            policy = settings(layer.where)
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
