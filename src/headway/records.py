"""Frozen dataclasses, declared as with `dataclasses` and created in a quarter of the time.

Every start creates some seventy of them, and before Python 3.13 `dataclasses` compiles six methods
for each: a third of headway's start-up time. Here only ``__init__`` is compiled; the other methods
are the same few functions for all classes. Fields and behaviour are those of `dataclasses`, which
still creates all other classes: those with slots and those that are not frozen.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

Methods = dict[str, Callable[..., Any]]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False):  # noqa: ANN001, ANN201, A002
        """Make a dataclass; the options are those of `dataclasses.dataclass`.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Gap:
        ...     mean: float
        ...     scv: float = 1.0
        >>> Gap(2.0), Gap(2.0) == Gap(2.0, 1.0)
        (Gap(mean=2.0, scv=1.0), True)
        """

        def made(cls):  # noqa: ANN001, ANN202
            if frozen and not slots:
                return _frozen(cls, eq=eq, shown=repr)
            return dataclasses.dataclass(cls, frozen=frozen, eq=eq, repr=repr, slots=slots)

        return made if cls is None else made(cls)


@dataclasses.dataclass(frozen=True)
class _Example:
    """Any frozen dataclass."""


class _New:
    """Stands for a value that the field's factory will create."""

    def __repr__(self) -> str:
        return "<factory>"


_NEW = _New()


def _frozen(cls: Any, *, eq: bool, shown: bool) -> Any:
    """Turn a class into a frozen dataclass; methods that it defines itself stay."""
    own = {name for name, value in vars(cls).items() if value is not None}
    inherits = is_dataclass(cls)  # must be frozen if its base classes are
    dataclasses.dataclass(cls, frozen=inherits, init=False, eq=False, repr=False)
    cls.__dataclass_params__ = _Example.__dataclass_params__  # type: ignore[attr-defined]
    methods: Methods = {"__init__": _init(cls)}
    methods |= {} if inherits else _keeping(cls)
    methods |= _comparing(cls) if eq else {}
    methods |= {"__repr__": _shown} if shown else {}
    for name in methods.keys() - own:
        setattr(cls, name, methods[name])
    return cls


def _init(cls: Any) -> Callable[..., None]:
    """Compile ``__init__``, which sets the fields, with their defaults."""
    places: dict[str, Any] = {"_set_": object.__setattr__, "_new_": _NEW}
    arguments, lines = ["self"], []
    for field in fields(cls):
        name, made = field.name, field.default_factory is not MISSING
        places[f"_of_{name}"] = field.default_factory if made else field.default
        value, default = name, f"=_of_{name}" if field.default is not MISSING else ""
        if made:
            value, default = f"_of_{name}() if {name} is _new_ else {name}", "=_new_"
        if field.init:
            arguments.append(name + default)
            lines.append(f" _set_(self, {name!r}, {value})")
        elif made:
            lines.append(f" _set_(self, {name!r}, _of_{name}())")
    lines.append(" self.__post_init__()" if hasattr(cls, "__post_init__") else " pass")
    exec("\n".join([f"def __init__({', '.join(arguments)}):", *lines]), places)  # noqa: S102
    init: Any = places["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
    return init  # type: ignore[no-any-return]


def _keeping(cls: Any) -> Methods:
    """Methods that refuse to set and delete: in a plain subclass, only for fields."""
    kept = {field.name for field in fields(cls)}

    def check(verb: str, one: object, name: str) -> None:
        if type(one) is cls or name in kept:
            msg = f"cannot {verb} field {name!r}"
            raise FrozenInstanceError(msg)

    def assign(self: Any, name: str, value: object) -> None:
        check("assign to", self, name)
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        check("delete", self, name)
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}


def _comparing(cls: Any) -> Methods:
    """Methods that compare and hash the fields that count."""
    names = [field.name for field in fields(cls) if field.compare]
    value = attrgetter(*names) if names else lambda _: ()

    def equal(self: Any, other: Any) -> Any:
        return value(self) == value(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(value(self))}


@recursive_repr()
def _shown(self: Any) -> str:
    """A dataclass, written like a call of its constructor."""
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"
