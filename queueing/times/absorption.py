"""The time that a job takes through a network with random routing: an absorbing Markov chain.

E[exp(-s T)] = e (1 - T(s) P)^-1 T(s) q, with T(s) the transforms of the stations' times, P the
routes, e the entries and q the exits. Constant times on the way make the distribution jump, at each
of their possible sums; paths are followed until their weight is negligible, each with a smooth
transform of its own.

Source: Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, chapter 2 (absorption).
"""

from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.times.laws import (
    MOST_PIECES,
    ComplexArray,
    Piece,
    TimeLaw,
    merged,
    mixture,
)
from headway.records import dataclass

_WEIGHTLESS = 1e-13  # probability of a path that is neglected as rounding
_AT_ONCE = 2_000_000  # complex numbers in memory at a time

_Start = tuple[int, int, Piece]  # number of the path before, station, constant part of its law


@dataclass(frozen=True)
class Journey:
    """Times at stations, and probabilities of entering, going on and leaving at each.

    Parameters
    ----------
    laws
        Laws of a visit to each station.
    entries, onward, leaving
        Shape (stations,), (stations, stations), (stations,). Probabilities out of a station may sum
        to less than 1: jobs that are lost are not followed.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> one = np.ones(1)
    >>> round(Journey((exponential(2.0),), one, np.array([[0.5]]), 0.5 * one).law().mean, 12)
    4.0
    """

    laws: tuple[TimeLaw, ...]
    entries: FloatArray
    onward: FloatArray
    leaving: FloatArray

    def law(self) -> TimeLaw:
        """Law of the time of jobs that leave."""
        ends = self.entries * self.leaving
        if not self.onward.any() and (ends > 0).any():
            some = np.flatnonzero(ends)
            return mixture([self.laws[k] for k in some], ends[some].tolist())
        ways = _Ways(self)
        notes = merged(*(law.notes for law in self.laws))
        pieces = [Piece(shift, partial(ways.part, way)) for way, shift in enumerate(ways.shifts)]
        if not ways.complete:
            pieces.append(Piece(0.0, ways.others))
        return TimeLaw(tuple(pieces), self.mean, notes)

    @cached_property
    def visits(self) -> FloatArray:
        """Mean visits to each station."""
        return mean_visits(self.entries, self.onward)

    @cached_property
    def mean(self) -> float:
        """Mean time of jobs that leave [s]."""
        count = len(self.laws)
        left = np.linalg.solve(np.eye(count) - self.onward, self.leaving)
        times = np.array([law.mean for law in self.laws])
        return float((self.visits * left) @ times / (self.entries @ left))

    @cached_property
    def answered(self) -> float:
        """Share of jobs that leave, that is, are not lost."""
        return float(self.visits @ self.leaving)


def mean_visits(entries: FloatArray, onward: FloatArray) -> FloatArray:
    """Mean visits of a job to each station, from entries and routes."""
    return np.asarray(np.linalg.solve(np.eye(len(entries)) - onward.T, entries))


def is_overtake_free(edges: NDArray[np.bool_]) -> bool:
    """Whether there is at most one path from any station to any other.

    From each station the stations after it are visited one by one; reaching one a second time shows
    a second path.

    Parameters
    ----------
    edges
        Whether jobs go from a station (rows) to another; a loop counts as a second path.

    Examples
    --------
    >>> line = np.eye(3, k=1) > 0
    >>> is_overtake_free(line), is_overtake_free(line | (np.eye(3, k=2) > 0))
    (True, False)
    """
    following = [np.flatnonzero(row).tolist() for row in edges]
    for start in range(len(edges)):
        met, left = {start}, [start]
        while left:
            for target in following[left.pop()]:
                if target in met:
                    return False
                met.add(target)
                left.append(target)
    return True


