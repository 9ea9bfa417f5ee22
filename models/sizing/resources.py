"""Resources: choices of which more can only help, so that bounds can exclude configurations."""

from collections.abc import Iterator, Sequence

from headway.models.analysis.goals import Goal, Sense
from headway.models.language.formula import Formula, Name
from headway.models.structure.model import Model
from headway.models.structure.outputs import percent_of
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.variability import propagates

_HELPED = {
    "response_time": Sense.AT_MOST,
    "residence_time": Sense.AT_MOST,
    "waiting_time": Sense.AT_MOST,
    "queue_length": Sense.AT_MOST,
    "utilisation": Sense.AT_MOST,
    "saturation_throughput": Sense.AT_LEAST,
}
"""Direction in which more of a resource moves a quantity."""


def resources(model: Model, goals: Sequence[Goal], names: Sequence[str]) -> tuple[str, ...]:
    """The choices of which more never breaks a goal that holds with less.

    This is derived, not tested: arrivals do not depend on the servers (an open network of one class
    with Poisson flows; elsewhere servers change the variability of departures), the choice only
    relieves its station (`Abilities.eased_by`), and no formula depends on results of that station.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid")
    >>> resources(raid, [Goal("response_time", "<=", 0.01)], ["disks", "cpu_time", "memory"])
    ('disks',)
    """
    graph = model.graph
    if (
        not graph.stations
        or graph.classes
        or model.is_closed
        or propagates(graph)
        or graph.arrival_batches
        or graph.gives_up
    ):
        return ()
    if not all(_helped(graph, goal) for goal in goals):
        return ()
    return tuple(name for name in names if _only_eases(graph, name))


def _helped(graph: Structure, goal: Goal) -> bool:
    if goal.output in graph.outputs:
        return False
    if percent_of(goal.output) is not None:
        return goal.sense is Sense.AT_MOST and "response_time" not in graph.outputs
    station, _, part = goal.output.rpartition(".")
    known = station in ("", *graph.stations)
    return known and _HELPED.get(part) is goal.sense and "response_time" not in graph.outputs


def _only_eases(graph: Structure, name: str) -> bool:
    """Whether a parameter only relieves stations, and no formula depends on it."""
    eased = {
        station
        for station, component in graph.stations.items()
        for field in component.can.eased_by
        if _is_name(component.fields[field], name)
    }
    others = [used for formula in _other_formulas(graph, name) for used in formula.names]
    return bool(eased) and name not in others and not eased.intersection(_stations(others))


def _is_name(number: Formula | tuple[Formula, ...], name: str) -> bool:
    return isinstance(number, Formula) and number.tree == Name(name)


def _stations(names: Sequence[str]) -> set[str]:
    return {name.rpartition(".")[0] for name in names}


def _other_formulas(graph: Structure, name: str) -> Iterator[Formula]:
    """Every relevant formula, except those that relieve a station by this name."""
    yield from (*graph.bindings.values(), *graph.arrivals.values())
    yield from (route.probability for route in graph.routes)
    tables = (graph.stations, graph.links, *graph.algorithms.values())
    for component in (one for table in tables for one in table.values()):
        eased = component.can.eased_by if component in graph.stations.values() else ()
        for field, formulas in component.formulas().items():
            yield from (f for f in formulas if not (field in eased and f.tree == Name(name)))
