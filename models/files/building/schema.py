"""The shape of a model file: which tables and keys exist, and what they may contain.

A key is declared here once: the reader, the JSON schema that editors use, and their help follow
from it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from headway.models.files.building.arrivals import ARRIVAL, CLIENT, ArrivalEntry, TimeSchema
from headway.models.files.building.services import PROCESSOR, TASK, ProcessorEntry, TaskEntry
from headway.models.files.building.shapes import (
    Fault,
    FieldsTable,
    Json,
    Keyed,
    Keys,
    KeysTable,
    KeyTable,
    ListOf,
    Number,
    Plain,
    RealSchema,
    Scalar,
    Schema,
    Several,
    TableKey,
    TableOf,
    Texts,
    TextSchema,
    table,
)
from headway.models.structure.loads import Load
from headway.models.structure.meanings import Better
from headway.models.structure.parts.structure import CLASS_KEYS
from headway.records import dataclass

__all__ = ["ArrivalEntry", "Fault", "Keys", "Number", "Scalar", "structure"]


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


class RouteEntry(NamedTuple):
    """``[[routes]]``: a route to a station, or to several at once; of one class if it says so."""

    source: str
    target: str = ""
    probability: Scalar = 1.0
    parallel: tuple[str, ...] = ()
    needed: Scalar | None = None
    job_class: str = ""
    becomes: str = ""


class RegionEntry(NamedTuple):
    """``[regions] NAME``: stations that together hold a limited number of jobs."""

    stations: tuple[str, ...]
    limit: Scalar


class TriedEntry(NamedTuple):
    """``[[form.tried]]``: a load for which a form is tried, with these parameters free."""

    load: str
    free: tuple[str, ...]
    order: float = 0.0
    without: tuple[str, ...] = ()
    equation: tuple[str, ...] = ()
    disclosed: tuple[str, ...] = ()


class DerivedEntry(NamedTuple):
    """``[form.derived] NAME``: a quantity that follows from the parameters of a form."""

    formula: str
    unit: str = ""


class FormEntry(NamedTuple):
    """``[form]``: the model as one of a family of forms that are tried on curves."""

    family: str
    saturation: str = ""
    tried: tuple[TriedEntry, ...] = ()
    start: Mapping[str, Scalar] = {}
    derived: Mapping[str, DerivedEntry] = {}
    equation: tuple[str, ...] = ()
    disclosed: Mapping[str, Scalar] = {}
    least: Mapping[str, Scalar] = {}
    most: Mapping[str, Scalar] = {}


class ModelEntry(NamedTuple):
    """A whole model file."""

    name: str = ""
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
    tails: Mapping[str, float] = {}
    reference: str = ""
    regions: Mapping[str, RegionEntry] = {}
    autoscaler: Mapping[str, Any] = {}
    draws: "DrawsEntry | None" = None
    measured: Mapping[str, Scalar] = {}
    alternatives: tuple["AlternativeEntry", ...] = ()
    processors: Mapping[str, ProcessorEntry] = {}
    tasks: Mapping[str, TaskEntry] = {}


class DrawsEntry(NamedTuple):
    """``[draws]``: values of uncertain parameters that are plausible together."""

    sets: str


class AlternativeEntry(NamedTuple):
    """``[[alternatives]]``: another model of the same system, and its share of the support."""

    weight: float
    model: ModelEntry


def structure(document: dict[str, Any]) -> ModelEntry:
    """Read a parsed TOML document.

    Raises
    ------
    Fault
        For the first key that is unknown, missing, or has an invalid value.

    Examples
    --------
    >>> structure({"name": "one", "outputs": {"twice": "2 * x"}}).outputs["twice"].formula
    '2 * x'
    """
    entry: ModelEntry = _MODEL(document, ())
    return entry


class _Ends(Schema):
    """Both ends of an interval; an unknown end is empty text."""

    def __call__(self, value: Any, keys: Keys) -> tuple[Scalar, Scalar]:
        """Read the two ends."""
        if not isinstance(value, list) or len(value) != 2:
            msg = 'must be a list of two ends, such as ["0.9 ms", "1.1 ms"]'
            raise Fault(msg, keys)
        return _PLAIN(value[0], keys), _PLAIN(value[1], keys)

    def described(self) -> Json:
        """Describe both."""
        return {"type": "array", "items": _PLAIN.described(), "minItems": 2, "maxItems": 2}


class _Shares(Schema):
    """A station, or a table of shares by station."""

    def __call__(self, value: Any, keys: Keys) -> Any:
        """Read a name or shares."""
        return Several(listed=False)(value, keys) if isinstance(value, dict) else _TEXT(value, keys)

    def described(self) -> Json:
        """Describe both."""
        return {**Several(one=False, listed=False).described(), "type": ["string", "object"]}


@dataclass(frozen=True)
class _Settings(Schema):
    """Values by name; a name may be ``lan.latency``, which TOML reads as a table."""

    about: KeyTable

    def __call__(self, value: Any, keys: Keys) -> dict[str, Scalar]:
        """Read the values."""
        flat: dict[str, Any] = {}
        for key, entry in table(value, keys).items():
            parts = entry.items() if isinstance(entry, dict) else [("", entry)]
            flat |= {f"{key}.{part}".rstrip("."): one for part, one in parts}
        return {key: _PLAIN(entry, (*keys, key)) for key, entry in flat.items()}

    def described(self) -> Json:
        """Describe the values and their descriptions."""
        plain = _PLAIN.described()
        value = {"type": [*plain["type"], "object"], "additionalProperties": plain}
        words = {name: {**value, "description": key.doc} for name, key in self.about.items()}
        return {"type": "object", "properties": words, "additionalProperties": value}


@dataclass(frozen=True)
class _Route(Schema):
    """A route leads to a station, or to several in parallel."""

    entry: FieldsTable

    def __call__(self, value: Any, keys: Keys) -> RouteEntry:
        """Read a route."""
        route: RouteEntry = self.entry(value, keys)
        if not route.parallel and ("parallel" in value or not route.target):
            named = "parallel" in value
            raise Fault(
                "parallel is empty; list stations" if named else "the key 'to' is missing", keys
            )
        if route.parallel and (route.job_class or route.becomes):
            raise Fault("class and becomes need one target; use to in place of parallel", keys)
        if route.needed is not None and not route.parallel:
            raise Fault("needed is missing its list of stations; add parallel", keys)
        return route

    def described(self) -> Json:
        """Describe a route, and which keys go together."""
        ways = [{"required": ["to"]}, {"required": ["parallel"]}]
        return {**self.entry.described(), "anyOf": ways, "dependencies": {"needed": ["parallel"]}}


_TEXT, _PLAIN, _NAMES, _LINES = TextSchema(), Plain(), Texts("names"), Texts()
_FORMULAS = TableOf(_PLAIN)

_DOC = TableKey(_TEXT, "A short description for tables and reports.")
_SOURCE = TableKey(_TEXT, "Its origin: a publication with the page, or a measurement.")
_UNIT = TableKey(_TEXT, 'The unit for display, such as "ms".')
_ABOUT: KeyTable = {"doc": _DOC, "source": _SOURCE}

_VALUED: KeyTable = {
    "value": TableKey(_PLAIN, 'A number in SI units, or text with a unit such as "650 us".'),
    "formula": TableKey(_TEXT, "A formula over other numbers, in place of a value."),
    "unit": _UNIT,
    "min": TableKey(_PLAIN, "The smallest possible value."),
    "max": TableKey(_PLAIN, "The largest possible value."),
    **_ABOUT,
    "ci95": TableKey(
        _Ends(), 'Its 95% interval, such as ["0.9 ms", "1.1 ms"]; "" for an unknown end.'
    ),
}
PARAMETER = FieldsTable(ParameterEntry, _VALUED, short="value")
"""A number with a value or a formula."""


def word(*choices: str) -> FieldsTable:
    """A word among numbers that are written like `PARAMETER`, such as a link's platform."""
    value = TableKey(TextSchema(choices), "One of a fixed set of words.")
    return FieldsTable(ParameterEntry, {**_VALUED, "value": value}, short="value")


