"""Many stations at once, as arrays: rows are classes that visit them, columns operating points.

Weighted sums over some of the rows lead from one kind of row to the next.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.layers.numerics.finite import ROWS, finite_stations, first_to_leave
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

NEVER = 1e-300
"""A rate so small that it stands for 0 in denominators."""

_GAUSS, _SHARES = np.polynomial.legendre.leggauss(24)
_NODES, _WEIGHTS = (1 + _GAUSS) / (1 - _GAUSS), 2 * _SHARES / (1 - _GAUSS) ** 2
"""Nodes and weights of integrals over t from 0 to infinity, with t = (1 + x) / (1 - x)."""

Column = Callable[[Amount], FloatArray]
"""Function from a number to a row with one value for each operating point."""


def stacked(numbers: Sequence[Amount], column: Column) -> FloatArray:
    """Numbers as rows, of a single column if they are the same at all operating points."""
    if not any(isinstance(number, np.ndarray) and number.ndim for number in numbers):
        return np.array(numbers, float).reshape(-1, 1)
    return np.stack(list(map(column, numbers)))


def counted(numbers: Sequence[Amount], column: Column) -> IntArray:
    """Whole numbers as rows, of a single column if they are the same at all operating points."""
    return stacked(numbers, column).astype(np.int64)


@compiled
def weighted_sums(
    rows: IntArray,
    begins: IntArray,
    weights: FloatArray,
    values: FloatArray,
    points: int,  # noqa: ARG001 - the kernel's
    result: FloatArray,
) -> None:
    """Weighted sums over rows, of one or more tables of rows.

    Parameters
    ----------
    rows
        The row of each term.
    begins
        Index of the first term of each sum, which has one or more; one more number than there are
        sums.
    weights
        Weight of each term, shape (terms, 1) or (terms, points).
    values
        Shape (..., rows, points).
    points
        Number of points.
    result
        The sums, shape (..., sums, points).

    Examples
    --------
    >>> rows, begins, found = np.array([0, 2, 1]), np.array([0, 2, 3]), np.zeros((2, 1))
    >>> weights, values = np.array([[1.0], [0.5], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> weighted_sums(rows, begins, weights, values, 1, found)
    >>> found.ravel().tolist()
    [3.0, 2.0]
    """
    result[:] = np.add.reduceat(values.take(rows, axis=-2) * weights, begins[:-1], axis=-2)


class Sums:
    """Weighted sums over rows.

    Parameters
    ----------
    groups
        The rows of each sum, with their weights.
    column
        Function that turns a weight into a row.

    Attributes
    ----------
    rows, sums, weights
        For each term: its row, its sum, and its weight.
    begins
        Index of the first term of each sum; one more number than there are sums.

    Examples
    --------
    >>> sums = Sums([{0: 1.0, 2: 0.5}, {}], lambda weight: np.full(1, weight))
    >>> sums.of(np.array([[1.0], [2.0], [4.0]])).tolist()
    [[3.0], [0.0]]
    """

    def __init__(self, groups: Sequence[Mapping[int, Amount]], column: Column) -> None:
        full = [group or {0: 0.0} for group in groups]
        each = [weight for group in full for weight in group.values()]
        self.rows = np.array([row for group in full for row in group], int)
        sizes = [len(group) for group in full]
        self.sums = np.repeat(np.arange(len(full)), sizes)
        self.begins = np.cumsum([0, *sizes]).astype(np.int64)
        self.weights = stacked(each, column)

    def of(self, values: FloatArray) -> FloatArray:
        """Sums of values of the shape (..., rows, points)."""
        *tables, _, points = values.shape
        result = np.empty((*tables, len(self.begins) - 1, points))
        weighted_sums(self.rows, self.begins, self.weights, values, points, result)
        return result

    def at(self, values: FloatArray) -> FloatArray:
        """The value of each term, without its weight."""
        return values.take(self.rows, axis=-2)

    def over(self, values: FloatArray) -> FloatArray:
        """Sums of values given for each term, times the weights."""
        return self.summed(values * self.weights)

    def summed(self, values: FloatArray) -> FloatArray:
        """Sums of values given for each term, which include the weights."""
        return np.asarray(np.add.reduceat(values, self.begins[:-1], axis=-2))


@dataclass(frozen=True, eq=False)
class Seen:
    """Mean of max(0, k - m + 1), P(k >= m), P(k >= m - 1), and mean members of classes.

    And ``fewer``: for each class, the first of these without one of its members.
    """

    beyond: FloatArray
    full: FloatArray
    nearly: FloatArray
    means: FloatArray
    fewer: FloatArray


@dataclass(frozen=True, eq=False)
class Odds:
    """S / Z of each class, and the ratios of coefficients of those that have their own."""

    each: FloatArray
    ratios: FloatArray


class Stations:
    """Servers visited by classes.

    Parameters
    ----------
    begins
        Index of the first class at each; one more number than there are servers.
    servers, most, law
        m of each, and members n and the row of ratios of each class, as in `finite_stations`; the
        first two as rows.
    """

    def __init__(self, begins: IntArray, servers: IntArray, most: IntArray, law: IntArray) -> None:
        self.begins, self.servers, self.most, self.law = begins, servers, most, law
        self.owner = np.repeat(np.arange(len(servers)), np.diff(begins))
        self.tallest = servers.max(axis=1)
        inside = (self.tallest + 1) * (np.diff(begins) + 2)
        self._inside = np.zeros(int(inside.max(initial=0)))
        largest = np.add.reduceat(most, begins[:-1], axis=0).max(initial=0)
        self._work = np.zeros(ROWS * (int(largest) + 1))

    def by_server(self, values: FloatArray) -> FloatArray:
        """Sums over the classes of each server."""
        return np.asarray(np.add.reduceat(values, self.begins[:-1], axis=0))

    def seen(self, odds: Odds, rates: FloatArray | None = None) -> Seen:
        """What an arriving job sees, with rates c(1) to c(m) for each server, or min(k, m)."""
        shape = len(self.servers), odds.each.shape[1]
        found = Seen(*np.zeros((3, *shape)), *np.zeros((2, *odds.each.shape)))
        results = found.beyond, found.full, found.nearly, found.means, found.fewer
        freed = np.full(len(self.servers), -1, np.int64)
        if rates is None:
            rates = np.zeros((0, shape[1]))
        else:
            freed = np.cumsum(self.tallest) - self.tallest
        numbers = self.begins, self.servers, self.most, self.law, freed
        each, ratios, rates = map(np.ascontiguousarray, (odds.each, odds.ratios, rates))
        finite_stations(*numbers, each, ratios, rates, *results, self._work)
        return found

    def mixed(self, seen: Seen, values: FloatArray) -> FloatArray:
        """Mean of a value over the classes at each server, weighted by the members present."""
        total = np.maximum(self.by_server(seen.means), NEVER)
        return np.asarray(self.by_server(seen.means * values) / total)

    def first_free(self, busy: FloatArray, service: FloatArray) -> FloatArray:
        """Mean time until the first of all m busy servers is free, at each server.

        Classes are served in proportion to ``busy``, their mean members in service: in order of
        arrival all wait equally long, so that those present are mostly of a class that comes often.
        """
        found = np.zeros((len(self.servers), service.shape[1]))
        given = self.begins, self.servers, self.most, busy, np.maximum(service, NEVER)
        first_to_leave(*given, _NODES, _WEIGHTS, found, self._inside)
        return found
