"""Prometheus: range queries as JSON, of histograms and summaries of times and of CPU time.

The results of ``rate()`` and other functions have lost name and unit: only series as they are
collected are readable.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import at, document
from headway.models.measured.tools.kit.numbers import filled
from headway.numerals import digits

_HEAD = re.compile(r'\{\s*"status"\s*:\s*"(?:success|error)"')
_UNITS = {"_seconds": 1.0, "_milliseconds": 1e-3, "_ms": 1e-3, "_microseconds": 1e-6}
_PARTS = ("_count", "_sum", "_bucket")
_PERCENTS = (50.0, 90.0, 95.0, 99.0)
_IDLE = ("idle", "iowait")
_CPU = "node_cpu_seconds_total"
_HIDDEN = ("__name__", "le", "quantile", "mode", "cpu")

Labels = Mapping[str, str]
Samples = list[tuple[float, float]]


@dataclass
class _Family:
    """Series of the same requests, according to name and labels."""

    scale: float
    parts: dict[str, Samples] = field(default_factory=dict)
    buckets: dict[float, float] = field(default_factory=dict)
    quantiles: dict[float, float] = field(default_factory=dict)


def _is_prometheus(text: str) -> bool:
    head = text[:4000].lstrip()
    return bool(_HEAD.match(head)) and ('"resultType"' in head or '"errorType"' in head)


def _points(text: str, source: str) -> list[Point]:
    series = _series(document(text, source), source)
    points = [*_of_times(series, source), *_of_cpus(series, source)]
    if not points:
        names = dict.fromkeys(labels.get("__name__", "one without a name") for labels, _ in series)
        msg = (
            f"{source}: no series has times ({', '.join(list(names)[:3]) or 'there is none'});"
            " query the _count, _sum and _bucket of a ..._seconds histogram, without rate()"
        )
        raise MeasurementError(msg)
    return points


def collected(text: str, source: str) -> list[tuple[Labels, Samples]] | None:
    """Series of a range query, each with its labels; None if the text is something else.

    Raises
    ------
    MeasurementError
        For an answer that is damaged, an error, or not a range query's.
    """
    return _series(document(text, source), source) if _is_prometheus(text) else None


def _series(document: Mapping[str, Any], source: str) -> list[tuple[Labels, Samples]]:
    if document.get("status") != "success":
        msg = f"{source}: Prometheus returned an error ({quoted(str(document.get('error')))})"
        raise MeasurementError(msg)
    kind = at(document, "data", "resultType", source=source)
    if kind != "matrix":
        msg = f"{source}: this is a {quoted(str(kind))}, not a range query; use query_range"
        raise MeasurementError(msg)
    entries = at(document, "data", "result", source=source)
    if not isinstance(entries, list):
        msg = f"{source}: data.result is not a list"
        raise MeasurementError(msg)
    return [_entry(entry, f"{source}: result[{n}]") for n, entry in enumerate(entries)]


def _entry(entry: object, place: str) -> tuple[Labels, Samples]:
    labels = at(entry, "metric", source=place)
    values = at(entry, "values", source=place)
    try:
        samples = [(float(time), float(value)) for time, value in values]
    except (TypeError, ValueError, OverflowError):
        msg = f"{place}: its values are not a list of times and numbers"
        raise MeasurementError(msg) from None
    times = [time for time, _ in samples]
    if not isinstance(labels, Mapping) or times != sorted(times) or not _finite(times):
        msg = f"{place}: its labels are not a table, or its times do not increase"
        raise MeasurementError(msg)
    told = {str(k): str(v) for k, v in labels.items()}
    if told.get("__name__", "").endswith((*_PARTS, _CPU)) and not _counts(samples):
        msg = f"{place}: a counter is negative or not a number"
        raise MeasurementError(msg)
    return told, [sample for sample in samples if _finite(sample)]


def _counts(samples: Samples) -> bool:
    """Whether all are what a counter may be."""
    return all(_finite(sample) and min(sample) >= 0 for sample in samples)


def _finite(values: tuple[float, ...] | list[float]) -> bool:
    return all(map(math.isfinite, values))


def _of_times(series: list[tuple[Labels, Samples]], source: str) -> Iterator[Point]:
    families: dict[str, _Family] = {}
    for labels, samples in series:
        base, part = _parted(labels.get("__name__", ""))
        unit = next((unit for unit in _UNITS if base.endswith(unit)), None)
        if unit and samples:
            family = families.setdefault(_named(base, labels), _Family(_UNITS[unit]))
            _take(family, part, labels, samples, source)
    for name, family in families.items():
        if "_count" in family.parts:
            yield _point(name, family)


def _parted(name: str) -> tuple[str, str]:
    part = next((part for part in _PARTS if name.endswith(part)), "")
    return name.removesuffix(part), part


def _named(base: str, labels: Labels) -> str:
    kept = [f"{k}={json.dumps(v)}" for k, v in sorted(labels.items()) if k not in _HIDDEN]
    return f"{base}{{{','.join(kept)}}}"


def _take(family: _Family, part: str, labels: Labels, samples: Samples, source: str) -> None:
    try:
        if part == "_bucket":
            family.buckets[float(labels.get("le", ""))] = _increase(samples)
        elif part:
            family.parts[part] = samples
        elif "quantile" in labels:
            percent = round(100 * float(labels["quantile"]), 9)
            family.quantiles[percent] = samples[-1][1]
    except ValueError:
        msg = f"{source}: a label le or quantile is not a number"
        raise MeasurementError(msg) from None


def steps_of(samples: Samples) -> list[float]:
    """Growth of a counter from sample to sample; one that falls has restarted from zero.

    Examples
    --------
    >>> steps_of([(0.0, 5.0), (15.0, 9.0), (30.0, 2.0)])
    [4.0, 2.0]
    """
    values = [value for _, value in samples]
    return [after - before if after >= before else after for before, after in pairwise(values)]


def _increase(samples: Samples) -> float:
    return math.fsum(steps_of(samples))


def _point(name: str, family: _Family) -> Point:
    counted = family.parts["_count"]
    count, duration = _increase(counted), counted[-1][0] - counted[0][0]
    spent = _increase(family.parts["_sum"]) if "_sum" in family.parts else None
    percentiles = filled({percent: _quantile(family, percent) for percent in _PERCENTS})
    buckets = [_bounds(family, percent) for percent in _PERCENTS]
    notes = ["The rate is the counter's increase from the first to the last sample."]
    if percentiles:
        notes.append(_coarse(family))
    if family.quantiles:
        percentiles |= {q: value for q, value in family.quantiles.items() if 0 <= q <= 100}
        notes.append("Percentiles are those of the summary at the last sample.")
    return Point(
        "Prometheus",
        throughput=count / duration if duration else None,
        response_time=spent / count * family.scale if spent is not None and count else None,
        percentiles={q: value * family.scale for q, value in sorted(percentiles.items())},
        samples=count,
        duration=duration or None,
        coarseness=max((b[1] / b[0] - 1 for b in buckets if b), default=0.0),
        name=name,
        notes=tuple(notes),
    )


def _bounds(family: _Family, percent: float) -> tuple[float, float, float] | None:
    """The bucket of a percentile, and the share below it; None in the first and the last."""
    edges = sorted(family.buckets)
    total = family.buckets[edges[-1]] if edges and edges[-1] == math.inf else 0.0
    wanted, low, below = percent / 100 * total, 0.0, 0.0
    for edge in edges if total else []:
        reached = family.buckets[edge]
        if reached >= wanted and reached > below:
            known = 0 < low < edge < math.inf
            return None if not known else (low, edge, (wanted - below) / (reached - below))
        low, below = edge, max(reached, below)
    return None


def _quantile(family: _Family, percent: float) -> float | None:
    """A percentile, interpolated within its bucket as by ``histogram_quantile``."""
    if (bounds := _bounds(family, percent)) is None:
        return None
    low, high, share = bounds
    return low + min(max(share, 0.0), 1.0) * (high - low)


def _coarse(family: _Family) -> str:
    """A note on the resolution of percentiles."""
    bounds = [(q, _bounds(family, q)) for q in _PERCENTS]
    words = [
        f"p{digits(q)} {digits(b[0] * family.scale)} to {digits(b[1] * family.scale)} s"
        for q, b in bounds
        if b
    ]
    return f"Percentiles are known only to their bucket: {', '.join(words)}."


def _of_cpus(series: list[tuple[Labels, Samples]], source: str) -> Iterator[Point]:
    """CPU utilisation of each machine: all time except idling and waiting for disks."""
    idle: dict[str, dict[str, float]] = {}
    length: dict[str, float] = {}
    for labels, samples in series:
        if labels.get("__name__") == _CPU and labels.get("mode") in _IDLE and samples:
            name, cpu = _named(_CPU, labels), f"cpu_{labels.get('cpu', '')}"
            mine = idle.setdefault(name, {})
            mine[cpu] = mine.get(cpu, 0.0) + _increase(samples)
            length[name] = max(length.get(name, 0.0), samples[-1][0] - samples[0][0])
    for name, cpus in idle.items():
        if not length[name]:
            msg = f"{source}: one sample of {name} gives no rate; query a longer range"
            raise MeasurementError(msg)
        each = {cpu: min(max(1 - spent / length[name], 0), 1) for cpu, spent in cpus.items()}
        yield Point(
            "Prometheus",
            duration=length[name],
            utilisation={"cpu": math.fsum(each.values()) / len(each), **each},
            more={"cores": float(len(each))},
            name=name,
            notes=("Waiting for a disk counts as idle.",),
        )


PROMETHEUS = tool_reader(
    "Prometheus range query",
    _is_prometheus,
    _points,
    "one point per histogram or summary of times: rate, mean, percentiles; CPU utilisation",
)
