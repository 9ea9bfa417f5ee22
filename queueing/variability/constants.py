"""Servers of constant times one behind the other: who waits at which of them.

Jobs leave such a server at least its time apart, so that they never wait at a quicker one behind
it. Behind slower ones they wait in all as they would at the slowest alone: with W(d) the wait of
what comes to the first at one server of time d,

    W_k = W(max of d_1 .. d_k) - W(max of d_1 .. d_(k-1)).

That is exact. Where times vary a little it is nearer than two moments are, with a weight of
exp(-(x_(k-1) + x_k) / 0.19) by the scvs x of both servers, which is headway's own, by the
simulations of ``python -m tests.general_networks``.

Source: Friedman, "Reduction methods for tandem queuing systems", Operations Research 13(1), 1965.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray

_VARYING = 0.19  # sum of two scvs at which a row's law has lost most of its weight
_MOST_VARYING = 0.6  # sum from which nothing is left of it
_WHOLE = 1 - 1e-9  # share of a flow that counts as all of it

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Rows of constant servers, at many operating points; each array of shape (points, stations).

    Parameters
    ----------
    steady
        Weight of the row's law at a station behind another, 1 for constants, 0 in no row.
    head
        The place of the row's first station; a station's own where it is in no row.
    before, peak
        Longest time of the row's servers up to the one before it, and up to itself [s].
    """

    steady: FloatArray
    head: NDArray[np.intp]
    before: FloatArray
    peak: FloatArray


def rows_of(
    away: FloatArray, shares: FloatArray, time: FloatArray, scvs: FloatArray, servers: FloatArray
) -> Rows:
    """Find rows of servers whose times are constant, or vary little.

    Parameters
    ----------
    away, shares
        Chances to go from one station (rows) to another, and shares of what comes to one (columns)
        that are from each, shape (points, stations, stations).
    time
        Service times [s].
    scvs, servers
        How those vary, and the number of servers; infinitely many for a delay.

    Examples
    --------
    >>> line, time = np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.array([[1.0, 2.0]])
    >>> rows = rows_of(line, line, time, 0 * time, time > 0)
    >>> rows.steady.tolist(), rows.peak.tolist()
    ([[0.0, 1.0]], [[1.0, 2.0]])
    """
    count = time.shape[-1]
    places = np.broadcast_to(np.arange(count), time.shape)
    source = np.where(shares.max(axis=-2) >= _WHOLE, shares.argmax(axis=-2), places)
    whole = np.take_along_axis(away, source[:, None, :], axis=-2)[:, 0] >= _WHOLE
    passing = np.isinf(servers)
    in_row, own = (servers == 1) | passing, np.where(passing, 0.0, time)
    both = scvs + np.take_along_axis(scvs, source, axis=-1)
    linked = in_row & (source != places) & np.take_along_axis(in_row, source, axis=-1)
    linked = linked & (both <= _MOST_VARYING)
    head, before, peak = places.copy(), np.zeros(time.shape), own
    joined, pure = linked, np.ones(time.shape, bool)
    for _ in range(count - 1):  # each round reaches one station further down a row
        reached, at_first, all_of_it = (
            np.take_along_axis(each, source, axis=-1) for each in (peak, head, pure)
        )
        all_of_it = all_of_it & whole
        joined = linked & (all_of_it | (reached >= own))
        last = peak, head, pure
        pure = ~joined | all_of_it
        before = np.where(joined, reached, 0.0)
        peak = np.where(joined, np.maximum(reached, own), own)
        head = np.where(joined, at_first, places)
        if all(map(np.array_equal, last, (peak, head, pure))):
            break
    behind = joined & (servers == 1) & (before > 0)
    return Rows(np.where(behind, np.exp(-both / _VARYING), 0.0), head, before, peak)
