"""`@frozen`: what `@dataclass(frozen=True, slots=True)` gives, without importing `dataclasses`.

That module imports `inspect`, and the two cost more than half of a command's start-up budget; a hook starts one for
every prompt. Type checkers see an ordinary frozen dataclass. The `__init__` of a class is compiled only after some
values were made, so a command that makes one or none does not wait for it.

Left out, because nothing here needs it: fields inherited from another frozen class, `field()`, `__post_init__`.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeVar, dataclass_transform

    _T = TypeVar("_T")

    @dataclass_transform(frozen_default=True)
    def frozen(cls: type[_T]) -> type[_T]: ...

else:

    def frozen(cls):
        names = tuple(cls.__annotations__)
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        if names[len(names) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"{cls.__qualname__}: a field without a default follows one with a default")
        for name, value in defaults.items():
            if type(value).__hash__ is None:
                raise ValueError(f"{cls.__qualname__}: the default of {name} is mutable")
        left = {*defaults, "__dict__", "__weakref__"}
        own = {name: value for name, value in cls.__dict__.items() if name not in left}
        members = {"__eq__": _equal, "__hash__": _hash, "__repr__": _repr} | own
        members |= {"__slots__": names, "__match_args__": names, "__qualname__": cls.__qualname__}
        members |= {"__setattr__": _refuse, "__delattr__": _refuse, "__reduce__": _reduce}
        members["__init__"] = _first_init(names, defaults)
        members["_read"] = attrgetter(*names) if len(names) > 1 else _read_few
        made = type(cls.__name__, cls.__bases__, members)
        made.__init__._for = made
        return made


_FEW = 60
"""Values made before `__init__` is compiled: compiling takes as long as making eighty without it."""


def _first_init(names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    left = _FEW

    def first(self: Any, *values: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        given = defaults | dict(zip(names, values, strict=False)) | named
        # The compiled one refuses a surplus, repeated, missing or unknown value in Python's words.
        fits = len(values) + len(named) <= len(names) and len(given) == len(names)
        if left < 0 or not fits or not named.keys() <= set(names[len(values) :]):
            first._compiled()(self, *values, **named)  # type: ignore[attr-defined]
            return
        for name in names:
            object.__setattr__(self, name, given[name])

    def compiled() -> Any:
        cls = first._for  # type: ignore[attr-defined]
        parameters = ", ".join(f"{name}=_defaults[{name!r}]" if name in defaults else name for name in names)
        body = "; ".join(f"_set(self, {name!r}, {name})" for name in names) or "pass"
        scope: dict[str, Any] = {"_defaults": defaults, "_set": object.__setattr__}
        exec(f"def __init__(self, {parameters}):\n    {body}", scope)
        init = scope["__init__"]
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = init
        return init

    first._compiled = compiled  # type: ignore[attr-defined]
    return first


def _refuse(self: object, name: str, *_: object) -> None:
    raise AttributeError(f"a {type(self).__name__} does not change: {name}")


def members_of(value: object) -> dict[str, Any]:
    """Return the members of a frozen value, by name."""
    cls: Any = type(value)
    return dict(zip(cls.__match_args__, cls._read(value), strict=True))


def _read_few(value: object) -> tuple[object, ...]:
    """Return the member of a value with at most one: `attrgetter` makes a tuple only of more."""
    return tuple(getattr(value, name) for name in type(value).__match_args__)  # type: ignore[attr-defined]


class Replaceable:
    """A frozen value of which another can be made with some members replaced."""

    __slots__ = ()

    def but(self, **changes: Any) -> Self:
        """Return the same value, except for these members."""
        make: Any = type(self)
        made: Self = make(**members_of(self) | changes)
        return made


def _values(self: object) -> tuple[object, ...]:
    cls: Any = type(self)
    values: tuple[object, ...] = cls._read(self)
    return values


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: object) -> str:
    named = ", ".join(f"{name}={value!r}" for name, value in members_of(self).items())
    return f"{type(self).__qualname__}({named})"


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)
