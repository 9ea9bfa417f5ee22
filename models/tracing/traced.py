"""From traces to a model: read them, find the services, write the model, and compare the two."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from headway.errors import HeadwayError, InvalidParameter, nearest
from headway.models.auditing.finding import Finding
from headway.models.files.reading import parse_model
from headway.models.language.frozen import Kept
from headway.models.language.units import ONE, quantity
from headway.models.reading.traces import Read, read_loads
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.models.tracing.clients import Clients
from headway.models.tracing.findings import findings_of
from headway.models.tracing.keys import Key
from headway.models.tracing.metrics import Metrics, Stretch, read_metrics
from headway.models.tracing.services import Load, Services, services_of
from headway.models.tracing.writing import entry_names, to_text
from headway.numerals import four_digits
from headway.records import dataclass

ByLoad: TypeAlias = float | Mapping[str, float]
"""One number for all loads, or one for each that has one."""

_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Compared:
    """The response time of a load as it was traced, and as the model predicts it.

    Parameters
    ----------
    load
        The load as traced.
    response_time
        The model's mean response time [s]; None where the model has no answer.
    note
        What is approximate about the answer, or why there is none.
    clients
        Who sent its requests, if they did not come at random.
    """

    load: Load
    response_time: float | None
    note: str
    clients: Clients | None = None

    @property
    def difference(self) -> float | None:
        """The model's response time over the traced one, minus 1."""
        if self.response_time is None or not self.load.response_time > 0:
            return None
        return self.response_time / self.load.response_time - 1


@dataclass(frozen=True, eq=False)
class TracedModel(Kept, Answer):
    """A model made from the traces of services.

    Parameters
    ----------
    model, text
        The model, and the text of its file.
    services, names
        The services found, and the names of their entries in the model.
    findings
        What the traces leave open, or get wrong.
    compared
        A comparison for each load.
    """

    model: Model
    text: str
    services: Services
    names: Mapping[Key, str]
    findings: tuple[Finding, ...]
    compared: tuple[Compared, ...]


def model_traces(
    places: Sequence[str],
    name: str = "services",
    sampled: ByLoad = _NONE,
    window: float | None = None,
    metrics: str | None = None,
    clients: ByLoad = _NONE,
    think_time: float = 0.0,
    advance: Callable[[], None] = lambda: None,
) -> TracedModel:
    """Make a model of services from their traces.

    Entries, calls, work and threads are found from the spans (docs/explanation/traces.md); each
    number is a parameter with its 95% interval, each load a preset.

    Parameters
    ----------
    places
        Files of OpenTelemetry (OTLP JSON), Jaeger or Zipkin (v2), folders, patterns and archives;
        each file is a load, and files that share traces are one.
    name
        The model's name.
    sampled
        Share of traces that were kept, above 0 and at most 1: one for all loads, or by load where
        spans do not say it. By default all were.
    window
        Length of a load [s], where one long file holds several.
    metrics
        A file that says how many processors each service kept busy: a table, or the answer of
        Prometheus' query_range.
    clients
        How many clients sent the requests of all loads, or of some, if these did not come at
        random: their response times are then compared with those of the model with these clients.
    think_time
        Mean time from an answer to the next request of these clients [s].
    advance
        Called after each megabyte of a long file.

    Raises
    ------
    MeasurementError
        For files that are not traces, or are damaged.
    InvalidParameter
        For impossible shares and numbers of clients, and loads that are not there.
    """
    read = read_loads(places, window, advance)
    return model_read(read, name, sampled, metrics, clients, think_time)


def model_read(
    read: Read,
    name: str = "services",
    sampled: ByLoad = _NONE,
    metrics: str | None = None,
    clients: ByLoad = _NONE,
    think_time: float = 0.0,
) -> TracedModel:
    """Make a model of spans that have already been read.

    Parameters
    ----------
    read
        Loads read together.
    name, sampled, metrics, clients, think_time
        As for `model_traces`.

    Raises
    ------
    MeasurementError
        For traces none of which begins in a service.
    InvalidParameter
        For impossible shares and numbers of clients, and loads that are not there.
    """
    loads = [spans.name for spans in read.loads]
    shares = _for_loads(sampled, loads)
    _check_shares(shares)
    asking = {load: Clients(n, think_time) for load, n in _for_loads(clients, loads).items()}
    services = services_of(read.loads, shares, _metrics(metrics, read))
    text = to_text(services, name)
    model = parse_model(text, name)
    presets = list(model.presets)
    compared = tuple(
        _compared(model.with_preset(preset), load, asking.get(load.name))
        for preset, load in zip(presets, (x for x in services.loads if x.shares), strict=True)
    )
    names = entry_names(services)
    answers = [(each.load, each.response_time) for each in compared]
    findings = findings_of(services, read.passed_over, answers)
    return TracedModel(model, text, services, names, findings, compared)


def _metrics(place: str | None, read: Read) -> Metrics | None:
    """Metrics of the services in the loads that were read."""
    if place is None:
        return None
    loads = [
        Stretch(each.name, read.since + float(each.start.min()), read.since + float(each.end.max()))
        for each in read.loads
    ]
    return read_metrics(place, read.loads[0].services, loads)


def by_load(texts: Sequence[str], option: str) -> ByLoad:
    """Read ``10%``, or ``LOAD=NUMBER`` for each load.

    Parameters
    ----------
    texts, option
        What was given, and the option by which.

    Raises
    ------
    InvalidParameter
        For any other text.

    Examples
    --------
    >>> by_load(["10%"], "--sampled"), by_load(["monday=16", "tuesday=8"], "--clients")
    (0.1, {'monday': 16.0, 'tuesday': 8.0})
    """
    numbers: dict[str, float] = {}
    for text in texts:
        load, _, number = text.rpartition("=")
        if load in numbers or (not load and len(texts) > 1):
            msg = f"{option} {text}: give one number, or LOAD=NUMBER once for each load"
            raise InvalidParameter(msg)
        numbers[load] = quantity(number, ONE, option)
    return numbers.get("", numbers)


def _for_loads(given: ByLoad, loads: Sequence[str]) -> dict[str, float]:
    """A number for each load that has one."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(loads, given)
    for load in given:
        if load not in loads:
            msg = f"there is no load {load!r}{nearest(load, loads)}"
            raise InvalidParameter(msg)
    return dict(given)


def _check_shares(shares: Mapping[str, float]) -> None:
    for share in shares.values():
        if not 0 < share <= 1:
            msg = f"sampled is {four_digits(share)}; it must be above 0 and at most 1"
            raise InvalidParameter(msg)


def _compared(model: Model, load: Load, clients: Clients | None) -> Compared:
    at_load = model if clients is None else clients.asking(model)
    if load.rate == 0:  # reported as a finding
        return Compared(load, None, "", clients)
    try:
        solution = at_load.solve()
    except HeadwayError as error:
        return Compared(load, None, str(error), clients)
    return Compared(load, float(solution.response_time), solution.approximation, clients)
