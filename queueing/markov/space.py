"""The states of a Markov chain, explored from one, and their stationary probabilities."""

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.markov.sweeps import swept_shares
from headway.records import dataclass

State: TypeAlias = Hashable

Moves: TypeAlias = Callable[[State], Iterable[tuple[State, int, float]]]
"""Transitions out of a state: the next state, the index of the rate, and its multiple."""


@dataclass(frozen=True)
class StateSpace:
    """The states of a chain and the transitions between them, for any rates.

    Parameters
    ----------
    states
        In the order in which they were found.
    source, target, rate
        For each transition: the states that it leads from and to, and the index of its rate.
    times
        The multiple of that rate.
    """

    states: tuple[State, ...]
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    rate: NDArray[np.intp]
    times: FloatArray


def explore(start: State, moves: Moves, most: int) -> StateSpace | None:
    """All states that can be reached from an initial one.

    Parameters
    ----------
    start, moves
        The initial state, and the transitions out of a state.
    most
        The largest number of states to accept, 1 or more.

    Returns
    -------
    None if there are more states.

    Examples
    --------
    >>> def birth_and_death(n):
    ...     yield from [(n + 1, 0, 1.0)] * (n < 2)
    ...     yield from [(n - 1, 1, 1.0)] * (n > 0)
    >>> explore(0, birth_and_death, 10).states, explore(0, birth_and_death, 2)
    ((0, 1, 2), None)
    """
    number, todo = {start: 0}, [start]
    rows: list[tuple[int, int, int, float]] = []
    while todo:
        state = todo.pop()
        for following, which, often in moves(state):
            if following not in number:
                number[following] = len(number)
                todo.append(following)
                if len(number) > most:
                    return None
            rows.append((number[state], number[following], which, often))
    source, target, rate, times = zip(*rows, strict=True) if rows else ((), (), (), ())
    ends = np.array(source, np.intp), np.array(target, np.intp)
    return StateSpace(tuple(number), *ends, np.array(rate, np.intp), np.array(times, float))


def stationary(space: StateSpace, rates: FloatArray) -> FloatArray:
    """Share of time in each state, from the balance equations.

    Parameters
    ----------
    space
        States and transitions.
    rates
        The rates by index, 0 or more, shape (rates,) [1/s].

    Raises
    ------
    InvalidParameter
        As for `shares_of_time`: if there are several steady states.

    Examples
    --------
    >>> import numpy as np
    >>> two = explore(0, lambda n: [(1 - n, n, 1.0)], 10)
    >>> stationary(two, np.array([1.0, 3.0])).tolist()
    [0.75, 0.25]
    """
    flow = rates[space.rate] * space.times
    return shares_of_time(space.source, space.target, flow, len(space.states))


def shares_of_time(
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    flow: FloatArray,
    count: int,
    recurrent: NDArray[np.bool_] | None = None,
) -> FloatArray:
    """Share of time in each state, from the rates between them.

    Parameters
    ----------
    source, target, flow
        For each transition: the states that it leads from and to, and its rate, 0 or more [1/s];
        transitions from a state to itself have no effect.
    count
        Number of states.
    recurrent
        From `recurrent_states` for the same transitions at other rates.

    Raises
    ------
    InvalidParameter
        If the shares depend on where the chain starts.
    GraphError
        If some rates vanish in rounding beside others.

    Examples
    --------
    >>> import numpy as np
    >>> shares_of_time(np.array([0, 1]), np.array([1, 0]), np.array([1.0, 3.0]), 2).tolist()
    [0.75, 0.25]
    """
    if count == 1:
        return np.ones(1)
    some = (flow > 0) & (source != target)
    source, target, flow = source[some], target[some], flow[some]
    if recurrent is None:
        recurrent = recurrent_states(source, target, count)
    if count >= MANY:
        with suppress(RuntimeError):
            return _swept(source, target, flow, recurrent)
    pinned = int(np.flatnonzero(recurrent)[0])
    with (
        np.errstate(over="ignore", invalid="ignore"),
        suppress(RuntimeError, np.linalg.LinAlgError),
    ):
        shares = _relative_to(source, target, flow, count, pinned)
        shares = shares / shares.sum()
        moved = flow * shares[source]
        left = np.bincount(source, moved, count) - np.bincount(target, moved, count)
        if np.abs(left).max() <= _UNEVEN * moved.max():
            return np.asarray(shares / shares.sum())
    # a very unlikely reference state would cost the digits of the others
    try:
        shares = _normalised(source, target, flow, count)
    except RuntimeError:
        msg = "its rates are too far apart for its Markov chain; use another method"
        raise GraphError(msg) from None
    return np.asarray(shares / shares.sum())


