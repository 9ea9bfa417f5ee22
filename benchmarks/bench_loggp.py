"""Speed of LogGP's laws and fits, as ratios to the bare NumPy expression in the same run.

Run as ``python benchmarks/bench_loggp.py``. Nothing is asserted: times depend on the machine.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from headway.loggp import (
    Pipeline,
    SizeSeries,
    Stage,
    bulk_gap_run_time,
    burst_gap_run_time,
    find_breaks,
    fit_sizes,
    mixed_gap_run_time,
    mpi_overhead_run_time,
    overhead_run_time,
    read_latency_run_time,
    uniform_gap_run_time,
)
from headway.models import catalogue_model

POINTS = 1_000_000
REPEATS = 50


def best_times(*calls: Callable[[], object]) -> list[float]:
    """Give the shortest of several runs of each call, taken in turn after a warm-up [s]."""
    times = np.empty((REPEATS, len(calls)))
    for run in range(-1, REPEATS):  # -1 warms up; the last run overwrites its row
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[run, place] = time.perf_counter() - start
    return [float(shortest) for shortest in times.min(axis=0)]


Call = Callable[[], object]


def _model(name: str, preset: str, parameter: str, varied: NDArray[np.float64]) -> Call:
    """Solve a catalogue model over a million points."""
    model = catalogue_model(name).with_preset(preset)
    return lambda: model.at({parameter: varied}).solve()


def _with_slowdown(base: float, run_time: NDArray[np.float64]) -> object:
    """Both outputs that the catalogue's models have."""
    return run_time, run_time / base


def laws(varied: NDArray[np.float64]) -> dict[str, tuple[Call, Call]]:
    """Each law and its bare expression over a million points of one parameter."""
    r, m, g, i, b = 13.23, 1294967, 5.8e-6, 13e-6, 0.7
    w = 1e6 + varied * 1e12
    return {
        "overhead": (lambda: overhead_run_time(r, m, varied), lambda: r + 2 * m * varied),
        "burst gap": (lambda: burst_gap_run_time(r, m, varied), lambda: r + m * varied),
        "uniform gap": (
            lambda: uniform_gap_run_time(r, m, varied, g, i),
            lambda: r + m * np.maximum(varied + g - i, 0),
        ),
        "mixed gap": (
            lambda: mixed_gap_run_time(r, m, varied, g, i, b),
            lambda: r + m * (b * varied + (1 - b) * np.maximum(varied + g - i, 0)),
        ),
        "catalogue, overhead": (
            _model("program-overhead", "radix", "added_overhead", varied),
            lambda: _with_slowdown(7.76, 7.76 + 2 * 1279018 * varied),
        ),
        "catalogue, mixed gap": (
            _model("program-gap", "sample", "added_gap", varied),
            lambda: _with_slowdown(r, r + m * (b * varied + (1 - b) * np.maximum(varied - i, 0))),
        ),
        "read latency": (lambda: read_latency_run_time(r, m, varied), lambda: r + 2 * m * varied),
        "bulk gap": (
            lambda: bulk_gap_run_time(r, 3e8, w, 37.5e6),
            lambda: r + 3e8 * (1 / w - 1 / 37.5e6),
        ),
        "MPI overhead": (
            lambda: mpi_overhead_run_time(r, 660, 79360, varied),
            lambda: r + varied * (4 * 660 + 2 * 79360),
        ),
    }


def show_laws() -> None:
    """Print how much longer each law takes than its bare expression."""
    for name, (law, bare) in laws(np.linspace(0, 1e-4, POINTS)).items():
        took, least = best_times(law, bare)
        print(
            f"{name:14} {took * 1e3:7.2f} ms   {took / least:5.2f} x bare NumPy ({POINTS:,} points)"
        )


def show_breaks() -> None:
    """Print the time of break finding and of a whole fit on 500 sizes."""
    random = np.random.default_rng(1)
    size = 1024.0 * np.arange(1, 501)
    times = np.where(size > 65536, 60e-6 + size / 1.25e9, 12e-6 + size / 0.9e9)
    series = [SizeSeries("t", size, times[:, None] * (1 + 0.03 * random.standard_normal((500, 5))))]
    searching, fitting = best_times(lambda: find_breaks(series), lambda: fit_sizes(series))
    print(f"break finding, 500 sizes: {searching * 1e3:.1f} ms")
    print(f"whole fit with intervals: {fitting * 1e3:.1f} ms")


def show_pipeline() -> None:
    """Print the time of a long transfer through five stages."""
    pipeline = Pipeline(tuple(Stage(str(k), 5e-6 + k * 1e-7, 1e-9 * k) for k in range(5)))
    sizes = np.full(POINTS, 4096.0)
    (took,) = best_times(lambda: pipeline.timeline(sizes))
    print(f"pipeline, 5 stages, {POINTS:,} packets: {took * 1e3:.1f} ms")


if __name__ == "__main__":
    show_laws()
    show_breaks()
    show_pipeline()
