"""A model over a day whose replicas an autoscaler sets: its course, its cost, and its needs."""

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.over.capacity import service_with
from headway.models.over.changing import Scaled
from headway.models.over.timeline import Scaling
from headway.models.structure.planning.components import named
from headway.queueing.methods.choice import choose
from headway.queueing.transient.autoscaler import Autoscaler
from headway.queueing.transient.drain import Drain
from headway.queueing.transient.means import TimedMeans
from headway.queueing.transient.network import TimedNetwork, lone, markov
from headway.queueing.transient.scaled import Course, Target, by_autoscaler, looks_of
from headway.queueing.transient.scaled_drain import drain_by_autoscaler
from headway.queueing.transient.service import Service

if TYPE_CHECKING:
    from headway.models.structure.model import Model
    from headway.models.structure.parts.autoscaler import AutoscalerTerms

HOUR = 3600.0

SAME = 1e-6
"""Mean numbers of replicas that differ by less count as equal."""


def law_of(model: "Model") -> Autoscaler | None:
    """The autoscaler of a model, at its values; None if it has none.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain, with the autoscaler's name.
    """
    terms = model.graph.autoscaler
    if terms is None:
        return None
    given = model.at(arrival_rate=1.0) if model.graph.needs_arrival_rate else model
    with named("autoscaler", {each: given.inputs[each] for each in sorted(terms.names)}):
        return terms.evaluate(given.inputs)


def started(model: "Model", law: Autoscaler) -> "Model":
    """The model with the replicas at the start of the day."""
    terms = model.graph.autoscaler
    assert terms is not None  # noqa: S101 - the law is its own
    return model.at({terms.scales: law.within(round(_replicas(model, terms)))})


def _replicas(model: "Model", terms: "AutoscalerTerms") -> float:
    value = model.parameters[terms.scales].value
    if value is None:
        msg = f"{model.name}: no value for {terms.scales}; set the replicas at the start of the day"
        raise InvalidParameter(msg)
    return float(np.ravel(value)[0])


def autoscaled(
    model: "Model",
    network: TimedNetwork,
    law: Autoscaler,
    method: str,
    target: Target | None,
) -> tuple[TimedMeans, Course, Scaling, Drain | None]:
    """Solve a network over time under its autoscaler.

    Parameters
    ----------
    model, network
        The model and its network, with the replicas at the start.
    law, method
        The autoscaler, and the method asked for.
    target
        The response time to be kept, if any; and the time from start to end.

    Returns
    -------
    Means of each part, what the autoscaler does in each part and overall, and how long a backlog
    lasts.

    Raises
    ------
    GraphError, InvalidParameter
        For networks and methods without a law under an autoscaler.
    """
    _check_alone(network)
    if method not in ("auto", "forward"):
        msg = f"an autoscaler is followed by method forward, not {method}"
        raise InvalidParameter(msg)
    list(choose(network, "forward"))
    if len(network.queue.services) > 1:
        msg = (
            f"{model.name}: its capacity follows both t and an autoscaler; let only one of them "
            "set it"
        )
        raise InvalidParameter(msg)
    terms = model.graph.autoscaler
    assert terms is not None  # noqa: S101 - the law is its own
    serving = _Serving(model, terms, network.queue.name)
    _check_scales(terms, law, serving)
    needed = _needed(network.rates, law, serving)
    count = int(_replicas(model, terms))
    if target is not None:
        target = replace(target, time=target.time - network.delay - network.beyond)
    means, course = by_autoscaler(network, law, count, serving, needed, target)
    drained = drain_by_autoscaler(network, law, count, serving)
    return means, course, _scaling(network, law, course, serving), drained


def _check_alone(network: TimedNetwork) -> None:
    """Refuse stations without a law under an autoscaler, with the method that simulates them."""
    why = lone(network) or markov(network)
    if why:
        what = why.replace("{asked}", "forward").rpartition("; ")[0]
        msg = f"{what}, also under an autoscaler; use method simulation"
        raise GraphError(msg)


def _check_scales(terms: "AutoscalerTerms", law: Autoscaler, serving: "_Serving") -> None:
    """Refuse an autoscaler whose replicas change nothing at the queue."""
    fewest, most = int(law.minimum), int(law.maximum)
    if fewest < most and serving(fewest) == serving(most):
        msg = (
            f"autoscaler: it scales {terms.scales}, and {serving.name} serves the same with "
            f'{fewest} and with {most} of them; write servers = "{terms.scales}" there'
        )
        raise GraphError(msg)