_FORMULA = TableKey(_TEXT, "The formula that gives it.")
_BETTER = TableKey(TextSchema(tuple(Better)), "Whether lower or higher is better.")
_OUTPUT = FieldsTable(
    OutputEntry,
    {"formula": _FORMULA, "unit": _UNIT, **_ABOUT, "better": _BETTER},
    short="formula",
)
_ROUTE = FieldsTable(
    RouteEntry,
    {
        "from": TableKey(_TEXT, "The station that jobs leave."),
        "to": TableKey(_TEXT, "The station that they go to."),
        "probability": TableKey(_PLAIN, "The share of jobs that takes this route; 1 by default."),
        "parallel": TableKey(_NAMES, "The stations that a request goes to at the same time."),
        "needed": TableKey(_PLAIN, "How many of these must finish; all by default."),
        "class": TableKey(_TEXT, "The class that takes this route; every class by default."),
        "becomes": TableKey(_TEXT, "The class that these jobs change to."),
    },
)
_REGION = FieldsTable(
    RegionEntry,
    {
        "stations": TableKey(_NAMES, "The stations that share the limit."),
        "limit": TableKey(_PLAIN, "The largest number of jobs inside; further jobs wait outside."),
    },
)
CLASS: KeyTable = {
    **{name: TableKey(_PLAIN, doc) for name, doc in CLASS_KEYS.items()},
    "arrives": TableKey(_Shares(), "The station where the class enters, or its share by station."),
    "reference": TableKey(_TEXT, "The station where a round of a closed class begins and ends."),
    **CLIENT,
}
"""What a class of jobs may say."""

