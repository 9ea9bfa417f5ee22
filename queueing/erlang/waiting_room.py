"""M/M/m/K for any load: no overflow, and no loss of digits at utilisation 1.

The probabilities of m to K jobs are a geometric series with ratio u = a/m. It is summed from its
larger end: from m up if u <= 1, from K down if u > 1. The states below m sum to 1/B(m, a) - 1 times
that of m, by Erlang's formula.
"""

from math import pi

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, is_symbolic, plain
from headway.queueing.erlang.birth_death import weights
from headway.queueing.erlang.blocking import inverse_blocking
from headway.queueing.erlang.formulas import lone_chance
from headway.queueing.erlang.poisson import stirling_error
from headway.queueing.flows.laws import check_arrivals
from headway.records import dataclass

# number of places up to which formulas write out the sum over states: for reading only
_WRITTEN = 8
_MOST = 1e300  # largest load, against overflow: the limit of the result is reached long before

# B(2k) / (2k)!, Bernoulli numbers over factorials, in the series of 1/(exp(y) - 1)
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
)


@dataclass(frozen=True)
class FiniteQueueResult:
    """Results of a finite station at a load.

    Parameters
    ----------
    loss, admitted
        Probabilities that an arrival is lost, and that it is not.
    wait
        Mean waiting time of admitted jobs, in service times.
    empty
        Probability that no request is present.
    """

    loss: Amount
    admitted: Amount
    wait: Amount
    empty: Amount


def solve(servers: Amount, places: Amount, load: Amount) -> FiniteQueueResult:
    """Solve M/M/m/K.

    Parameters
    ----------
    servers, places
        m and K, whole numbers with K >= m >= 1; numbers for a symbolic load.
    load
        Offered load a = lambda S, 0 or more.

    Raises
    ------
    InvalidParameter
        For symbolic servers or places.

    Examples
    --------
    >>> solve(1, 3, 1.0).loss
    0.25
    """
    if is_symbolic(load, servers, places):
        return _symbolic(servers, places, load)
    check_arrivals(load)
    m, room, a = np.broadcast_arrays(servers, places, np.minimum(np.asarray(load, float), _MOST))
    some = a >= np.finfo(float).tiny  # below, powers of it underflow: no job is present
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        state = _numeric(m, room - m, np.where(some, a, 1.0))
    nobody = np.where(np.isnan(a), np.nan, 0.0)
    values = (state.loss, state.admitted, state.wait, state.empty)
    idle = (nobody, nobody + 1, nobody, nobody + 1)
    return FiniteQueueResult(
        *(plain(np.where(some, x, y)) for x, y in zip(values, idle, strict=True))
    )


def _numeric(m: Amount, queue: Amount, load: Amount) -> FiniteQueueResult:
    """Sum the geometric series from both ends, and take the larger end at each point."""
    below = m / load * inverse_blocking(m - 1, load)
    # log(a/m), with all digits near 0, as a - m is exact there
    step = np.abs(np.where(np.abs(load - m) < m / 2, np.log1p((load - m) / m), np.log(load / m)))
    far_end = np.exp(-queue * step)
    total, mean = _sum(step, queue), _mean(step, queue)
    norm = below + total  # in units of the state of m jobs
    light = far_end / norm, 1 - far_end / norm, total * mean / norm
    norm = below * far_end + total  # in units of the state of K jobs
    rest = below * far_end + m / load * (total - far_end)  # all states but the full one
    heavy = 1 / norm, rest / norm, total * (queue - mean) / norm
    loss, admitted, waiting = (np.where(load <= m, x, y) for x, y in zip(light, heavy, strict=True))
    empty = _empty(m, load, below, far_end, total)
    return FiniteQueueResult(loss, admitted, waiting / (load * admitted), empty)


def _empty(m: Amount, load: Amount, below: Amount, far_end: Amount, total: Amount) -> Amount:
    """Probability of state 0: from M/M/m/m if a <= m, otherwise m! / a**m times that of state m."""
    share = np.where(below < 1e300, (below + 1) / (below + total), 1.0)
    light = lone_chance(m, load, 1 / (below + 1)) * share
    ways = stirling_error(m) + np.log(2 * pi * m) / 2 - m * (1 + np.log(load / m))
    heavy = np.exp(ways) * far_end / (below * far_end + total)
    return np.where(load <= m, light, heavy)


def _sum(step: Amount, last: Amount) -> Amount:
    """Sum of exp(-step j) over j = 0..last."""
    some = np.where(step > 0, step, 1.0)
    return np.where(step > 0, np.expm1(-(last + 1) * some) / np.expm1(-some), last + 1.0)


def _mean(step: Amount, last: Amount) -> Amount:
    """Mean of j with the weights exp(-step j), j = 0..last."""
    whole = (last + 1) * step
    some = np.where(whole < 0.5, 1.0, step)
    far = _bose(some) - (last + 1) * _bose((last + 1) * some)
    near = last / 2 - (last + 1) * _bend(whole) + _bend(step)
    return np.where(whole < 0.5, near, far)


def _bose(y: Amount) -> Amount:
    return 1 / np.expm1(y)


def _bend(y: Amount) -> Amount:
    """Evaluate 1/(exp(y) - 1) - 1/y + 1/2 = y/12 - y**3/720 + ... for y up to 1/2."""
    y = np.minimum(y, 0.5)
    series = 0.0
    for coefficient in reversed(_BERNOULLI):
        series = series * y * y + coefficient
    return series * y


def _symbolic(servers: Amount, places: Amount, load: Amount) -> FiniteQueueResult:
    if any(is_symbolic(count) and not count.is_Integer for count in (servers, places)):
        raise InvalidParameter("servers and places must be numbers in a formula of M/M/m/K")
    from headway.queueing.erlang import symbols

    room = int(servers), int(places), load
    parts = [symbols.RoomLoss(*room), symbols.RoomAdmitted(*room), symbols.RoomEmpty(*room)]
    parts.append(symbols.RoomWaiting(1, *room))
    loss, admitted, empty, waiting = (
        part.doit() if int(places) <= _WRITTEN else part for part in parts
    )
    return FiniteQueueResult(loss, admitted, waiting / (load * admitted), empty)


def moment(order: Amount, servers: Amount, places: Amount, load: Amount) -> Amount:
    """Mean of a power of the number waiting at M/M/m/K, as derivatives of its results need it.

    Parameters
    ----------
    order
        The power, a whole number of 1 or more.
    servers, places
        m and K, whole numbers.
    load
        Offered load a, above 0.

    Examples
    --------
    >>> moment(1, 1, 2, 1.0)
    0.3333333333333333
    """
    number = np.arange(1, int(places) + 1)
    relative = weights(np.asarray(load, float)[..., None] / np.minimum(number, int(servers)))
    waiting = np.maximum(np.arange(int(places) + 1) - int(servers), 0.0) ** order
    return plain(relative @ waiting / relative.sum(axis=-1))
