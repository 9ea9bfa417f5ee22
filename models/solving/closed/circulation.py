"""A closed network whose numbers assume a throughput, and the throughput that results."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.models.solving.solutions.saturation import RATES
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.forks import forks
from headway.models.structure.parts.keys import OWN_VISITS, VISITS, station_at
from headway.queueing.closed.solve_closed import (
    ClosedSolution,
    Forked,
    closed_network,
    solve_one_class,
)
from headway.queueing.network.network import Network
from headway.queueing.stations.base import Station
from headway.records import dataclass

AGREEMENT = 1e-9
"""Relative tolerance between assumed and resulting numbers."""

_ROUNDING = 1e-12  # relative rounding error of sums of times: a few of a double's last digits

PARTS = {
    "arrival_rate": "station_throughput",
    "throughput": "station_throughput",
    "utilisation": "utilisation",
    "response_time": "station_response_time",
    "residence_time": "residence_time",
    "queue_length": "queue_length",
}
"""Results of a station, by their names in the closed solution."""


@dataclass(frozen=True)
class Assumed:
    """A closed network at an assumed throughput.

    Parameters
    ----------
    stations, visits
        Its stations, and the mean visits of a job to each, without those of a fork's parts.
    all_visits
        Visits including those of a fork's parts.
    beyond
        Time that a formula for the response time adds to the time at stations [s].
    """

    stations: tuple[Station, ...]
    visits: tuple[Amount, ...]
    all_visits: tuple[Amount, ...]
    beyond: Amount = 0.0


@dataclass(frozen=True)
class Circulation:
    """A closed model, to be solved at any assumed throughput.

    Parameters
    ----------
    graph
        The structure.
    inputs
        SI values by name, including ``population`` and ``think_time``.
    method
        The method of solution.
    """

    graph: ModelGraph
    inputs: Mapping[str, Amount]
    method: str

    def flat(self, shape: tuple[int, ...]) -> "Circulation":
        """Arrange the operating points in a row, without inputs that do not matter."""
        targets = ["response_time" if self._by_formula else VISITS, *self._stations]
        used = {*self.graph.plan.needed([*targets, VISITS]), "population", "think_time"}
        inputs = {n: v for n, v in self.inputs.items() if n in used}
        many = {n: np.broadcast_to(v, shape).ravel() for n, v in inputs.items() if np.ndim(v)}
        return replace(self, inputs={**inputs, **many})

    def at(self, points: slice | NDArray[Any]) -> "Circulation":
        """Some of the points, still in a row."""
        some = {name: v[points] for name, v in self.inputs.items() if np.ndim(v)}
        return replace(self, inputs={**self.inputs, **some})

    def assumed(self, rate: Amount) -> Assumed:
        """The network at this throughput.

        Raises
        ------
        GraphError
            For a formula of the response time below the time at stations.
        """
        graph = self.graph
        given = {**self.inputs, **dict.fromkeys(RATES, rate)}
        values = graph.plan.run(given, [VISITS, *self._stations])
        stations = tuple(values[name] for name in self._stations)
        own, every = (
            tuple(key.of(values)[name] for name in graph.stations) for key in (OWN_VISITS, VISITS)
        )
        assumed = Assumed(stations, own, every)
        if not self._by_formula:
            return assumed
        beyond = self._beyond(rate, self._unhindered(assumed, rate))
        if not np.all(beyond >= 0):
            raise self._not_known_where()
        return replace(assumed, beyond=beyond)

    def solve(self, rate: Amount) -> tuple[ClosedSolution, Amount]:
        """Solve it at this throughput; also return a job's time outside stations [s].

        Raises
        ------
        GraphError
            For a response time that is not a sum of the time at stations and other time.
        """
        assumed = self.assumed(rate)
        beyond, think = assumed.beyond, self.inputs["think_time"] + assumed.beyond
        solution = solve_one_class(
            assumed.stations,
            assumed.all_visits,
            self.inputs["population"],
            think,
            self.method,
            self._forked(assumed.visits),
        )
        if self._by_formula:
            again = self._beyond(rate, self.station_values(solution))
            rounding = _ROUNDING * np.asarray(solution.response_time + beyond)
            if not np.all(np.abs(again - beyond) <= AGREEMENT * beyond + rounding):
                raise self._not_known_where()
        return solution, beyond

    def network(self, rate: Amount) -> Network:
        """The network at this throughput, as methods read it."""
        assumed = self.assumed(rate)
        return closed_network(
            assumed.stations,
            assumed.all_visits,
            self.inputs["population"],
            self.inputs["think_time"] + assumed.beyond,
            self._forked(assumed.visits),
        )

    def _forked(self, visits: tuple[Amount, ...]) -> Forked:
        """Names of the stations, and what forks there."""
        names = tuple(self.graph.stations)
        if not any(station.can.forks for station in self.graph.stations.values()):
            return Forked(names)
        place = {name: k for k, name in enumerate(names)}
        branches = {
            place[fork]: tuple(place[branch] for branch in parts)
            for fork, parts in forks(self.graph.stations).items()
        }
        return Forked(names, visits, branches)

    def station_values(self, solution: ClosedSolution) -> dict[str, Amount]:
        """Results of each station, by the names that formulas use."""
        return {
            f"{name}.{part}": getattr(solution, attribute)[position]
            for position, name in enumerate(self.graph.stations)
            for part, attribute in PARTS.items()
        }

    @property
    def _stations(self) -> tuple[str, ...]:
        return tuple(station_at(name) for name in self.graph.stations)

    @property
    def _by_formula(self) -> bool:
        return "response_time" in self.graph.outputs

    def _unhindered(self, network: Assumed, rate: Amount) -> dict[str, Amount]:
        """Numbers of stations without any waiting."""
        results: dict[str, Amount] = {}
        parts = zip(self.graph.stations, network.stations, network.visits, strict=True)
        for name, station, visits in parts:
            time: Amount = station.service_time
            each = (visits * rate, visits * rate, rate * 0, time, visits * time, rate * 0)
            results |= {f"{name}.{part}": value for part, value in zip(PARTS, each, strict=True)}
        return results

    def _beyond(self, rate: Amount, stations: Mapping[str, Amount]) -> Amount:
        """The time that a formula for the response time adds to the time at stations [s]."""
        graph = self.graph
        given = {**self.inputs, **dict.fromkeys(RATES, rate), **stations}
        total = graph.plan.run(given, ["response_time"])["response_time"]
        inside = sum(stations[f"{name}.residence_time"] for name in graph.stations)
        more: FloatArray = np.asarray(total - inside, float)
        return np.where(np.abs(more) <= _ROUNDING * np.abs(total), 0.0, more)

    def _not_known_where(self) -> GraphError:
        """Refuse a response time that is not a sum of the time at stations and other time."""
        return GraphError(
            f"{self.graph.name} cannot be closed: its formula for response_time is not a sum of "
            "the time at its stations and other time, so it does not locate the jobs"
        )
