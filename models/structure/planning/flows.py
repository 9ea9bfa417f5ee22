"""How jobs flow through an open graph: mean visits, which jobs are lost, and which are answered.

Stations with limited room lose jobs that find no place, so visits depend on losses, and losses on
visits. Jobs that a station returns directly to itself are part of its own law, if it has one
(`headway.queueing.stations.returning`); a *stay* is all visits from coming to leaving.
"""

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, check_not_negative, is_symbolic, plain
from headway.models.structure.parts.keys import (
    Key,
    Values,
    arrivals_at,
    law_at,
    share_of,
    station_at,
    visits_by,
)
from headway.models.structure.parts.routes import reached_from, share_at, turned
from headway.models.structure.parts.structure import Structure, of_structure
from headway.queueing.flows.chances import ByName, ByNumber, Chances, is_sparse, suits_a_matrix
from headway.queueing.flows.traffic import check_routes
from headway.queueing.stations.returning import Returning
from headway.records import dataclass

_MOST_ROUNDS = 1000
_SETTLED = 1e-14  # losses are probabilities: this is their last digit


@dataclass(frozen=True)
class Flow:
    """Mean numbers per job, by station.

    Parameters
    ----------
    stays
        Arrivals other than direct returns.
    visits
        All arrivals.
    after
        Probability that a job leaving the station is answered in the end; empty if all are.
    answered
        Probability that a job is answered.
    last
        Probability that a completed visit is a job's last; empty if visits are given.
    """

    stays: Mapping[str, Amount]
    visits: Mapping[str, Amount]
    after: Mapping[str, Amount]
    answered: Amount = 1.0
    last: Mapping[str, Amount] = field(default_factory=dict)


FLOW: Key[Flow] = Key("flow")
"""Mean numbers per job, by station."""


@of_structure
def returning(graph: Structure) -> tuple[str, ...]:
    """Stations that return jobs directly to themselves, and have a law for it."""
    loops = graph.routes.loops
    return tuple(n for n in graph.stations if n in loops and graph.stations[n].can.returns)


@of_structure
def not_poisson(graph: Structure) -> tuple[str, ...]:
    """Stations taken as having Poisson arrivals or departures, although they do not and it matters.

    In an open network without returns, departures from stations with a product form are Poisson.
    Departures from other stations are not, which matters if jobs may wait further on.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MD1, Delay
    >>> graph = ModelGraph("g").station("net", Delay(1.0)).station("cpu", MD1(0.5))
    >>> not_poisson(graph.route("net", "cpu")), not_poisson(graph.route("cpu", "net").station(
    ...     "disk", MD1(0.1)).route("net", "disk", 0.5))
    ((), ('cpu', 'disk'))
    """
    others = tuple(n for n, station in graph.stations.items() if not station.can.product_form)
    if not others:
        return ()
    if len(graph.stations) == 1:
        return others if graph.routes.loops - set(returning(graph)) else ()
    if any(station.visits for station in graph.stations.values()):
        return others
    onward = _onward(graph)
    waits = {name for name, station in graph.stations.items() if station.can.limits}
    fed = reached_from(others, onward.__getitem__) & waits
    joins = {name for name in others if graph.stations[name].can.joins}
    before = reached_from(waits, turned(onward).__getitem__)
    return tuple(name for name in others if name in fed | joins | before)


def _onward(graph: Structure) -> dict[str, frozenset[str]]:
    """Routes from each station, without direct returns that have a law."""
    onward = {name: frozenset(station.branches) for name, station in graph.stations.items()}
    own = set(returning(graph))
    for name, targets in graph.routes.onward.items():
        onward[name] |= targets - {name} if name in own else targets
    return onward


def law(name: str, values: Values) -> Returning:
    """Law of a station with direct returns, at the rate of its stays."""
    station, share = station_at(name).of(values), share_of(name, name).of(values)
    check_routes([name], {(name, name): share})
    return Returning(station.returning(share), station.service_time, share)


def numbers_of(graph: Structure) -> FloatArray | None:
    """Numeric probabilities as a matrix, cached by graph; None where names are faster."""
    names, routes = tuple(graph.stations), graph.routes
    return routes.fixed(names) if suits_a_matrix(len(names), len(routes)) else None


def flow(graph: Structure, numbers: FloatArray | None, values: Values) -> Flow:
    """Flow by routes; if stations lose jobs, losses and visits are solved together.

    Parameters
    ----------
    graph, numbers
        A graph, and its probabilities from `numbers_of`.
    values
        The numbers calculated so far.

    Raises
    ------
    GraphError
        For routes that do not lead out, or losses that do not converge.
    """
    network = _Network(graph, numbers, values)
    if not graph.losing:
        visits = network.arrivals({})
        stays = {name: visits[name] * (1 - network.share(name)) for name in returning(graph)}
        return Flow({**visits, **stays}, visits, {})
    stays, admitted = _settled(graph, network, values)
    return network.answered(stays, admitted)


