"""How response times are distributed where open classes go ways of their own, never back.

A job is followed from one class at one station to the next. Its visits are taken as independent,
which is exact where stations have a product form, and where no job overtakes another: at most one
way leads from a station to each, whichever the class.

Source: Walrand and Varaiya, "Sojourn times and the overtaking condition in Jacksonian networks",
Adv. Appl. Prob. 12(4), 1980, section 4 (several classes).
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.models.solving.classes.solve import class_network
from headway.models.solving.classes.times import Sharing, sharing_of, station_for
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.chains.parts import Parts, parts_of
from headway.queueing.chains.routes import entry_states
from headway.queueing.routed import APART, INDEPENDENT, RoutedNetwork, is_overtake_free
from headway.queueing.times.laws import TimeLaw, merged, mixture

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


ALIKE = f"{INDEPENDENT}: up to the 99th within 7 % where measured"
"""Error where a station's jobs ask for the same, whatever their class."""

UNLIKE = f"{INDEPENDENT}, and Poisson arrivals: up to the 99th within 16 % where measured"
"""Error where classes have times of their own and wait in order; `tests.journey_errors`."""


def journey_laws(point: "Solution") -> dict[str, TimeLaw | None]:
    """Law of the response time of journeys that begin as each class, and of all under "".

    Parameters
    ----------
    point
        One operating point of a network of classes with routes of their own.

    Returns
    -------
    None for a class that comes to a saturated station.

    Raises
    ------
    GraphError
        For closed classes, stations that jobs come back to, and those whose law is not known.
    """
    graph = point.model.graph
    closed = [name for name, numbers in graph.classes.items() if "population" in numbers]
    if closed:
        msg = (
            "percentiles are known for open classes that go ways of their own, not for closed "
            f"ones such as {closed[0]}; simulate the model"
        )
        raise GraphError(msg)
    values, stations, classes = class_network(point.model)
    routes = class_routes(graph, values)
    parts, entries = parts_of(stations, classes, routes), entry_states(routes)
    edges = _edges(parts)
    _refuse_returns(point, edges)
    sharing = replace(sharing_of(point), flows=_flows(parts))
    laws = {
        name: _law(sharing, parts, edges, entries[0, c], c) for c, name in enumerate(point.classes)
    }
    known = [law for law in laws.values() if law is not None]
    if len(known) < len(laws):
        return {"": None, **laws}
    rates = sharing.rates if sharing.rates.any() else np.ones(len(laws))
    return {"": mixture(known, rates.tolist()), **laws}


def _flows(parts: Parts) -> np.ndarray:
    """Visits of each class to each station [1/s]."""
    own = np.array([float(c.arrival_rate) for c in parts.classes])
    total = np.zeros(len(own))
    for chain in map(list, parts.rounds.chains):
        total[chain] = own[chain].sum()
    return np.asarray(total[:, None] * parts.visits[..., 0])


def _edges(parts: Parts) -> NDArray[np.bool_]:
    """Which stations jobs of any class go on from to which."""
    here = parts.rounds.visits[0][sorted(parts.rounds.begun)].max(axis=0) > 0
    onward = parts.rounds.onward[0] * here[:, :, None, None]
    return np.asarray((onward > 0).any(axis=(0, 2)))


def _refuse_returns(point: "Solution", edges: NDArray[np.bool_]) -> None:
    """Refuse stations that jobs of any class come back to."""
    reach = edges.copy()
    for k in range(len(edges)):
        reach |= reach[:, k : k + 1] & reach[k]
    back = np.flatnonzero(reach.diagonal())
    if len(back):
        name = point.stations[int(back[0])]
        msg = (
            "percentiles of classes that go ways of their own are known where no job comes back "
            f"to a station; jobs come back to {name}; simulate the model"
        )
        raise GraphError(msg)


def _law(
    sharing: Sharing, parts: Parts, edges: NDArray[np.bool_], entry: np.ndarray, own: int
) -> TimeLaw | None:
    """How long journeys take that begin as a class."""
    count = len(sharing.stations)
    states = np.flatnonzero(parts.rounds.visits[0, own].ravel() > 0)
    pairs = [divmod(int(state), count) for state in states]
    point = sharing.point
    if any(float(point[f"{point.stations[k]}.utilisation"]) >= 1 for _, k in pairs):
        return None
    size = len(parts.classes) * count
    network = RoutedNetwork(
        tuple(point.stations[k] for _, k in pairs),
        tuple(station_for(sharing, k, c) for c, k in pairs),
        np.array([sharing.loads[:, k].sum() for _, k in pairs]),
        entry[states],
        parts.rounds.onward[0].reshape(size, size)[np.ix_(states, states)],
        parts.rounds.last[0].sum(axis=2).ravel()[states],
    )
    law = network.law()
    unlike = any(len(sharing.services(k, c)) > 1 and not sharing.is_shared(k) for c, k in pairs)
    label = UNLIKE if unlike else ALIKE
    apart = len(pairs) > 1 and (not is_overtake_free(edges) or APART in law.notes)
    others = tuple(note for note in law.notes if note != APART)
    return replace(law, notes=merged((label,) if apart else (), others))
