"""From traces to a model: read them, find the services, write the model, and compare the two."""

from collections.abc import Callable, Mapping, Sequence

from headway.errors import HeadwayError, InvalidParameter, nearest
from headway.models.auditing.finding import Finding
from headway.models.files.reading import parse_model
from headway.models.language.frozen import Kept
from headway.models.language.units import ONE, quantity
from headway.models.reading.traces import Read, read_loads
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.models.tracing.findings import findings_of
from headway.models.tracing.keys import Key
from headway.models.tracing.metrics import Metrics, Stretch, read_metrics
from headway.models.tracing.services import Load, Services, services_of
from headway.models.tracing.writing import entry_names, to_text
from headway.numerals import four_digits
from headway.records import dataclass


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
    """

    load: Load
    response_time: float | None
    note: str

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
    sampled: float | Mapping[str, float] = 1.0,
    window: float | None = None,
    metrics: str | None = None,
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
        spans do not say it.
    window
        Length of a load [s], where one long file holds several.
    metrics
        A file that says how many processors each service kept busy: a table, or the answer of
        Prometheus' query_range.
    advance
        Called after each megabyte of a long file.

    Raises
    ------
    MeasurementError
        For files that are not traces, or are damaged.
    InvalidParameter
        For impossible shares, and loads that are not there.
    """
    return model_read(read_loads(places, window, advance), name, sampled, metrics)


def model_read(
    read: Read,
    name: str = "services",
    sampled: float | Mapping[str, float] = 1.0,
    metrics: str | None = None,
) -> TracedModel:
    """Make a model of spans that have already been read.

    Parameters
    ----------
    read
        Loads read together.
    name, sampled, metrics
        As for `model_traces`.

    Raises
    ------
    MeasurementError
        For traces none of which begins in a service.
    InvalidParameter
        For impossible shares, and loads that are not there.
    """
    shares = _shares(sampled, [spans.name for spans in read.loads])
    services = services_of(read.loads, shares, _metrics(metrics, read))
    text = to_text(services, name)
    model = parse_model(text, name)
    presets = list(model.presets)
    compared = tuple(
        _compared(model.with_preset(preset), load)
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


def shares_of(texts: Sequence[str]) -> float | dict[str, float]:
    """Read ``10%``, or ``LOAD=SHARE`` for each load.

    Raises
    ------
    InvalidParameter
        For any other text.

    Examples
    --------
    >>> shares_of(["10%"]), shares_of(["monday=0.5", "tuesday=25%"])
    (0.1, {'monday': 0.5, 'tuesday': 0.25})
    """
    shares: dict[str, float] = {}
    for text in texts:
        load, _, share = text.rpartition("=")
        if load in shares or (not load and len(texts) > 1):
            msg = f"--sampled {text}: give one share, or LOAD=SHARE once for each load"
            raise InvalidParameter(msg)
        shares[load] = quantity(share, ONE, "--sampled")
    return shares.get("", 1.0) if set(shares) <= {""} else shares


def _shares(sampled: float | Mapping[str, float], loads: Sequence[str]) -> dict[str, float]:
    """Share of traces kept, by load."""
    given = sampled if isinstance(sampled, Mapping) else {}
    for load in given:
        if load not in loads:
            msg = f"there is no load {load!r}{nearest(load, loads)}"
            raise InvalidParameter(msg)
    shares = dict(given)
    if not isinstance(sampled, Mapping) and sampled != 1.0:
        shares = dict.fromkeys(loads, sampled)
    for share in shares.values():
        if not 0 < share <= 1:
            msg = f"sampled is {four_digits(share)}; it must be above 0 and at most 1"
            raise InvalidParameter(msg)
    return shares


def _compared(model: Model, load: Load) -> Compared:
    if load.rate == 0:  # reported as a finding
        return Compared(load, None, "")
    try:
        solution = model.solve()
    except HeadwayError as error:
        return Compared(load, None, str(error))
    return Compared(load, float(solution.response_time), solution.approximation)
