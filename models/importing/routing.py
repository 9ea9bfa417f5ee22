"""Routes of JSIMg files by class: the visits that follow, and changes of class."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import ModelFileError, quoted
from headway.kinds import FloatArray
from headway.models.importing.foreign.network import ForeignClass, ForeignNetwork, Serves
from headway.models.importing.foreign.numbers import number
from headway.models.importing.foreign.parameters import ForeignParameter, by_class
from headway.models.importing.sections import PASSED, SINK, Section
from headway.numerals import digits
from headway.queueing.flows.traffic import reached

Links = Mapping[str, Sequence[str]]
"""Targets of the connections of each box."""

_SUMS = 1e-6
"""Tolerance for the sum of the probabilities of a box."""


_BY_STATE = (
    "RoundRobinStrategy",
    "ShortestQueueLengthRoutingStrategy",
    "ShortestResponseTimeRoutingStrategy",
    "FastestServiceRoutingStrategy",
)
"""Strategies without a choice where there is only one connection."""


def shares(
    boxes: Mapping[str, Section],
    links: Links,
    job_class: ForeignClass,
    classes: tuple[str, ...],
    source: str,
) -> FloatArray:
    """Routing probabilities of a class between all boxes, in their order."""
    position = {name: k for k, name in enumerate(boxes)}
    matrix = np.zeros((len(boxes), len(boxes)))
    for name, box in boxes.items():
        onward = [t for t in links.get(name, ()) if _admits(boxes[t], job_class)]
        routing = box.find("Router", "RoutingStrategy")
        by = {} if routing is None else by_class(routing, classes, f"{source}: {name}")
        if onward and job_class.name in by:
            place = f"{source}: {name}: routing of {job_class.name}"
            for target, share in _onward(by[job_class.name], onward, place).items():
                matrix[position[name], position[target]] += share
    return matrix


def _admits(box: Section, job_class: ForeignClass) -> bool:
    """Closed classes never go to a sink."""
    return box.role != SINK or job_class.population is None


def _onward(strategy: ForeignParameter, onward: Sequence[str], place: str) -> dict[str, float]:
    if strategy.kind == "RandomStrategy" or (strategy.kind in _BY_STATE and len(onward) == 1):
        return dict.fromkeys(onward, 1 / len(onward))
    if strategy.kind != "EmpiricalStrategy":
        strategy_name = strategy.name or strategy.kind
        msg = f"{place}: {quoted(strategy_name)} is not supported; use Random or Probabilities"
        raise ModelFileError(msg)
    return _empirical(strategy, onward, place)


def _empirical(strategy: ForeignParameter, onward: Sequence[str], place: str) -> dict[str, float]:
    """Probabilities as given; they must sum to 1 and follow connections."""
    listed = strategy.part("EmpiricalEntryArray")
    entries = [] if listed is None else [part for _, part in listed.parts]
    shares: dict[str, float] = {}
    for each in entries:
        target = each.text("stationName") or ""
        share = number(each.text("probability"), f"{place}: to {quoted(target)}")
        if share and target not in onward:
            msg = f"{place}: no connection leads to {quoted(target)}"
            raise ModelFileError(msg)
        shares[target] = shares.get(target, 0.0) + share
    if abs(sum(shares.values()) - 1) > _SUMS:
        msg = (
            f"{place}: the probabilities sum to {digits(sum(shares.values()))}; they must sum to 1"
        )
        raise ModelFileError(msg)
    return {target: share for target, share in shares.items() if share}


def between(boxes: Mapping[str, Section], matrix: FloatArray) -> FloatArray:
    """Eliminate the boxes that take no time: probabilities between all others."""
    return without(matrix, np.array([box.role == PASSED for box in boxes.values()]))


def without(matrix: FloatArray, passed: NDArray[np.bool_]) -> FloatArray:
    """Eliminate states: routing probabilities between the others.

    Raises `numpy.linalg.LinAlgError` if jobs never leave the eliminated states.
    """
    if not passed.any():
        return matrix
    inner = np.eye(int(passed.sum())) - matrix[np.ix_(passed, passed)]
    through = matrix[np.ix_(~passed, passed)] @ np.linalg.solve(
        inner, matrix[np.ix_(passed, ~passed)]
    )
    reduced = np.zeros_like(matrix)
    reduced[np.ix_(~passed, ~passed)] = matrix[np.ix_(~passed, ~passed)] + through
    return reduced


def visits_from(start: int, matrix: FloatArray) -> FloatArray:
    """Mean visits to each box by jobs that leave one, until they return or leave the network.

    Visits to the box itself count the start only. Raises `numpy.linalg.LinAlgError` if jobs never
    finish.
    """
    reached = _reached(start, matrix)
    others = reached & (np.arange(len(matrix)) != start)
    visits = np.zeros(len(matrix))
    visits[start] = 1.0
    inner = np.eye(int(others.sum())) - matrix[np.ix_(others, others)].T
    visits[others] = np.linalg.solve(inner, matrix[start, others])
    return visits


def _reached(start: int, matrix: FloatArray) -> FloatArray:
    """Boxes that jobs can reach from one."""
    reached = np.zeros(len(matrix), bool)
    todo = [start]
    while todo:
        new = np.flatnonzero((matrix[todo.pop()] > 0) & ~reached)
        reached[new] = True
        todo += new.tolist()
    return reached


SWITCH = "ClassSwitch"
"""The section that switches classes, and the placeholder source of the classes that it creates."""

_NEVER = 1e-12

At = tuple[str, str]
"""A class at a box."""


def switches(boxes: Mapping[str, Section]) -> bool:
    """Whether any box switches classes."""
    return any(SWITCH in box.sections for box in boxes.values())


def switched(
    bare: ForeignNetwork, boxes: Mapping[str, Section], links: Links, source: str
) -> ForeignNetwork:
    """Add routes by class to the stations and classes of a file."""
    entries, routes = class_ways(boxes, links, bare.classes, source)
    met = {(c, name) for c, by in entries.items() for name in by}
    met |= {end for way in routes for end in way}
    visits = {(name, c): 1.0 for c, name in met}
    return replace(bare, visits=visits, class_entries=entries, class_routes=routes)


def class_ways(
    boxes: Mapping[str, Section], links: Links, classes: Sequence[ForeignClass], source: str
) -> tuple[dict[str, dict[str, float]], dict[tuple[At, At], float]]:
    """Return where each class enters, and where it goes next as which class.

    Returns
    -------
    Shares of stations by class, and routing probabilities from each class and station reached.

    Raises
    ------
    ModelFileError
        For a class that changes before it visits any station, or jobs that never finish.
    """
    states = [(c.name, name) for c in classes for name in boxes]
    try:
        matrix = _matrix(boxes, links, classes, source)
    except np.linalg.LinAlgError:
        msg = (
            f"{source}: some jobs circulate forever through boxes that take no time; correct "
            "their routing"
        )
        raise ModelFileError(msg) from None
    entries = {c.name: _entries(boxes, c, states, matrix, source) for c in classes}
    starts = np.array([name in entries[c] for c, name in states])
    here = reached(matrix > _NEVER, starts)
    kept = np.array([boxes[name].role in set(Serves) for _, name in states]) & here
    routes = {
        (states[i], states[j]): float(matrix[i, j])
        for i, j in np.argwhere(matrix > _NEVER).tolist()
        if kept[i] and kept[j]
    }
    return entries, routes


def _matrix(
    boxes: Mapping[str, Section], links: Links, classes: Sequence[ForeignClass], source: str
) -> FloatArray:
    """Probabilities between classes at boxes that take time, sources and sinks; rows sum to 1."""
    names, count = tuple(c.name for c in classes), len(boxes)
    onward = np.array([shares(boxes, links, c, names, source) for c in classes])
    chances = np.zeros((len(names), count, len(names), count))
    for i, box in enumerate(boxes.values()):
        chances[:, i] = _turns(box, names, source)[:, :, None] * onward[None, :, i]
    passed = np.tile([box.role == PASSED for box in boxes.values()], len(names))
    matrix = without(chances.reshape(len(passed), -1), passed)
    total = matrix.sum(axis=1, keepdims=True)
    return np.asarray(matrix / np.where(np.abs(total - 1) < _SUMS, total, 1.0))


def _turns(box: Section, names: tuple[str, ...], source: str) -> FloatArray:
    """Probability that each class (row) leaves a box as each class (column)."""
    switch, place = box.find(SWITCH, "matrix"), f"{source}: {box.name}"
    if switch is None:
        return np.eye(len(names))
    rows = by_class(switch, names, place)
    return np.array([_row(rows.get(c), c, names, place) for c in names])


def _row(row: ForeignParameter | None, own: str, names: tuple[str, ...], place: str) -> list[float]:
    """Probabilities of one class; it stays the same where the file gives none."""
    if row is None:
        return [float(c == own) for c in names]
    cells = by_class(row, names, place)
    chances = [number(cells[c].value, f"{place}: {own}") if c in cells else 0.0 for c in names]
    if abs(sum(chances) - 1) > _SUMS:
        msg = (
            f"{place}: the probabilities of {quoted(own)} sum to {digits(sum(chances))}; they must "
            "sum to 1"
        )
        raise ModelFileError(msg)
    return chances


def _entries(
    boxes: Mapping[str, Section],
    job_class: ForeignClass,
    states: Sequence[At],
    matrix: FloatArray,
    source: str,
) -> dict[str, float]:
    """Where a class enters, or its reference station; none for a class created by switching."""
    if job_class.population is not None:
        if boxes[job_class.reference].role not in set(Serves):
            why = f"{job_class.reference} cannot be its reference station; use a queue or delay"
            msg = f"{source}: class {job_class.name}: {why}"
            raise ModelFileError(msg)
        return {job_class.reference: 1.0}
    if job_class.arrivals is None:
        return {}
    row = matrix[list(states).index((job_class.name, job_class.reference))]
    entered = {s: float(p) for s, p in zip(states, row, strict=True) if p > _NEVER}
    if any(c != job_class.name or boxes[name].role == SINK for c, name in entered):
        why = "changes class, or leaves, before it visits any station"
        msg = f"{source}: class {job_class.name} {why}; this is not supported"
        raise ModelFileError(msg)
    return {name: share for (_, name), share in entered.items()}
