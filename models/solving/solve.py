"""Solve models: open, closed and mixed networks, and programs."""

from collections.abc import Callable
from dataclasses import replace

from headway.errors import InvalidParameter
from headway.models.language.frozen import Awaited
from headway.models.solving.solutions.marks import QNA, Marks
from headway.models.solving.solutions.solution import STATION_RESULTS, Solution
from headway.models.solving.spreading import (
    check_open,
    check_way,
    doubts_of_spread,
    poisson_notes,
    propagating,
    with_spread,
)
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.parts.forks import queued_behind_forks
from headway.models.structure.parts.keys import ANSWERED, Amounts, Values, of_class
from headway.models.structure.parts.structure import Structure, of_structure
from headway.models.structure.planning.variability import SPREAD
from headway.queueing.methods.registry import check_method

SIMULATION = "simulation"
"""What the command calls simulation, which is not a method of a solution."""


def solve_model(model: Model, method: str = "auto") -> Solution:
    """Solve an open, closed or mixed network, or evaluate a model of a program."""
    model = propagating(model) if method == QNA else model
    if model.network_kind not in _OWN_NAMES:
        _check_method(method)
    shape = points_shape(model.inputs)
    values, marks = _means(model, method, shape)
    marks = _doubting(model, marks)
    if len(model.graph.classes) == 1:
        alone = Solution(model.network, values, shape, marks)
        values = {**values, **_same_for_each(model, alone)}
    return Solution(model, values, shape, marks)


def _means(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Values, Marks]:
    """Solve for means by the function for the model's kind of network."""
    if model.graph.arrival_batches and model.network_kind is not NetworkKind.OPEN:
        from headway.models.structure.planning.batches import refuse_batches

        refuse_batches(model.graph, f"laws of {model.network_kind}")
    if model.graph.arrival_courses:
        from headway.models.structure.planning.courses import check_steady

        check_steady(model.graph)
    return _SOLVERS[model.network_kind](model, method, shape)


def _class_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Values, Marks]:
    """Solve classes apart, or merged where they obey the law of one class."""
    from headway.models.solving.classes.class_values import class_values
    from headway.models.solving.classes.rooms import as_one, of_each

    if model.graph.spreads:
        from headway.models.solving.classes.spreading import spread_values

        check_way(model.graph, method)
        return spread_values(model)
    one = as_one(model)
    if one is None:
        return class_values(model, method)
    values, marks = _means(one, method, shape)
    return {**values, **of_each(model, values)}, marks


def _doubting(model: Model, marks: Marks) -> Marks:
    """Add notes on approximate components."""
    each = [part for table in model.graph.algorithms.values() for part in table.items()]
    about = [f"{name}: {note}" for name, one in each if (note := one.approximation)]
    notes = [marks.approximation] if marks.approximation else []
    return replace(marks, approximation="; ".join([*notes, *about])) if about else marks


def _check_method(method: str) -> None:
    """Refuse an unknown method, even if there is no choice."""
    if method == SIMULATION:
        msg = "a simulation is not a solution: it has intervals; call model.simulate()"
        raise InvalidParameter(msg)
    if method != QNA:
        check_method(method)


def _same_for_each(model: Model, alone: Solution) -> Amounts:
    """Results of each class, from the network with all of them merged."""
    values: Amounts = {}
    for name in model.graph.classes:
        values[of_class(name, "throughput")] = alone.throughput
        values[of_class(name, "response_time")] = alone.response_time
    return values


def _blocking_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Values, Marks]:
    from headway.models.solving.blocking.blocking_values import blocking_values

    return blocking_values(model.network, method, shape)


def _client_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Values, Marks]:
    from headway.models.solving.clients import client_values

    return client_values(model.network, method, shape)


def _layered_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    from headway.models.solving.layered.layered_values import layered_values

    return layered_values(model.network, method, shape)


def _closed_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Values, Marks]:
    from headway.models.solving.closed.closed_values import closed_values

    check_open(model.network)
    return closed_values(model.network, method, shape)


def _open_values(model: Model, method: str, _shape: tuple[int, ...]) -> tuple[Values, Marks]:
    """Solve each station by its own law, or a program's formulas."""
    model = model.network
    graph = model.graph
    check_way(graph, method)
    spreads = graph.plan.calculates(SPREAD)
    targets = _targets(graph) | {SPREAD} if spreads else _targets(graph)
    known = graph.plan.run(model.inputs, targets - _when_read(graph))
    later = graph.plan.later(known, targets)
    if spreads:
        doubts = doubts_of_spread(graph, known)
        return Awaited(with_spread(graph, known), later), Marks(QNA, doubts)
    values: Values = Awaited(known, later)
    return values, Marks(approximation=_doubts(model, values))


@of_structure
def _targets(graph: Structure) -> frozenset[str]:
    """Names of the numbers in an open solution."""
    targets = [*graph.outputs]
    if graph.stations:
        targets.append("response_time")
        targets += [f"{name}.{part}" for name in graph.stations for part in STATION_RESULTS]
        targets += [f"{name}.arrival_rate" for name in graph.stations]
        targets += ["loss_probability", ANSWERED] if graph.losing else []
    return frozenset(targets)


@of_structure
def _when_read(graph: Structure) -> frozenset[str]:
    """Results that follow from others by operational laws: half of the cost of long arrays."""
    parts = ("utilisation", "queue_length", "throughput")
    return frozenset(f"{name}.{part}" for name in graph.stations for part in parts)


@of_structure
def _approximate(graph: Structure) -> tuple[str, ...]:
    """Notes on stations of approximate kinds."""
    about = {name: station.approximation for name, station in graph.stations.items()}
    return tuple(f"{name}: {note}" for name, note in about.items() if note)


def _doubts(model: Model, values: Values) -> str:
    """Notes on an open solution: two moments, and flows assumed Poisson."""
    stations = model.graph.stations
    notes = [*_approximate(model.graph), *poisson_notes(model.graph, values)]
    if queued_behind_forks(model.graph):
        from headway.queueing.forks.fork import BEHIND

        notes.append(BEHIND)
    lost = model.graph.losing
    if lost and len(stations) > 1 and stations[lost[0]].visits:
        notes.append(f"visits hide which jobs {', '.join(lost)} loses, so times include them")
    return "; ".join(notes)


_SOLVERS: dict[NetworkKind, Callable[[Model, str, tuple[int, ...]], tuple[Values, Marks]]] = {
    NetworkKind.PROGRAM: _open_values,
    NetworkKind.LAYERED: _layered_values,
    NetworkKind.BLOCKING: _blocking_values,
    NetworkKind.CLIENTS: _client_values,
    NetworkKind.CLASSES: _class_values,
    NetworkKind.CLOSED: _closed_values,
    NetworkKind.OPEN: _open_values,
}

_OWN_NAMES = (NetworkKind.BLOCKING, NetworkKind.LAYERED)
"""Kinds whose solvers have further methods, with names of their own."""
