"""Immutable values: mappings that refuse assignment, and objects made of them."""

from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping, ValuesView
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)
Entry = TypeVar("Entry", covariant=True)
Added = TypeVar("Added")


class Frozen(Mapping[Key, Entry]):
    """A read-only mapping with a hash, equal to another with the same entries in the same order.

    Examples
    --------
    >>> visits = Frozen({"cpu": 2.0})
    >>> visits["cpu"], visits == {"cpu": 2.0}, visits == Frozen({"cpu": 3.0})
    (2.0, True, False)
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[Key, Entry]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: Key) -> Entry:
        return self._entries[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> ItemsView[Key, Entry]:
        """Its items: the view of a dict is three times as fast as a mapping's."""
        return self._entries.items()

    def values(self) -> ValuesView[Entry]:
        """Its entries."""
        return self._entries.values()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Frozen):
            return bool(value_of(self) == value_of(other))
        return self._entries == other

    def __hash__(self) -> int:
        return hash(value_of(self))

    def __repr__(self) -> str:
        return repr(self._entries)


class Awaited(Frozen[Key, Entry]):
    """A frozen mapping with some entries that are calculated when they are first read.

    Parameters
    ----------
    entries
        The known entries.
    later
        Functions for the other entries; each takes the mapping itself.

    Examples
    --------
    >>> numbers = Awaited({"side": 3.0}, {"area": lambda known: known["side"] ** 2})
    >>> list(numbers), numbers["area"], numbers == {"side": 3.0, "area": 9.0}
    (['side', 'area'], 9.0, True)
    """

    __slots__ = ("_later",)

    def __init__(
        self,
        entries: Mapping[Key, Entry],
        later: Mapping[Key, Callable[[Mapping[Key, Entry]], Entry]],
    ) -> None:
        super().__init__(entries)
        self._later = dict(later)

    def __getitem__(self, key: Key) -> Entry:
        if key not in self._entries and key in self._later:
            self._entries[key] = self._later[key](self)
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries or key in self._later

    def __iter__(self) -> Iterator[Key]:
        return iter({**self._entries, **self._later})

    def __len__(self) -> int:
        return len({**self._entries, **self._later})

    def items(self) -> ItemsView[Key, Entry]:
        """Its items, all calculated."""
        return self._all().items()

    def values(self) -> ValuesView[Entry]:
        """Its entries, all calculated."""
        return self._all().values()

    def __eq__(self, other: object) -> bool:
        return self._all() == other

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all entries, as the functions that calculate them may not be picklable."""
        return Frozen, (dict(self._all()),)

    def _all(self) -> Frozen[Key, Entry]:
        return Frozen({key: self[key] for key in self})


def adding(entries: Mapping[Key, Added], key: Key, entry: Added) -> Frozen[Key, Added]:
    """A frozen mapping with one entry added or replaced.

    Entries that are already frozen are not examined again.

    Examples
    --------
    >>> adding(Frozen({"cpu": 2.0}), "disk", 3.0)
    {'cpu': 2.0, 'disk': 3.0}
    """
    longer = Frozen(entries._entries if isinstance(entries, Frozen) else frozen({**entries}))
    longer._entries[key] = frozen(entry)
    return longer


def frozen(value: Any) -> Any:
    """Make mappings (with those inside) and arrays read-only; return anything else as it is.

    Examples
    --------
    >>> frozen({"cpu": {"web": 2.0}})["cpu"]["web"]
    2.0
    """
    if isinstance(value, dict):
        return Frozen({key: frozen(entry) for key, entry in value.items()})
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.copy()
        value.flags.writeable = False
    return value


def value_of(value: Any) -> Any:
    """A key for equality: arrays by their numbers, mappings in order.

    Examples
    --------
    >>> value_of(np.ones(2)) == value_of(np.ones(2)), value_of(1.0) == value_of(2.0)
    (True, False)
    """
    if isinstance(value, Mapping):
        return tuple((key, value_of(entry)) for key, entry in value.items())
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return value


class Kept:
    """A frozen dataclass, equal by value and pickled without its cache."""

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            if isinstance(value, (dict, np.ndarray)):  # quicker than a union type; graphs make many
                object.__setattr__(self, name, frozen(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    @property
    def _value(self) -> tuple[Any, ...]:
        return tuple(value_of(getattr(self, f.name)) for f in fields(self) if f.compare)  # type: ignore[arg-type]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
