"""Whole answers are the same by kernels and by their twins, at once and with breaks."""

from collections.abc import Iterator
from importlib import import_module

import numpy as np
import pytest

from headway.queueing import (
    MM1,
    ClosedSolution,
    Delay,
    JobClass,
    Method,
    MMm,
    SharedStation,
    solve_closed,
    solve_multiclass,
)
from headway.queueing.compiled.library import TWINS
from headway.queueing.network.result import Result

KERNELS = {
    "one_class_recursion": "headway.queueing.closed.mva",
    "closed_convolution": "headway.queueing.closed.convolution",
    "lattice_planes": "headway.queueing.classes.lattice_mva",
    "steady_steps": "headway.queueing.closed.fixed_point",
}
DIGITS = 1e-12  # sums over some hundred populations
REST = 1e-10  # steps end where they change numbers by less than 1e-11


def answers(seed: int) -> Iterator[tuple[Method, Result | ClosedSolution]]:
    """Some classes at single servers, and one at servers, pools and delays, at some points."""
    draw = np.random.default_rng(seed)
    classes, stations, points = map(int, draw.integers(1, 5, 3))
    times = 10 ** draw.uniform(-2, 1, (stations, classes, points))
    jobs = draw.integers(0, 7, (classes, points))
    jobs[0] += draw.integers(0, 40)
    thinks = draw.choice([0.5, 100.0])
    places = [SharedStation(f"s{k}", tuple(row), (1,) * classes) for k, row in enumerate(times)]
    shared = [JobClass(str(c), None, n, thinks) for c, n in enumerate(jobs)]
    for method in (Method.EXACT, Method.LINEARIZER, Method.SCHWEITZER):
        yield method, solve_multiclass(places, shared, method)
    single = [MM1(row[0]) for row in times]
    mixed = [MMm(row[0], int(draw.integers(2, 9))) for row in times[1:]] + [Delay(1.0)]
    yield Method.EXACT, solve_closed(single, [1.0] * stations, jobs[0], thinks, Method.EXACT)
    for some in (single, single[:1] + mixed):
        yield (
            Method.CONVOLUTION,
            solve_closed(some, [1.0] * len(some), jobs[0], thinks, Method.CONVOLUTION),
        )


def alike(seed: int, others: list[tuple[Method, Result | ClosedSolution]]) -> None:
    for (method, one), (_, other) in zip(answers(seed), others, strict=True):
        near = REST if method.approximate else DIGITS
        for name in ("throughput", "queue_length", "response_time"):
            ours, theirs = getattr(one, name), getattr(other, name)
            np.testing.assert_allclose(ours, theirs, rtol=near, atol=1e-300)


@pytest.mark.parametrize("seed", range(15))
def test_answers_are_those_of_the_twins(seed, monkeypatch):
    expected = list(answers(seed))
    for name, module in KERNELS.items():
        monkeypatch.setattr(import_module(module), f"_{name}", TWINS[name])

    alike(seed, expected)


@pytest.mark.parametrize("seed", range(15))
def test_breaks_change_nothing(seed, monkeypatch):
    expected = list(answers(seed))
    for module in KERNELS.values():
        monkeypatch.setattr(import_module(module), "_AT_ONCE", 1.0)

    alike(seed, expected)
