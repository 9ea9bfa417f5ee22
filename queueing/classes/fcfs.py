"""First come first served with service times that differ by class: no product form.

Who finds q jobs before it waits as if each of them took the mean time of those it finds,

    R_c = S_c + (g - 1) S',   S' = mean of S over jobs found,

where g = R/S is what a station with product form would give. For open classes at one station
that is Pollaczek and Khinchine's formula for a mixture of exponential times; with m servers
the wait of M/M/m times (1 + scv)/2; for closed classes Reiser's, W_c = sum of S_j Q_j over
the jobs that an arrival finds.

Source: Reiser, "A queueing network analysis of computer communication networks with window
flow control", IEEE Trans. Comm. 27(8), 1979; Kleinrock, *Queueing Systems* I, 1975, section 5.6.
"""

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.classes.network import ClassNetwork
from headway.queueing.stations.abilities import Discipline, ServiceKind


def unequal(network: ClassNetwork) -> Amount:
    """Tell which stations serve in order classes of different times, shape (stations, points).

    Examples
    --------
    >>> from headway.queueing.classes.network import JobClass, SharedStation, read_network
    >>> cpu = SharedStation("cpu", (0.2, 2.0), (1, 1), discipline=Discipline.FCFS)
    >>> unequal(read_network([cpu], [JobClass(c, arrival_rate=0.4) for c in "ab"])).item()
    True
    """
    ordered = [
        s.discipline == Discipline.FCFS and s.kind != ServiceKind.DELAY for s in network.stations
    ]
    if not any(ordered):
        return np.zeros(network.servers.shape, bool)
    come = (network.rates + network.population)[:, None] * network.demand > 0
    longest = np.where(come, network.service_times, 0.0).max(axis=0)
    shortest = np.where(come, network.service_times, np.inf).min(axis=0)
    return np.array(ordered)[:, None] & (shortest < longest)


def refuse_speeds(network: ClassNetwork, unlike: NDArray[np.bool_]) -> None:
    """Refuse times that differ by class, in order of arrival, at speeds by number present.

    Raises
    ------
    GraphError
        With the station and the remedy: who is served then decides how fast.
    """
    here = unlike.any(axis=1) & network.is_varying
    if here.any():
        msg = (
            f"{network.stations[int(here.argmax())].name}: first come first served, its speed by "
            'number present needs one service time for all classes; use discipline "ps"'
        )
        raise GraphError(msg)


def mean_found(network: ClassNetwork, queue: FloatArray, held: FloatArray) -> FloatArray:
    """Mean service time of the jobs that an arrival finds, shape (stations, points) [s].

    Parameters
    ----------
    queue
        Closed jobs it finds, 0 for open classes, shape (classes, stations, points).
    held
        Servers that open classes hold, 0 for closed ones, the same shape.
    """
    found = queue + held
    jobs = found.sum(axis=0)
    work = (found * network.service_times).sum(axis=0)
    return np.where(jobs > 0, work / np.where(jobs > 0, jobs, 1.0), 0.0)


def is_exact(network: ClassNetwork, unlike: NDArray[np.bool_]) -> bool:
    """Tell whether the formula is exact: one server that Poisson arrivals visit once.

    Parameters
    ----------
    unlike
        Stations that serve classes of different times in order, shape (stations, points).
    """
    busy = ~network.is_delay[:, None] & (network.demand > 0).any(axis=0)
    alone = busy.sum(axis=0) <= 1
    single = (network.servers == 1) & (network.visits <= 1).all(axis=0)
    return bool(network.is_open.all() and (~unlike | (alone & single)).all())
