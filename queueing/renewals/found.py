r"""What admitted jobs find in GI/M/m/K, exactly, with gamma-distributed times between arrivals.

Just before an arrival there are n jobs with probability p_n. From one arrival to the next, the
number crosses each level k as often upwards as downwards. It crosses upwards only from k, if none
of the k + 1 jobs completes before the next arrival; and downwards from any higher number, one more
with the new job, up to K:

    p_k P(k + 1 -> above k) = sum over i > k of p_i P(min(i + 1, K) -> k or fewer)          (1)

All terms are positive, and p follows from K downwards. For k >= m - 1, all servers are busy until
level k is reached, so only the number D of completions counts, with b_d = P(D = d) as in
`headway.queueing.renewals.room`. Below, the number falls by one with probability n / m at each
event of a Poisson process of rate m mu (uniformisation), which also has d events with probability
b_d.

Source: Takács, *Introduction to the Theory of Queues*, 1962, chapters 2 and 4.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.renewals.room import ended, unserved

# probability of no completion between arrivals from which no job waits, to all digits
_NOTHING = 1e-60
_NONE = 1e-300  # stands for a load of 0
_FALLEN = 1e-80  # probability of being above a level that no sum shows
_LARGE = 1e100  # size from which numbers are scaled down
_BLOCK = 256  # events counted in one block


def numbers_found(servers: int, places: int, load: float, arrival_scv: float) -> FloatArray:
    """Probabilities that an admitted job finds 0, 1, ... K - 1 others, shape (K,).

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
        found[0] = 1.0  # waiting, or the number in service, does not show in any digit
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
    """Set a number, and scale all down if it is large."""
    found[level] = value
    if value > _LARGE:
        found /= value


def _staying_above(servers: int, places: int, pace: FloatArray, scv: FloatArray) -> FloatArray:
    """Probability to be above level k at the next arrival, from j jobs; shape (m - 1, K + 1)."""
    levels, starts = np.arange(servers - 1)[:, None], np.arange(places + 1)
    falls = np.minimum(starts, servers) / servers
    above = (starts > levels).astype(float)  # after each number of events
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
