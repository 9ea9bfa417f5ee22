"""Numbers laid out as rows of operating points."""

from collections.abc import Iterable, Sequence

import numpy as np

from headway.kinds import Amount, FloatArray, check_domain


def spread(values: Amount, points: int) -> FloatArray:
    """A number, or a number for each operating point, as a row of points.

    Parameters
    ----------
    values
        A number, or shape (points,) or (1,).
    points
        Number of operating points.

    Examples
    --------
    >>> spread(2.0, 3).tolist()
    [2.0, 2.0, 2.0]
    """
    row = np.asarray(values, float)
    if row.size == points:
        return row.reshape(points)
    return np.broadcast_to(row, (points,))


def shape_over(values: Iterable[Amount]) -> tuple[int, ...]:
    """Shape of the operating points over which values are given; () if all are numbers.

    Examples
    --------
    >>> shape_over([2.0, np.ones(3), np.ones((2, 1))])
    (2, 3)
    """
    return np.broadcast_shapes(*{np.shape(v) for v in values if type(v) not in _NUMBERS})


_NUMBERS = frozenset({float, int, np.float64})


def rows(values: Sequence[Amount], shape: tuple[int, ...]) -> FloatArray:
    """Values as rows of operating points.

    Parameters
    ----------
    values
        Numbers, or arrays that broadcast to the shape.
    shape
        Shape of the operating points; () for a single one.

    Returns
    -------
    Array with a row for each value, and a column for each point.

    Examples
    --------
    >>> rows([2.0, np.array([3.0, 4.0])], (2,)).tolist()
    [[2.0, 2.0], [3.0, 4.0]]
    """
    if not shape:
        return np.array(values, float).reshape(-1, 1)
    table = np.empty((len(values), *shape))
    for row, value in enumerate(values):
        table[row] = value
    return table.reshape(len(values), -1)


def check_population(population: object) -> None:
    """Refuse a population that is not a whole number of 0 or more.

    Examples
    --------
    >>> check_population(2.5)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: population is 2.5; it must be a whole number of 0 or more
    """
    if type(population) is int and population >= 0:
        return
    check_domain(
        "population",
        population,
        lambda n: (n >= 0) & (n < np.inf) & (n == np.floor(n)),
        "a whole number of 0 or more",
    )
