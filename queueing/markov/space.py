"""The states of a Markov chain, explored from one of them, and their stationary probabilities."""

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
"""Transitions out of a state: the state after, the number of the rate, and its multiple."""


@dataclass(frozen=True)
class StateSpace:
    """The states of a chain and the moves between them, whatever the rates are.

    Parameters
    ----------
    states
        In the order in which they were found.
    source, target, rate
        Of each move: the states it leads from and to, and which rate it has.
    times
        How many times that rate.
    """

    states: tuple[State, ...]
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    rate: NDArray[np.intp]
    times: FloatArray


def explore(start: State, moves: Moves, most: int) -> StateSpace | None:
    """Find all states that can be reached from one.

    Parameters
    ----------
    start, moves
        A state, and what may happen in any.
    most
        States that are enough, 1 or more.

    Returns
    -------
    None where there are more.

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
    """Share of time in each state: what flows in flows out.

    Parameters
    ----------
    space
        States and moves.
    rates
        The rates by their numbers, 0 or more, shape (rates,) [1/s].

    Raises
    ------
    InvalidParameter
        As `shares_of_time`: where there are several steady states.

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
        Of each move: the states it leads from and to, and its rate, 0 or more [1/s]; from a state
        to itself it changes nothing.
    count
        Number of states.
    recurrent
        As `recurrent_states` found them for the same moves at other rates.

    Raises
    ------
    InvalidParameter
        Where the shares depend on where the chain starts.
    GraphError
        Where some rates vanish in rounding beside others.

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
    # a reference state that is very unlikely costs the digits of the others
    try:
        shares = _normalised(source, target, flow, count)
    except RuntimeError:
        msg = "its rates are too far apart for its Markov chain; use another method"
        raise GraphError(msg) from None
    return np.asarray(shares / shares.sum())


MANY = 2_000
"""States from which on shares are swept: below it they are eliminated as fast. Speed only."""

FULL = 150
"""States up to which rows are written out; beyond, most of their numbers are 0. Speed only."""

TOO_MANY = 30_000
"""States beyond which elimination fills the memory."""

FEW = 12
"""Corrections of sweeps that are tried where elimination is possible too, and FEW x FEW otherwise:
most chains settle in 3 to 10. Speed only."""

_UNEVEN = 1e-11
"""Imbalance of a state that is accepted, over the largest flow; more is solved anew, with pivots
that keep the digits. Digits only."""


def _swept(
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    flow: FloatArray,
    recurrent: NDArray[np.bool_],
) -> FloatArray:
    """Shares by sweeps; where they are slow, and there are not too many states, not at all.

    Raises
    ------
    GraphError
        Where there are too many, whose rates are too far apart for the sweeps.
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
    """Solve with normalisation in place of one balance equation: a full row, which is slow."""
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
    """Solve relative to the probability of one state."""
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
    """The same with all rows written out."""
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
    """Find the states of the one recurrent class.

    Raises
    ------
    InvalidParameter
        Where there are several.
    """
    links = csc_array((np.ones(len(source)), (source, target)), (count, count))
    sets, of = connected_components(links, connection="strong")
    left = np.zeros(sets, bool)
    left[of[source[of[source] != of[target]]]] = True
    if (~left).sum() != 1:
        msg = "the network has several steady states; give each class its own routes"
        raise InvalidParameter(msg)
    return np.asarray(~left[of])
