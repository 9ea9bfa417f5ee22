"""How times grow with sizes: stations, classes, populations, points, and jobs of percentiles.

``python -m benchmarks.growth --measure`` measures processor times anew into
``benchmarks/growth.csv`` (some minutes, or one curve by ``--curve NAME``); without it the table of
what the file holds is printed, as docs/accuracy/growth.md has it. Times are ratios to that of the
smallest size of a curve. A step at which the time grows by more than the square of the size is
called steep.
"""

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby, pairwise
from math import log
from pathlib import Path

import numpy as np

from benchmarks.tasks import Call, least_time
from headway.models import Model, ModelGraph
from headway.queueing import (
    MM1,
    Delay,
    JobClass,
    Method,
    MMm,
    SharedStation,
    solve_closed,
    solve_multiclass,
)

STORED = Path(__file__).with_name("growth.csv")
STEEP = 2.0
"""Largest exponent of a step that is not called steep."""


@dataclass(frozen=True)
class Curve:
    """What grows, its sizes, and what makes the call of a size and says how it is answered."""

    name: str
    sizes: Sequence[int]
    make: Callable[[int], tuple[Call, str]]


@dataclass(frozen=True)
class Row:
    """A measured size: processor time of a call [s], and the method."""

    curve: str
    size: int
    seconds: float
    method: str


def _demands(count: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.1, 1.0, count)


def _row(stations: int) -> ModelGraph:
    graph = ModelGraph("row")
    for k in range(stations):
        graph = graph.station(f"s{k}", MM1(1e-4))
    for k in range(stations - 1):
        graph = graph.route(f"s{k}", f"s{k + 1}")
    return graph


def _open_stations(stations: int) -> tuple[Call, str]:
    return lambda: _row(stations).at().solve(arrival_rate=10.0), "built and solved"


def _closed(stations: int, jobs: int) -> tuple[Call, str]:
    servers, visits = [MM1(d) for d in _demands(stations)], [1.0] * stations
    call = partial(solve_closed, servers, visits, jobs, 5.0)
    return call, str(call().method)


def _classes(method: Method | None, classes: int) -> tuple[Call, str]:
    demand = np.random.default_rng(4).uniform(0.1, 1, (classes, 5))
    places = [SharedStation(f"s{k}", tuple(row), (1,) * classes) for k, row in enumerate(demand.T)]
    closed = [JobClass(str(c), population=4, think_time=2.0) for c in range(classes)]
    call = partial(solve_multiclass, places, closed, *([method] if method else []))
    return call, str(call().method)


def _points(points: int) -> tuple[Call, str]:
    graph = ModelGraph("two").station("cpu", MMm(0.01, 8)).station("disk", MM1(0.001))
    model = graph.route("cpu", "disk").at()
    rates = np.linspace(1.0, 500.0, points)
    return lambda: model.solve(arrival_rate=rates), "at once"


Build = Callable[[int, float], Model]
"""A model of so many jobs, whose service times are in a unit [s] of their own."""


def _percentiles(build: Build, percents: Sequence[float], jobs: int) -> tuple[Call, str]:
    """Percentiles of the same model in another unit each time: laws of a model are kept."""
    units = count(1)
    note = build(jobs, 1.0).solve().with_percentiles(percents).approximation

    def call() -> object:
        return build(jobs, 1 + 1e-6 * next(units)).solve().with_percentiles(percents)

    return call, "approximate" if note else "exact"


def _mixed(jobs: int, unit: float) -> Model:
    graph = ModelGraph("loop").station("cpu", MM1(0.1 * unit)).station("disk", MMm(0.15 * unit, 2))
    graph = graph.station("wire", Delay(0.2 * unit)).route("cpu", "disk").route("disk", "wire")
    return graph.at().closed(jobs, 0.5)


def _ring(jobs: int, unit: float) -> Model:
    graph = ModelGraph("ring").station("cpu", MM1(0.1 * unit)).station("disk", MM1(0.1 * unit))
    return graph.route("cpu", "disk").at().closed(jobs, 0.0)


