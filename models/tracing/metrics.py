"""Read metrics of processors: how many each service kept busy in each load, and how many it has.

A table has a column of services, one of loads where there are several, and a measured column:
``cores`` (processors kept busy), ``cpu_s`` with the ``seconds`` that it was counted over, or
``utilisation`` with the number of ``processors``. Prometheus' range queries have counters of
processor time with a label that names the service; a load uses what they counted between its first
span and its last.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.files.intake import read_bytes
from headway.models.files.packed import unpacked_whole
from headway.models.files.shipped import shipped_name, shipped_or_own
from headway.models.language.units import unit
from headway.models.measured.measurements import LARGEST_FILE, Measurements
from headway.models.measured.tools.monitors.prometheus import Labels, Samples, collected, steps_of
from headway.models.reading.frames import kind_of
from headway.models.reading.recognise import decoded, read_table
from headway.numerals import some_of

_PROCESSORS = ("processors", "cpus")
_CPU_TIME = re.compile(r"cpu\w*_seconds_total$")
_IDLE = ("idle", "iowait", "steal")
_SHOWN = 3
_TIME = unit("s").dimension


class Stretch(NamedTuple):
    """A load by name, and when it began and ended since 1970 [s]."""

    name: str
    begin: float
    end: float


class Metrics(NamedTuple):
    """Processors as they were measured.

    Parameters
    ----------
    busy
        Mean number of processors kept busy, by service and load.
    processors
        Number of processors of each service, where the file says it.
    """

    busy: Mapping[str, Mapping[str, float]]
    processors: Mapping[str, int]


def read_metrics(place: str, services: Sequence[str], loads: Sequence[Stretch]) -> Metrics:
    """Read the metrics of given services in given loads.

    Parameters
    ----------
    place
        A file: a table, or the answer of Prometheus' query_range.
    services, loads
        The services and loads wanted, as the spans name them.

    Raises
    ------
    MeasurementError
        For a file that cannot be read, that names none of the services or loads, or that has no
        measurement of processors.
    """
    path = shipped_or_own(Path(place))
    name = shipped_name(path)
    content = unpacked_whole(read_bytes(path, LARGEST_FILE), name, LARGEST_FILE)
    text = decoded(content, name)
    series = collected(text, name)
    if series is None:
        return _of_table(read_table(text, name, kind=kind_of(content)), services, loads)
    return Metrics(_of_counters(series, name, services, loads), {})


def _of_table(table: Measurements, services: Sequence[str], loads: Sequence[Stretch]) -> Metrics:
    rows = [
        {title: words[row] for title, words in table.labels.items()} for row in range(len(table))
    ]
    names = [load.name for load in loads]
    whose = _naming(rows, services, "services", table.source)
    which = (
        ""
        if len(loads) == 1 and len(table.labels) == 1
        else _naming([{**row, whose: ""} for row in rows], names, "loads", table.source)
    )
    busy: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    has: dict[str, int] = {}
    processors = table.find(_PROCESSORS)
    for row, (labels, value) in enumerate(zip(rows, _busy(table).tolist(), strict=True)):
        service, load = labels[whose], labels[which] if which else names[0]
        if service in services and load in names and isfinite(value):
            busy[service][load] += value  # several replicas have a row each
            if processors is not None and processors.values[row] >= 1:
                has[service] = int(processors.values[row])
    return Metrics(busy, has)


def _naming(
    rows: Iterable[Mapping[str, str]], names: Collection[str], of_what: str, source: str
) -> str:
    """The label whose values include the most of the wanted names."""
    told: dict[str, set[str]] = defaultdict(set)
    for labels in rows:
        for label, value in labels.items():
            if value in names:
                told[label].add(value)
    if not told:
        msg = (
            f"{source}: nothing in it names one of the {of_what} in the traces "
            f"({some_of(names, _SHOWN)})"
        )
        raise MeasurementError(msg)
    return max(told, key=lambda label: len(told[label]))


def _busy(table: Measurements) -> FloatArray:
    """Mean number of processors kept busy, by row of a table."""
    cores, spent = table.find(["cores"]), table.find(["cpu", "cpu_time"])
    if cores is not None:
        return cores.values
    if spent is not None and spent.unit.dimension == _TIME:
        return spent.values / table.column("seconds", "duration").values
    share = spent or table.find(["utilisation", "utilization", "cpu_utilisation"])
    if share is not None:
        return share.values * table.column(*_PROCESSORS).values
    msg = (
        f"{table.source}: no column says how many processors were busy: give cores, or cpu_s and "
        "seconds, or utilisation and processors"
    )
    raise MeasurementError(msg)


def _of_counters(
    series: Sequence[tuple[Labels, Samples]],
    source: str,
    services: Sequence[str],
    loads: Sequence[Stretch],
) -> dict[str, dict[str, float]]:
    """Mean number of processors kept busy, by service and load, from counters."""
    busy: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for service, samples in _counters(series, source, services):
        for load in loads:
            rate = _rate(samples, load)
            if rate is not None:
                busy[service][load.name] += rate
    if not busy:
        msg = f"{source}: its samples are not of the time of the traces; query that time"
        raise MeasurementError(msg)
    return busy


def _counters(
    series: Sequence[tuple[Labels, Samples]], source: str, services: Sequence[str]
) -> list[tuple[str, Samples]]:
    """Counters of processor time by service; of all processors together where there are some."""
    counters = [
        (labels, samples)
        for labels, samples in series
        if _CPU_TIME.search(labels.get("__name__", "")) and labels.get("mode") not in _IDLE
    ]
    if not counters:
        msg = f"{source}: no counter of processor time; query one that ends in cpu_..seconds_total"
        raise MeasurementError(msg)
    whose = _naming((labels for labels, _ in counters), services, "services", source)
    mine = [each for each in counters if each[0].get(whose) in services]
    if any(labels.get("cpu") == "total" for labels, _ in mine):
        mine = [each for each in mine if each[0].get("cpu") == "total"]
    return [(labels[whose], samples) for labels, samples in mine]


def _rate(samples: Samples, load: Stretch) -> float | None:
    """Growth per second of a counter in a load; None if it covers less than half of the load."""
    if len(samples) < 2:
        return None
    times = [time for time, _ in samples]
    begin, end = max(load.begin, times[0]), min(load.end, times[-1])
    if end - begin < (load.end - load.begin) / 2 or end <= begin:
        return None
    grown = np.append(0.0, np.cumsum(steps_of(samples)))
    first, last = np.interp([begin, end], times, grown)
    return float(last - first) / float(end - begin)
