"""Layered systems by the method asked for: their whole chain where it is small, else by layers."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, InvalidParameter
from headway.numerals import significant
from headway.queueing.layers.chain import MOST_STATES, by_chain
from headway.queueing.layers.decomposition import by_layers
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.measured import LAYERS_NOTE, open_note
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass

EVENTS = 2_000_000
"""Events of a simulation: about a second; chosen."""

UNASKED_STATES, UNASKED_CELLS = 30_000, 600_000
"""States of a chain that is tried without being asked for, and states times clients: about two
seconds; chosen."""


@dataclass(frozen=True)
class LayeredMethod:
    """A method for layered systems.

    Parameters
    ----------
    name, doc
        As in ``--method``, and what it is.
    solve
        Of a system: means, with what is approximate about them, empty if nothing is; None where
        it turns out not to be possible.
    """

    name: str
    doc: str
    solve: Callable[[LayeredSystem], tuple[LayeredMeans, str] | None]


def _by_chain(system: LayeredSystem, most: int = MOST_STATES) -> tuple[LayeredMeans, str] | None:
    """Point by point."""
    found: list[LayeredMeans] = []
    for point in points_of(system):
        means = by_chain(point, most)
        if means is None:
            return None
        found.append(means)
    return _joined(system, found), ""


def _small_chain(system: LayeredSystem) -> tuple[LayeredMeans, str] | None:
    """A chain that nobody asked for: of one operating point, and small."""
    if np.prod(system.shape) > 1:
        return None
    clients = sum(float(np.max(t.threads)) for t in system.tasks.values() if t.clients)
    try:
        return _by_chain(system, int(min(UNASKED_STATES, UNASKED_CELLS / max(clients, 1.0))))
    except GraphError:
        return None


def _by_simulation(system: LayeredSystem) -> tuple[LayeredMeans, str]:
    """Point by point, under the same luck; the note has the widest interval of a throughput."""
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
    return _joined(system, found), note


def in_layers(system: LayeredSystem) -> tuple[LayeredMeans, str]:
    """By decomposition, with the errors that were measured.

    With arrivals from outside these depend on how full the fullest pool is, and where more arrive
    than it can serve, waiting has no end.
    """
    means = _in_groups(system)
    if not system.is_open:
        return means, LAYERS_NOTE
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
    return LayeredMeans(system, entries), open_note(float(busiest.max()))


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
    found = [by_layers(_at(system, points)) for points in groups]
    back = np.argsort(np.concatenate(groups))
    return _joined(system, found, [len(points) for points in groups], back)


METHODS = {
    one.name: one
    for one in (
        LayeredMethod("chain", "the whole Markov chain of what every client does", _by_chain),
        LayeredMethod("layers", "each layer with the others as delays", in_layers),
        LayeredMethod("simulation", "event by event", _by_simulation),
    )
}
"""Methods of headway for layered systems, by name."""


def solve_layers(system: LayeredSystem, asked: str = "auto") -> tuple[LayeredMeans, str, str]:
    """Solve a layered system at all of its operating points.

    Parameters
    ----------
    system
        What is to be solved.
    asked
        ``auto``, or a method by name.

    Returns
    -------
    The means, the method, and what is approximate about them; empty if they are exact.

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
    >>> means, method, note = solve_layers(one)
    >>> method, note, round(float(means.throughput("users")), 9)
    ('chain', '', 0.769230769)
    """
    if asked == "auto":
        small = _small_chain(system)
        if small is not None:
            return small[0], "chain", small[1]
        asked = "layers"
    asked = "chain" if asked == "exact" else asked
    if asked not in METHODS:
        msg = f"method {asked} does not solve layered services; use auto, {', '.join(METHODS)}"
        raise InvalidParameter(msg)
    answer = METHODS[asked].solve(system)
    if answer is None:
        raise GraphError(_too_many(system))
    return answer[0], asked, answer[1]


def _too_many(system: LayeredSystem) -> str:
    return (
        f"{system.name}: its Markov chain has more than {MOST_STATES:,} states; "
        "use method layers, or simulation"
    )


def points_of(system: LayeredSystem) -> Iterator[LayeredSystem]:
    """The operating points of a system, one by one."""
    for k in range(int(np.prod(system.shape))):
        yield _at(system, k)


def _at(system: LayeredSystem, points: int | NDArray[np.intp]) -> LayeredSystem:
    """A system at some of its operating points, in flat order."""

    def at(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return np.broadcast_to(part, system.shape).ravel()[points]
        if isinstance(part, dict):
            return {key: at(value) for key, value in part.items()}
        if isinstance(part, tuple):
            return tuple(map(at, part))
        if is_dataclass(part) and not isinstance(part, str | type):
            return replace(part, **{f.name: at(getattr(part, f.name)) for f in fields(part)})
        return part

    def counted(part: Any, name: str) -> Any:
        """Threads and servers, which are the same at all of these points."""
        return replace(part, **{name: float(np.ravel(getattr(part, name))[0])})

    processors = {n: counted(at(p), "servers") for n, p in system.processors.items()}
    tasks = {n: counted(at(t), "threads") for n, t in system.tasks.items()}
    return LayeredSystem(system.name, processors, tasks, at(dict(system.entries)))


def _joined(
    system: LayeredSystem,
    found: list[LayeredMeans],
    sizes: list[int] | None = None,
    back: NDArray[np.intp] | None = None,
) -> LayeredMeans:
    """Put answers for so many points each together, in the order of the points."""
    sizes = sizes or [1] * len(found)
    entries = {}
    for name in system.entries:
        columns = []
        for field in fields(EntryMeans):
            each = [
                np.broadcast_to(np.ravel(getattr(one.entries[name], field.name)), size)
                for one, size in zip(found, sizes, strict=True)
            ]
            row = np.concatenate(each)
            columns.append(np.reshape(row if back is None else row[back], system.shape))
        entries[name] = EntryMeans(*columns)
    return LayeredMeans(system, entries)
