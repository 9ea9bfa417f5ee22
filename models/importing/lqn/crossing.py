"""Forks and joins of activities that are not nested: a join of branches of several forks.

The activities between two of them are a branch, which waits for the branches that lead to its fork
or join.
"""

from collections import deque
from typing import Protocol, TypeAlias

from headway.errors import ModelFileError
from headway.queueing.layers.flow import NOBODY, Flow, Series, Together, Waits
from headway.records import dataclass


@dataclass(frozen=True)
class Join:
    """A join of parallel branches: the activities before it, and how many are needed."""

    number: int
    names: tuple[str, ...]
    needed: int


@dataclass(frozen=True)
class Split:
    """A fork whose branches meet those of another: the activities to which it leads."""

    names: tuple[str, ...]


Met: TypeAlias = Join | Split | None
"""Where a path of activities meets other paths; None if it ends."""


class Activities(Protocol):
    """A graph of activities."""

    def follow(self, name: str, entry: str) -> tuple[Flow, Met]:
        """The flow from an activity to where it meets others."""

    def behind(self, join: Join, entry: str) -> tuple[list[Flow], Met]:
        """The flow after a join."""

    def wrong(self, what: str) -> ModelFileError:
        """The error of something in the graph."""


class Crossing:
    """The flow from a fork whose branches do not meet in one join.

    Parameters
    ----------
    activities, entry
        The graph, and the entry whose flow is followed.
    """

    def __init__(self, activities: Activities, entry: str) -> None:
        self.activities, self.entry = activities, entry
        self.branches: list[Flow] = []
        self.behind: list[Waits] = []
        self.forks: list[object] = []
        self.come: dict[Join, list[int]] = {}
        self.todo: deque[tuple[str, Waits, object]] = deque()
        self.seen: set[str] = set()

    def of(self, names: tuple[str, ...]) -> Together | None:
        """The branches of a fork to these activities; None if a join needs other branches as well.

        Raises
        ------
        ModelFileError
            For activities in a loop, and a join of some branches together with all of an inner
            fork.
        """
        self._split(names, NOBODY)
        while self.todo:
            name, waits, fork = self.todo.popleft()
            if name in self.seen:
                msg = f"its activities go round to {name}; use a loop"
                raise self.activities.wrong(msg)
            self.seen.add(name)
            self._add(*self.activities.follow(name, self.entry), waits, fork)
        if any(len(join.names) > len(come) for join, come in self.come.items()):
            return None
        return Together(tuple(self.branches), len(self.branches), tuple(self.behind))

    def _split(self, names: tuple[str, ...], waits: Waits) -> None:
        fork = object()
        self.todo.extend((name, waits, fork) for name in names)

    def _add(self, flow: Flow, met: Met, waits: Waits, fork: object) -> None:
        number = len(self.branches)
        self.branches.append(flow)
        self.behind.append(waits)
        self.forks.append(fork)
        if isinstance(met, Split):
            self._split(met.names, ((number,), 1))
        elif met is not None:
            come = self.come.setdefault(met, [])
            come.append(number)
            if len(come) == len(met.names):
                self._join(met, come)

    def _join(self, join: Join, come: list[int]) -> None:
        forks = [self.forks[number] for number in come]
        alike = len({*forks}) == 1
        if len({*forks}) not in (1, len(forks)) and join.needed == len(forks):
            msg = (
                f"the join of {', '.join(join.names)} ends several branches of one fork and others "
                "beside them; join those of the fork first"
            )
            raise self.activities.wrong(msg)
        rest, met = self.activities.behind(join, self.entry)
        waits = (tuple(come), join.needed)
        if rest:
            self._add(Series(tuple(rest)), met, waits, forks[0] if alike else object())
        elif isinstance(met, Split):
            self._split(met.names, waits)
