"""Where a network saturates, and which station is the next bottleneck."""

from collections.abc import Sequence

import numpy as np

from headway.queueing.bounds.common import read_demands, read_servers
from headway.queueing.flows.laws import knee_population
from headway.records import dataclass


@dataclass(frozen=True)
class Bottleneck:
    """Where a network saturates, and which station is the next bottleneck.

    Parameters
    ----------
    station
        Position of the station with the largest demand per server.
    saturation_throughput
        min m / D [1/s].
    knee_population
        Jobs above which the bottleneck limits the throughput: (Z + sum D) / max D/m.
    order
        Positions of all stations, the bottleneck first.
    limits
        m / D of the stations in that order: relieve the first, and the second limits [1/s].
    """

    station: int
    saturation_throughput: float
    knee_population: float
    order: tuple[int, ...]
    limits: tuple[float, ...]


def bottleneck(
    demands: Sequence[float], think_time: float = 0.0, servers: Sequence[float] | None = None
) -> Bottleneck:
    """Find the bottleneck, the knee, and the next bottleneck once this one is relieved.

    Parameters
    ----------
    demands
        Service demand D of a job at each station [s]; delays have infinitely many servers
        and are left to the think time.
    think_time
        Z [s].
    servers
        Servers m of each station; 1 each by default.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> result = bottleneck([0.2, 0.5, 0.3], think_time=4.0)
    >>> result.station, result.saturation_throughput, result.order, result.knee_population
    (1, 2.0, (1, 2, 0), 10.0)
    """
    demand, _, think = read_demands(demands, 1, think_time)
    each = read_servers(servers, demand)
    per_server = demand / each
    order = np.argsort(-per_server, kind="stable")
    with np.errstate(divide="ignore"):
        limits = 1 / per_server[order]
    knee = knee_population(float(per_server.max()), float(demand.sum()), float(think))
    return Bottleneck(
        int(order[0]), float(limits[0]), knee, tuple(order.tolist()), tuple(limits.tolist())
    )
