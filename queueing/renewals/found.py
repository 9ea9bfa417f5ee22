r"""What jobs that are let in find in GI/M/m/K, exactly, with gamma times between arrivals.

Just before an arrival there are n jobs with probability p_n, and from one arrival to the next the
number crosses each level k as often upwards as downwards. Up it comes only from k, where none of
the k + 1 jobs is served before the next arrival; down from every number above, one more with the
new job, at most K:

    p_k P(k + 1 -> above k) = sum over i > k of p_i P(min(i + 1, K) -> k or fewer)          (1)

All terms are positive, and p follows from K down. From m - 1 on all servers are busy until level k
is reached, so that only the number D of services counts, with b_d = P(D = d) as in
`headway.queueing.renewals.room`. Below, the number falls by one at each event of a Poisson process
of rate m mu with chance n / m, and else stays (uniformisation); of its events there are d with
probability b_d too.

Source: Takács, *Introduction to the Theory of Queues*, 1962, chapters 2 and 4.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.renewals.room import ended, unserved

_NOTHING = 1e-60  # chance of no service between arrivals from which none waits, to all digits
_NONE = 1e-300  # in place of no load
_FALLEN = 1e-80  # chance to be above a level still, which no sum shows
_LARGE = 1e100  # numbers are scaled down from there
_BLOCK = 256  # events counted at a time


def numbers_found(servers: int, places: int, load: float, arrival_scv: float) -> FloatArray:
    """Probabilities that a job that is let in finds 0, 1, ... K - 1 others, shape (K,).

    Parameters
    ----------
    servers, places
        m and K, K >= m >= 1.
    load
        Offered load a = lambda S, 0 or more.
    arrival_scv
        Squared coefficient of variation of the times between arrivals, 0 or more.

    Examples
    --------
    >>> numbers_found(2, 4, 1.0, 1.0).round(4).tolist()  # M/M/2/4 lets in 22 of 23
    [0.3636, 0.3636, 0.1818, 0.0909]
    >>> numbers_found(1, 3, 0.8, 0.0).round(4).tolist()
    [0.5055, 0.3139, 0.1806]
    """
    found = np.zeros(places + 1)
    pace, scv = np.array([servers / max(load, _NONE)]), np.array([arrival_scv])
    if float(unserved(pace, scv)[0]) < _NOTHING:
        found[0] = 1.0  # who waits, or how many are served, shows in no digit
        return found[:places]
    found[places] = 1.0
    chances = ended(pace, scv, places - servers + 2)[:, 0]
    more = np.maximum(1 - np.concatenate([[0.0], np.cumsum(chances)]), 0.0)  # P(D >= d)
    for level in range(places - 1, servers - 2, -1):
        above = np.arange(level + 1, places)
        down = found[above] @ more[above - level + 1] + found[places] * more[places - level]
        _put(found, level, down / chances[0])
    if servers > 1:
        stays = _staying_above(servers, places, pace, scv)
        for level in range(servers - 2, -1, -1):
            above = np.arange(level + 1, places + 1)
            reached = stays[level, np.minimum(above + 1, places)]
            down = found[above] @ np.maximum(1 - reached, 0.0)
            _put(found, level, down / stays[level, level + 1])
    return np.asarray(found[:places] / found[:places].sum())


def _put(found: FloatArray, level: int, value: float) -> None:
    """Set a number, and scale all down where it is large."""
    found[level] = value
    if value > _LARGE:
        found /= value


def _staying_above(servers: int, places: int, pace: FloatArray, scv: FloatArray) -> FloatArray:
    """Chance to be above level k at the next arrival, from j jobs on; shape (m - 1, K + 1)."""
    levels, starts = np.arange(servers - 1)[:, None], np.arange(places + 1)
    falls = np.minimum(starts, servers) / servers
    above = (starts > levels).astype(float)  # after so many events
    total, counted = np.zeros(above.shape), 0
    chances = ended(pace, scv, _BLOCK)[:, 0]
    while above.max() > _FALLEN and chances[counted:].sum() > 0:
        if counted + 1 == len(chances):
            chances = ended(pace, scv, 2 * len(chances))[:, 0]
        total += chances[counted] * above
        below = np.concatenate([above[:, :1], above[:, :-1]], axis=1)
        above = falls * below + (1 - falls) * above
        counted += 1
    return total
