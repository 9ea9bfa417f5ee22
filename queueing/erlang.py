"""Erlang's formulas: the chance that all servers are busy.

Source: Erlang 1917; Kleinrock, *Queueing Systems* I, 1975, eqs. 3.40 and 3.43.
"""

from typing import Any

import numpy as np

from headway.kinds import FloatArray, Quantity, is_symbolic, plain

_BLOCK = 8192  # points whose working set stays in the first-level cache


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

    Examples
    --------
    >>> round(erlang_b(2, 1.0), 12)
    0.2
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing import symbols

        return symbols.erlang_b(servers, offered_load)
    return plain(1 / _inverse_blocking(np.asarray(servers), np.asarray(offered_load, float)))


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

    Examples
    --------
    >>> round(erlang_c(1, 0.75), 12)
    0.75
    """
    if is_symbolic(servers, offered_load):
        from headway.queueing import symbols

        return symbols.erlang_c(servers, offered_load)
    load = np.minimum(np.asarray(offered_load, float), servers)
    blocking = 1 / _inverse_blocking(np.asarray(servers), load)
    return plain(servers * blocking / (servers - load + load * blocking))


def _inverse_blocking(servers: Any, load: FloatArray) -> FloatArray:
    """Evaluate 1/B by its recursion y_k = 1 + (k/a) y_(k-1), one pass per number of servers."""
    servers, load = np.broadcast_arrays(servers, load)
    result = np.empty(load.shape)
    for count in set(servers.ravel().tolist()):
        chosen = servers == count
        result[chosen] = _blocked_recursion(int(count), load[chosen])
    return result


def _blocked_recursion(servers: int, load: FloatArray) -> FloatArray:
    result = np.ones_like(load)
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, load.size, _BLOCK):
            inverse_load = 1 / load[start : start + _BLOCK]
            value = result[start : start + _BLOCK]
            for k in range(1, servers + 1):
                value *= inverse_load
                value *= k
                value += 1
    return result
