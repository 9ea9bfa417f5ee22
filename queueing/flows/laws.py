"""Operational laws: they hold for any system in steady flow, whatever its distributions.

Source: Denning and Buzen, "The Operational Analysis of Queueing Network Models",
ACM Computing Surveys 10(3), 1978; Lazowska et al., *Quantitative System Performance*, ch. 3.
"""

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, Quantity, is_symbolic, plain


def utilisation_law(throughput: Quantity, service_time: Quantity, servers: Quantity = 1) -> Amount:
    """Share of time that a server is busy: U = X S / m.

    Parameters
    ----------
    throughput
        Completions X [1/s], 0 or more.
    service_time
        Mean time S that a completion keeps a server busy [s].
    servers
        Number of servers m.

    Examples
    --------
    >>> utilisation_law(800, 650e-6)
    0.52
    """
    work = throughput * service_time
    return work if type(servers) is int and servers == 1 else work / servers


def littles_law(throughput: Quantity, residence_time: Quantity) -> Amount:
    """Mean number in a system: Q = X R.

    Parameters
    ----------
    throughput
        Completions X [1/s].
    residence_time
        Mean time R that each job spends inside [s].

    Examples
    --------
    >>> littles_law(1000, 0.02)
    20.0
    """
    return throughput * residence_time


def forced_flow_law(throughput: Quantity, visits: Quantity) -> Amount:
    """Throughput of a station from that of the system: X_k = V_k X.

    Parameters
    ----------
    throughput
        Jobs the system completes X [1/s].
    visits
        Mean visits V_k of a job to the station.
    """
    return throughput * visits


def service_demand(visits: Quantity, service_time: Quantity) -> Amount:
    """Service that a job needs at a station over all its visits: D = V S.

    Parameters
    ----------
    visits
        Mean visits V of a job.
    service_time
        Service time S per visit [s].
    """
    return visits * service_time


def interactive_response_time(
    population: Quantity, throughput: Quantity, think_time: Quantity = 0
) -> Amount:
    """Response time of a closed system: R = N / X - Z.

    Parameters
    ----------
    population
        Jobs N that circulate.
    throughput
        Completions X [1/s], above 0.
    think_time
        Mean time Z between a completion and the next request [s].

    Examples
    --------
    >>> interactive_response_time(45, 1500)
    0.03
    """
    return population / throughput - think_time


def saturation_throughput(service_demand: Quantity, servers: Quantity = 1) -> Amount:
    """Throughput at which a station is always busy: m / D.

    Parameters
    ----------
    service_demand
        Demand D of a job at the station [s], 0 or more; without demand it is never busy.
    servers
        Number of servers m.

    Examples
    --------
    >>> round(saturation_throughput(650e-6), 1), saturation_throughput(0.0)
    (1538.5, inf)
    """
    demand: Amount = service_demand
    if is_symbolic(demand, servers) or (np.ndim(demand) == 0 and demand):
        return servers / demand
    with np.errstate(divide="ignore"):
        return plain(np.divide(servers, demand))  # type: ignore[call-overload]


def knee_population(
    largest_demand: Quantity, total_demand: Quantity, think_time: Quantity
) -> Amount:
    """Population at which the two asymptotes of a closed system meet: N* = (Z + sum D) / max D/m.

    Parameters
    ----------
    largest_demand
        Demand per server of the bottleneck, max D/m [s].
    total_demand
        Sum of all demands [s].
    think_time
        Mean think time Z [s].

    Examples
    --------
    >>> knee_population(0.5, 1.0, 9.0)
    20.0
    """
    return (think_time + total_demand) / largest_demand


def check_arrivals(rate: Amount) -> None:
    """Refuse negative arrivals, or proportional numbers; NaN passes and stays NaN.

    Examples
    --------
    >>> check_arrivals(float("nan"))
    >>> check_arrivals(-0.5)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: the arrival rate is negative; it must be 0 or more
    """
    if not is_symbolic(rate) and np.less(rate, 0).any():
        raise InvalidParameter("the arrival rate is negative; it must be 0 or more")
