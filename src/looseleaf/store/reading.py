"""Readings: nothing is written that rests on text which was forgotten after it was read (FORMAT §17.6).

Distilling, compacting and prompting read, work for seconds without the lock, and then write. A reading remembers the
edition of the memory when it began. While it is open, its thread gets the lock, and so writes, only if the memory still
has that edition.
"""

from __future__ import annotations

from _thread import _local

from looseleaf.base.errors import Outdated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from looseleaf.base.values import Edition
    from looseleaf.store.protocol import Store

    T = TypeVar("T")

_TRIES = 5
"""How often to make something again that a forget has overtaken."""


class Readings(_local):
    """The open reading of each thread."""

    began: Edition | tuple[()] = ()
    """The edition when it began; (): none is open."""


class OpenReading:
    """A `with` block, which gets True unless it is inside another one: then the outer one's edition counts."""

    def __init__(self, readings: Readings, edition: Edition) -> None:
        self._readings = readings
        self._edition = edition
        self._is_first = False

    def __enter__(self) -> bool:
        self._is_first = self._readings.began == ()
        if self._is_first:
            self._readings.began = self._edition
        return self._is_first

    def __exit__(self, *_: object) -> None:
        if self._is_first:
            self._readings.began = ()


def read_and_write(store: Store, act: Callable[[], T]) -> T:
    """Do an act that writes what it makes of what it reads. If something is forgotten meanwhile, what was made is
    dropped, and the act is done again from what is left. It may also miss what it listed before."""
    for _ in range(_TRIES):
        began = store.edition()
        with store.reading() as is_first:
            try:
                return act()
            except (Outdated, LookupError) as error:
                store.look_again()
                is_overtaken = isinstance(error, Outdated) or store.edition() != began
                if not is_first or not is_overtaken:
                    raise
    raise Outdated
