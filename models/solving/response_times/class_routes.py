"""Distributions of response times where classes have their own routes.

A closed job is followed through the whole chain if that is small. An open job is followed from one
class at one station to the next. Its visits are taken as independent. This is exact where stations
have a product form and no job overtakes another: at most one path leads from a station to any
other, whatever the class.

Source: Walrand and Varaiya, "Sojourn times and the overtaking condition in Jacksonian networks",
Adv. Appl. Prob. 12(4), 1980, section 4 (several classes).
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.models.solving.classes.network import class_network
from headway.models.solving.response_times.open_classes import (
    SharedStations,
    sharing_of,
    station_for,
)
from headway.models.structure.parts.orders import check_exponential
from headway.models.structure.planning.by_class import class_routes
from headway.numerals import digits, four_digits
from headway.queueing.chains.class_traffic import ClassTraffic, class_traffic
from headway.queueing.chains.routes import entry_states
from headway.queueing.chains.whole_chain import network_by_class
from headway.queueing.passages.whole_chain import whole_chain_laws
from headway.queueing.sojourn.routed_network import (
    APART,
    INDEPENDENT,
    RoutedNetwork,
)
from headway.queueing.times.absorption import Journey, is_overtake_free
from headway.queueing.times.laws import TimeLaw, merged, mixture

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


ALIKE = f"{INDEPENDENT}: up to the 99th within 7% where measured"
"""Error where all classes have the same times at a station."""

UNLIKE = f"{INDEPENDENT}, and Poisson arrivals: up to the 99th within 16% where measured"
"""Error where classes have service times of their own and wait in order of arrival;
`tests.campaigns.journey_errors`."""

BACK = (
    f"{INDEPENDENT}, although they return, and Poisson arrivals: up to the 99th within 19% where "
    "measured"
)
"""Error where open jobs of any class return to a station, with at most `MOST_VISITS`."""

MOST_VISITS = 1.4
"""Most mean visits to a station, of a job that comes to it in any class, among the networks
measured."""


def class_route_laws(point: "Solution") -> dict[str, TimeLaw | None]:
    """Law of the response time of journeys that begin as each class, and of all under "".

    Parameters
    ----------
    point
        One operating point of a network whose classes have their own routes.

    Returns
    -------
    Laws by class; None for a class that visits a saturated station.

    Raises
    ------
    GraphError
        For closed classes in large networks or beside open ones, and for stations without a known
        law.
    """
    graph = point.model.graph
    check_exponential(graph)
    closed = [name for name, numbers in graph.classes.items() if "population" in numbers]
    if closed:
        _refuse_mixed(graph.classes, closed)
        return _closed_laws(point)
    values, stations, classes = class_network(point.model)
    routes = class_routes(graph, values)
    parts, entries = class_traffic(stations, classes, routes), entry_states(routes)
    edges = _edges(parts)
    sharing = replace(sharing_of(point), flows=_flows(parts))
    laws = {
        name: _law(sharing, parts, edges, entries[0, c], c) for c, name in enumerate(point.classes)
    }
    known = [law for law in laws.values() if law is not None]
    if len(known) < len(laws):
        return {"": None, **laws}
    rates = sharing.rates if sharing.rates.any() else np.ones(len(laws))
    return {"": mixture(known, rates.tolist()), **laws}


def _refuse_mixed(classes: Iterable[str], closed: Collection[str]) -> None:
    """Refuse open classes together with closed ones."""
    opened = [name for name in classes if name not in closed]
    if opened:
        msg = (
            "percentiles of classes with their own routes are known for open classes or closed "
            f"ones, not for both: {opened[0]} is open and {next(iter(closed))} closed; simulate "
            "the model"
        )
        raise GraphError(msg)


def _closed_laws(point: "Solution") -> dict[str, TimeLaw | None]:
    """Laws of closed classes, by following one job state by state."""
    graph = point.model.graph
    values, stations, classes = class_network(point.model)
    routes = class_routes(graph, values)
    network = network_by_class(class_traffic(stations, classes, routes), routes)
    means = [float(point[f"class {name}.response_time"]) for name in point.classes]
    try:
        laws = whole_chain_laws(network, means)
    except GraphError as reason:
        msg = (
            "percentiles of closed classes with their own routes need a job that is followed "
            f"state by state: {reason}; simulate the model"
        )
        raise GraphError(msg) from None
    rates = [float(point[f"class {name}.throughput"]) for name in point.classes]
    return {"": mixture(laws, rates), **dict(zip(point.classes, laws, strict=True))}


def _flows(parts: ClassTraffic) -> np.ndarray:
    """Visits of each class to each station [1/s]."""
    own = np.array([float(c.arrival_rate) for c in parts.classes])
    total = np.zeros(len(own))
    for chain in map(list, parts.cycles.chains):
        total[chain] = own[chain].sum()
    return np.asarray(total[:, None] * parts.visits[..., 0])


def _edges(parts: ClassTraffic) -> NDArray[np.bool_]:
    """Pairs of stations between which jobs of any class go directly."""
    here = parts.cycles.visits[0][sorted(parts.cycles.begun)].max(axis=0) > 0
    onward = parts.cycles.onward[0] * here[:, :, None, None]
    return np.asarray((onward > 0).any(axis=(0, 2)))


def _come_back(edges: NDArray[np.bool_]) -> bool:
    """Whether jobs of any class return to a station."""
    reach = edges.copy()
    for k in range(len(edges)):
        reach |= reach[:, k : k + 1] & reach[k]
    return bool(reach.diagonal().any())


def _refuse_many_returns(point: "Solution", parts: ClassTraffic) -> None:
    """Refuse open jobs that return so often that their visits are far from independent."""
    onward, here = parts.cycles.onward[0], parts.cycles.visits[0][sorted(parts.cycles.begun)]
    classes, stations = onward.shape[:2]
    again = np.linalg.inv(np.eye(classes * stations) - onward.reshape(classes * stations, -1))
    visits = np.einsum("ckdk->ck", again.reshape(onward.shape)) * (here.max(axis=0) > 0)
    if visits.max() > MOST_VISITS:
        name = point.stations[int(visits.max(axis=0).argmax())]
        msg = (
            "percentiles of open classes with their own routes are known where jobs rarely "
            f"come back to a station; they visit {name} {four_digits(visits.max())} times on "
            f"average (at most {digits(MOST_VISITS)}); simulate the model"
        )
        raise GraphError(msg)


def _law(
    sharing: SharedStations,
    parts: ClassTraffic,
    edges: NDArray[np.bool_],
    entry: np.ndarray,
    own: int,
) -> TimeLaw | None:
    """Law of the time of a journey that begins in a class."""
    count = len(sharing.stations)
    states = np.flatnonzero(parts.cycles.visits[0, own].ravel() > 0)
    pairs = [divmod(int(state), count) for state in states]
    point = sharing.point
    if any(float(point[f"{point.stations[k]}.utilisation"]) >= 1 for _, k in pairs):
        return None
    size = len(parts.classes) * count
    visited = tuple(station_for(sharing, k, c) for c, k in pairs)
    loads = np.array([sharing.loads[:, k].sum() for _, k in pairs])
    ways = (
        entry[states],
        parts.cycles.onward[0].reshape(size, size)[np.ix_(states, states)],
        parts.cycles.last[0].sum(axis=2).ravel()[states],
    )
    if _come_back(edges):
        _refuse_many_returns(point, parts)
        visits = (s.looped_law(float(load)) for s, load in zip(visited, loads, strict=True))
        law = Journey(tuple(visits), *ways).law()
        return replace(law, notes=merged((BACK,), law.notes))
    law = RoutedNetwork(tuple(point.stations[k] for _, k in pairs), visited, loads, *ways).law()
    unlike = any(sharing.is_unlike(k, c) for c, k in pairs)
    label = UNLIKE if unlike else ALIKE
    apart = len(pairs) > 1 and (not is_overtake_free(edges) or APART in law.notes)
    others = tuple(note for note in law.notes if note != APART)
    return replace(law, notes=merged((label,) if apart else (), others))
