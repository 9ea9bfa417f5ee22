"""The routes of a graph: a matrix of probabilities, single routes, or both."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from threading import Lock
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import GraphError, nearest
from headway.kinds import Amount, FloatArray
from headway.models.language.formula import of_number
from headway.models.language.frozen import Kept
from headway.models.structure.parts.components import Route
from headway.models.structure.parts.keys import Key, share_of
from headway.queueing.flows.traffic import SUM_TOLERANCE, check_matrix
from headway.records import dataclass

MOST_SHOWN = 500
"""Most routes that a table lists or a drawing shows."""

_GROWING = Lock()


@dataclass(frozen=True, eq=False)
class Block(Kept):
    """A matrix of probabilities between stations, from rows to columns."""

    names: tuple[str, ...] = ()
    matrix: FloatArray | None = None

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Row of each station."""
        return {name: k for k, name in enumerate(self.names)}

    def __getitem__(self, ends: tuple[str, str]) -> float:
        source, target = (self.place.get(name) for name in ends)
        if self.matrix is None or source is None or target is None:
            return 0.0
        return float(self.matrix[source, target])

    def routes(self) -> Iterator[Route]:
        """Routes with a positive probability, row by row."""
        if self.matrix is not None:
            for i, j in zip(*np.nonzero(self.matrix), strict=True):
                yield Route(self.names[i], self.names[j], of_number(float(self.matrix[i, j])))


class Routes(Sequence[Route]):
    """Routes in order, each from one station to another; those of the matrix come first.

    A longer copy shares its list with the shorter one, so that adding a route does not touch the
    others. The shorter one does not change: it knows how many of the routes are its own.

    Parameters
    ----------
    single
        Routes with a formula each.
    block
        The probabilities of the other routes as a matrix.

    Examples
    --------
    >>> from headway.models.language.formula import formula
    >>> few = Routes([Route("cpu", "disk", formula("p"))])
    >>> more = few.adding(Route("disk", "cpu", formula("1")))
    >>> len(few), len(more), few.between("disk", "cpu")
    (1, 2, None)
    """

    def __init__(self, single: Iterable[Route] = (), block: Block | None = None) -> None:
        self._list = list(single)
        self._places = {(r.source, r.target): k for k, r in enumerate(self._list)}
        self._own = len(self._list)
        self.block = Block() if block is None else block

    @property
    def single(self) -> tuple[Route, ...]:
        """The routes given one by one."""
        return tuple(islice(self._list, self._own))

    def between(self, source: str, target: str) -> Route | None:
        """The route from one station to another; None if there is none."""
        place = self._places.get((source, target), self._own)
        if place < self._own:
            return self._list[place]
        chance = self.block[source, target]
        return Route(source, target, of_number(chance)) if chance else None

    def adding(self, route: Route) -> "Routes":
        """These routes and one more.

        Raises
        ------
        GraphError
            For a route given twice.
        """
        if self.between(route.source, route.target):
            msg = (
                f"route {route.source} -> {route.target} is given twice; give it once, with "
                "the sum of the probabilities"
            )
            raise GraphError(msg)
        with _GROWING:
            alone = len(self._list) == self._own
            longer = self._sharing() if alone else Routes(self.single, self.block)
            longer._places[route.source, route.target] = len(longer._list)
            longer._list.append(route)
            longer._own += 1
        return longer

    def _sharing(self) -> "Routes":
        """A copy of the same length that shares the list."""
        other = Routes((), self.block)
        other._list, other._places, other._own = self._list, self._places, self._own
        return other

    def with_matrix(
        self, names: Sequence[str], matrix: ArrayLike, *, closed: bool = False
    ) -> "Routes":
        """These routes and a matrix over all stations; no job may leave if `closed`.

        Raises
        ------
        GraphError
            For a matrix that is not one of probabilities, a second one, or one with routes that
            were given before.
        """
        if self.block.matrix is not None:
            msg = "a matrix of routes is already given; put all routes into one matrix"
            raise GraphError(msg)
        block = Block(tuple(names), _probabilities(names, matrix, closed=closed))
        for route in self.single:
            if block[route.source, route.target]:
                ends = f"{route.source} -> {route.target}"
                msg = f"route {ends} is given twice, once in a matrix; delete one"
                raise GraphError(msg)
        return Routes(self.single, block)

    def cut(self, station: str) -> "Routes":
        """Leave out the routes to a station."""
        single = [route for route in self.single if route.target != station]
        if self.block.matrix is None:
            return Routes(single)
        matrix = self.block.matrix.copy()
        matrix[:, self.block.place[station]] = 0.0
        return Routes(single, Block(self.block.names, matrix))

    @cached_property
    def loops(self) -> frozenset[str]:
        """Stations with a route directly back to themselves."""
        own = {r.source for r in self.single if r.source == r.target}
        if self.block.matrix is None:
            return frozenset(own)
        back = np.flatnonzero(self.block.matrix.diagonal())
        return frozenset(own | {self.block.names[k] for k in back})

    @cached_property
    def changing(self) -> tuple[Route, ...]:
        """Routes whose probability is a formula, not a number."""
        return tuple(route for route in self.single if route.probability.constant is None)

    @cached_property
    def onward(self) -> Mapping[str, frozenset[str]]:
        """Stations to which each station's routes lead."""
        block, ways = self.block, dict[str, frozenset[str]]()
        if block.matrix is not None:
            names = np.array(block.names, object)
            ways = {name: frozenset(names[row > 0].tolist())
                    for name, row in zip(block.names, block.matrix, strict=True)}  # fmt: skip
        singles: dict[str, set[str]] = {}
        for route in self.single:
            singles.setdefault(route.source, set()).add(route.target)
        return ways | {name: ways.get(name, frozenset()) | to for name, to in singles.items()}

    @cached_property
    def elsewhere(self) -> Mapping[str, frozenset[str]]:
        """Stations to which each station's routes lead, without direct returns."""
        return {n: to - {n} if n in to else to for n, to in self.onward.items()}

    def behind(self, names: Iterable[str]) -> set[str]:
        """Stations that jobs reach after any of the given ones; direct returns do not count.

        Examples
        --------
        >>> from headway.models.language.formula import formula
        >>> there = Routes([Route("cpu", "disk", formula("p"))])
        >>> both = there.adding(Route("disk", "cpu", formula("1")))
        >>> sorted(both.behind(["cpu"])), sorted(there.behind(["cpu"]))
        (['cpu', 'disk'], ['disk'])
        """
        return reached_from(names, lambda name: self.elsewhere.get(name, frozenset()))

    def fixed(self, names: Sequence[str]) -> FloatArray:
        """Probabilities that are numbers, as a matrix from rows to columns; 0 for the others."""
        place = {name: k for k, name in enumerate(names)}
        matrix = np.zeros((len(names), len(names)))
        if self.block.matrix is not None:
            rows = [place[name] for name in self.block.names]
            matrix[np.ix_(rows, rows)] = self.block.matrix
        for route in self.single:
            if route.probability.constant is not None:
                matrix[place[route.source], place[route.target]] = route.probability.constant
        matrix.flags.writeable = False
        return matrix

    def chances(self, values: Mapping[str, Amount]) -> dict[tuple[str, str], Amount]:
        """Probability of each route; for formulas, as calculated."""
        changing = {(r.source, r.target): share_at(r).of(values) for r in self.changing}
        return {
            (r.source, r.target): changing[r.source, r.target]
            if r.probability.constant is None
            else r.probability.constant
            for r in self
        }

    def __len__(self) -> int:
        matrix = self.block.matrix
        return self._own + (0 if matrix is None else int(np.count_nonzero(matrix)))

    def __iter__(self) -> Iterator[Route]:
        return chain(self.block.routes(), islice(self._list, self._own))

    @overload
    def __getitem__(self, place: int) -> Route: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Route, ...]: ...
    def __getitem__(self, place: int | slice) -> Route | tuple[Route, ...]:
        return tuple(self)[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Routes) and self.block == other.block:
            return self.single == other.single
        return isinstance(other, Routes | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self)) if len(self) < 10 else f"Routes({len(self)} routes)"

    def __reduce__(self) -> Amount:
        return Routes, (self.single, self.block)