def _pool(jobs: int, unit: float) -> Model:
    graph = ModelGraph("ring").station("cpu", MM1(0.19 * unit / jobs))
    graph = graph.station("pool", MMm(0.1 * unit, max(jobs // 2, 1))).route("cpu", "pool")
    return graph.at().closed(jobs, 0.0)


def _returning(unit: float, disk: float) -> ModelGraph:
    graph = ModelGraph("loop").station("cpu", MM1(0.1 * unit)).station("disk", MM1(disk * unit))
    graph = graph.station("net", MM1(0.05 * unit)).route("cpu", "disk").route("disk", "net")
    return graph.route("net", "cpu", 0.5)


def _one_class(jobs: int, unit: float) -> Model:
    return _returning(unit, 0.08).at().closed(jobs, 1.0)


def _equally_busy(jobs: int, unit: float) -> Model:
    return _returning(unit, 0.1).at().closed(jobs, 1.0)


def _two_classes(jobs: int, unit: float) -> Model:
    graph = _returning(unit, 0.08)
    graph = graph.job_class("a", population=jobs - jobs // 2, think_time=1.0)
    return graph.job_class("b", population=jobs // 2, think_time=3.0).at()


def _open_row(stations: int, unit: float) -> Model:
    return _row(stations).at(arrival_rate=8000.0 * unit)


JOBS = (1, 10, 100, 1000, 10**4, 10**5, 10**6)
RETURNING = (2, 10, 30, 40, 50, 100, 150, 200, 300, 1000, 10**4, 10**5, 10**6)
"""Close to each other where the chain of a job that is followed grows, and gives way to others."""

CURVES = (
    Curve("open stations", (1, 3, 10, 30, 100, 300, 1000), _open_stations),
    Curve("closed stations", (1, 3, 10, 30, 100, 300, 1000), partial(_closed, jobs=100)),
    Curve("jobs", (1, 10, 100, 1000, 10**4, 10**5, 10**6), partial(_closed, 10)),
    Curve("classes", (1, 2, 3, 4, 6, 8, 12, 24, 48, 96), partial(_classes, None)),
    Curve("classes, Linearizer", (1, 3, 6, 12, 24, 48, 96), partial(_classes, Method.LINEARIZER)),
    Curve("points", (1, 10, 100, 1000, 10**4, 10**5, 10**6), _points),
    Curve("jobs, p99", JOBS[:-1], partial(_percentiles, _mixed, (99,))),
    *(
        Curve(f"jobs, percentiles, {name}", sizes, partial(_percentiles, build, (50, 95, 99)))
        for name, sizes, build in (
            ("equal stations", JOBS, _ring),
            ("half as many servers", JOBS, _pool),
            ("jobs return", RETURNING, _one_class),
            ("jobs return, equal stations", RETURNING, _equally_busy),
            ("two classes return", RETURNING, _two_classes),
        )
    ),
    Curve("stations, p99", (1, 3, 10, 30, 100, 300), partial(_percentiles, _open_row, (99,))),
)
"""What is measured."""


def measure(name: str | None) -> Iterator[Row]:
    """Measure each size of a curve or of each; what is stored of the others stays."""
    for curve in CURVES:
        if name not in {None, curve.name}:
            yield from stored().get(curve.name, [])
            continue
        for size in curve.sizes:
            call, method = curve.make(size)
            call()
            row = Row(curve.name, size, least_time(call, 3), method)
            print(f"{row.curve}, {row.size}: {row.seconds * 1e3:.3f} ms, {row.method}", flush=True)
            yield row


def stored() -> dict[str, list[Row]]:
    """What the file holds, by curve."""
    with STORED.open(encoding="utf-8", newline="") as file:
        made = [
            Row(r["curve"], int(r["size"]), float(r["seconds"]), r["method"])
            for r in csv.DictReader(file)
        ]
    return {name: list(own) for name, own in groupby(made, lambda row: row.curve)}


def store(rows: Sequence[Row]) -> None:
    """Write the file anew."""
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("curve", "size", "seconds", "method"))
        writer.writerows((r.curve, r.size, f"{r.seconds:.3g}", r.method) for r in rows)


def steepest(rows: Sequence[Row]) -> tuple[float, Row, Row]:
    """The largest exponent between neighbouring sizes, and where it is."""
    return max(
        ((log(b.seconds / a.seconds) / log(b.size / a.size), a, b) for a, b in pairwise(rows)),
        key=lambda step: step[0],
    )


def table() -> Iterator[str]:
    """Rows of the table of docs/accuracy/growth.md."""
    yield "| what grows | sizes | time, of the smallest | steepest step | where |"
    yield "|---|---|---|---|---|"
    for name, rows in stored().items():
        exponent, before, after = steepest(rows)
        ratio = rows[-1].seconds / rows[0].seconds
        turns = "" if before.method == after.method else f", {before.method} to {after.method}"
        mark = "**" if exponent > STEEP else ""
        yield (
            f"| {name} | {rows[0].size:,} to {rows[-1].size:,} | {ratio:,.1f} | "
            f"{mark}{exponent:.1f}{mark} | {before.size:,} to {after.size:,}{turns} |"
        )


def curve_table(name: str) -> Iterator[str]:
    """Every size of a curve."""
    yield f"| {name} | processor time [ms] | method |"
    yield "|---|---|---|"
    for row in stored()[name]:
        yield f"| {row.size:,} | {1e3 * row.seconds:,.1f} | {row.method} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure anew")
    parser.add_argument("--curve", choices=[curve.name for curve in CURVES], help="this one alone")
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        store(list(measure(chosen.curve)))
    else:
        print("\n".join(curve_table(chosen.curve) if chosen.curve else table()))


if __name__ == "__main__":
    main()
