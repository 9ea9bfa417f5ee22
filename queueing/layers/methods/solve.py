"""Solve layered systems by the methods in the table that apply to them."""

from dataclasses import fields, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.numerals import significant
from headway.queueing.layers.chain import (
    MOST_STATES,
    by_chains,
    fewest_states,
    no_chain,
    states_of,
)
from headway.queueing.layers.copies import has_copies, per_copy, written_out
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.decomposed.sources import no_phases
from headway.queueing.layers.growth import asked_from_outside, reached
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.measured import LAYERS_NOTE, open_note
from headway.queueing.layers.playing import Played, play_layers
from headway.queueing.layers.points import alike, at, first_of, joined, points_of
from headway.queueing.layers.product_form import no_product_form
from headway.queueing.layers.program import program_of
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.choice import choose, impossible
from headway.queueing.methods.registry import AUTO

EVENTS = 2_000_000
"""Events of a simulation: about a second; chosen."""

UNASKED_STATES, UNASKED_CELLS = 2_000, 600_000
"""The largest number of states, and of states times clients, of a chain taken without being
asked for, as for closed classes: some 50 ms a point. Speed only.
"""

LEAST_STATES = 100
"""A chain of fewer states takes as long as one of so many. Speed only."""

UNASKED_WORK = 200_000
"""States of all operating points together beyond which no chain is taken unasked: about 5 s."""


_OVER = 1.01
"""A utilisation above this shows that messages pile up; queues with callers reach 1 at most."""