_UNLIKE = ("arrives", "reference", *CLIENT)

_TRIED = FieldsTable(
    TriedEntry,
    {
        "load": TableKey(
            TextSchema(tuple(Load)), "The kind of load of the curves on which headway tries it."
        ),
        "free": TableKey(_NAMES, "The parameters that a fit estimates."),
        "order": TableKey(
            RealSchema(), "Its rank among the variants of the family, simplest first."
        ),
        "without": TableKey(_NAMES, "The parameters that are zero in this variant."),
        "equation": TableKey(_LINES, "The terms of the response time, if they differ."),
        "disclosed": TableKey(
            _NAMES, "Parameters fixed at the value that a result page discloses."
        ),
    },
)
_DERIVED = FieldsTable(DerivedEntry, {"formula": _FORMULA, "unit": _UNIT}, short="formula")
_FORM = FieldsTable(
    FormEntry,
    {
        "family": TableKey(_TEXT, 'The family in which it competes, such as "server".'),
        "saturation": TableKey(_TEXT, "Formula of the saturation throughput."),
        "tried": TableKey(ListOf(_TRIED), "The variants of the form that headway tries."),
        "start": TableKey(_FORMULAS, "Formulas of a fit's starting values, from the curve."),
        "derived": TableKey(TableOf(_DERIVED), "Derived quantities, by name."),
        "equation": TableKey(_LINES, "The terms that add up to the response time, for display."),
        "disclosed": TableKey(_FORMULAS, "Formulas of parameter values, from a result page."),
        "least": TableKey(_FORMULAS, "Lower bounds of parameters, as formulas over the curve."),
        "most": TableKey(_FORMULAS, "Upper bounds of parameters, as formulas over the curve."),
    },
)
_NUMBERS = Several()
_SETS = "A line of names of parameters with ci95, then a line of SI values for each set."


class _WholeModel(Schema):
    """A model inside a model file, with the same keys."""

    def __call__(self, value: Any, keys: Keys) -> ModelEntry:
        """Read a model, which has no alternatives of its own."""
        entry: ModelEntry = _MODEL(value, keys)
        if entry.alternatives:
            raise Fault("an alternative has no alternatives of its own", keys)
        return entry

    def described(self) -> Json:
        """Describe it in the same way as the file."""
        return {"$ref": "#"}


_SCALER_NUMBERS = {
    "target": "What the metric of a replica is to be.",
    "maximum": "The most replicas.",
    "minimum": "The fewest replicas; 1 by default.",
    "interval": "Time between two looks at the metric; 15 s by default.",
    "tolerance": "Share by which the metric may miss its target; 0.1 by default.",
    "stabilisation": "Time that replicas stay after a look that asked for more; 5 min by default.",
    "start_delay": "Time until a new replica is ready, or { mean, scv }; 0 by default.",
    "warm_up": "Time for which it is slower then; 0 by default.",
    "warm_up_speed": "Its speed meanwhile, as a share; 0.5 by default.",
    "add_most": "Replicas that may be added in each limit_period; 4 by default.",
    "add_share": "Share of replicas that may be added, if that is more; 100% by default.",
    "remove_most": "Replicas that may be removed in each limit_period; 0 by default.",
    "remove_share": "Share of replicas that may be removed, if that is more; 100% by default.",
    "limit_period": "Period of these limits; 15 s by default.",
    "price": "The price of a replica for an hour.",
}

