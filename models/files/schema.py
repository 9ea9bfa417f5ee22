"""The shape of a model file: which tables and keys there are, and what may stand in them."""

from functools import lru_cache, partial
from typing import Any, TypeAlias, TypeVar

import attrs
import cattrs
from cattrs.strategies import configure_union_passthrough

Scalar: TypeAlias = str | int | float

Number: TypeAlias = str | int | float | list[Scalar] | dict[str, Scalar]
"""A station's number: one, a list (load-dependent rates), or a table by class."""

Entry = TypeVar("Entry")


@attrs.frozen
class ParameterEntry:
    """``[parameters] NAME``: a value, or a formula of other numbers."""

    value: Scalar | None = None
    formula: str | None = None
    unit: str | None = None
    min: Scalar | None = None
    max: Scalar | None = None
    doc: str = ""
    source: str = ""


@attrs.frozen
class OutputEntry:
    """``[outputs] NAME``: a result by formula; ``better`` says whether less or more of it is."""

    formula: str
    unit: str = ""
    doc: str = ""
    source: str = ""
    better: str = ""


@attrs.frozen
class RouteEntry:
    """``[[routes]]``: a way from station to station."""

    source: str
    target: str
    probability: Scalar = 1.0


@attrs.frozen
class ModelEntry:
    """A whole model file."""

    name: str
    doc: str = ""
    source: str = ""
    assumptions: str = ""
    parameters: dict[str, ParameterEntry] = attrs.field(factory=dict)
    links: dict[str, dict[str, Scalar]] = attrs.field(factory=dict)
    pipelines: dict[str, dict[str, Number]] = attrs.field(factory=dict)
    contention: dict[str, dict[str, Number]] = attrs.field(factory=dict)
    stations: dict[str, dict[str, Number]] = attrs.field(factory=dict)
    classes: dict[str, dict[str, Scalar]] = attrs.field(factory=dict)
    routes: list[RouteEntry] = attrs.field(factory=list)
    arrivals: dict[str, Scalar] = attrs.field(factory=dict)
    outputs: dict[str, OutputEntry] = attrs.field(factory=dict)
    presets: dict[str, dict[str, Scalar]] = attrs.field(factory=dict)


@lru_cache(maxsize=1)
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    configure_union_passthrough(Scalar | None, converter)
    configure_union_passthrough(Scalar, converter)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook_func(lambda t: t == Number, partial(_number, converter))
    _short_form(converter, ParameterEntry, "value")
    _short_form(converter, OutputEntry, "formula")
    hook = cattrs.gen.make_dict_structure_fn(
        RouteEntry,
        converter,
        _cattrs_forbid_extra_keys=True,
        source=cattrs.override(rename="from"),
        target=cattrs.override(rename="to"),
    )
    converter.register_structure_hook(RouteEntry, hook)
    return converter


def _text(value: object, _: type) -> str:
    if not isinstance(value, str):
        msg = f"{value!r} is not text"
        raise TypeError(msg)
    return value


def _number(converter: cattrs.Converter, value: Any, _: Any) -> Any:
    if isinstance(value, dict):
        return converter.structure(value, dict[str, Scalar])
    kind: Any = list[Scalar] if isinstance(value, list) else Scalar
    return converter.structure(value, kind)


def _short_form(converter: cattrs.Converter, entry: type[Entry], key: str) -> None:
    """Let a bare value stand for a table with that one key."""
    whole = cattrs.gen.make_dict_structure_fn(entry, converter, _cattrs_forbid_extra_keys=True)

    def structure(value: Any, kind: Any) -> Entry:
        return whole(value if isinstance(value, dict) else {key: value}, kind)

    converter.register_structure_hook(entry, structure)


def structure(document: dict[str, Any]) -> ModelEntry:
    """Read a parsed TOML document; raises cattrs' errors, with every fault in them."""
    return _converter().structure(document, ModelEntry)


_ROUTE_KEYS = {"source": "from", "target": "to"}


def faults(error: BaseException) -> list[tuple[str, list[str]]]:
    """What is wrong with a document, and the path of keys to each place."""
    found = []
    for message in cattrs.transform_error(error):
        what, _, path = message.partition(" @ $")
        keys = [key.strip("'[]") for key in path.replace("[", ".").split(".") if key]
        if "routes" in keys:
            keys = [_ROUTE_KEYS.get(key, key) for key in keys if not key.isdigit()]
        if what.startswith("required field missing"):
            what, keys = f"the key {keys[-1]!r} is missing", keys[:-1]
        found.append((_words(what), keys))
    return found


def _words(what: str) -> str:
    """Say cattrs' message as a user of model files would."""
    if what.startswith("extra fields found"):
        return f"unknown key {what.partition('(')[2].rstrip(')')}"
    for lead in ("invalid type, expected ", "invalid value for type, expected "):
        what = what.replace(lead, "must be ")
    return what