def solve_layers(system: LayeredSystem, asked: str = AUTO) -> tuple[LayeredMeans, str]:
    """Solve a layered system at all of its operating points.

    Parameters
    ----------
    system
        The system to solve.
    asked
        ``auto``, or a method by name.

    Returns
    -------
    The means, which say what is approximate about them, and the name of the method.

    Raises
    ------
    GraphError, InvalidParameter
        If it cannot be solved, or not by the method asked for, with the reason.

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
    if has_copies(system):
        return _by_copies(system, asked)
    if asked != AUTO or not system.shape:
        return _solved(system, asked)
    groups = alike(system)
    parts = [at(system, points if points.size > 1 else int(points[0])) for points in groups]
    other, is_long = "simulation" if no_phases(system) else "layers", False
    if np.prod(system.shape) * UNASKED_STATES > UNASKED_WORK:
        work = (points.size * _work(part) for points, part in zip(groups, parts, strict=True))
        is_long = any(total > UNASKED_WORK for total in accumulate(work))
    near: dict[str, list[NDArray[np.intp]]] = {}
    found, solved = [], []
    for points, part in zip(groups, parts, strict=True):
        is_near = no_product_form(part) and (is_long or _surely_none(part))
        exact = other if is_near else _exactly(part)
        if isinstance(exact, str):
            near.setdefault(exact, []).append(points)
        else:
            found.append(points)
            solved.append(exact)
    for method, each in near.items():  # all points at once, whatever their structure
        found.append(np.sort(np.concatenate(each)))
        solved.append(_solved(at(system, found[-1]), method))
    return _put_together(system, found, solved)


def _exactly(system: LayeredSystem) -> tuple[LayeredMeans, str] | str:
    """Solve points of one structure by the first exact method that succeeds.

    If none does, it is the name of the first approximation.
    """
    for row in choose(system):
        if row.approximates:
            return row.name
        means: LayeredMeans | None = row.solve(system, unasked=True)
        if means is not None:
            return means, row.name
    raise impossible(system, row, AUTO)


def _by_copies(system: LayeredSystem, asked: str) -> tuple[LayeredMeans, str]:
    """Solve with a task for each copy; points with equal numbers of copies go together."""
    groups = alike(system)
    solved = []
    for points in groups:
        part = at(system, points if points.size > 1 else int(points[0]))
        means, method = solve_layers(written_out(part), asked)
        solved.append((per_copy(means, part), method))
    if not system.shape:
        return solved[0]
    return _put_together(system, groups, solved)


def _solved(system: LayeredSystem, asked: str) -> tuple[LayeredMeans, str]:
    """Solve all points by the first method that succeeds."""
    for row in choose(system, asked):
        means: LayeredMeans | None = row.solve(system, unasked=asked == AUTO)
        if means is not None:
            return means, row.name
    raise impossible(system, row, asked)


def _put_together(
    system: LayeredSystem,
    groups: list[NDArray[np.intp]],
    solved: list[tuple[LayeredMeans, str]],
) -> tuple[LayeredMeans, str]:
    """Join answers for groups of points, each by its method, and label what is approximate."""
    means = joined(system, [one for one, _ in solved], groups)
    near = [
        points.size for points, (one, _) in zip(groups, solved, strict=True) if one.approximation
    ]
    names = dict.fromkeys(name for one, name in solved if bool(near) == bool(one.approximation))
    if not near:
        return means, next(iter(names)) if len(names) == 1 else "chain"
    points = int(np.prod(system.shape))
    exact = points - sum(near)
    notes = dict.fromkeys(one.approximation for one, _ in solved if one.approximation)
    note = _note(means) if "layers" in names else "; ".join(notes)
    if exact:
        note = f"exact at {exact} of {points} points; elsewhere {note}"
    return replace(means, approximation=note), next(iter(names))


def by_whole_chain(system: LayeredSystem, most: int = MOST_STATES) -> LayeredMeans | None:
    """Solve each group of points of one structure by its chain; None if one has too many states."""
    groups = alike(system)
    found: list[LayeredMeans] = []
    for points in groups:
        means = by_chains(at(system, points), most)
        if means is None:
            return None
        found.append(means)
    return joined(system, found, groups)


def by_small_chain(system: LayeredSystem) -> LayeredMeans | None:
    """Solve by the chain without being asked to, if it is small; otherwise None.

    Its size depends on threads, servers and clients, not on the number of points.
    """
    return None if _surely_none(system) else by_whole_chain(system, _most_states(system))


def _surely_none(system: LayeredSystem) -> bool:
    """Whether the chain is impossible or surely too large, as a bound shows without a search."""
    return fewest_states(first_of(system)) > _most_states(system) or bool(no_chain(system))


def _most_states(system: LayeredSystem) -> int:
    clients = sum(float(np.max(t.threads)) for t in system.tasks.values() if t.clients)
    return int(min(UNASKED_STATES, UNASKED_CELLS / max(clients, 1.0)))


def _work(system: LayeredSystem) -> int:
    """States of the chain taken unasked, as a measure of its time; 0 if none would be."""
    if not no_product_form(system) or _surely_none(system):
        return 0
    point = first_of(system)
    states = states_of(point, program_of(point), _most_states(system))
    return 0 if states is None else max(states.count, LEAST_STATES)


def by_events(system: LayeredSystem) -> LayeredMeans:
    """Simulate point by point with one seed; the label has the widest interval.

    If more requests arrive from outside than can be served, waiting times are infinite.

    Raises
    ------
    GraphError
        For messages that pile up.
    """
    found, over, widest = [], [], 0.0
    for point in points_of(system):
        played = play_layers(point, EVENTS, seed=1)
        over.append(_is_over(played))
        parts = [field.name for field in fields(EntryMeans)]
        entries = {
            name: EntryMeans(*(getattr(one, part).mean for part in parts))
            for name, one in played.entries.items()
        }
        found.append(LayeredMeans(point, entries))
        rates = [one.throughput for one in (*played.clients.values(), *played.arrivals.values())]
        widest = max([widest, *(one.half_width() / one.mean for one in rates if one.mean)])
    note = f"simulated, {EVENTS:,} events; throughputs within {significant(100 * widest, 2)}% (95%)"
    means = joined(system, found).endless(np.reshape(over, system.shape))
    return replace(means, approximation=note)


def _is_over(played: Played) -> bool:
    """Whether requests from outside pile up; refuses messages that do."""
    name, system = played.piling_up, played.system
    if name and name not in reached(system, asked_from_outside(system)):
        msg = f"messages pile up at entry {name}; send fewer, or give its task more threads"
        raise GraphError(msg)
    return bool(name)


def in_layers(system: LayeredSystem) -> LayeredMeans:
    """Solve by decomposition, labelled with the measured errors.

    With arrivals from outside, the errors depend on the utilisation of the busiest pool; if more
    arrive than it can serve, waiting times are infinite.
    """
    means = by_layers(system)
    if not system.is_open:
        _check_messages(means)
        return replace(means, approximation=_note(means))
    over = np.asarray(means.from_outside().busiest()) >= 1
    return replace(means.endless(over), approximation=_note(means))


def _check_messages(means: LayeredMeans) -> None:
    """Refuse messages beyond what a resource can serve: senders do not wait, so they pile up."""
    if not any(dict(entry.sends()) for entry in means.system.entries.values()):
        return
    for name, use in means.uses().items():
        if np.any(np.greater(use, _OVER)):
            msg = (
                f"messages pile up: {name} would be {significant(100 * float(np.max(use)), 3)}% "
                "busy; send fewer, or give it more"
            )
            raise GraphError(msg)


def _note(means: LayeredMeans) -> str:
    """The label that says how large the errors may be."""
    if not means.system.is_open:
        return LAYERS_NOTE
    unlimited = all(np.all(np.isinf(one.servers)) for one in means.system.processors.values())
    servers = "unlimited" if unlimited else "limited"
    return open_note(float(np.max(means.busiest())), servers)
