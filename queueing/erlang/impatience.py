"""M/M/m+M (Erlang A): m servers, and jobs that leave the queue when their patience ends.

With load a = lambda S and exponential services and patience of mean T, the number of jobs moves up
at rate lambda, and down at min(n, m) / S + max(n - m, 0) / T. So the probability of m + j jobs is
that of m times

    w_j = product over i = 1..j of a / (m + i S / T),

and the states up to m sum to 1 / B(m, a) times that of m, by Erlang's formula.

Source: Garnett, Mandelbaum and Reiman, *Designing a Call Center with Impatient Customers*,
Manufacturing & Service Operations Management 4(3), 2002, section 2.
"""

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_count, check_positive
from headway.numerals import digits
from headway.queueing.erlang.formulas import erlang_b
from headway.records import dataclass

_BLOCK = 4096
_DROPPED = 50.0  # logarithm of the largest term over the first one left out: less than a last digit
_MOST = 1e7  # load times patience above which the terms, about as many, take longer than a second


@dataclass(frozen=True)
class ImpatientQueue:
    """The results of M/M/m+M.

    Parameters
    ----------
    waiting_probability
        Probability that an arriving job finds all servers busy.
    abandonment
        Share of jobs that leave without service.
    waiting_time
        Mean time in the queue of all jobs, including those that leave, in service times.
    served_waiting_time
        Mean time in the queue of the jobs that are served, in service times.
    """

    waiting_probability: float
    abandonment: float
    waiting_time: float
    served_waiting_time: float


def erlang_a(servers: float, offered_load: float, patience: float) -> ImpatientQueue:
    """Solve M/M/m+M, where a job that waits for longer than its patience leaves.

    Parameters
    ----------
    servers
        Number of servers m, a whole number of 1 or more.
    offered_load
        Offered load a = arrival rate * service time [erlang], above 0; may exceed m.
    patience
        Mean patience in service times, above 0; times the load at most 1e7.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> busy = erlang_a(servers=10, offered_load=12.0, patience=2.0)
    >>> round(busy.abandonment, 4), round(busy.waiting_time, 4)
    (0.1957, 0.3913)
    """
    check_count("servers", servers)
    check_positive("offered_load", offered_load)
    check_positive("patience", patience)
    if offered_load * patience > _MOST:
        msg = (
            f"the offered load times the patience in service times is "
            f"{digits(offered_load * patience)}; it must be 1e7 at most; give a shorter patience, "
            "or none where nobody leaves"
        )
        raise InvalidParameter(msg)
    logs = _logarithms(servers, offered_load, patience)
    top = logs.max()
    terms = np.exp(logs - top)
    below = (1 / np.float64(erlang_b(servers, offered_load)) - 1) * np.exp(-top)
    total = below + terms.sum()
    wait = float(np.arange(len(terms)) @ terms / total / offered_load)
    served = _served_wait(servers, terms / total, patience) / (1 - wait / patience)
    return ImpatientQueue(float(terms.sum() / total), wait / patience, wait, served)


def _served_wait(servers: float, chances: FloatArray, patience: float) -> float:
    """E[V; V < patience], for the offered wait V of a job behind j others, by stages.

    In units of service times, stages i = 0..j have the rates m + i / T. With exponential patience
    E[V e^(-V / T)] = phi_j times the sum over i = 0..j of 1 / (m + (i + 1) / T), where phi_j =
    E[e^(-V / T)] = m / (m + (j + 1) / T), as the product telescopes.
    """
    rates = servers + np.arange(1, len(chances) + 1) / patience
    return float(chances @ (servers / rates * np.cumsum(1 / rates)))


def _logarithms(servers: float, load: float, patience: float) -> FloatArray:
    """Logarithms of w_0, w_1..., up to the last that matters."""
    logs = np.zeros(1)
    while logs[-1] > logs.max() - _DROPPED:
        more = np.arange(len(logs), len(logs) + max(_BLOCK, len(logs)))
        ratios = np.log(load) - np.log(servers + more / patience)
        logs = np.concatenate([logs, logs[-1] + np.cumsum(ratios)])
    return logs
