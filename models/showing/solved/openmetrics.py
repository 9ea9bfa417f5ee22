"""A comparison for Prometheus: predictions beside measurements, as OpenMetrics writes numbers.

Source: the OpenMetrics specification, version 1.0, sections *Text Format* and *Metric Types*:
families of gauges with ``# TYPE``, ``# UNIT`` and ``# HELP``, and ``# EOF`` at the end. No sample
has a time: what a model predicts holds until it is fitted again.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from headway.models.analysis.comparison import Comparison
from headway.models.analysis.traces import TracesBeside
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.outputs import read_output
from headway.records import dataclass

Labels: TypeAlias = Mapping[str, str]
Sample: TypeAlias = tuple[Labels, float]


@dataclass(frozen=True)
class Family:
    """A family of samples.

    Parameters
    ----------
    name
        Its name, with the unit at the end if it has one.
    doc
        What it is, in a line.
    labels
        Labels of its samples, in order.
    unit
        The unit as OpenMetrics writes it; empty for numbers without one.
    kind
        ``gauge`` or ``info``.
    """

    name: str
    doc: str
    labels: tuple[str, ...]
    unit: str = ""
    kind: str = "gauge"


_POINT = ("model", "source", "load", "of", "statistic")
MODEL = Family("headway_model", "Which columns are compared", ("model", "x", "y"), kind="info")
SATURATION = Family(
    "headway_saturation_throughput", "Throughput that the model cannot exceed, per second",
    ("model",),
)  # fmt: skip
ERROR = Family(
    "headway_relative_error", "Predicted less measured, as a share of measured",
    ("model", "output", "load"),
)  # fmt: skip
RESPONSE = Family("headway_response_time_seconds", "Response time", _POINT, "seconds")
THROUGHPUT = Family("headway_throughput", "Jobs completed per second", _POINT)
UTILISATION = Family("headway_utilisation_ratio", "Share of the servers in use", _POINT, "ratio")
OTHER = Family("headway_output", "Any other output, in SI units", _POINT)
FAMILIES = (MODEL, SATURATION, ERROR, RESPONSE, THROUGHPUT, UTILISATION, OTHER)
"""All families that are written, in order."""

_BY_OUTPUT = {
    "response_time": RESPONSE,
    "response_time_p{percent}": RESPONSE,
    "throughput": THROUGHPUT,
    "utilisation": UTILISATION,
}
"""Families of outputs, by the pattern of their names."""


def openmetrics(comparison: Comparison | TracesBeside) -> str:
    r"""Predictions beside measurements, as the text that Prometheus scrapes.

    Parameters
    ----------
    comparison
        A model at measured points, or beside traces.

    Returns
    -------
    Each output as measured and as predicted, at each load; predicted utilisations of stations;
    relative errors; the saturation throughput [1/s]. Of traces the response times of all requests,
    of each service and of each entry, and their errors.

    Examples
    --------
    >>> import headway
    >>> from headway.models import Measurements
    >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n", "curve.csv")
    >>> model = headway.load("server-single").at(delay="1 ms", service_time="1 ms")
    >>> times = [x for x in openmetrics(model.compare(curve)).splitlines() if "_seconds{" in x]
    >>> [x.rpartition(" ")[2] for x in times]  # measured, predicted
    ['0.004', '0.003']
    """
    samples: dict[Family, list[Sample]] = {family: [] for family in FAMILIES}
    found = (
        _of_traces(comparison) if isinstance(comparison, TracesBeside) else _of_points(comparison)
    )
    for family, one in found:
        samples[family].append(one)
    written = (line for family, each in samples.items() if each for line in _block(family, each))
    return "\n".join([*written, "# EOF", ""])


def _of_traces(beside: TracesBeside) -> Iterator[tuple[Family, Sample]]:
    named = {"model": beside.model.name}
    yield MODEL, (named | {"x": ARRIVAL_RATE, "y": "response_time"}, 1.0)
    for part in beside.parts:
        load = _decimal(beside.rates[part.load])
        output = f"{part.name}.response_time" if part.name else "response_time"
        if part.relative_error is not None:
            yield ERROR, (named | {"output": output, "load": load}, part.relative_error)
        for source, value in (("measured", part.measured), ("predicted", part.predicted)):
            said = {"source": source, "load": load, "of": part.name or "system"}
            if value is not None:
                yield RESPONSE, (named | said | {"statistic": "mean"}, value)


def _of_points(comparison: Comparison) -> Iterator[tuple[Family, Sample]]:
    solution, named = comparison.solution, {"model": comparison.model.name}
    axes = {"x": comparison.load.header, "y": comparison.measured.header}
    yield MODEL, (named | axes, 1.0)
    if "saturation_throughput" in solution.outputs:
        yield SATURATION, (named, float(np.min(np.asarray(solution.saturation_throughput, float))))
    loads = [_decimal(load) for load in comparison.load.values.tolist()]
    shown = set()
    for one in comparison.each:
        shown.add(one.output)
        for load, error in zip(loads, one.relative_error.tolist(), strict=True):
            yield ERROR, (named | {"output": one.output, "load": load}, error)
        for source, values in (("measured", one.measured.values), ("predicted", one.predicted)):
            yield from _values(one.output, solution.stations, named, source, loads, values)
    for station in solution.stations:
        output = f"{station}.utilisation"
        if output not in shown:
            values = np.broadcast_to(np.asarray(solution[output], float), len(loads))
            yield from _values(output, solution.stations, named, "predicted", loads, values)


def _values(
    output: str,
    stations: tuple[str, ...],
    named: Labels,
    source: str,
    loads: list[str],
    values: Iterable[float],
) -> Iterator[tuple[Family, Sample]]:
    """An output at each load, from one source."""
    request = read_output(output, stations=stations)
    if request is None:
        return
    family = _BY_OUTPUT.get(request.output.pattern, OTHER)
    statistic = "mean" if np.isnan(request.number) else f"p{_decimal(request.number)}"
    of = request.owner or "system"
    if family is OTHER:
        statistic = request.part
    for load, value in zip(loads, values, strict=True):
        said = {"source": source, "load": load, "of": of, "statistic": statistic}
        yield family, ({**named, **said}, float(value))


def _block(family: Family, samples: list[Sample]) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {family.doc}."
    name = f"{family.name}_info" if family.kind == "info" else family.name
    repeated: set[str] = set()
    for labels, value in samples:
        said = ",".join(f'{label}="{_escaped(labels[label])}"' for label in family.labels)
        if said not in repeated:  # of repeats of a load, the first counts
            repeated.add(said)
            yield f"{name}{{{said}}} {_number(value)}"


def _decimal(value: float) -> str:
    return np.format_float_positional(value, trim="-")


def _number(value: float) -> str:
    if np.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if np.isnan(value) else repr(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
