"""Forks of 16 branches at 10,000 operating points in one array call, against one branch alone.

Run with ``make benchmark``. Each line prints a ratio of processor times within one run.
"""

import numpy as np
import pytest
from timing import least

from headway.queueing import MG1, MM1, Fork, ForkJoin

POINTS, BRANCHES = 10_000, 16
_RATES = np.linspace(0.01, 0.95, POINTS)


def _line(capsys, what, fork, branch, aim, *, rounds):
    times = fork.response_time(_RATES)
    assert times.shape == (POINTS,)
    assert np.all(np.diff(times) > 0)
    ours, theirs = (least(lambda s=s: s.response_time(_RATES), rounds) for s in (fork, branch))
    with capsys.disabled():
        print(
            f"\n{what} of {BRANCHES} at {POINTS} points: {ours * 1e3:.3f} ms, "
            f"one branch: {theirs * 1e3:.3f} ms, ratio {ours / theirs:.1f} (aim {aim})"
        )


def test_like_branches(capsys):
    _line(
        capsys,
        "fork of like branches",
        ForkJoin(1.0, BRANCHES, BRANCHES),
        MM1(1.0),
        "10",
        rounds=15,
    )


@pytest.mark.parametrize(("needed", "aim"), [(BRANCHES, "2000"), (12, "20000")])
def test_unlike_branches(capsys, needed, aim):
    times = np.linspace(0.5, 1.0, BRANCHES)
    fork = Fork(tuple(MG1(time, 0.5) for time in times), needed)
    _line(capsys, f"fork of unlike branches, {needed}", fork, MG1(1.0, 0.5), aim, rounds=3)