def check_ends(stations: Mapping[str, Amount], source: str, target: str) -> None:
    """Refuse a route from or to a station that does not exist."""
    for station in (source, target):
        if station not in stations:
            why = f"there is no station {station!r}{nearest(station, stations)}"
            msg = f"route {source} -> {target}: {why}"
            raise GraphError(msg)


def routes_of(given: "Routes | FloatArray | Iterable[Route]", names: Sequence[str]) -> Routes:
    """Take routes as given, one by one or as a matrix."""
    if isinstance(given, Routes):
        return given
    return Routes().with_matrix(names, given) if isinstance(given, np.ndarray) else Routes(given)


def reached_from(names: Iterable[str], onward: Callable[[str], Collection[str]]) -> set[str]:
    """Names reached by steps from the given ones, which count only if they are reached again.

    Examples
    --------
    >>> sorted(reached_from(["a"], {"a": ["b"], "b": ["b", "c"], "c": []}.__getitem__))
    ['b', 'c']
    """
    reached: set[str] = set()
    todo = list(names)
    while todo:
        new = frozenset(onward(todo.pop())) - reached
        reached |= new
        todo += new
    return reached


def turned(onward: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The sources of steps, by target.

    Examples
    --------
    >>> turned({"a": ["b", "c"], "b": ["c"]}) == {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    True
    """
    sources: dict[str, set[str]] = {name: set() for name in onward}
    for source, targets in onward.items():
        for target in targets:
            sources.setdefault(target, set()).add(source)
    return sources


def share_at(route: Route) -> Key[Amount]:
    """The key of a route's probability."""
    return share_of(route.source, route.target)


def _probabilities(names: Sequence[str], matrix: ArrayLike, *, closed: bool) -> FloatArray:
    """Read a matrix of probabilities; refuse any other matrix."""
    try:
        if np.iscomplexobj(matrix):
            raise TypeError
        numbers = np.array(matrix, float)
    except (TypeError, ValueError):
        msg = "a matrix of routes must contain numbers only; use route() for a formula"
        raise GraphError(msg) from None
    if not (closed and numbers.shape == (len(names),) * 2 and _sum_to_one(numbers)):
        check_matrix(names, numbers)
    return numbers


def _sum_to_one(matrix: FloatArray) -> bool:
    """Whether all rows are probabilities that sum to 1."""
    rows = np.abs(matrix.sum(axis=1) - 1) <= SUM_TOLERANCE
    return bool((matrix >= 0).all() and rows.all())
