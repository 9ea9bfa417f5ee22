"""A graph's steps, in an order in which each has what it needs."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.structure.parts.keys import Amounts, Values
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.components import AnyStep
from headway.models.structure.planning.steps import all_steps
from headway.records import dataclass

MOST_KEPT = 64
"""Most numbers found by searches that a plan stores."""


_Asked: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""Targets, and the names of given values."""


@dataclass(frozen=True)
class _Run:
    """How to calculate some targets: constants, and the steps that run each time."""

    constants: Amounts
    steps: tuple[AnyStep, ...]


def _calculated(steps: Iterable[AnyStep], values: Amounts) -> Amounts:
    """Add the result of each step to the values."""
    for step in steps:
        values[step.key] = step.calculate(values)
    return values


def in_order(graph: str, needs: Mapping[str, frozenset[str]]) -> Iterable[str]:
    """Names, each after those that it needs: depth first, so that few are followed twice.

    Parameters
    ----------
    graph
        Its name, for a refusal.
    needs
        The names that each name needs, which may be names that need nothing.

    Raises
    ------
    GraphError
        If names depend on each other in a circle.

    Examples
    --------
    >>> list(in_order("one", {"area": frozenset({"side"}), "side": frozenset()}))
    ['side', 'area']
    """
    done: dict[str, None] = {}
    for first in needs:
        path = {} if first in done else {first: iter(needs[first])}
        while path:
            name, rest = path.popitem()
            for other in rest:
                if other not in done:
                    path[name] = rest
                    if other in path:
                        raise _circle(graph, [*path], other)
                    path[other] = iter(needs.get(other, ()))
                    break
            else:
                done[name] = None
    return done


def _circle(graph: str, path: list[str], name: str) -> GraphError:
    """The refusal of a name that leads back to itself."""
    circle = " -> ".join([*path[path.index(name) :], name])
    msg = f"{graph}: these numbers depend on each other in a circle: {circle}; break the circle"
    return GraphError(msg)


class Plan:
    """The steps of a graph, in an order in which each has what it needs.

    Raises
    ------
    GraphError
        If numbers depend on each other in a circle.
    """

    def __init__(self, graph: Structure) -> None:
        self._steps: dict[str, AnyStep] = {step.key: step for step in all_steps(graph)}
        needs = {name: step.needs for name, step in self._steps.items()}
        self._order = tuple(in_order(graph.name, needs))
        self._constant = self._constants()
        self._runs: dict[_Asked, _Run] = {}
        self._later: dict[_Asked, dict[str, Callable[[Values], Any]]] = {}
        self._kept: dict[Hashable, float] = {}

    def calculates(self, name: str) -> bool:
        """Whether one of the steps calculates a name."""
        return name in self._steps

    def needed(self, targets: Iterable[str], given: Iterable[str] = ()) -> frozenset[str]:
        """Everything on which the targets depend, directly or not, beyond what is given."""
        needed: set[str] = set()
        todo = list(targets)
        known = set(given)
        while todo:
            name = todo.pop()
            if name not in needed:
                needed.add(name)
                if name not in known and name in self._steps:
                    todo.extend(self._steps[name].needs)
        return frozenset(needed)

    def run(self, given: Mapping[str, Amount], targets: Iterable[str]) -> Amounts:
        """Calculate the targets, and what they depend on, from given values."""
        key = (frozenset(targets), frozenset(given))
        if key not in self._runs:
            wanted = self.needed(*key) - key[1]
            steps = [self._known(name) for name in self._order if name in wanted]
            self._runs[key] = self._prepared(steps, key[1])
        run = self._runs[key]
        return _calculated(run.steps, {**given, **run.constants})

    def later(self, values: Values, targets: Iterable[str]) -> dict[str, Callable[[Values], Any]]:
        """A function for those targets not yet calculated, and for what they depend on."""
        key = (frozenset(targets), frozenset(values))
        if key not in self._later:
            missing = self.needed(*key) - key[1]
            self._later[key] = {name: self._known(name).calculate for name in missing}
        return self._later[key]

    def _constants(self) -> frozenset[str]:
        """Steps whose results never change, as they need nothing."""
        constant: set[str] = set()
        for name in self._order:
            if name in self._steps and self._steps[name].needs <= constant:
                constant.add(name)
        return frozenset(constant)

    def _prepared(self, steps: list[AnyStep], given: frozenset[str]) -> "_Run":
        """Calculate what never changes once; everything is new if constants are given."""
        if given & self._constant:
            return _Run({}, tuple(steps))
        once = [step for step in steps if step.key in self._constant]
        each = tuple(step for step in steps if step.key not in self._constant)
        return _Run(_calculated(once, {}), each)

    def _known(self, name: str) -> AnyStep:
        if name not in self._steps:
            msg = f"{name} is used, but only a network has it; add stations"
            raise GraphError(msg)
        return self._steps[name]

    def kept(self, key: Hashable, calculate: Callable[[], float]) -> float:
        """A stored result by key; only the most recent ones are stored.

        Parameters
        ----------
        key
            Everything that determines the number, by value; no arrays.
        calculate
            Calculates the number if it is not stored.
        """
        value = self._kept.pop(key, None)
        self._kept[key] = value = calculate() if value is None else value
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return value