def merge_returns(
    onward: FloatArray, leaving: FloatArray, at: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Merge successive visits to a station into one longer visit.

    At shared servers this changes only names: a job that returns at once simply stays in service.

    Parameters
    ----------
    onward, leaving
        As in `Journey`.
    at
        Stations to merge at, shape (stations,).

    Returns
    -------
    Mean visits merged into one, and the remaining routes.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> [each.tolist() for each in merge_returns(half[None], half, np.array([True]))]
    [[2.0], [[0.0]], [1.0]]
    """
    many = np.where(at, 1 / (1 - np.diag(onward)), 1.0)
    left = onward - np.diag(np.where(at, np.diag(onward), 0.0))
    return many, left * many[:, None], leaving * many


class _Ways:
    """Paths through a journey by the constant time spent on them, shortest first."""

    def __init__(self, journey: Journey) -> None:
        self.journey = journey
        self.constants = [
            (station, piece)
            for station, law in enumerate(journey.laws)
            for piece in law.pieces
            if piece.shift > 0
        ]
        self.shifts: list[float] = []
        self.starts: list[list[_Start]] = []
        self._explore()

    def _explore(self) -> None:
        """Follow each path on through every constant time, in order of total time."""
        scale = self.journey.mean or 1.0
        s = np.array([1 / scale + 0j])
        starts: dict[float, list[_Start]] = {0.0: []}
        arrivals: list[ComplexArray] = []
        while starts and len(self.shifts) < MOST_PIECES:
            key = min(starts)
            self.starts.append(starts.pop(key))
            self.shifts.append(key * scale)
            way = len(self.shifts) - 1
            arrivals.append(self._arrivals(way, self._between(self._smooth(s)), arrivals, s))
            for station, piece in self.constants:
                weight = abs(arrivals[-1][0, station] * piece.transform(s)[0])
                if weight > _WEIGHTLESS:
                    place = round(key + piece.shift / scale, 11)
                    starts.setdefault(place, []).append((len(self.shifts) - 1, station, piece))

    @cached_property
    def complete(self) -> bool:
        """Whether the paths that are not followed have negligible weight."""
        s = np.array([1 / (self.journey.mean or 1.0) + 0j])
        return bool(abs(self.others(s)[0]) < _WEIGHTLESS * MOST_PIECES)

    def part(self, way: int, s: ComplexArray) -> ComplexArray:
        """Transform of one path, without its constant time."""
        rows = max(1, _AT_ONCE // len(self.journey.laws) ** 2)
        return np.concatenate([self._part(way, s[i : i + rows]) for i in range(0, len(s), rows)])

    def _part(self, way: int, s: ComplexArray) -> ComplexArray:
        arrivals: list[ComplexArray] = []
        smooth = self._smooth(s)
        between = self._between(smooth)
        for before in range(way + 1):
            arrivals.append(self._arrivals(before, between, arrivals, s))
        leaving = self.journey.leaving / self.journey.answered
        left = (arrivals[-1] * smooth) @ leaving
        for before, station, piece in self.starts[way]:
            left = left + arrivals[before][:, station] * piece.transform(s) * leaving[station]
        return np.asarray(left)

    def others(self, s: ComplexArray) -> ComplexArray:
        """Transform of all paths, less that of the paths that are followed."""
        journey = self.journey
        laws = np.stack([law.transform(s) for law in journey.laws], axis=1)
        visits = _solved(laws[:, :, None] * journey.onward, _rows(journey.entries, s))
        ways = enumerate(self.shifts)
        own = sum(np.exp(-s * shift) * self.part(way, s) for way, shift in ways)
        return np.asarray((visits * laws) @ journey.leaving / journey.answered - own)

    def _arrivals(
        self, way: int, between: ComplexArray, before: list[ComplexArray], s: ComplexArray
    ) -> ComplexArray:
        """Transforms of the arrivals on a path at each station, shape (len(s), stations)."""
        journey = self.journey
        starts = _rows(journey.entries if way == 0 else np.zeros(len(journey.laws)), s)
        for earlier, station, piece in self.starts[way]:
            through = before[earlier][:, station] * piece.transform(s)
            starts = starts + through[:, None] * journey.onward[station]
        return np.asarray((starts[:, None, :] @ between)[:, 0, :])

    def _between(self, smooth: ComplexArray) -> ComplexArray:
        """Transforms of all paths from each station to each, without constant times."""
        matrices = smooth[:, :, None] * self.journey.onward
        whole = np.eye(matrices.shape[1])
        return np.asarray(np.linalg.inv(whole - matrices)) if matrices.any() else whole + matrices

    def _smooth(self, s: ComplexArray) -> ComplexArray:
        """Transforms of the parts without a constant time, shape (len(s), stations)."""
        parts = np.zeros((len(s), len(self.journey.laws)), complex)
        for station, law in enumerate(self.journey.laws):
            for piece in law.pieces:
                if piece.shift == 0:
                    parts[:, station] += piece.transform(s)
        return parts


def _rows(values: FloatArray, s: ComplexArray) -> ComplexArray:
    return np.broadcast_to(values.astype(complex), (len(s), len(values)))


def _solved(matrices: ComplexArray, starts: ComplexArray) -> ComplexArray:
    """Row vectors v with v = start + v matrix."""
    if not matrices.any():
        return starts
    system = np.eye(matrices.shape[1]) - matrices.swapaxes(1, 2)
    return np.asarray(np.linalg.solve(system, starts[:, :, None])[:, :, 0])
