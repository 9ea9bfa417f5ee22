"""Closed forms of networks with several open classes."""

from collections.abc import Mapping
from typing import Any

from headway.errors import GraphError, UnknownParameter, nearest
from headway.kinds import Amount, apply, number
from headway.models.solving.classes.network import scv_of, targets_of, time_of, visits_of
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import Amounts, Values, of_class, offered_at, station_at
from headway.queueing.disciplines.discipline import ProductForm
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.stations.abilities import ServiceKind


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
        visits = {c: visits_of(graph, name, c, values) for c in rates}
        times = {c: time_of(graph, name, c, values) for c in rates}
        demands = {c: v * times[c] for c, v in visits.items()}
        load = sum(rates[c] * demand for c, demand in demands.items())
        through = sum(rates[c] * v for c, v in visits.items())
        more = _wait_over_load(graph, name, load, values)
        here = {c: demands[c] * (1 + load * more) for c in rates}
        if (
            graph.stations[name].discipline.form is ProductForm.ALIKE
            and len(set(times.values())) > 1
        ):
            _refuse_returns(graph, name)
            waits = more * sum(rates[c] * demands[c] * times[c] for c in rates)
            if _is_pool(graph, name, values) and load != 0:  # its law divides by the load
                waits = apply("where", load > 0, waits, 0)
            here = {c: demands[c] + (visits[c] * waits if times[c] != 0 else 0) for c in rates}
        if graph.stations[name].can.spread and graph.stations[name].discipline.in_turn:
            _refuse_returns(graph, name)
            wait = _mixed_wait(graph, name, values, {c: rates[c] * visits[c] for c in rates})
            here = {c: demands[c] + visits[c] * wait for c in rates}
        stays = {c: stay + here[c] for c, stay in stays.items()}
        queue = sum(rates[c] * here[c] for c in rates)
        results |= _station(graph, name, values, load, through, queue)
        results[f"{name}.residence_time"] = queue / total
    for c, stay in stays.items():
        results |= {of_class(c, "throughput"): rates[c], of_class(c, "response_time"): stay}
    mean = sum(rates[c] * stay for c, stay in stays.items()) / total
    return results if "response_time" in graph.outputs else results | {"response_time": mean}


def _refuse_returns(graph: ModelGraph, name: str) -> None:
    """Refuse classes of different or general times that come straight back in order of arrival."""
    if graph.routes.between(name, name):
        msg = (
            f"{name}: times of classes that come straight back have no closed form; solve with "
            "numbers"
        )
        raise GraphError(msg)


def _mixed_wait(graph: ModelGraph, name: str, values: Values, flows: Amounts) -> Amount:
    """Waiting time of all classes with any scv: that of the mixture of their times."""
    total = sum(flows.values())
    mean = sum(flow * time_of(graph, name, c, values) for c, flow in flows.items()) / total
    second = sum(
        flow * time_of(graph, name, c, values) ** 2 * (1 + scv_of(graph, name, c, values))
        for c, flow in flows.items()
    )
    station: Any = station_at(name).of(values)
    return station.mixed_to(mean, second / total / mean**2 - 1).waiting_time(total)


def _station(
    graph: ModelGraph, name: str, values: Values, load: Amount, through: Amount, queue: Amount
) -> Amounts:
    return {
        f"{name}.utilisation": _share(graph, name, load, values, "utilisation"),
        offered_at(name): _share(graph, name, load, values, "offered"),
        f"{name}.queue_length": queue,
        f"{name}.throughput": through,
        f"{name}.response_time": queue / through,
    }


def _share(graph: ModelGraph, name: str, load: Amount, values: Values, law: str) -> Amount:
    """Share of a station's capacity that is used, or asked for, at this much work per second."""
    kind = graph.stations[name].can.product_form
    if kind is ServiceKind.DELAY:
        return 0
    if kind is ServiceKind.VARYING:
        station = station_at(name).of(values)
        return getattr(station, law)(load / number("service_time", station.service_time))
    return load / values.get(f"{name}.servers", 1)


def _wait_over_load(graph: ModelGraph, name: str, load: Amount, values: Values) -> Amount:
    """Waiting time of a job over the load; finite where there is no load."""
    kind = graph.stations[name].can.product_form
    servers = values.get(f"{name}.servers", 1)
    if kind is ServiceKind.DELAY:
        return 0
    if kind is ServiceKind.VARYING and load != 0:
        station = station_at(name).of(values)
        time = number("service_time", station.service_time)
        return (station.response_time(load / time) / time - 1) / load
    if _is_pool(graph, name, values) and load != 0:
        return erlang_c(servers, load) / (load * (servers - load))
    return 1 / (servers - load)


def _is_pool(graph: ModelGraph, name: str, values: Values) -> bool:
    can = graph.stations[name].can
    queue = can.spread or can.product_form is ServiceKind.QUEUE
    return queue and bool(values.get(f"{name}.servers", 1) != 1)
