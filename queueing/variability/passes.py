"""Numbers that stations pass on along sparse routes, forwards or backwards, by iteration.

For numbers x at each station (rows) as others see them (columns), with weights w of the routes,

    x = first + passing * (w x),

the solution is found row by row, each from the latest values of the others (Gauss-Seidel).

Source: Golub and Van Loan, *Matrix Computations*, 4th edition, 2013, section 11.2.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Places = NDArray[np.int64]

_SETTLED = 1e-14  # relative change at which rows have converged: digits only
_TOGETHER = 8  # columns that the kernel takes together
_AT_ONCE, _MOST = 100, 100  # rounds between checks for interrupts, and how many times: no digits
_ROUNDS = 4  # rounds between checks of which columns still move: for speed


def groups(ways: NDArray[np.bool_]) -> Places:
    """Number of the group of each station: stations on common loops are in the same one.

    Parameters
    ----------
    ways
        Whether a step leads from one station (rows) to another.

    Examples
    --------
    >>> first, second, third = groups(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]], bool))
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = np.nonzero(ways)
    steps = csr_array((np.ones(rows.size), (rows, columns)), (len(ways), len(ways)))
    return np.asarray(connected_components(steps, connection="strong")[1], np.int64)


def passed_on(weights: "csr_array", passing: FloatArray, first: FloatArray) -> FloatArray:
    """Solve x = first + passing * (weights @ x).

    Parameters
    ----------
    weights
        Sparse, of 0 or more.
    passing, first
        Factors and constants, shape (stations, columns).

    Raises
    ------
    GraphError
        If they do not converge.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> loop = csr_array(np.array([[0.0, 1.0], [0.5, 0.0]]))
    >>> passed_on(loop, np.ones((2, 1)), np.array([[0.0], [1.0]])).round(12).tolist()
    [[2.0], [2.0]]
    """
    starts, targets = (each.astype(np.int64) for each in (weights.indptr, weights.indices))
    count = first.shape[1]
    passing, first = _full(passing), _full(first)
    x, unsettled = first.copy(), np.zeros(1, np.int64)
    for _ in range(_MOST):
        _passing_rounds(
            starts, targets, weights.data, passing, first, _SETTLED, _AT_ONCE, x, unsettled
        )
        if not unsettled[0]:
            return x[:, :count]
    msg = "the flows between the stations do not converge; send fewer jobs round loops"
    raise GraphError(msg)


def _full(rows: FloatArray) -> FloatArray:
    """The rows with columns of 0 added, up to a multiple of what the kernel takes together."""
    lacking = -rows.shape[1] % _TOGETHER
    return np.ascontiguousarray(np.pad(rows, ((0, 0), (0, lacking))) if lacking else rows)


@compiled
def _passing_rounds(
    starts: Places,
    targets: Places,
    weights: FloatArray,
    passing: FloatArray,
    first: FloatArray,
    settled: float,
    most: int,
    x: FloatArray,
    unsettled: Places,
) -> None:
    """Continue from x for some rounds, and say if any number still moves beyond `settled`.

    The kernel takes rows one by one and columns until they settle; here all are taken together.
    """
    from scipy.sparse import csr_array

    unsettled[0] = 1
    sparse = csr_array((weights, targets, starts), (len(x), len(x)))
    for n in range(1, most + 1):
        following = sparse @ x
        following *= passing
        following += first
        if n % _ROUNDS == 0 or n == most:
            moves = np.abs(following - x) > settled * np.abs(following)
            unsettled[0] = moves.any()
        x[:] = following
        if not unsettled[0]:
            return
