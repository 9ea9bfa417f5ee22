"""Closed forms of networks with several open classes."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from headway.errors import GraphError, UnknownParameter, nearest
from headway.kinds import Amount, apply, number
from headway.models.solving.classes.network import scv_of, targets_of, time_of, visits_of
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.keys import Amounts, Values, of_class, offered_at, station_at
from headway.queueing.disciplines.discipline import ProductForm
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.stations.abilities import ServiceKind
from headway.records import dataclass


def class_form(graph: ModelGraph, output: str, given: Mapping[str, Amount]) -> Amount:
    """Write an output of a network of open classes as an expression.

    Their product form (BCMP): with a = sum of lambda_c V_c S_c at a station of m servers, a job
    of class c stays V_c S_c / (1 - a), at a pool V_c S_c (1 + C(m, a) / (m - a)).

    Parameters
    ----------
    graph
        A graph with open classes only.
    output
        An output of the graph, ``response_time``, ``class NAME.response_time``,
        ``class NAME.throughput``, or a station's ``utilisation``, ``queue_length``,
        ``throughput``, ``residence_time`` or ``response_time``.
    given
        A number or symbol by parameter.

    Raises
    ------
    GraphError
        For closed classes, which need a recursion.
    UnknownParameter
        For an output that the graph does not have.
    """
    closed = [name for name, numbers in graph.classes.items() if "population" in numbers]
    if closed:
        msg = (
            f"class {closed[0]} is closed, so a recursion solves it, not a formula; solve with "
            "numbers"
        )
        raise GraphError(msg)
    if graph.ways_by_class:
        msg = f"{graph.name}: routes that differ by class have no closed form; solve with numbers"
        raise GraphError(msg)
    for name, station in graph.stations.items():
        order = station.discipline
        if order.by_priority or order.by_size:
            how = "by priority" if order.by_priority else order.how
            msg = f"{name} serves {how}, which has no closed form; solve with numbers"
            raise GraphError(msg)
    values = graph.plan.run(given, targets_of(graph))
    values |= _answers(graph, values)
    if output not in values and output not in {*graph.outputs, *graph.bindings}:
        known = [name for name in values if "." in name] + list(graph.outputs)
        msg = f"{graph.name} has no closed form of {output!r}{nearest(output, known)}"
        raise UnknownParameter(msg)
    return graph.plan.run(values, [output])[output]


def _answers(graph: ModelGraph, values: Values) -> Amounts:
    """Every result of classes and stations, by the operational laws."""
    rates = {c: of_class(c, "arrival_rate").of(values) for c in graph.classes}
    total = sum(rates.values())
    results: Amounts = {"throughput": total}
    stays: Amounts = dict.fromkeys(rates, 0)
    for name in graph.stations:
        place = _place(graph, name, values, rates)
        here = place.stays()
        stays = {c: stay + here[c] for c, stay in stays.items()}
        queue = sum(rates[c] * here[c] for c in rates)
        results |= place.results(queue)
        results[f"{name}.residence_time"] = queue / total
    for c, stay in stays.items():
        results |= {of_class(c, "throughput"): rates[c], of_class(c, "response_time"): stay}
    mean = sum(rates[c] * stay for c, stay in stays.items()) / total
    return results if "response_time" in graph.outputs else results | {"response_time": mean}


@dataclass(frozen=True)
class _Place:
    """A station of open classes: rates [1/s], visits and service times [s] by class."""

    graph: ModelGraph
    name: str
    values: Values
    rates: Amounts
    visits: Amounts
    times: Amounts

    @property
    def component(self) -> Component:
        return self.graph.stations[self.name]

    @cached_property
    def demands(self) -> Amounts:
        """Service time of a job over all its visits [s]."""
        return {c: v * self.times[c] for c, v in self.visits.items()}

    @cached_property
    def load(self) -> Amount:
        """Work that arrives in a second."""
        return sum(self.rates[c] * demand for c, demand in self.demands.items())

    def stays(self) -> Amounts:
        """Time of a job of each class over all its visits, waiting included [s]."""
        order = self.component.discipline
        if self.component.can.spread and order.in_turn:
            self._refuse_returns()
            wait = self._wait_of_mixture()
            return {c: demand + self.visits[c] * wait for c, demand in self.demands.items()}
        if order.form is ProductForm.ALIKE and len(set(self.times.values())) > 1:
            self._refuse_returns()
            return self._stays_in_turn()
        more = self.load * self._wait_over_load()
        return {c: demand * (1 + more) for c, demand in self.demands.items()}

    def _stays_in_turn(self) -> Amounts:
        """All wait alike, behind the work of all classes; a class without service does not."""
        demands, times = self.demands, self.times
        waits = self._wait_over_load() * sum(
            self.rates[c] * demands[c] * times[c] for c in self.rates
        )
        if self._is_pool and self.load != 0:  # its law divides by the load
            waits = apply("where", self.load > 0, waits, 0)
        return {
            c: demands[c] + (self.visits[c] * waits if times[c] != 0 else 0) for c in self.rates
        }

    def _refuse_returns(self) -> None:
        """Refuse classes of different or general times that come straight back, in turn."""
        if self.graph.routes.between(self.name, self.name):
            msg = (
                f"{self.name}: times of classes that come straight back have no closed form; "
                "solve with numbers"
            )
            raise GraphError(msg)

    def _wait_of_mixture(self) -> Amount:
        """Waiting time of all classes with any scv: that of the mixture of their times."""
        flows = {c: self.rates[c] * v for c, v in self.visits.items()}
        total = sum(flows.values())
        mean = sum(flow * self.times[c] for c, flow in flows.items()) / total
        second = sum(
            flow * self.times[c] ** 2 * (1 + scv_of(self.graph, self.name, c, self.values))
            for c, flow in flows.items()
        )
        mixed = self._station.mixed_to(mean, second / total / mean**2 - 1)
        return mixed.waiting_time(total)

    def results(self, queue: Amount) -> Amounts:
        """Results of the station with a mean number of jobs."""
        through = sum(self.rates[c] * v for c, v in self.visits.items())
        return {
            f"{self.name}.utilisation": self._share("utilisation"),
            offered_at(self.name): self._share("offered"),
            f"{self.name}.queue_length": queue,
            f"{self.name}.throughput": through,
            f"{self.name}.response_time": queue / through,
        }

    def _share(self, law: str) -> Amount:
        """Share of the capacity that is used, or asked for."""
        kind = self.component.can.product_form
        if kind is ServiceKind.DELAY:
            return 0
        if kind is ServiceKind.VARYING:
            return getattr(self._station, law)(self.load / self._service_time)
        return self.load / self._servers

    def _wait_over_load(self) -> Amount:
        """Waiting time of a job over the load; finite where there is no load."""
        kind, load, servers = self.component.can.product_form, self.load, self._servers
        if kind is ServiceKind.DELAY:
            return 0
        if kind is ServiceKind.VARYING and load != 0:
            time = self._service_time
            return (self._station.response_time(load / time) / time - 1) / load
        if self._is_pool and load != 0:
            return erlang_c(servers, load) / (load * (servers - load))
        return 1 / (servers - load)

    @property
    def _station(self) -> Any:
        return station_at(self.name).of(self.values)

    @property
    def _service_time(self) -> Amount:
        return number("service_time", self._station.service_time)

    @property
    def _servers(self) -> Amount:
        return self.values.get(f"{self.name}.servers", 1)

    @property
    def _is_pool(self) -> bool:
        can = self.component.can
        queue = can.spread or can.product_form is ServiceKind.QUEUE
        return queue and bool(self._servers != 1)


def _place(graph: ModelGraph, name: str, values: Values, rates: Amounts) -> _Place:
    visits = {c: visits_of(graph, name, c, values) for c in rates}
    times = {c: time_of(graph, name, c, values) for c in rates}
    return _Place(graph, name, values, rates, visits, times)
