"""Arrivals in batches: means for a single queue to which all jobs come directly from outside."""

from functools import partial

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.structure.parts.batches import Batch
from headway.models.structure.parts.keys import Values, batch_at, station_at
from headway.models.structure.parts.structure import Structure, of_structure
from headway.models.structure.planning.components import AnyStep, named, number, step
from headway.models.structure.planning.variability import lone_queue, service_scv
from headway.models.structure.planning.ways import visits_given
from headway.queueing.flows.batch_sizes import BatchSizes
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.variability.batches import batch_wait


def batch_steps(graph: Structure) -> list[AnyStep]:
    """Steps for the sizes of batches."""
    return [
        step(batch_at(name), batch.names, partial(_sizes, name, batch))
        for name, batch in graph.arrival_batches.items()
    ]


def batch_waiting_steps(graph: Structure, name: str) -> list[AnyStep]:
    """Steps for the waiting time at a station, and what follows from it.

    The sizes and rates that a simulation uses do not depend on these steps, so only they are
    refused where no law is known.
    """
    wait, made = f"{name}.waiting_time", station_at(name)
    needs = {made, "throughput", *map(batch_at, graph.arrival_batches)}
    return [
        number(wait, needs, partial(_wait, graph, name)),
        number(f"{name}.response_time", {wait, made}, lambda v: v[wait] + made.of(v).service_time),
    ]


def _sizes(name: str, batch: Batch, values: Values) -> BatchSizes:
    with named(f"arrivals at {name}"):
        return batch.evaluate(values)


def _wait(graph: Structure, name: str, values: Values) -> Amount:
    check_batches(graph)
    station, rate = station_at(name).of(values), values["throughput"]
    if not station.can.limits:
        return 0.0 * rate
    (where,) = graph.arrival_batches
    sizes = batch_at(where).of(values)
    with named(name):
        return batch_wait(sizes, rate, station.service_time, service_scv(station), station.count)


@of_structure
def _unknown(graph: Structure) -> str:
    """Why no law is known for a network with arrivals in batches; empty if one is."""
    queue = lone_queue(graph)
    again = queue is not None and queue in {*graph.routes.loops, *graph.routes.behind([queue])}
    if queue is None or again or visits_given(graph) or [*graph.arrival_batches] != [queue]:
        return "but not only straight at its one queue"
    if graph.spreads:
        return "whose times between them have an scv"
    component = graph.stations[queue]
    if component.can.product_form is ServiceKind.PARALLEL or component.can.service_scv is None:
        return f"and {queue} is a {component.kind.__name__}"
    if "arrival_scv" in component.fields:
        return f"and {queue} has an arrival_scv of its own"
    if component.loses or component.can.forks or graph.blocks:
        return "and jobs are lost, parted or held up"
    if not component.discipline.in_turn:
        return f"and {queue} serves them by {component.discipline}"
    return ""


def check_batches(graph: Structure) -> None:
    """Refuse means for arrivals in batches at a network without a known law.

    Raises
    ------
    GraphError
        With the reason.
    """
    if graph.arrival_batches and (why := _unknown(graph)):
        msg = (
            f"{graph.name}: jobs arrive in batches, {why}; headway knows means of one MM1, MD1, "
            "MG1 or MMm in order of arrival where all jobs come in once; simulate"
        )
        raise GraphError(msg)


def refuse_batches(graph: Structure, what: str) -> None:
    """Refuse results that are not known for arrivals in batches.

    Parameters
    ----------
    graph, what
        A graph, and the results that it has no law for, such as ``percentiles``.

    Raises
    ------
    GraphError
        For a graph with batches.
    """
    if graph.arrival_batches:
        msg = (
            f"{graph.name}: jobs arrive in batches, of which headway knows means but no {what}; "
            "simulate, or delete batch"
        )
        raise GraphError(msg)