AUTOSCALER: KeyTable = {
    "scales": TableKey(_TEXT, "The parameter that is the number of replicas.", needed=True),
    "metric": TableKey(_TEXT, "What it looks at: utilisation (the default), queue, or rate."),
    **{
        name: TableKey(
            TimeSchema() if name == "start_delay" else _PLAIN,
            doc,
            needed=name in ("target", "maximum"),
        )
        for name, doc in _SCALER_NUMBERS.items()
    },
    "asks_for": TableKey(
        _TEXT,
        "How many replicas it asks for, in place of Kubernetes' rule: a formula of seen (the "
        "metric), replicas, ready and parameters.",
    ),
}
"""What a model file may say about an autoscaler."""

_ALTERNATIVE: KeyTable = {
    "weight": TableKey(
        RealSchema(), "Its share of the support, above 0; the file's own model has what is left."
    ),
    "model": TableKey(_WholeModel(), "The model, with the keys of a model file."),
}
_MODEL = FieldsTable(
    ModelEntry,
    {
        "name": TableKey(_TEXT, "The model's name; that of the file by default."),
        **_ABOUT,
        "assumptions": TableKey(_TEXT, "What the model assumes."),
        "parameters": TableKey(
            TableOf(PARAMETER), "Numbers by name, with unit, bounds and source."
        ),
        "links": TableKey(TableOf(Keyed("link", PARAMETER)), "LogGP links by name."),
        "pipelines": TableKey(
            TableOf(Keyed("pipelines", _NUMBERS)),
            "Packet pipelines by name: rows of stages that packets pass through.",
        ),
        "contention": TableKey(
            TableOf(Keyed("contention", _NUMBERS)),
            "Groups of processors that wait for their requests (LoPC), by name.",
        ),
        "caches": TableKey(TableOf(Keyed("caches", _NUMBERS)), "Caches by name."),
        "stations": TableKey(
            TableOf(Keyed("station", _NUMBERS, {"kind": TableKey(_TEXT, "")})), "Stations by name."
        ),
        "classes": TableKey(
            TableOf(Keyed("class", _PLAIN, {key: CLASS[key] for key in _UNLIKE})),
            "Classes of jobs by name.",
        ),
        "routes": TableKey(ListOf(_Route(_ROUTE)), "Where jobs go from each station."),
        "arrivals": TableKey(TableOf(ARRIVAL), "The rate at which jobs enter, by station."),
        "outputs": TableKey(TableOf(_OUTPUT), "Results computed by formulas, by name."),
        "presets": TableKey(TableOf(_Settings(_ABOUT)), "Published sets of values, by name."),
        "form": TableKey(
            _FORM, "How headway fits the model to measured curves, as one of a family."
        ),
        "correlations": TableKey(
            TableOf(RealSchema()),
            'Correlations between parameters that have ci95: "NAME, NAME" = -0.7.',
        ),
        "tails": TableKey(
            TableOf(RealSchema()),
            "Percentiles of the data it was fitted to, over those of its law: 99 = 1.1.",
        ),
        "reference": TableKey(
            _TEXT, "The station where a round of a closed network begins and ends."
        ),
        "regions": TableKey(TableOf(_REGION), "Limits shared by several stations, by name."),
        "autoscaler": TableKey(
            KeysTable(AUTOSCALER), "Sets a parameter as load comes and goes, as Kubernetes does."
        ),
        "draws": TableKey(
            FieldsTable(DrawsEntry, {"sets": TableKey(_TEXT, _SETS)}),
            "Values of uncertain parameters that are plausible together.",
        ),
        "measured": TableKey(
            TableOf(_PLAIN), "The highest load that it was fitted to, by the load's name."
        ),
        "alternatives": TableKey(
            ListOf(FieldsTable(AlternativeEntry, _ALTERNATIVE)),
            "Other models of the same system, which fit about as well, with their weights.",
        ),
        "processors": TableKey(
            TableOf(FieldsTable(ProcessorEntry, PROCESSOR)), "Devices that run tasks, by name."
        ),
        "tasks": TableKey(
            TableOf(FieldsTable(TaskEntry, TASK)), "Services that call each other, by name."
        ),
    },
)

MODEL: Schema = _MODEL
"""A whole model file."""
