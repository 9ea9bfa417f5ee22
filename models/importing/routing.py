"""Routes of JSIMg files: probabilities by class, and the visits that follow from them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.errors import ModelFileError, quoted
from headway.kinds import FloatArray
from headway.models.importing.network import JobClass
from headway.models.importing.numbers import number
from headway.models.importing.parameters import Entry, by_class
from headway.models.importing.sections import PASSED, SINK, Box

Links = Mapping[str, Sequence[str]]
"""Where the connections of each box lead."""

_SUMS = 1e-6
"""Within this the probabilities of a box sum to 1."""


_BY_STATE = (
    "RoundRobinStrategy",
    "ShortestQueueLengthRoutingStrategy",
    "ShortestResponseTimeRoutingStrategy",
    "FastestServiceRoutingStrategy",
)
"""Strategies that leave no choice where one connection leads on."""


def shares(
    boxes: Mapping[str, Box],
    links: Links,
    job_class: JobClass,
    classes: tuple[str, ...],
    source: str,
) -> FloatArray:
    """Probabilities of a class to go from each box to each, in their order."""
    position = {name: k for k, name in enumerate(boxes)}
    found = np.zeros((len(boxes), len(boxes)))
    for name, box in boxes.items():
        onward = [t for t in links.get(name, ()) if _admits(boxes[t], job_class)]
        routing = box.find("Router", "RoutingStrategy")
        by = {} if routing is None else by_class(routing, classes, f"{source}: {name}")
        if onward and job_class.name in by:
            place = f"{source}: {name}: routing of {job_class.name}"
            for target, share in _onward(by[job_class.name], onward, place).items():
                found[position[name], position[target]] += share
    return found


def _admits(box: Box, job_class: JobClass) -> bool:
    """Closed classes never go to a sink."""
    return box.role != SINK or job_class.population is None


def _onward(strategy: Entry, onward: Sequence[str], place: str) -> dict[str, float]:
    if strategy.kind == "RandomStrategy" or (strategy.kind in _BY_STATE and len(onward) == 1):
        return dict.fromkeys(onward, 1 / len(onward))
    if strategy.kind != "EmpiricalStrategy":
        told = strategy.name or strategy.kind
        msg = f"{place}: {quoted(told)}: not yet; headway has Random and Probabilities"
        raise ModelFileError(msg)
    return _empirical(strategy, onward, place)


def _empirical(strategy: Entry, onward: Sequence[str], place: str) -> dict[str, float]:
    """Probabilities as given; they must sum to 1 and go along connections."""
    listed = strategy.part("EmpiricalEntryArray")
    entries = [] if listed is None else [part for _, part in listed.parts]
    found: dict[str, float] = {}
    for each in entries:
        target = each.text("stationName") or ""
        share = number(each.text("probability"), f"{place}: to {quoted(target)}")
        if share and target not in onward:
            msg = f"{place}: no connection leads to {quoted(target)}"
            raise ModelFileError(msg)
        found[target] = found.get(target, 0.0) + share
    if abs(sum(found.values()) - 1) > _SUMS:
        msg = f"{place}: the probabilities sum to {sum(found.values()):g}; they must sum to 1"
        raise ModelFileError(msg)
    return {target: share for target, share in found.items() if share}


def between(boxes: Mapping[str, Box], matrix: FloatArray) -> FloatArray:
    """Leave out the boxes that are passed in no time: probabilities between all others."""
    return without(matrix, np.array([box.role == PASSED for box in boxes.values()]))


def without(matrix: FloatArray, passed: NDArray[np.bool_]) -> FloatArray:
    """Leave some rows and columns out: chances to go on past them.

    Raises `numpy.linalg.LinAlgError` where nothing goes on past them.
    """
    if not passed.any():
        return matrix
    inner = np.eye(int(passed.sum())) - matrix[np.ix_(passed, passed)]
    through = matrix[np.ix_(~passed, passed)] @ np.linalg.solve(
        inner, matrix[np.ix_(passed, ~passed)]
    )
    found = np.zeros_like(matrix)
    found[np.ix_(~passed, ~passed)] = matrix[np.ix_(~passed, ~passed)] + through
    return found


def visits_from(start: int, matrix: FloatArray) -> FloatArray:
    """Mean visits to each box of jobs that leave one, until they are back there or gone.

    Those to the box itself count the start only. Raises `numpy.linalg.LinAlgError` where jobs
    never come to an end.
    """
    reached = _reached(start, matrix)
    others = reached & (np.arange(len(matrix)) != start)
    found = np.zeros(len(matrix))
    found[start] = 1.0
    inner = np.eye(int(others.sum())) - matrix[np.ix_(others, others)].T
    found[others] = np.linalg.solve(inner, matrix[start, others])
    return found


def _reached(start: int, matrix: FloatArray) -> FloatArray:
    """Which boxes jobs that leave one come to."""
    reached = np.zeros(len(matrix), bool)
    todo = [start]
    while todo:
        new = np.flatnonzero((matrix[todo.pop()] > 0) & ~reached)
        reached[new] = True
        todo += new.tolist()
    return reached