def scaled_station(model: "Model", network: TimedNetwork, law: Autoscaler) -> Scaled:
    """The station whose servers an autoscaler sets, for a simulated day.

    Raises
    ------
    GraphError
        For an autoscaler that sets anything else, or whose replicas are slow at first.
    """
    place, served = _station_of(model, network, law)
    if law.warm_up:
        msg = (
            f"{network.stations[place].name}: only method forward, at one queue, can follow "
            "replicas that are slower at first; leave warm_up out"
        )
        raise GraphError(msg)
    looks = looks_of(law, float(network.edges[0]), float(network.edges[-1]))
    near = 1e-9 * law.interval
    parts = np.searchsorted(network.edges, np.append(network.edges[0], looks) + near, "right") - 1
    rates = network.rates * network.visits[place]
    terms = model.graph.autoscaler
    assert terms is not None  # noqa: S101 - the law is its own
    return Scaled(
        law,
        int(_replicas(model, terms)),
        place,
        lambda count: round(served(count).servers),
        looks,
        _needed(rates, law, served)[parts],
    )


def scaling_of(model: "Model", network: TimedNetwork, law: Autoscaler, course: Course) -> Scaling:
    """What an autoscaler did on simulated days, and what it needs."""
    place, served = _station_of(model, network, law)
    there = replace(network, rates=network.rates * network.visits[place])
    return _scaling(there, law, course, served)


def _station_of(model: "Model", network: TimedNetwork, law: Autoscaler) -> tuple[int, "_Serving"]:
    """The index of the only station that an autoscaler changes, and its servers by replicas.

    Raises
    ------
    GraphError
        If it changes more than the servers of one station.
    """
    terms = model.graph.autoscaler
    assert terms is not None  # noqa: S101 - the law is its own
    each = [_Serving(model, terms, station.name) for station in network.stations]
    ends = int(law.minimum), int(law.maximum)
    moved = [k for k, serving in enumerate(each) if serving(ends[0]) != serving(ends[1])]
    moved = moved or [network.queues[0]]
    low, high = map(each[moved[0]], ends)
    alike = replace(low, servers=high.servers) == high
    if len(moved) > 1 or not alike or network.stations[moved[0]].is_delay:
        msg = (
            f"{model.name}: in a simulation an autoscaler sets the servers of one station, and "
            f"here it changes {_scaled(model)}; let it set one"
        )
        raise GraphError(msg)
    return moved[0], each[moved[0]]


def _scaled(model: "Model") -> str:
    """Which numbers of stations depend on the parameter that an autoscaler sets."""
    terms, stations = model.graph.autoscaler, model.graph.stations
    assert terms is not None  # noqa: S101 - it has one
    found = [
        f"{field} of {name}"
        for name, station in stations.items()
        for field, formulas in station.formulas().items()
        if any(terms.scales in formula.names for formula in formulas)
    ]
    return " and ".join(found) or terms.scales


class _Serving:
    """The service of a number of replicas."""

    def __init__(self, model: "Model", terms: "AutoscalerTerms", name: str) -> None:
        self.name = name
        self.known = lru_cache(maxsize=None)(
            lambda count: service_with(model.at({terms.scales: count}), name)
        )

    def __call__(self, count: int) -> Service:
        found: Service = self.known(count)
        return found


def _scaling(network: TimedNetwork, law: Autoscaler, course: Course, serving: _Serving) -> Scaling:
    """What the autoscaler did, and what it needs."""
    edges, lengths = network.edges, network.lengths
    rows = np.stack([course.replicas, course.low, course.high])
    changed = np.flatnonzero((np.abs(np.diff(rows, prepend=np.nan)) > SAME).any(axis=0))
    changed = np.union1d(changed, [0])
    return Scaling(
        law,
        edges[changed],
        rows[0, changed],
        rows[1, changed],
        rows[2, changed],
        course.changes,
        law.interval * float(course.above.sum()),
        _growth(network, law, serving),
        course.needless,
        law.price * float(course.replicas @ lengths) / HOUR,
    )


def _growth(network: TimedNetwork, law: Autoscaler, serving: _Serving) -> float:
    """Largest factor by which load grows until the replicas asked for are ready.

    Load below what the fewest replicas serve at the target counts as that.
    """
    edges, rates, last = network.edges, network.rates, float(network.edges[-1])
    fewest = serving(int(law.minimum)).fastest
    floor = {"utilisation": law.target * fewest, "rate": law.target * law.minimum}
    times = np.unique(np.concatenate([edges, edges - law.reaction]))
    times = times[(times >= edges[0]) & (times + law.reaction <= last)]
    if len(times) < 2:
        return 1.0
    middles = np.array([(a + b) / 2 for a, b in pairwise(times.tolist())])
    both = (middles, middles + law.reaction)
    now, then = (rates[np.searchsorted(edges, at, side="right") - 1] for at in both)
    return max(float(np.max(then / np.maximum(now, floor.get(law.metric, fewest)))), 1.0)


def _needed(rates: FloatArray, law: Autoscaler, serving: _Serving) -> FloatArray:
    """Replicas that would keep the metric at its target under a load, without any delay."""
    counts = np.arange(int(law.minimum), int(law.maximum) + 1)
    if law.metric == "rate":
        bears = law.target * counts
    else:
        share = law.target if law.metric == "utilisation" else 1.0
        bears = share * np.array([serving(int(count)).fastest for count in counts])
    places = np.minimum(np.searchsorted(bears, rates), len(counts) - 1)
    return np.asarray(counts[places], float)
