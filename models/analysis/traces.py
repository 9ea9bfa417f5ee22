"""Traces compared with a model: the measured time of each service, and the model's."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, overload

from headway.errors import HeadwayError, InvalidParameter
from headway.models.analysis.comparison import Comparison, compare
from headway.models.language.frozen import Kept
from headway.models.measured.matching import Named
from headway.models.measured.measurements import Measurements
from headway.models.measured.spans.columns import BoolArray
from headway.models.reading.loadtest import Measured, what_was_measured
from headway.models.reading.traces import ONE_POINT, Read, Traces, read_loads
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.structure.parts.reference_task import POPULATION, SETTINGS
from headway.models.tables.shown import Answer
from headway.models.tracing.clients import Clients, clients_of
from headway.models.tracing.keys import ANY
from headway.models.tracing.requests import Requests
from headway.models.tracing.services import Load, Services, services_of
from headway.models.tracing.spread import stated_error
from headway.models.tracing.writing import entry_names, share_name, task_names
from headway.numerals import some_of
from headway.records import dataclass

_SHOWN = 5  # names of services
_STORED = (
    "rates assume that every trace was stored; if not, give the whole rate behind the file: "
    f"@{ARRIVAL_RATE}=160/s"
)


@dataclass(frozen=True)
class Beside:
    """The mean response time of one part of the services in one load, measured and predicted.

    Parameters
    ----------
    load
        The load's name.
    part
        ``all`` for all requests from outside, a ``service``, or an ``entry``.
    name
        The part's name in the model; empty for all.
    requests
        Number of requests.
    measured, error
        Their mean response time, and its error, of which 1.96 are its interval [s].
    predicted
        The model's mean response time [s]; None if it has none.
    """

    load: str
    part: str
    name: str
    requests: int
    measured: float
    error: float
    predicted: float | None

    @property
    def relative_error(self) -> float | None:
        """(predicted - measured) / measured."""
        if self.predicted is None or not self.measured > 0:
            return None
        return self.predicted / self.measured - 1


@dataclass(frozen=True, eq=False)
class TracesBeside(Kept, Answer):
    """Response times in traces, compared with those of a model at the same rates.

    Parameters
    ----------
    model
        The model as it was given; each load sets its rates.
    parts
        For each load: all requests from outside, each service, each entry.
    rates
        Requests from outside by load [1/s].
    notes
        How the model was solved, and what in the traces it does not know.
    """

    model: Model
    parts: tuple[Beside, ...]
    rates: Mapping[str, float]
    notes: tuple[str, ...]


@overload
def compare_any(
    model: Model,
    measurements: Measurements,
    x: str | None = None,
    y: Named = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Comparison: ...
@overload
def compare_any(
    model: Model,
    measurements: Measured,
    x: str | None = None,
    y: Named = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Comparison | TracesBeside: ...
def compare_any(
    model: Model,
    measurements: Measured,
    x: str | None = None,
    y: Named = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Comparison | TracesBeside:
    """Compare a model with whatever was measured: traces service by service.

    Parameters
    ----------
    model, measurements, x, y, low, high
        As for `headway.models.analysis.comparison.compare`.

    Raises
    ------
    InvalidParameter
        For columns and a range of load beside traces, and as for `compare_traces`.
    MeasurementError, GraphError
        As for `headway.models.analysis.comparison.compare`.
    """
    measured = what_was_measured(measurements)
    if not isinstance(measured, Traces):
        return compare(model, measured, x, y, low, high)
    if x is not None or y is not None or (low, high) != (-math.inf, math.inf):
        msg = f"{ONE_POINT}; leave out columns and ranges of load, which are for tables"
        raise InvalidParameter(msg)
    return compare_traces(model, measured)


def compare_traces(model: Model, traces: Traces) -> TracesBeside:
    """Solve a model at the rates of some traces, and compare the response time of each service.

    Parameters
    ----------
    model
        A model of layers, with a task for each service (``headway model`` writes one).
    traces
        Where they are, with the parameters that differed in each place: its ``arrival_rate`` if not
        every trace was stored, or ``population`` and ``think_time`` if its requests came from so
        many clients who wait for each answer.

    Raises
    ------
    InvalidParameter
        For a model without a task for any of the services, or without an ``arrival_rate``.
    MeasurementError
        For files that are not traces, or are damaged.
    """
    rows: list[Beside] = []
    rates: dict[str, float] = {}
    notes: dict[str, None] = {}
    for place, settings in traces.places:
        read = place if isinstance(place, Read) else read_loads([place])
        services = services_of(read.loads)
        notes |= dict.fromkeys(_unknown(model, services))
        for load, requests in zip(services.loads, services.requests, strict=True):
            if not load.shares:
                continue
            clients = None if POPULATION in model.parameters else clients_of(settings)
            at_load = _at(model, services, load, settings, clients)
            rates[load.name] = float(at_load.inputs.get(ARRIVAL_RATE, load.rate))
            solution, note = _solved(at_load)
            notes[note] = None
            rows += _rows(services, load, requests, _Answered(model, solution))
            if clients is not None:
                notes[f"{load.name}: {clients}"] = None
            elif load.sampled == 1 and ARRIVAL_RATE not in settings:
                notes[_STORED] = None
    return TracesBeside(model, tuple(rows), rates, tuple(filter(None, notes)))


def _unknown(model: Model, services: Services) -> Iterator[str]:
    """Services that the model lacks; if it lacks all of them, it is refused."""
    named, parts = task_names(services), _parts(model)
    missing = [name for name, task in named.items() if task not in parts]
    if len(missing) == len(named):
        msg = (
            f"{some_of([each.name for each in services.loads], _SHOWN)}: {model.name} has no task "
            f"{some_of(list(named.values()), _SHOWN)}; give a model of these services, such as "
            "headway model writes"
        )
        raise InvalidParameter(msg)
    if ARRIVAL_RATE not in model.parameters:
        msg = f"{model.name} has no parameter {ARRIVAL_RATE} that traces could set; give it one"
        raise InvalidParameter(msg)
    if missing:
        yield f"the model has no task for {some_of(missing, _SHOWN)}"


def _parts(model: Model) -> frozenset[str]:
    """The tasks and entries of the model."""
    layers = model.graph.layers
    return frozenset([*layers.tasks, *layers.entries]) if layers else frozenset()


def _at(
    model: Model,
    services: Services,
    load: Load,
    settings: Mapping[str, str],
    clients: Clients | None,
) -> Model:
    """The model at the rates of one load, or with its clients."""
    names = {key: share_name(name) for key, name in entry_names(services).items()}
    shares = {name: load.shares.get(key, 0.0) for key, name in names.items()}
    known = {name: share for name, share in shares.items() if name in model.parameters}
    left = frozenset() if clients is None else SETTINGS
    given = {name: text for name, text in settings.items() if name not in left}
    at_load = model.at({ARRIVAL_RATE: load.rate, **known, **given})
    return at_load if clients is None else clients.asking(at_load)


def _solved(model: Model) -> tuple[Solution | None, str]:
    try:
        solution = model.solve()
    except HeadwayError as error:
        return None, str(error)
    return solution, solution.saturation_message or solution.approximation


class _Answered(NamedTuple):
    """A model, and its solution at a load if it has one."""

    model: Model
    solution: Solution | None

    def response_time(self, part: str) -> float | None:
        """Mean response time of one part; of all if its name is empty."""
        if self.solution is None:
            return None
        return float(self.solution[f"{part}.response_time" if part else "response_time"])


def _rows(
    services: Services, load: Load, requests: Requests, answered: _Answered
) -> Iterator[Beside]:
    times, traces = requests.end - requests.start, requests.trace
    parts = _parts(answered.model)
    outside = int(requests.outermost.sum())
    measured = load.response_time, load.error, answered.response_time("")
    yield Beside(load.name, "all", "", outside, *measured)

    def row(part: str, name: str, among: BoolArray) -> Beside:
        mine = times[among]
        error = stated_error(mine, traces[among])
        predicted = answered.response_time(name)
        return Beside(load.name, part, name, len(mine), float(mine.mean()), error, predicted)

    for service, task in task_names(services).items():
        if task in parts and service in requests.services:
            among = requests.service == requests.services.index(service)
            if among.any():
                yield row("service", task, among)
    for key, name in entry_names(services).items():
        among = (requests.entry == key.entry) & ((requests.root == key.root) | (key.root == ANY))
        if name in parts and among.any():
            yield row("entry", name, among)
