"""Layered systems by the rows of the table of methods that take them."""

from dataclasses import fields, replace
from math import inf

import numpy as np

from headway.errors import GraphError
from headway.numerals import significant
from headway.queueing.layers.chain import MOST_MOVES, MOST_STATES, by_chain, fewest_states
from headway.queueing.layers.decomposition import by_layers
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.measured import LAYERS_NOTE, open_note
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.points import at, joined, points_of
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.choice import choose, impossible
from headway.queueing.methods.registry import AUTO

EVENTS = 2_000_000
"""Events of a simulation: about a second; chosen."""

UNASKED_STATES, UNASKED_CELLS = 30_000, 600_000
"""States of a chain that is tried without being asked for, and states times clients: about two
seconds; chosen."""

UNASKED_MOVES = 600_000
"""Moves between its states: about two seconds; chosen."""


def solve_layers(system: LayeredSystem, asked: str = AUTO) -> tuple[LayeredMeans, str]:
    """Solve a layered system at all of its operating points.

    Parameters
    ----------
    system
        What is to be solved.
    asked
        ``auto``, or a method by name.

    Returns
    -------
    The means, which say what is approximate about them, and the method.

    Raises
    ------
    GraphError, InvalidParameter
        Where it cannot be solved, or not by the method asked for, with the reason.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> means, method = solve_layers(one)
    >>> method, means.approximation, round(float(means.throughput("users")), 9)
    ('product form', '', 0.769230769)
    """
    for row in choose(system, asked):
        means: LayeredMeans | None = row.solve(system, unasked=asked == AUTO)
        if means is not None:
            return means, row.name
    raise impossible(system, row, asked)


def by_whole_chain(
    system: LayeredSystem, most: int = MOST_STATES, moves: int = MOST_MOVES
) -> LayeredMeans | None:
    """Point by point; None where there are more states, or moves between them."""
    found: list[LayeredMeans] = []
    for point in points_of(system):
        means = by_chain(point, most, moves=moves)
        if means is None:
            return None
        found.append(means)
    return joined(system, found)


def by_small_chain(system: LayeredSystem) -> LayeredMeans | None:
    """A chain that nobody asked for: of one operating point, and small."""
    if np.prod(system.shape) > 1:
        return None
    clients = sum(float(np.max(t.threads)) for t in system.tasks.values() if t.clients)
    most = int(min(UNASKED_STATES, UNASKED_CELLS / max(clients, 1.0)))
    if fewest_states(at(system, 0)) > most:
        return None
    try:
        return by_whole_chain(system, most, UNASKED_MOVES)
    except GraphError:
        return None


def by_events(system: LayeredSystem) -> LayeredMeans:
    """Point by point, under the same luck; it says the widest interval of a throughput."""
    found, widest = [], 0.0
    for point in points_of(system):
        played = play_layers(point, EVENTS, seed=1)
        parts = [field.name for field in fields(EntryMeans)]
        entries = {
            name: EntryMeans(*(getattr(one, part).mean for part in parts))
            for name, one in played.entries.items()
        }
        found.append(LayeredMeans(point, entries))
        rates = [one.throughput for one in (*played.clients.values(), *played.arrivals.values())]
        widest = max([widest, *(one.half_width() / one.mean for one in rates if one.mean)])
    note = f"simulated, {EVENTS:,} events; throughputs within {significant(100 * widest, 2)}% (95%)"
    return replace(joined(system, found), approximation=note)


def in_layers(system: LayeredSystem) -> LayeredMeans:
    """By decomposition, with the errors that were measured.

    With arrivals from outside these depend on how full the fullest pool is, and where more arrive
    than it can serve, waiting has no end.
    """
    means = _in_groups(system)
    if not system.is_open:
        return replace(means, approximation=LAYERS_NOTE)
    busiest = np.asarray(means.busiest())
    over = busiest >= 1
    entries = {
        name: EntryMeans(
            one.throughput,
            np.where(over, inf, one.waiting_time),
            one.first_phase,
            one.second_phase,
        )
        for name, one in means.entries.items()
    }
    return LayeredMeans(system, entries, open_note(float(busiest.max())))


def _in_groups(system: LayeredSystem) -> LayeredMeans:
    """By layers, all points with the same threads and servers together."""
    counts = [
        *(one.servers for one in system.processors.values()),
        *(one.threads for one in system.tasks.values()),
    ]
    if not system.shape:
        return by_layers(system)
    rows = np.stack([np.broadcast_to(np.asarray(n, float), system.shape).ravel() for n in counts])
    _, group = np.unique(rows, axis=1, return_inverse=True)
    order = np.ravel(group)
    groups = [np.flatnonzero(order == k) for k in range(int(order.max()) + 1)]
    found = [by_layers(at(system, points)) for points in groups]
    back = np.argsort(np.concatenate(groups))
    return joined(system, found, [len(points) for points in groups], back)
