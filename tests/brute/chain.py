"""Whole Markov chains: their states, found from the first, and how likely each is."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

State = Hashable
Moves = Callable[[State], Iterable[tuple[State, float]]]

MOST_STATES = 2500


class TooLarge(Exception):
    """A chain of more states than are solved one by one."""


@dataclass(frozen=True)
class Chain:
    """The states of a chain and the share of time in each."""

    states: tuple[State, ...]
    shares: np.ndarray

    def mean(self, measure: Callable[[State], float]) -> float:
        """Mean of a number of the state."""
        return float(sum(p * measure(s) for p, s in zip(self.shares, self.states, strict=True)))


def solve_chain(start: State, moves: Moves, most: int = MOST_STATES) -> Chain:
    """Find every state that can be reached, and their shares.

    Raises
    ------
    TooLarge
        For more states than `most`.
    """
    number, todo, links = {start: 0}, [start], []
    while todo:
        state = todo.pop()
        row = number[state]
        for following, rate in moves(state):
            if following not in number:
                number[following] = len(number)
                todo.append(following)
                if len(number) > most:
                    raise TooLarge
            links.append((row, number[following], rate))
    return Chain(tuple(number), _stationary(len(number), links))


def _stationary(count: int, links: list[tuple[int, int, float]]) -> np.ndarray:
    """Flow in equals flow out; the shares of recurrent states alone are above 0."""
    if count == 1:
        return np.ones(1)
    source, target, rate = (np.array(part) for part in zip(*links, strict=True))
    away = source != target
    source, target, rate = source[away], target[away], rate[away]
    first = _pinned(source, target, rate, _recurrent(source, target, count), count)
    # A state that hardly ever is would cost the others their digits: pin the likeliest.
    return _pinned(source, target, rate, int(first.argmax()), count)


def _pinned(
    source: np.ndarray, target: np.ndarray, rate: np.ndarray, pinned: int, count: int
) -> np.ndarray:
    """Shares of time, found as those over the share of one state."""
    out = np.bincount(source, rate, count)
    keep = target != pinned
    rows = np.concatenate([target[keep], np.delete(np.arange(count), pinned), [pinned]])
    columns = np.concatenate([source[keep], np.delete(np.arange(count), pinned), [pinned]])
    values = np.concatenate([rate[keep], -np.delete(out, pinned), [1.0]])
    right = np.zeros(count)
    right[pinned] = 1.0
    solution = splu(csc_array((values, (rows, columns)), (count, count))).solve(right)
    return solution / solution.sum()


def _recurrent(source: np.ndarray, target: np.ndarray, count: int) -> int:
    """A state that is come back to for ever: one of the only class that nothing leaves."""
    from scipy.sparse.csgraph import connected_components

    graph = csc_array((np.ones(len(source)), (source, target)), (count, count))
    number, label = connected_components(graph, connection="strong")
    left = np.zeros(number, bool)
    left[label[source[label[source] != label[target]]]] = True
    closed = np.flatnonzero(~left)
    if len(closed) != 1:
        msg = f"{len(closed)} closed classes of states: the share of time depends on the start"
        raise ValueError(msg)
    return int(np.flatnonzero(label == closed[0])[0])
