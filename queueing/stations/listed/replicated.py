"""Equal copies of a station, each with its own queue, as one station.

If jobs choose a copy at random, each has an equal share of the visits: for Poisson flows, and in
networks with a product form, n copies are n stations with 1/n of the visits each.

Source: Kleinrock, *Queueing Systems* II, 1976, section 5.1.
"""

from collections.abc import Callable

from headway.errors import GraphError
from headway.kinds import Quantity, check_count
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import REPLICATED, station_kind


def replicated(station: Station, replicas: Quantity | str) -> Station:
    """Several equal copies of a station, as one station.

    Parameters
    ----------
    station
        One of the copies.
    replicas
        Number of copies, a whole number from 1.

    Raises
    ------
    InvalidParameter
        For any other number.
    GraphError
        For a kind whose copies have no law as one station.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> replicated(MM1(0.5), 4).response_time(4.0)
    1.0
    """
    name = type(station).__name__
    if name not in REPLICATED:
        msg = f"replicas of a {name} have no law as one station; use {', '.join(REPLICATED)}"
        raise GraphError(msg)
    check_count("replicas", replicas)
    kind: Callable[..., Station] = station_kind(REPLICATED[name])
    return kind(service_time=station.service_time, servers=replicas)
