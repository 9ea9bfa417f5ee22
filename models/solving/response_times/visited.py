"""The stations of an open network as a job meets them, each with the law of a visit's time."""

from typing import TYPE_CHECKING

from headway.models.solving.solutions.marks import QNA
from headway.models.structure.parts.keys import OWN_VISITS, station_at
from headway.models.structure.planning.variability import (
    arriving,
    has_renewal,
    lone_queue,
    outside_scv,
)
from headway.queueing.renewals.waits import RenewalWait, renewal_wait
from headway.queueing.sojourn.visited_station import VisitedStation
from headway.queueing.variability.lone import RenewalStation
from headway.queueing.variability.two_moments import TwoMomentStation

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def visited_station(point: "Solution", name: str) -> VisitedStation:
    """A station with the law of its response time; under QNA, for the arrivals that QNA finds.

    Parameters
    ----------
    point
        A solution at one operating point.
    name
        The station's name.
    """
    values, station = point.values, station_at(name).of(point.values)
    if point.method != QNA:
        return station
    rate, graph = float(values[f"{name}.arrival_rate"]), point.model.network.graph
    if is_renewal(point) and name == lone_queue(graph):
        part, apart = arriving(station, OWN_VISITS.of(values)[name])
        again, scv = max(float(part), 1.0), float(outside_scv(graph, values))
        wait = renewal_wait(
            rate / float(apart) / again,
            station.mean_service * again,
            station.plain_count / float(apart),
            scv,
            min(float(part), 1.0),
        )  # one visit of several, each of which waits separately
        wait = RenewalWait(wait.chance, wait.behind / again)
        return RenewalStation(station, wait, assumed=0 < scv < 1)
    means = (float(values[f"{name}.{part}"]) for part in ("waiting_time", "arrival_scv"))
    return TwoMomentStation(station, *means)


def is_renewal(solution: "Solution") -> bool:
    """Whether arrivals at the only queue of an open network are a renewal process of known law.

    Parameters
    ----------
    solution
        A solution of an open network.
    """
    return solution.method == QNA and has_renewal(solution.model.network.graph, solution.values)
