"""Percentiles of many operating points against their means, in one run.

Run with ``make benchmark``. Each line prints a ratio of processor times and the one the project
aims at. Points without a line through them, which random ones are, are found one by one.
"""

import numpy as np
import pytest
from timing import least

from headway.models import ModelGraph
from headway.queueing import MG1, MM1, MMm


def series(*stations):
    graph = ModelGraph("series")
    for k, station in enumerate(stations):
        graph = graph.station(f"s{k}", station)
    for k in range(1, len(stations)):
        graph = graph.route(f"s{k - 1}", f"s{k}")
    return graph.at()


@pytest.mark.parametrize(
    ("what", "stations"),
    [
        ("M/M/1", (MM1(1e-3),)),
        ("M/M/4", (MMm(4e-3, 4),)),
        ("a tandem of three", (MM1(1e-3), MM1(8e-4), MM1(5e-4))),
        ("M/M/1, M/M/4 and M/G/1 in series", (MM1(1e-3), MMm(4e-3, 4), MG1(5e-4, 0.5))),
        ("M/G/1", (MG1(1e-3, 0.5),)),
    ],
)
def test_percentiles_of_a_sweep(capsys, what, stations):
    model, loads = series(*stations), np.linspace(10, 950, 10**5)
    solved = model.solve(loads)

    means = least(lambda: model.solve(loads))
    ours = least(lambda: solved.with_percentile(99))

    with capsys.disabled():
        print(
            f"\np99 of {what}, 10^5 points: {ours * 1e3:.1f} ms, their means: "
            f"{means * 1e3:.1f} ms, ratio {ours / means:.0f} (aim 20)"
        )


def test_percentiles_of_points_without_a_line(capsys):
    rng, count = np.random.default_rng(1), 10**4
    graph = ModelGraph("one").declare("varies").station("server", MG1(1e-3, "varies"))
    model, loads, scvs = graph.at(), rng.uniform(10, 950, count), rng.uniform(0.1, 3, count)
    solved = model.solve(loads, varies=scvs)

    means = least(lambda: model.solve(loads, varies=scvs))
    ours = least(lambda: solved.with_percentile(99), rounds=3)

    with capsys.disabled():
        print(
            f"\np99 of M/G/1 at 10^4 random loads and variabilities: {ours * 1e3:.0f} ms, "
            f"their means: {means * 1e3:.1f} ms, ratio {ours / means:.0f}"
        )