MANY = 2_000
"""Number of states from which sweeps are used: smaller chains are eliminated as fast. Speed
only.
"""

FULL = 150
"""Largest number of states for dense matrices; in larger ones most numbers are 0. Speed only."""

TOO_MANY = 30_000
"""Number of states above which elimination would fill the memory."""

FEW = 12
"""Corrections of sweeps to try if elimination is possible too, and FEW x FEW otherwise: most
chains settle in 3 to 10. Speed only.
"""

_UNEVEN = 1e-11
"""Imbalance of a state that is accepted, over the largest flow; otherwise the chain is solved
anew, with pivoting that keeps the digits. Digits only.
"""


def _swept(
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    flow: FloatArray,
    recurrent: NDArray[np.bool_],
) -> FloatArray:
    """Shares by sweeps; if these are slow and elimination is possible, by elimination.

    Raises
    ------
    GraphError
        If there are too many states for elimination, and rates are too far apart for sweeps.
    """
    count = len(recurrent)
    out = np.asarray(np.bincount(source, flow, count), float)
    balance = csr_array((flow, (target, source)), (count, count))
    try:
        return swept_shares(balance, out, recurrent, FEW if count <= TOO_MANY else FEW**2)
    except RuntimeError:
        if count <= TOO_MANY:
            raise
    msg = "its rates are too far apart for its Markov chain; use another method"
    raise GraphError(msg)


def _normalised(
    source: NDArray[np.integer], target: NDArray[np.integer], flow: FloatArray, count: int
) -> FloatArray:
    """Solve with normalisation in place of one balance equation: a dense row, which is slow."""
    every, out = np.arange(count), np.bincount(source, flow, count)
    kept = target > 0
    rows = np.concatenate([target[kept], every[1:], np.zeros(count, int)])
    columns = np.concatenate([source[kept], every[1:], every])
    values = np.concatenate([flow[kept], -out[1:], np.full(count, out.max())])
    right = np.zeros(count)
    right[0] = out.max()
    shares = splu(csc_array((values, (rows, columns)), (count, count)).tocsc()).solve(right)
    return np.maximum(shares, 0.0)


def _relative_to(
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    flow: FloatArray,
    count: int,
    pinned: int,
) -> FloatArray:
    """Solve for probabilities relative to that of one state."""
    if count <= FULL:
        return _by_rows(source, target, flow, count, pinned)
    others = np.delete(np.arange(count), pinned)
    into, out = target != pinned, np.bincount(source, flow, count)
    ends = np.concatenate([target[into], others]), np.concatenate([source[into], others])
    values = np.concatenate([flow[into], -out[others]])
    balance = csc_array((values, ends), (count, count))
    pin = csc_array(([1.0], ([pinned], [pinned])), (count, count))
    right = np.zeros(count)
    right[pinned] = 1.0
    shares: FloatArray = np.maximum(splu((balance + pin).tocsc()).solve(right), 0.0)
    return shares


def _by_rows(
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    flow: FloatArray,
    count: int,
    pinned: int,
) -> FloatArray:
    """As `_relative_to`, with a dense matrix."""
    cells = np.bincount(target * count + source, flow, count * count)
    balance = cells.reshape(count, count)
    balance[np.diag_indices(count)] -= np.bincount(source, flow, count)
    balance[pinned] = 0.0
    balance[pinned, pinned] = 1.0
    right = np.zeros(count)
    right[pinned] = 1.0
    return np.asarray(np.maximum(np.linalg.solve(balance, right), 0.0))


def recurrent_states(
    source: NDArray[np.integer], target: NDArray[np.integer], count: int
) -> NDArray[np.bool_]:
    """The states of the only recurrent class.

    Raises
    ------
    InvalidParameter
        If there are several.
    """
    links = csc_array((np.ones(len(source)), (source, target)), (count, count))
    sets, of = connected_components(links, connection="strong")
    left = np.zeros(sets, bool)
    left[of[source[of[source] != of[target]]]] = True
    if (~left).sum() != 1:
        msg = "the network has several steady states; give each class its own routes"
        raise InvalidParameter(msg)
    return np.asarray(~left[of])
