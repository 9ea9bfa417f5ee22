"""What a key of a model file may contain: how it is read, and how it is described to an editor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from math import inf, isfinite
from typing import Any, NamedTuple, TypeAlias

from headway.errors import nearest
from headway.records import dataclass

Scalar: TypeAlias = str | int | float

Number: TypeAlias = str | int | float | list[Scalar] | dict[str, Scalar]
"""A station's number: one, a list (load-dependent rates), or a table by class."""

Keys: TypeAlias = tuple[str, ...]
"""The place of something in a document."""

Json: TypeAlias = dict[str, Any]
"""A part of a JSON schema (draft 7)."""


class Fault(Exception):
    """A mistake in a model file: what it is, and the keys that lead there."""

    def __init__(self, what: str, keys: Keys) -> None:
        super().__init__(what)
        self.what = what
        self.keys = keys


class Schema(ABC):
    """Reads a part of a document, or raises a `Fault` with its keys."""

    @abstractmethod
    def __call__(self, value: Any, keys: Keys) -> Any:
        """Read what is there."""

    @abstractmethod
    def described(self) -> Json:
        """The same as a JSON schema, which accepts whatever is read without a fault."""


class TableKey(NamedTuple):
    """A key of a table: its possible values, its meaning, and whether it is required."""

    shape: Schema
    doc: str
    needed: bool = False


KeyTable: TypeAlias = Mapping[str, TableKey]
"""The keys that a table may have."""


def refuse_unknown(given: Collection[str], known: Collection[str], keys: Keys) -> None:
    """Refuse a key that a table cannot have, suggesting the nearest; before missing keys."""
    for key in given:
        if key not in known:
            msg = f"unknown key {key}{nearest(key, known)}"
            raise Fault(msg, (*keys, key))


def keyed(keys: KeyTable) -> Json:
    """The JSON schema of a table that has these keys and no others."""
    needed = [name for name, key in keys.items() if key.needed]
    return {
        "type": "object",
        "properties": {name: _with_words(key) for name, key in keys.items()},
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
    }


def _with_words(key: TableKey) -> Json:
    return {"description": key.doc, **key.shape.described()}


@dataclass(frozen=True)
class TextSchema(Schema):
    """Text; if only a few words are valid, editors suggest them.

    Whether it is one of them is checked by the reader of the whole, which suggests the nearest.
    """

    choices: tuple[str, ...] = ()

    def __call__(self, value: Any, keys: Keys) -> str:
        """Read text."""
        words = f"one of {', '.join(self.choices)}" if self.choices else "text"
        if not isinstance(value, str) or (self.choices and not value and "" not in self.choices):
            msg = f"must be {words}"
            raise Fault(msg, keys)
        return value

    def described(self) -> Json:
        """Describe it as text, with the possible words."""
        return {"type": "string", **({"enum": list(self.choices)} if self.choices else {})}


class Plain(Schema):
    """A number, a quantity with unit, or a formula."""

    def __call__(self, value: Any, keys: Keys) -> Scalar:
        """Read a number or text."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise Fault("must be a number or text", keys)
        return value

    def described(self) -> Json:
        """Say that it is a number or text."""
        return {"type": ["string", "number"]}


class Truth(Schema):
    """True or false."""

    def __call__(self, value: Any, keys: Keys) -> bool:
        """Read it."""
        if not isinstance(value, bool):
            raise Fault("must be true or false", keys)
        return value

    def described(self) -> Json:
        """Say so."""
        return {"type": "boolean"}


class RealSchema(Schema):
    """A finite number without unit."""

    def __call__(self, value: Any, keys: Keys) -> float:
        """Read a number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Fault("must be a number", keys)
        try:
            number = float(value)
        except OverflowError:
            number = inf
        if not isfinite(number):
            raise Fault("must be a finite number", keys)
        return number

    def described(self) -> Json:
        """Say that it is a number."""
        return {"type": "number"}


@dataclass(frozen=True)
class Several(Schema):
    """A number in one of the forms that its place allows: single, a list, or one for each class.

    Parameters
    ----------
    one, listed, by_class
        Which of these forms are allowed.
    """

    one: bool = True
    listed: bool = True
    by_class: bool = True

    def __call__(self, value: Any, keys: Keys) -> Number:
        """Read a number, a list or a table of them."""
        plain = Plain()
        if isinstance(value, dict) and self.by_class and value:
            return {key: plain(entry, (*keys, key)) for key, entry in value.items()}
        if isinstance(value, list) and self.listed:
            return [plain(entry, (*keys, str(place))) for place, entry in enumerate(value)]
        if self.one and not isinstance(value, dict | list):
            return plain(value, keys)
        msg = f"must be {self._forms()}"
        raise Fault(msg, keys)

    def _forms(self) -> str:
        allowed = (
            (self.one, "a number or text"),
            (self.listed, "a list of numbers"),
            (self.by_class, "a table of numbers by name"),
        )
        return ", or ".join(form for is_allowed, form in allowed if is_allowed)

    def described(self) -> Json:
        """Describe its possible forms."""
        allowed = (
            (self.one, "string"),
            (self.one, "number"),
            (self.listed, "array"),
            (self.by_class, "object"),
        )
        plain = Plain().described()
        return {
            "type": [kind for is_allowed, kind in allowed if is_allowed],
            **({"items": plain} if self.listed else {}),
            **({"additionalProperties": plain, "minProperties": 1} if self.by_class else {}),
        }


