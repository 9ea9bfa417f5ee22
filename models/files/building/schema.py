"""The shape of a model file: which tables and keys there are, and what may stand in them."""

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any, NamedTuple, TypeAlias

Scalar: TypeAlias = str | int | float

Number: TypeAlias = str | int | float | list[Scalar] | dict[str, Scalar]
"""A station's number: one, a list (load-dependent rates), or a table by class."""

Keys: TypeAlias = tuple[str, ...]
"""Where in a document something stands."""

Shape: TypeAlias = Callable[[Any, Keys], Any]
"""Gives a part of a document, or raises a `Fault` with its keys."""


class ParameterEntry(NamedTuple):
    """``[parameters] NAME``: a value, or a formula of other numbers."""

    value: Scalar | None = None
    formula: str | None = None
    unit: str | None = None
    min: Scalar | None = None
    max: Scalar | None = None
    doc: str = ""
    source: str = ""
    ci95: tuple[Scalar, Scalar] | None = None


class OutputEntry(NamedTuple):
    """``[outputs] NAME``: a result by formula; ``better`` says whether less or more of it is."""

    formula: str
    unit: str = ""
    doc: str = ""
    source: str = ""
    better: str = ""


class ArrivalEntry(NamedTuple):
    """``[arrivals] STATION``: a rate, and how the times between arrivals vary, or a trace of them.

    The trace is a table with a column of those times.
    """

    rate: Scalar | None = None
    scv: Scalar | None = None
    trace: str = ""
    column: str = ""


class RouteEntry(NamedTuple):
    """``[[routes]]``: a way to a station, or to several at once; of one class where it says so."""

    source: str
    target: str = ""
    probability: Scalar = 1.0
    parallel: tuple[str, ...] = ()
    needed: Scalar | None = None
    job_class: str = ""
    becomes: str = ""


class RegionEntry(NamedTuple):
    """``[regions] NAME``: stations that together hold so many jobs."""

    stations: tuple[str, ...]
    limit: Scalar


class TriedEntry(NamedTuple):
    """``[[form.tried]]``: a load for which a form is tried, with these parameters free."""

    load: str
    free: tuple[str, ...]
    order: float = 0.0
    without: tuple[str, ...] = ()
    equation: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


class TellsEntry(NamedTuple):
    """``[form.tells] NAME``: a quantity that the parameters of a form tell of a server."""

    formula: str
    unit: str = ""


class FormEntry(NamedTuple):
    """``[form]``: the model as one of a family that is tried on curves."""

    family: str
    saturation: str = ""
    tried: tuple[TriedEntry, ...] = ()
    start: Mapping[str, Scalar] = {}
    tells: Mapping[str, TellsEntry] = {}
    equation: tuple[str, ...] = ()
    told: Mapping[str, Scalar] = {}
    least: Mapping[str, Scalar] = {}
    most: Mapping[str, Scalar] = {}


class ModelEntry(NamedTuple):
    """A whole model file."""

    name: str
    doc: str = ""
    source: str = ""
    assumptions: str = ""
    parameters: Mapping[str, ParameterEntry] = {}
    links: Mapping[str, Mapping[str, ParameterEntry]] = {}
    pipelines: Mapping[str, Mapping[str, Number]] = {}
    contention: Mapping[str, Mapping[str, Number]] = {}
    caches: Mapping[str, Mapping[str, Number]] = {}
    stations: Mapping[str, Mapping[str, Number]] = {}
    classes: Mapping[str, Mapping[str, Number]] = {}
    routes: tuple[RouteEntry, ...] = ()
    arrivals: Mapping[str, ArrivalEntry] = {}
    outputs: Mapping[str, OutputEntry] = {}
    presets: Mapping[str, Mapping[str, Scalar]] = {}
    form: FormEntry | None = None
    correlations: Mapping[str, float] = {}
    reference: str = ""
    regions: Mapping[str, RegionEntry] = {}