def _settled(
    graph: Structure, network: "_Network", values: Values
) -> tuple[dict[str, Amount], dict[str, Amount]]:
    """Stays, and the probability of finding a place where there is a limit, by iteration."""
    laws = {n: law_at(n).of(values) if n in returning(graph) else station_at(n).of(values)
            for n in graph.losing}  # fmt: skip
    admitted: dict[str, Amount] = dict.fromkeys(laws, 1.0)
    for round_number in range(_MOST_ROUNDS):
        stays = network.arrivals(admitted)
        new = {n: each.admitted(stays[n] * values["throughput"]) for n, each in laws.items()}
        if round_number and all(_agree(new[name], admitted[name]) for name in new):
            return stays, new
        # without loops, no more rounds are needed
        if is_symbolic(*new.values()) and round_number >= len(laws):
            msg = (
                f"{graph.name}: losses in the loop through {', '.join(laws)} have no closed "
                "form; solve with numbers"
            )
            raise GraphError(msg)
        admitted = new
    names = ", ".join(admitted)
    msg = f"{graph.name}: losses and visits do not converge; send fewer jobs back through {names}"
    raise GraphError(msg)


def _agree(new: Amount, old: Amount) -> bool:
    if is_symbolic(new, old):
        return bool(new == old)
    return bool(np.all(np.abs(np.asarray(new) - np.asarray(old)) <= _SETTLED))


class _Network:
    """Routes between stations; a lossy station's direct returns are part of its own law."""

    def __init__(self, graph: Structure, numbers: FloatArray | None, values: Values) -> None:
        first = next(iter(graph.stations))
        rates = {name: arrivals_at(name).of(values) for name in graph.arrivals}
        self.entries: dict[str, Amount] = entry_shares(rates) if rates else {first: 1.0}
        self.own = set(graph.losing) & set(returning(graph))
        self._whole = _chances(graph, numbers, values)
        self._whole.check()
        self._chances = self._whole.without_returns(self.own)

    def share(self, name: str) -> Amount:
        """Probability that a job returns directly to a station."""
        return self._whole.share(name)

    def arrivals(self, admitted: Mapping[str, Amount]) -> dict[str, Amount]:
        """Mean arrivals per job at each station."""
        return self._chances.arrivals(self.entries, admitted)

    def answered(self, stays: Mapping[str, Amount], admitted: Mapping[str, Amount]) -> Flow:
        """Probability of an answer by station, by the same equations with routes reversed."""
        leave = self._chances.leaving()
        after = self._chances.after(leave, admitted)
        parts = [share * admitted.get(n, 1.0) * after[n] for n, share in self.entries.items()]
        last = {n: leave[n] * (1 - self.share(n)) if n in self.own else leave[n] for n in leave}
        return Flow(stays, self._visits(stays, admitted), after, sum(parts), last)

    def _visits(
        self, stays: Mapping[str, Amount], admitted: Mapping[str, Amount]
    ) -> dict[str, Amount]:
        """All arrivals: an admitted job returns a geometric number of times."""
        again = {n: admitted[n] * self.share(n) / (1 - self.share(n)) for n in self.own}
        return {n: stay * (1 + again[n]) if n in again else stay for n, stay in stays.items()}


def _chances(graph: Structure, numbers: FloatArray | None, values: Values) -> Chances:
    """Routing probabilities, as a matrix if they are numbers and that is quicker."""
    names, routes = tuple(graph.stations), graph.routes
    changing = {(r.source, r.target): share_at(r).of(values) for r in routes.changing}
    rates = [values["throughput"]] if graph.losing else []
    many = any(np.ndim(value) for value in (*changing.values(), *rates))
    by_name = is_symbolic(*changing.values()) or (many and is_sparse(len(names), len(routes)))
    if numbers is None or by_name:
        return ByName(names, routes.chances(values))
    place = {name: k for k, name in enumerate(names)}
    return ByNumber(names, numbers, {(place[s], place[t]): p for (s, t), p in changing.items()})


def entry_shares(rates: Mapping[str, Amount]) -> dict[str, Amount]:
    """Share of jobs that arrives at each station; equal shares if there are no arrivals.

    Examples
    --------
    >>> entry_shares({"web": 30.0, "batch": 10.0})
    {'web': 0.75, 'batch': 0.25}
    """
    total = sum(rates.values())
    if is_symbolic(total) or np.all(np.asarray(total) > 0):
        return {name: rate / total for name, rate in rates.items()}
    some = np.asarray(total) > 0
    equal = 1 / len(rates)
    return {
        name: plain(np.where(some, np.asarray(rate) / np.where(some, total, 1.0), equal))
        for name, rate in rates.items()
    }


def given_flow(graph: Structure, values: Values) -> Flow:
    """Flow of a graph that gives visits, whose order is unknown.

    Raises
    ------
    GraphError
        If more jobs are lost than arrive.
    """
    visits = {name: visits_by(name).of(values) for name in graph.stations}
    for station, number in visits.items():
        check_not_negative(f"{station}.visits", number)
    few = graph.losing
    if not few:
        return Flow(visits, visits, {})
    admitted = {n: station_at(n).of(values).admitted(visits[n] * values["throughput"]) for n in few}
    answered = 1 - sum(visits[n] for n in few) + sum(visits[n] * admitted[n] for n in few)
    if not is_symbolic(answered) and not np.all(np.asarray(answered) > 0):
        msg = (
            f"{graph.name}: at these visits {', '.join(few)} would lose more jobs than arrive; "
            "give routes instead of visits"
        )
        raise GraphError(msg)
    return Flow(visits, visits, dict.fromkeys(visits, 1.0), answered)
