"""Tandems of servers with constant times: the wait of jobs at each of them.

Jobs leave such a server at least its service time d apart, so they never wait at a faster one
behind it. In total they wait as at the slowest server alone: with W(d) the wait at a single server
with service time d and the arrivals of the first,

    W_k = W(max of d_1 .. d_k) - W(max of d_1 .. d_(k-1)).

This is exact. If times vary a little it is still more accurate than two moments; it then has the
weight exp(-(x_(k-1) + x_k) / 0.19), with the scvs x of both servers. The weight is headway's own,
measured by ``python -m tests.campaigns.constants tandems``.

Source: Friedman, "Reduction methods for tandem queuing systems", Operations Research 13(1), 1965.
"""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

# Sum of two scvs at which the weight is 1/e. Measured (``python -m tests.campaigns.constants
# tandems``): over 46 networks with scvs up to 0.2 the root mean square error is 5.2%; 5.1 to 5.5%
# from 0.1 to 0.25, 9.9% with the tandem's law alone up to 0.6.
_VARYING = 0.19
# Sum above which the weight, 4% there, is taken as 0. Errors are the same from 0.4 on (``python -m
# tests.campaigns.constants tandem ends``).
_MOST_VARYING = 0.6
_WHOLE = 1 - 1e-9  # share of a flow that counts as all of it, in spite of rounding

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Tandems:
    """Tandems of constant servers, at many operating points; arrays of shape (points, stations).

    Parameters
    ----------
    steady
        Weight of the tandem's law at a station behind another: 1 for constant times, 0 outside of
        tandems.
    head
        Index of the tandem's first station; outside of tandems the station itself.
    before, peak
        Longest service time of the tandem up to the station before, and up to the station itself
        [s].
    """

    steady: FloatArray
    head: NDArray[np.intp]
    before: FloatArray
    peak: FloatArray


def tandems_of(
    away: FloatArray, shares: FloatArray, time: FloatArray, scvs: FloatArray, servers: FloatArray
) -> Tandems:
    """Tandems of servers whose times are constant or vary little.

    Parameters
    ----------
    away, shares
        Routing probabilities from one station (rows) to another, and shares of the arrivals at one
        (columns) that come from each, shape (points, stations, stations).
    time
        Service times [s].
    scvs, servers
        Squared coefficients of variation of these, and the servers; infinite for a delay.

    Examples
    --------
    >>> line, time = np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.array([[1.0, 2.0]])
    >>> tandems = tandems_of(line, line, time, 0 * time, time > 0)
    >>> tandems.steady.tolist(), tandems.peak.tolist()
    ([[0.0, 1.0]], [[1.0, 2.0]])
    """
    count = time.shape[-1]
    places = np.broadcast_to(np.arange(count), time.shape)
    source = np.where(shares.max(axis=-2) >= _WHOLE, shares.argmax(axis=-2), places)
    whole = np.take_along_axis(away, source[:, None, :], axis=-2)[:, 0] >= _WHOLE
    passing = np.isinf(servers)
    in_tandem, own = (servers == 1) | passing, np.where(passing, 0.0, time)
    both = scvs + np.take_along_axis(scvs, source, axis=-1)
    linked = in_tandem & (source != places) & np.take_along_axis(in_tandem, source, axis=-1)
    linked = linked & (both <= _MOST_VARYING)
    head, before, peak = places.copy(), np.zeros(time.shape), own
    joined, pure = linked, np.ones(time.shape, bool)
    for _ in range(count - 1):  # each step reaches one station further down a tandem
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
    return Tandems(np.where(behind, np.exp(-both / _VARYING), 0.0), head, before, peak)
