"""Laws fitted to measured times of collective operations, and what they predict with a band.

Numbers of processors on either side of a boundary of the machine (nodes, roots of PCIe) are fitted
apart, as levels; `headway.loggp.programs.collective_pieces` has the law of each. Across nodes n
counts these.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import MeasurementError
from headway.kinds import FloatArray, check_count, check_positive
from headway.loggp.measuring.breaks import LEAST_POINTS
from headway.loggp.measuring.sizes import TOLERANCE
from headway.loggp.programs.algorithms import Collective, bus_factor
from headway.loggp.programs.collective_pieces import CollectivePiece, Growth, Pieces, Z, design
from headway.numerals import data_size, digits
from headway.records import dataclass

_COMMON = 3  # largest sizes that tell whether a boundary lies between two numbers of processors
_FALL = 1.25
"""Times of the longest messages grow by (1 - 1/n) / (1 - 1/m) from m to n processors if all bytes
cross links, and less if not. Chosen: 25% more is a boundary. Inside nodes joined by NVLink they
grew by at most as much; on PCIe, across two roots, three to four times as much."""

_LEAST_RISE = 2.0  # of a time over all sizes, from which the longest messages are limited by bytes
MODEL_ERROR = 0.10
"""Relative error of the law for each doubling of n beyond the largest measured. Found by predicting
8 GPUs from 2 and 4 (`tests.campaigns.collective_errors`): where it is chosen on three systems, the
bands cover 93 to 97% on the fourth."""

_SWITCH = 4.0
"""By how much the size at which a protocol changes may move for each doubling of n beyond the
largest measured. Found in the same way: without it most of what bands missed was at the changes."""

_NODE = 8
"""Processors at which a node may end, the most that share a board: none if more were measured."""


@dataclass(frozen=True)
class CollectiveTimes:
    """Measured times of one operation by number of processors and size.

    Parameters
    ----------
    collective
        The operation.
    processors, size, time
        n, S [B] and T [s] of each measurement, same shape.
    machines
        Nodes that have the processors, of each measurement; 0 where that is not known.

    Raises
    ------
    MeasurementError
        For fewer than three sizes, one processor, or n that does not divide among nodes.
    """

    collective: Collective
    processors: FloatArray
    size: FloatArray
    time: FloatArray
    machines: FloatArray

    def __post_init__(self) -> None:
        for name in ("processors", "size", "time", "machines"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), float))
        check_count("size", self.size)
        check_positive("time", self.time)
        check_count("processors", self.processors)
        if np.any(self.processors < 2):
            msg = "processors is 1; one has nobody to send to, so leave these rows out"
            raise MeasurementError(msg)
        known = self.machines > 0
        if np.any(self.processors[known] % self.machines[known] != 0):
            msg = "a number of processors does not divide among its nodes; take equal nodes"
            raise MeasurementError(msg)

    def of(self, chosen: Any) -> "CollectiveTimes":
        """Some of the measurements."""
        parts = (self.processors, self.size, self.time, self.machines)
        return CollectiveTimes(self.collective, *(part[chosen] for part in parts))


def collective_times(
    collective: Collective | str,
    processors: ArrayLike,
    size: ArrayLike,
    time: ArrayLike,
    machines: ArrayLike = 0,
) -> CollectiveTimes:
    """Collect measured times; see `CollectiveTimes`.

    Examples
    --------
    >>> collective_times("all-gather", 4, [1024, 2048, 4096], [5e-6, 6e-6, 8e-6]).time.size
    3
    """
    columns = np.broadcast_arrays(
        *(np.asarray(one, float) for one in (processors, size, time, machines))
    )
    return CollectiveTimes(Collective(collective), *(one.ravel() for one in columns))


@dataclass(frozen=True, eq=False)
class CollectiveLevel:
    """The law of one operation on one side of the boundaries of a machine.

    Parameters
    ----------
    collective
        The operation.
    growth
        How steps grow with n.
    counts
        Measured numbers of processors.
    per_machine
        Processors of a node, where these are across nodes; 0 elsewhere.
    pieces
        By size.
    deviation
        Relative standard deviation of one measurement from the law.
    growth_known
        Whether the data tell the growth: at least three numbers of processors.
    """

    collective: Collective
    growth: Growth
    counts: tuple[int, ...]
    per_machine: int
    pieces: tuple[CollectivePiece, ...]
    deviation: float
    growth_known: bool

    def time(self, processors: float, size: float) -> float:
        """Time at n processors and S bytes [s]; see `predicted` for what may be asked."""
        return float(self._row(processors, size) @ self._piece(size).values)

    def bus_bandwidth(self, processors: float, size: float) -> float:
        """Bus bandwidth S / T times the factor of the operation [B/s]."""
        factor = bus_factor(self.collective, processors)
        return float(factor) * size / self.time(processors, size)

    def limit(self, piece: CollectivePiece) -> float:
        """Bus bandwidth of endless messages at the largest measured n [B/s]; infinite if free."""
        most = self.counts[-1]
        per_byte = float(self._row(most, 1.0)[2:] @ piece.values[2:])
        factor = float(bus_factor(self.collective, most))
        return factor / per_byte if per_byte > 0 else math.inf

    def band(
        self, processors: float, size: float, model_error: float = MODEL_ERROR
    ) -> tuple[float, float]:
        """Ends of the 95% band of a new measurement at n and S [s].

        Beyond the largest measured n the protocol may change at another size, so that the band
        has every piece within that distance.

        Parameters
        ----------
        processors, size
            n and S [B].
        model_error
            Relative error of the law for each doubling of n.
        """
        beyond = max(0.0, math.log2(processors / self.counts[-1]))
        moved = _SWITCH**beyond
        near = {self._place(size / moved), self._place(size), self._place(size * moved)}
        pieces = self.pieces[min(near) : max(near) + 1]
        ends = [self._ends(piece, processors, size, beyond * model_error) for piece in pieces]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _ends(
        self, piece: CollectivePiece, processors: float, size: float, model_error: float
    ) -> tuple[float, float]:
        row = self._row(processors, size)
        time = float(row @ piece.values)
        of_fit = float(row @ piece.covariance @ row) / time**2
        spread = math.exp(Z * math.sqrt(of_fit + self.deviation**2 + model_error**2))
        return time / spread, time * spread

    def _piece(self, size: float) -> CollectivePiece:
        return self.pieces[self._place(size)]

    def _place(self, size: float) -> int:
        """The piece of a size; between two, that with the nearer end, by ratio."""
        edges = [math.sqrt(a.last_size * b.first_size) for a, b in pairwise(self.pieces)]
        return sum(size > edge for edge in edges)

    def _row(self, processors: float, size: float) -> FloatArray:
        count = processors / self.per_machine if self.per_machine else processors
        row: FloatArray = design(np.array([count]), np.array([size]), self.growth)[0]
        return row


@dataclass(frozen=True)
class Predicted:
    """A predicted time with its 95% band.

    Parameters
    ----------
    processors, size
        n and S [B].
    time, low, high
        Time and the ends of its band [s].
    bus_bandwidth
        At that time [B/s].
    notes
        What the band assumes, a sentence each.
    """

    processors: int
    size: float
    time: float
    low: float
    high: float
    bus_bandwidth: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class CollectiveFit:
    """The laws of one operation: a level for each side of the boundaries of a machine.

    Parameters
    ----------
    times
        What was measured.
    levels
        In order of n.
    per_machine
        Processors of a node, as far as known; 0 if not.
    """

    times: CollectiveTimes
    levels: tuple[CollectiveLevel, ...]
    per_machine: int = 0

    @cached_property
    def errors(self) -> FloatArray:
        """Relative errors of the law at each measurement."""
        levels = {count: level for level in self.levels for count in level.counts}
        points = zip(self.times.processors, self.times.size, self.times.time, strict=True)
        return np.array([levels[int(n)].time(n, s) / t - 1 for n, s, t in points])

    def predicted(self, processors: int, size: float) -> Predicted:
        """Predict the time at n processors and S bytes, with a band of 95%.

        Within a level the band has the scatter about the law and the uncertainty of its
        parameters; beyond the largest measured n also the error of the law, as it was measured on
        other machines.

        Parameters
        ----------
        processors
            n, 2 or more; at most twice the largest measured.
        size
            S [B], at most eight times the largest measured.

        Raises
        ------
        MeasurementError
            Where a boundary of the machine lies between n and what was measured, or may, and for
            n and S too far away; says what to measure or state.

        Examples
        --------
        >>> import numpy as np
        >>> n, size = np.meshgrid([2, 4], 2.0 ** np.arange(10, 20))
        >>> time = 4e-6 + 1e-6 * (n - 1) + size * (1e-11 + 4e-11 * (n - 1) / n)
        >>> fit = fit_collective(collective_times("all-gather", n, size, time))
        >>> round(fit.predicted(8, 65536).time * 1e6, 3)
        13.949
        """
        check_count("processors", processors)
        check_count("size", size)
        level = self._level(processors)
        self._check_size(size)
        time, bandwidth = level.time(processors, size), level.bus_bandwidth(processors, size)
        notes = self._notes(level, processors, size)
        return Predicted(processors, size, time, *level.band(processors, size), bandwidth, notes)

    def _notes(self, level: CollectiveLevel, processors: int, size: float) -> tuple[str, ...]:
        notes = []
        if processors > level.counts[-1]:
            joined = "no boundary (node, PCIe root) lies between"
            notes.append(
                f"n = {processors} is beyond the measured {level.counts[-1]}: the band holds where "
                f"{joined}"
            )
            if not level.growth_known:
                notes.append(
                    f"{len(level.counts)} numbers of processors cannot tell a ring from a tree: "
                    f"taken as {level.growth}"
                )
        if size > self.times.size.max():
            notes.append(f"beyond the largest measured size, {data_size(self.times.size.max())}")
        return tuple(notes)

    def _check_size(self, size: float) -> None:
        largest = float(self.times.size.max())
        if size > 8 * largest:
            msg = (
                f"size {data_size(size)} is more than 8 times the largest measured, "
                f"{data_size(largest)}; measure longer messages"
            )
            raise MeasurementError(msg)

    def _level(self, processors: int) -> CollectiveLevel:
        """The level of a number of processors, or why it has none."""
        if processors < 2:
            msg = "n = 1 has nobody to send to; give 2 or more"
            raise MeasurementError(msg)
        level = next((one for one in self.levels if processors <= one.counts[-1]), self.levels[-1])
        _check_inside(level, processors, self)
        return level


def _check_inside(level: CollectiveLevel, processors: int, fit: CollectiveFit) -> None:
    """Refuse numbers that were not measured where the level cannot tell their time."""
    if processors in level.counts:
        return
    nearest = f"measured are {', '.join(map(str, level.counts))}"
    if processors < level.counts[0] and level is not fit.levels[0]:
        below = fit.levels[fit.levels.index(level) - 1].counts[-1]
        msg = (
            f"n = {processors} lies between {below} and {level.counts[0]}, and so does a boundary "
            "of the machine; measure it"
        )
        raise MeasurementError(msg)
    if len(level.counts) < 2:
        why = (
            _boundary_words(fit) if len(fit.levels) > 1 else "one number says nothing about others"
        )
        msg = f"n = {processors} cannot be predicted, {nearest}: {why}; measure a further n"
        raise MeasurementError(msg)
    if level.per_machine and processors % level.per_machine:
        msg = f"n = {processors} is not a multiple of the {level.per_machine} of a node"
        raise MeasurementError(msg)
    if processors <= level.counts[-1]:
        return
    _check_beyond(level, processors, fit.per_machine, nearest)


def _check_beyond(level: CollectiveLevel, processors: int, per_machine: int, nearest: str) -> None:
    if not level.per_machine and per_machine and processors > per_machine:
        msg = f"n = {processors} crosses the node of {per_machine}, {nearest}; measure across nodes"
        raise MeasurementError(msg)
    if processors > 2 * level.counts[-1]:
        msg = f"n = {processors} is more than twice the most, {nearest}; measure nearer"
        raise MeasurementError(msg)
    if not level.per_machine and not per_machine and level.counts[-1] == _NODE:
        msg = (
            f"n = {processors} may cross the boundary of a node, {nearest}; state how many "
            "processors a node has (per_machine)"
        )
        raise MeasurementError(msg)


def _boundary_words(fit: CollectiveFit) -> str:
    low, high = (level.counts[edge] for level, edge in zip(fit.levels[-2:], (-1, 0), strict=True))
    return f"a boundary of the machine lies between {low} and {high}"


def fit_collective(
    times: CollectiveTimes,
    per_machine: int = 0,
    tolerance: float = TOLERANCE,
) -> CollectiveFit:
    """Fit the laws of one operation to measured times, see the head of this module.

    Parameters
    ----------
    times
        Times of one operation, one type, in one place.
    per_machine
        Processors of a node, if known: numbers above it are across nodes.
    tolerance
        Relative misfit below which there is no further piece.

    Raises
    ------
    MeasurementError
        For fewer than three sizes at any number of processors.

    Examples
    --------
    >>> import numpy as np
    >>> n, size = np.meshgrid([2, 4, 8], 2.0 ** np.arange(10, 20))
    >>> time = 4e-6 + 1e-6 * (n - 1) + size * (1e-11 + 4e-11 * (n - 1) / n)
    >>> [level] = fit_collective(collective_times("all-gather", n, size, time)).levels
    >>> str(level.growth), round(level.pieces[0].step.value * 1e6, 6)
    ('ring', 1.0)
    """
    check_positive("tolerance", tolerance)
    per_machine = per_machine or _known_machine(times)
    levels = []
    for counts in _sides(times, per_machine):
        mine = times.of(np.isin(times.processors, counts))
        across = per_machine if per_machine and counts[0] > per_machine else 0
        levels.append(_level(mine, counts, across, tolerance))
    return CollectiveFit(times, tuple(levels), per_machine)


def _known_machine(times: CollectiveTimes) -> int:
    """Processors of a node where times of several nodes say so; 0 if not."""
    several = times.machines > 1
    sizes = np.unique(times.processors[several] / times.machines[several])
    if sizes.size > 1:
        shown = ", ".join(digits(float(one)) for one in sizes)
        msg = f"nodes have different numbers of processors ({shown}); fit them apart"
        raise MeasurementError(msg)
    return int(sizes[0]) if sizes.size else 0


def _sides(times: CollectiveTimes, per_machine: int) -> list[tuple[int, ...]]:
    """Numbers of processors between boundaries: of nodes where known, or found by bandwidth."""
    counts = [int(one) for one in np.unique(times.processors)]
    sides: list[list[int]] = [[counts[0]]]
    for before, after in pairwise(counts):
        of_node = bool(per_machine) and before <= per_machine < after
        if of_node or _falls(times, before, after):
            sides.append([])
        sides[-1].append(after)
    return [tuple(side) for side in sides]


def _falls(times: CollectiveTimes, before: int, after: int) -> bool:
    """Whether the longest messages take more time at a larger n than links of one kind can."""
    low, high = (_by_size(times, count) for count in (before, after))
    common = sorted(low.keys() & high.keys())
    if not common or low[common[-1]] < _LEAST_RISE * low[common[0]]:
        return False
    ratio = np.median([high[size] / low[size] for size in common[-_COMMON:]])
    most = (1 - 1 / after) / (1 - 1 / before)
    return bool(ratio > _FALL * most)


def _by_size(times: CollectiveTimes, count: int) -> dict[float, float]:
    mine = times.processors == count
    sizes, taken = times.size[mine], times.time[mine]
    return {float(size): float(np.median(taken[sizes == size])) for size in np.unique(sizes)}


def _level(
    times: CollectiveTimes, counts: tuple[int, ...], per_machine: int, tolerance: float
) -> CollectiveLevel:
    """Fit one level: the growth with the lower criterion, where the data can tell."""
    sizes = np.unique(times.size)
    if sizes.size < LEAST_POINTS:
        msg = (
            f"{times.collective} at n = {', '.join(map(str, counts))} has {sizes.size} sizes; a "
            f"piece needs at least {LEAST_POINTS}"
        )
        raise MeasurementError(msg)
    known = len(counts) > 2
    count = times.processors / per_machine if per_machine else times.processors
    points = (count, times.size, times.time)
    used = _used(times.collective, len(counts))
    fits = [Pieces.of(points, growth, used, tolerance) for growth in _growths(times, counts)]
    best = min(fits, key=lambda one: one.criterion)
    residuals = best.residuals
    freedom = max(residuals.size - best.parameters, 1)
    deviation = math.sqrt(float((residuals**2).sum()) / freedom)
    pieces = best.described(deviation)
    return CollectiveLevel(
        times.collective, best.growth, counts, per_machine, pieces, deviation, known
    )


def _growths(times: CollectiveTimes, counts: Sequence[int]) -> tuple[Growth, ...]:
    """Candidates: both where three numbers tell them apart; rings gather and scatter otherwise.

    Inside a node a ring joins the processors; across nodes an all-reduce and a broadcast of small
    messages go by trees.
    """
    if len(counts) > 2:
        return tuple(Growth)
    across = bool(np.any(times.machines > 1))
    by_tree = (Collective.ALL_REDUCE, Collective.BROADCAST)
    return (Growth.TREE if across and times.collective in by_tree else Growth.RING,)


def _used(collective: Collective, counts: int) -> Any:
    """Columns of a, b, c and d that numbers of processors can tell apart."""
    if counts == 1:
        return np.array([0, 2])
    return np.array([0, 1, 2] if collective is Collective.BROADCAST else [0, 1, 2, 3])