@dataclass(frozen=True)
class Texts(Schema):
    """A list of texts with their meaning."""

    what: str = "texts"

    def __call__(self, value: Any, keys: Keys) -> tuple[str, ...]:
        """Read a list of texts."""
        if not isinstance(value, list):
            msg = f"must be a list of {self.what}"
            raise Fault(msg, keys)
        return tuple(TextSchema()(entry, keys) for entry in value)

    def described(self) -> Json:
        """Say that it is a list of texts."""
        return {"type": "array", "items": TextSchema().described()}


@dataclass(frozen=True)
class TableOf(Schema):
    """A table of things of one shape, by name."""

    shape: Schema

    def __call__(self, value: Any, keys: Keys) -> dict[str, Any]:
        """Read a table."""
        return {key: self.shape(entry, (*keys, key)) for key, entry in table(value, keys).items()}

    def described(self) -> Json:
        """Describe what is under each name."""
        return {"type": "object", "additionalProperties": self.shape.described()}


@dataclass(frozen=True)
class ListOf(Schema):
    """A list of tables of one shape; errors do not name the table."""

    shape: Schema

    def __call__(self, value: Any, keys: Keys) -> tuple[Any, ...]:
        """Read a list of tables."""
        if not isinstance(value, list):
            msg = f"must be a list of tables: write [[{keys[-1]}]]"
            raise Fault(msg, keys)
        return tuple(self.shape(entry, keys) for entry in value)

    def described(self) -> Json:
        """Describe each of them."""
        return {"type": "array", "items": self.shape.described()}


@dataclass(frozen=True)
class FieldsTable(Schema):
    """A table with a key for each field of a kind, in their order.

    Parameters
    ----------
    kind
        The class that is made from it.
    keys
        What each key may contain. Keys of fields without a default are required.
    short
        The key that a plain value in place of the table stands for.
    gathered
        Keys whose values are put together, by key, in one further field, the last.
    """

    kind: type[NamedTuple]
    keys: KeyTable
    short: str = ""
    gathered: KeyTable = field(default_factory=dict)

    def __call__(self, value: Any, keys: Keys) -> Any:
        """Read the table."""
        whole = isinstance(value, dict) or not self.short
        given, fields = table(value if whole else {self.short: value}, keys), {}
        refuse_unknown(given, [*self.keys, *self.gathered], keys)
        if self.gathered:
            fields[self.kind._fields[-1]] = {
                key: allowed.shape(given[key], (*keys, key))
                for key, allowed in self.gathered.items()
                if key in given
            }
        for name, (key, allowed) in self._named:
            if key in given:
                fields[name] = allowed.shape(given[key], (*keys, key) if whole else keys)
            elif name not in self.kind._field_defaults:
                msg = f"the key {key!r} is missing"
                raise Fault(msg, keys)
        make: Callable[..., Any] = self.kind
        return make(**fields)

    @property
    def _named(self) -> list[tuple[str, tuple[str, TableKey]]]:
        """Each field of the kind beside its key."""
        fields = self.kind._fields[: -1 if self.gathered else None]
        return list(zip(fields, self.keys.items(), strict=True))

    def described(self) -> Json:
        """Describe every key; a plain value is that of the key it stands for."""
        defaults = self.kind._field_defaults
        schema = keyed(
            {
                key: allowed._replace(needed=name not in defaults)
                for name, (key, allowed) in self._named
            }
            | dict(self.gathered)
        )
        if not self.short:
            return schema
        bare = self.keys[self.short].shape.described()
        if "enum" in bare:
            return {"anyOf": [bare, schema]}
        kinds = bare["type"] if isinstance(bare["type"], list) else [bare["type"]]
        return {**schema, "type": [*kinds, "object"]}


@dataclass(frozen=True)
class KeysTable(Schema):
    """A table by its keys, as it stands there."""

    keys: KeyTable

    def __call__(self, value: Any, keys: Keys) -> dict[str, Any]:
        """Read the table."""
        given = table(value, keys)
        refuse_unknown(given, self.keys, keys)
        for key, known in self.keys.items():
            if known.needed and key not in given:
                msg = f"the key {key!r} is missing"
                raise Fault(msg, keys)
        return {key: self.keys[key].shape(each, (*keys, key)) for key, each in given.items()}

    def described(self) -> Json:
        """Describe every key."""
        return keyed(self.keys)


@dataclass(frozen=True)
class Keyed(Schema):
    """A table whose keys are checked later, when its kind is known.

    Parameters
    ----------
    name
        Its name in the JSON schema, which defines it there (`headway.models.files.editors`).
    other
        What a key may contain.
    keys
        Keys that may contain something else.
    """

    name: str
    other: Schema
    keys: KeyTable = field(default_factory=dict)

    def __call__(self, value: Any, keys: Keys) -> dict[str, Any]:
        """Read the table with any keys."""
        return {
            key: (self.keys[key].shape if key in self.keys else self.other)(entry, (*keys, key))
            for key, entry in table(value, keys).items()
        }

    def described(self) -> Json:
        """Refer to the definition."""
        return {"$ref": f"#/definitions/{self.name}"}


def table(value: Any, keys: Keys) -> dict[str, Any]:
    """Read a table of anything.

    Raises
    ------
    Fault
        If it is not a table.
    """
    if not isinstance(value, dict):
        raise Fault("must be a table", keys)
    return value
