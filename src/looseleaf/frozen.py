"""`@frozen`: what `@dataclass(frozen=True, slots=True)` gives, without importing `dataclasses`.

That module imports `inspect`, and the two cost more than half of what a command may take to start; a hook starts one
for every prompt. Type checkers see an ordinary frozen dataclass. The `__init__` of a class is compiled when its first
value is made, so a class that a command does not use costs it next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    _T = TypeVar("_T")

    @dataclass_transform(frozen_default=True)
    def frozen(cls: type[_T]) -> type[_T]: ...

else:

    def frozen(cls):
        names = tuple(cls.__annotations__)
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        members = {
            name: value for name, value in cls.__dict__.items() if name not in defaults and name not in _OWN
        }
        members.update(
            __slots__=names,
            __match_args__=names,
            __init__=_first_init(names, defaults),
            __setattr__=_refuse,
            __delattr__=_refuse,
            __eq__=_equal,
            __hash__=_hash,
            __repr__=_repr,
            __reduce__=_reduce,
        )
        return type(cls.__name__, cls.__bases__, members)


_OWN = frozenset({"__dict__", "__weakref__"})


def _first_init(names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    def first(self: Any, *values: Any, **named: Any) -> None:
        parameters = ", ".join(f"{name}=_defaults[{name!r}]" if name in defaults else name for name in names)
        body = "; ".join(f"_set(self, {name!r}, {name})" for name in names) or "pass"
        scope: dict[str, Any] = {"_defaults": defaults, "_set": object.__setattr__}
        exec(f"def __init__(self, {parameters}):\n    {body}", scope)
        type(self).__init__ = scope["__init__"]
        self.__init__(*values, **named)

    return first


def _refuse(self: object, name: str, *_: object) -> None:
    raise AttributeError(f"a {type(self).__name__} does not change: {name}")


def _values(self: object) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in type(self).__match_args__)  # type: ignore[attr-defined]


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: object) -> str:
    named = zip(type(self).__match_args__, _values(self), strict=True)  # type: ignore[attr-defined]
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in named)})"


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)