class Fault(Exception):
    """Something that has no place in a model file: what it is, and the keys that lead there."""

    def __init__(self, what: str, keys: Keys) -> None:
        super().__init__(what)
        self.what = what
        self.keys = keys


def structure(document: dict[str, Any]) -> ModelEntry:
    """Read a parsed TOML document.

    Raises
    ------
    Fault
        For the first key that is unknown, missing, or holds what it may not.

    Examples
    --------
    >>> structure({"name": "one", "outputs": {"twice": "2 * x"}}).outputs["twice"].formula
    '2 * x'
    """
    entry: ModelEntry = _MODEL(document, ())
    return entry


def _text(value: Any, keys: Keys) -> str:
    if not isinstance(value, str):
        raise Fault("must be text", keys)
    return value


def _scalar(value: Any, keys: Keys) -> Scalar:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Fault("must be a number or text", keys)
    return value


def _number(value: Any, keys: Keys) -> Number:
    if isinstance(value, dict):
        return _scalars(value, keys)  # type: ignore[no-any-return]
    if isinstance(value, list):
        return [_scalar(entry, (*keys, str(place))) for place, entry in enumerate(value)]
    return _scalar(value, keys)


def _real(value: Any, keys: Keys) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Fault("must be a number", keys)
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise Fault("must be a finite number", keys)
    return number


def _list_of_text(what: str) -> Shape:
    """A list of texts, and what they are."""

    def read(value: Any, keys: Keys) -> tuple[str, ...]:
        if not isinstance(value, list):
            msg = f"must be a list of {what}"
            raise Fault(msg, keys)
        return tuple(_text(entry, keys) for entry in value)

    return read


_names, _texts = _list_of_text("names"), _list_of_text("texts")


def _table_of(shape: Shape) -> Shape:
    """A table of things of one shape by name."""

    def read(value: Any, keys: Keys) -> dict[str, Any]:
        return {key: shape(entry, (*keys, key)) for key, entry in _table(value, keys).items()}

    return read


def _table(value: Any, keys: Keys) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault("must be a table", keys)
    return value


def _list_of(shape: Shape) -> Shape:
    """A list of tables of one shape; which of them is at fault is not said."""

    def read(value: Any, keys: Keys) -> tuple[Any, ...]:
        if not isinstance(value, list):
            msg = f"must be a list of tables: write [[{keys[-1]}]]"
            raise Fault(msg, keys)
        return tuple(shape(entry, keys) for entry in value)

    return read


def _entry(kind: type[NamedTuple], shapes: Mapping[str, Shape], short: str = "") -> Shape:
    """A table with a key for each field of a kind, in their order.

    Parameters
    ----------
    kind
        What is made of it.
    shapes
        What may stand under each key.
    short
        The key that a bare value in place of the table stands for.
    """
    fields = dict(zip(kind._fields, shapes.items(), strict=True))
    make: Callable[..., Any] = kind

    def read(value: Any, keys: Keys) -> Any:
        table = _table({short: value} if short and not isinstance(value, dict) else value, keys)
        found = {}
        for field, (key, shape) in fields.items():
            if key in table:
                found[field] = shape(table[key], (*keys, key))
            elif field not in kind._field_defaults:
                msg = f"the key {key!r} is missing"
                raise Fault(msg, keys)
        if unknown := sorted(table.keys() - shapes.keys()):
            msg = f"unknown key {', '.join(unknown)}"
            raise Fault(msg, keys)
        return make(**found)

    return read


def _ends(value: Any, keys: Keys) -> tuple[Scalar, Scalar]:
    """Both ends of an interval; one that is not known is empty text."""
    if not isinstance(value, list) or len(value) != 2:
        msg = 'must be a list of two ends, such as ["0.9 ms", "1.1 ms"]'
        raise Fault(msg, keys)
    return _scalar(value[0], keys), _scalar(value[1], keys)


_scalars, _numbers = _table_of(_scalar), _table_of(_number)


