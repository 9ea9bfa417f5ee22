"""Erlang's formulas: the chance that all servers are busy.

Source: Erlang 1917; Kleinrock, *Queueing Systems* I, 1975, eqs. 3.40 and 3.43.
"""

from typing import Any

from headway.kinds import Quantity, check_count, is_symbolic, plain
from headway.queueing.blocking import inverse_blocking


def erlang_b(servers: Quantity, offered_load: Quantity) -> Any:
    """Chance that an arrival is lost when m servers have no queue (M/M/m/m).

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
        For a number of servers that is not 1, 2, 3...

    Examples
    --------
    >>> round(erlang_b(2, 1.0), 12)
    0.2
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing import symbols

        return symbols.erlang_b(servers, offered_load)
    check_count("servers", servers)
    return plain(1 / inverse_blocking(servers, offered_load))


def erlang_c(servers: Quantity, offered_load: Quantity) -> Any:
    """Chance that an arrival has to wait for one of m servers (M/M/m).

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
        For a number of servers that is not 1, 2, 3...

    Examples
    --------
    >>> round(erlang_c(1, 0.75), 12)
    0.75
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing import symbols

        return symbols.erlang_c(servers, offered_load)
    check_count("servers", servers)
    return plain(inverse_blocking(servers, offered_load, then=_waiting))


def _waiting(servers: Any, load: Any, inverse_blocking: Any) -> Any:
    """Turn 1/B into C; m - a is exact where it is small, so nothing cancels."""
    return servers / (load + inverse_blocking * (servers - load))
