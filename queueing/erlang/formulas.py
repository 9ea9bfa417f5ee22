"""Erlang's formulas: the probability that all servers are busy.

Source: Erlang 1917; Kleinrock, *Queueing Systems* I, 1975, eqs. 3.40 and 3.43.
"""

import math
from typing import cast

import numpy as np

from headway.kinds import Amount, Quantity, check_count, check_domain, is_symbolic, plain
from headway.queueing.erlang.blocking import FEW, inverse_blocking, one_inverse
from headway.queueing.erlang.poisson import poisson


def erlang_b(servers: Quantity, offered_load: Quantity) -> Amount:
    """Probability that an arrival is lost at m servers without a queue (M/M/m/m).

    B(m, a) = (a**m / m!) / sum over k = 0..m of a**k / k!

    Parameters
    ----------
    servers
        Number of servers m, a whole number of 1 or more.
    offered_load
        Offered load a = arrival rate * service time [erlang], 0 or more; may exceed m.

    Returns
    -------
    Number between 0 and 1 in the broadcast shape of the arguments; for a SymPy load the
    finite sum, and for a SymPy number of servers the function ``erlang_b(m, a)``.

    Raises
    ------
    InvalidParameter
        For a number of servers that is not 1, 2, 3..., or a negative load.

    Examples
    --------
    >>> round(erlang_b(2, 1.0), 12)
    0.2
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing.erlang import symbols

        return symbols.erlang_b(servers, offered_load)
    if _is_one_point(servers, offered_load):
        return 1 / one_inverse(cast(int, servers), cast(float, offered_load))
    _check(servers, offered_load)
    return plain(1 / inverse_blocking(servers, offered_load))


def erlang_c(servers: Quantity, offered_load: Quantity) -> Amount:
    """Probability that an arrival has to wait for one of m servers (M/M/m).

    C(m, a) = m B / (m - a (1 - B)) with B = B(m, a); 1 where a >= m.

    Parameters
    ----------
    servers
        Number of servers m, a whole number of 1 or more.
    offered_load
        Offered load a = arrival rate * service time [erlang], 0 or more.

    Returns
    -------
    As for `erlang_b`.

    Raises
    ------
    InvalidParameter
        For a number of servers that is not 1, 2, 3..., or a negative load.

    Examples
    --------
    >>> round(erlang_c(1, 0.75), 12)
    0.75
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing.erlang import symbols

        return symbols.erlang_c(servers, offered_load)
    if _is_one_point(servers, offered_load):
        count: Amount = servers
        load = min(cast(float, offered_load), count)
        return _waiting(count, load, one_inverse(count, load))
    _check(servers, offered_load)
    return plain(inverse_blocking(servers, offered_load, then=_waiting))


def _check(servers: object, load: object) -> None:
    """Refuse invalid numbers of servers, and negative loads; NaN stays NaN."""
    check_count("servers", servers)
    check_domain("offered_load", load, lambda a: ~(a < 0), "zero or more")


def _is_one_point(servers: object, load: object) -> bool:
    """Whether all are plain numbers, with few servers and some load, so that no array is needed."""
    plain_numbers = type(servers) is int and type(load) is float
    return plain_numbers and 1 <= servers <= FEW and 0 < load < math.inf  # type: ignore[operator]


def empty_probability(servers: Quantity, offered_load: Quantity) -> Amount:
    """Probability that none of m servers is busy (M/M/m): (m!/a**m) (1 - a/m) C; 0 where a >= m.

    Parameters
    ----------
    servers
        Number of servers m, a whole number of 1 or more.
    offered_load
        Offered load a = arrival rate * service time [erlang], 0 or more.

    Raises
    ------
    InvalidParameter
        For a number of servers that is not 1, 2, 3..., or a negative load.

    Examples
    --------
    >>> round(empty_probability(2, 1.0), 12)
    0.333333333333

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 3.5.
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing.erlang import symbols

        return symbols.empty_probability(servers, offered_load)
    _check(servers, offered_load)
    count: Amount = servers
    load = np.minimum(np.asarray(offered_load, float), count)
    free = (servers - load) / servers
    # Without a queue the probability is exp(-a) / P(Poisson(a) <= m); C/B turns it into that of
    # M/M/m.
    blocking = 1 / inverse_blocking(servers, load)
    return plain(lone_chance(servers, load, blocking) * free / (free + blocking * (1 - free)))


def lone_chance(servers: Amount, load: Amount, blocking: Amount) -> Amount:
    """Probability of an empty M/M/m/m, from its B(m, a): exp(-a) B / P(Poisson(a) = m).

    Examples
    --------
    >>> round(float(lone_chance(1, 1.0, 0.5)), 12)
    0.5
    """
    full = poisson(servers, load)
    some = full > np.finfo(float).tiny  # otherwise B and the probability agree to every digit
    return np.exp(-load) * np.where(some, blocking / np.where(some, full, 1.0), 1.0)


def _waiting(servers: Amount, load: Amount, inverse_blocking: Amount) -> Amount:
    """Turn 1/B into C; m - a is exact if it is small, so nothing cancels."""
    return servers / (load + inverse_blocking * (servers - load))