def _settings(value: Any, keys: Keys) -> dict[str, Scalar]:
    """Values by name; ``lan.latency``, which TOML reads as a table, is a name too."""
    flat: dict[str, Any] = {}
    for key, entry in _table(value, keys).items():
        parts = entry.items() if isinstance(entry, dict) else [("", entry)]
        flat |= {f"{key}.{part}".rstrip("."): one for part, one in parts}
    found: dict[str, Scalar] = _scalars(flat, keys)
    return found


def _job_class(value: Any, keys: Keys) -> dict[str, Number]:
    """The numbers of a class, and the places that it names; shares by station where it arrives."""
    shapes = {"arrives": _shares, "reference": _text}
    return {
        key: shapes.get(key, _scalar)(entry, (*keys, key))
        for key, entry in _table(value, keys).items()
    }


def _shares(value: Any, keys: Keys) -> Number:
    return _scalars(value, keys) if isinstance(value, dict) else _text(value, keys)


_ABOUT: dict[str, Shape] = {"doc": _text, "source": _text}
_PARAMETER = _entry(
    ParameterEntry,
    {
        "value": _scalar,
        "formula": _text,
        "unit": _text,
        "min": _scalar,
        "max": _scalar,
        **_ABOUT,
        "ci95": _ends,
    },
    short="value",
)
_OUTPUT = _entry(
    OutputEntry, {"formula": _text, "unit": _text, **_ABOUT, "better": _text}, short="formula"
)
_ANY_ROUTE = _entry(
    RouteEntry,
    {
        "from": _text,
        "to": _text,
        "probability": _scalar,
        "parallel": _names,
        "needed": _scalar,
        "class": _text,
        "becomes": _text,
    },
)


def _route(value: Any, keys: Keys) -> Any:
    """A route leads to a station, or to several in parallel."""
    found = _ANY_ROUTE(value, keys)
    if not found.parallel and ("parallel" in value or not found.target):
        named = "parallel" in value
        raise Fault("parallel names no station" if named else "the key 'to' is missing", keys)
    if found.parallel and (found.job_class or found.becomes):
        raise Fault("class and becomes go with one station that the route leads to", keys)
    if found.needed is not None and not found.parallel:
        raise Fault("needed goes with parallel, which names the stations to wait for", keys)
    return found


_REGION = _entry(RegionEntry, {"stations": _names, "limit": _scalar})
_ARRIVAL = _entry(ArrivalEntry, {"rate": _scalar, "scv": _scalar, "trace": _text, "column": _text})


def _arrival(value: Any, keys: Keys) -> ArrivalEntry:
    """A rate alone, or a table."""
    whole = isinstance(value, dict)
    entry: ArrivalEntry = _ARRIVAL(value, keys) if whole else ArrivalEntry(_scalar(value, keys))
    return entry


_TRIED = _entry(
    TriedEntry,
    {
        "load": _text,
        "free": _names,
        "order": _real,
        "without": _names,
        "equation": _texts,
        "told": _names,
    },
)
_TELLS = _entry(TellsEntry, {"formula": _text, "unit": _text}, short="formula")
_FORM = _entry(
    FormEntry,
    {
        "family": _text,
        "saturation": _text,
        "tried": _list_of(_TRIED),
        "start": _scalars,
        "tells": _table_of(_TELLS),
        "equation": _texts,
        "told": _scalars,
        "least": _scalars,
        "most": _scalars,
    },
)
_MODEL = _entry(
    ModelEntry,
    {
        "name": _text,
        **_ABOUT,
        "assumptions": _text,
        "parameters": _table_of(_PARAMETER),
        "links": _table_of(_table_of(_PARAMETER)),
        "pipelines": _table_of(_numbers),
        "contention": _table_of(_numbers),
        "caches": _table_of(_numbers),
        "stations": _table_of(_numbers),
        "classes": _table_of(_job_class),
        "routes": _list_of(_route),
        "arrivals": _table_of(_arrival),
        "outputs": _table_of(_OUTPUT),
        "presets": _table_of(_settings),
        "form": _FORM,
        "correlations": _table_of(_real),
        "reference": _text,
        "regions": _table_of(_REGION),
    },
)
