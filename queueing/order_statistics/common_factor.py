"""The time at which one of several equal branches is done, given what all have in common.

A request finds at each branch what the request before left there: its response time V, less the gap
A between the arrivals, which all branches share. So it takes max(V - A, 0) and a service there
(Lindley). The waits of earlier requests have a common normal factor Z, with the share r(U)**log2(1
+ scv) of the variance of a score; r is such that two exponential branches have Nelson and Tantawi's
mean. Given Z and A, branches are independent. At light loads there is no waiting and only the
services remain, which is exact.

Source: Lindley, "The theory of queues with a single server", Math. Proc. Cambridge Phil. Soc.
48(2), 1952; Nelson and Tantawi, IEEE Trans. Computers 37(6), 1988. How far it is from simulations
is measured (docs/accuracy/forks.md).
"""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.order_statistics.branch_times import (
    Wait,
    factor_values,
    rounded_down,
    rounded_up,
    service_matrix,
    step_of,
    waited_by,
)

# r(U) by ascending powers of U: a cubic with which two exponential branches take Nelson and
# Tantawi's mean to 0.07% at any load (`tests/queueing/forks/test_joins.py` holds 1%). Not fitted to
# simulations.
_ALIKE = (0.5149, -0.5469, 0.6537, -0.1791)
_MOST = 0.985  # largest common share of a score's variance: 1 would make probabilities jump
# Digits only: values of the common factor and of the common gap; range of waits, exp(-9) of the
# shortest to 40 times the longest; range of times in services, and in services over 1 - U;
# probability of a service before the first time, and the least such time; entries of a table,
# between which 128 branches lose less than 1e-5.
_FACTORS, _GAPS = 48, 12
_BELOW, _ABOVE = 9.0, 40.0
_FIRST, _LAST = 1e-2, 60.0
_SELDOM, _EARLIEST = 1e-3, 1e-8
_TABLE = 16384


class ConditionalLaw(NamedTuple):
    """Distribution of a branch's time, given values of what the branches share.

    Parameters
    ----------
    logs
        Logarithms of times in mean services, shape (times,).
    done
        Probability of being done by each time, shape (loads, values, times).
    weights
        Weights of the values, shape (loads, values).
    """

    logs: FloatArray
    done: FloatArray
    weights: FloatArray

    def kth(self, branches: int, needed: int) -> FloatArray:
        """Probability that k of n are done by each time, shape (loads, times)."""
        chances = _binomial(branches, needed, self.done)
        return np.asarray((self.weights[:, None] @ chances)[:, 0])


def _binomial(branches: int, needed: int, each: FloatArray) -> FloatArray:
    """Probability that k of n independent branches are done, by a table of the beta law."""
    from scipy.special import betainc

    later = branches - needed + 1
    table = betainc(needed, later, np.linspace(0.0, 1.0, _TABLE + 1))
    places = each * _TABLE
    cells = np.minimum(places.astype(np.int32), _TABLE - 1)
    places -= cells
    return np.asarray(table[cells] + places * np.diff(table)[cells])


@lru_cache(maxsize=2)
def conditional_law(scv: float, loads: tuple[float, ...]) -> ConditionalLaw:
    """The law of one of several equal branches, at several utilisations at once.

    Parameters
    ----------
    scv, loads
        Scv of service, 0.01 or more, and utilisations, between 0 and 1.

    Examples
    --------
    >>> law = conditional_law(1.0, (0.5,))
    >>> chances = law.kth(2, 2)[0]
    >>> bool(chances[0] < 1e-3), bool(chances[-1] > 1 - 1e-6)
    (True, True)
    """
    busy, step = np.array(loads), step_of(scv)
    one = np.ones_like(busy)
    wait = (1 + scv) / (2 * (1 - busy))  # M/G/1 with a mean service of 1: for requests that wait
    square = 2 * busy * wait**2 + (1 + scv) * (1 + 2 * scv) / (3 * (1 - busy))
    waits = Wait(one, scv * one, busy, wait, square - wait**2, busy, one)
    common = np.polyval(_ALIKE[::-1], busy) ** np.log2(1 + scv)  # a**2 = r(U)**log2(1 + scv)
    shared = np.asarray(np.minimum(common, _MOST))
    begin, end = _ends(waits, step)
    first = max(min(_FIRST, scv * _SELDOM**scv), _EARLIEST)
    ends = rounded_down(log(first) / step), rounded_up(log(_LAST / (1 - busy.max())) / step)
    grid = np.concatenate([[0.0], np.exp(step * np.arange(begin, end))])
    service = service_matrix(scv, (begin, end), ends)
    before = waited_by(waits, shared, np.tile(grid, (busy.size, 1)), _FACTORS)
    gaps, weights = _gaps(busy)
    hats = _hats(np.log(grid + gaps[:, None]) / step - ends[0], ends[1] - ends[0])
    behind = np.hstack(np.split(hats.reshape(-1, grid.size) @ service, len(gaps)))
    after = before.reshape(-1, grid.size) @ service @ behind
    alone = np.broadcast_to(service.sum(axis=0), (len(after), service.shape[1]))
    done = np.concatenate([after, alone], axis=1)
    np.clip(done, 0.0, 1.0, out=done)
    both = (factor_values(_FACTORS)[1][:, None] * weights[:, None]).reshape(busy.size, -1)
    logs = np.asarray(step * np.arange(*ends), float)
    return ConditionalLaw(logs, done.reshape(*both.shape, -1), both)


def _ends(waits: Wait, step: float) -> tuple[int, int]:
    """Places of the first and the last wait on the grid."""
    longest = np.maximum(waits.wait * np.maximum(waits.variance / waits.wait**2, 1.0), 1.0).max()
    shortest = min(float(waits.wait.min()), 1.0)
    return rounded_down((log(shortest) - _BELOW) / step), rounded_up(log(longest * _ABOVE) / step)


def _gaps(busy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values of the exponential gap in services, and weights; the last is for longer gaps."""
    nodes, weights = np.polynomial.legendre.leggauss(_GAPS)
    place = (nodes + 1) / 2
    gaps = place**2 / (1 - place)
    rises = weights / 2 * (2 * place * (1 - place) + place**2) / (1 - place) ** 2
    each = rises * busy[:, None] * np.exp(-busy[:, None] * gaps)
    return gaps, np.concatenate([each, 1 - each.sum(axis=1, keepdims=True)], axis=1)


def _hats(places: FloatArray, count: int) -> FloatArray:
    """Weights of linear interpolation between whole places, shape (rows, count, places)."""
    inside = np.clip(places, 0, count - 1)
    apart = np.abs(inside[:, None] - np.arange(count)[:, None])
    return np.asarray(np.maximum(1 - apart, 0.0))
