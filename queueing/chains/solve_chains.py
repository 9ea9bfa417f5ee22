"""Networks of classes that change into one another: solved by chain, divided by class.

A closed chain circulates as one class: its population is that of its classes together, its visits
are V_k = sum of V_ck over its classes c, and its service times S_k = sum of V_ck S_ck / V_k. Open
classes arrive at every station at the rate of their chain. If the stations have a product form this
is exact, and the jobs of a chain at a station are divided in proportion to the demands V_ck S_ck.

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975; Bruell and Balbo, *Computational
Algorithms for Closed Queueing Networks*, 1980, chapter 2.
"""

from collections.abc import Sequence

from headway.queueing.chains.by_class import divided_by_class, merged_at
from headway.queueing.chains.class_traffic import ClassTraffic, class_traffic, network_of
from headway.queueing.chains.measured import begun_error
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.chains.whole_chain import network_by_class, solve_whole_chain
from headway.queueing.classes.solve_classes import solve_multiclass
from headway.queueing.methods.method import EXACT, Error
from headway.queueing.network.names import Method
from headway.queueing.network.network import (
    JobClass,
    Network,
    Saturation,
    SharedStation,
    read_network,
)
from headway.queueing.network.product_form import without_form
from headway.queueing.network.result import Result
from headway.queueing.network.routing import Routing
from headway.records import dataclass


def solve_chains(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    routes: ClassRoutes,
    method: str = Method.AUTO,
    saturation: Saturation = Saturation.REFUSE,
) -> Result:
    """Solve a network whose classes have routes of their own, and may change into one another.

    Parameters
    ----------
    stations
        Stations with service times by class; visits follow from the routes, and those given are
        ignored.
    classes
        The classes, in the same order. The populations of a closed chain circulate together.
    routes
        The routes by class.
    method, saturation
        As for `headway.queueing.solve_multiclass`.

    Returns
    -------
    Results by class: throughput, and response time of cycles (closed) or passages (open) that
    *begin* in the class, whatever class they change into; residence times are those of such a
    cycle. Results for a station and a class are for jobs while they are in that class.

    Raises
    ------
    Saturated
        As for `headway.queueing.solve_multiclass`.
    GraphError, InvalidParameter
        For invalid routes, or a closed chain of several classes without a job.

    Examples
    --------
    >>> from headway.queueing import ClassRoutes, JobClass, SharedStation
    >>> onward = {(("a", "cpu"), ("b", "cpu")): 1.0, (("b", "cpu"), ("a", "cpu")): 1.0}
    >>> ways = ClassRoutes(("cpu",), ("a", "b"), onward, closed=frozenset("ab"))
    >>> cpu = SharedStation("cpu", service_times=(0.1, 0.3), visits=(1, 1))
    >>> two = [JobClass("a", population=1), JobClass("b", population=0)]
    >>> solve_chains([cpu], two, ways).throughput.round(12).tolist()
    [2.5, 2.5]
    """
    found = chained(stations, classes, routes)
    exact = solve_whole_chain(found.traffic, found.network, method)
    if exact is not None:
        return exact
    whole = solve_multiclass(*network_of(found.traffic), method, saturation, found.ways)
    return divided_by_class(found.traffic, whole, found.network)


@dataclass(frozen=True)
class Chained:
    """A network whose classes change into one another: by class, and with each chain as one class.

    Parameters
    ----------
    traffic
        Visits and chains.
    network
        The network by class, with the routes.
    """

    traffic: ClassTraffic
    network: Network

    @property
    def ways(self) -> Routing | None:
        """Routes in which every class is a chain of its own, if all classes are open."""
        return self.network.ways if self.network.is_open.all() else None

    @property
    def whole(self) -> Network:
        """The network whose classes are the chains."""
        return read_network(*network_of(self.traffic), self.ways)

    @property
    def merged(self) -> Error:
        """The error from treating classes of a chain as one."""
        return merged_at(self.traffic, self.network).error

    @property
    def begun(self) -> Error:
        """The error of response times by class if a whole chain keeps the classes apart."""
        if not without_form(self.network).any():
            return EXACT
        return begun_error(self.traffic.cycles.visits, self.traffic.shares)


def chained(
    stations: Sequence[SharedStation], classes: Sequence[JobClass], routes: ClassRoutes
) -> Chained:
    """The network of classes with routes of their own.

    Parameters
    ----------
    stations, classes, routes
        As for `solve_chains`.
    """
    traffic = class_traffic(stations, classes, routes)
    return Chained(traffic, network_by_class(traffic, routes))
