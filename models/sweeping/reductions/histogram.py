"""Histograms: with given limits, or with limits that suit the values."""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.units import Unit, quantity
from headway.models.sweeping.reductions.beyond import limit_text
from headway.models.sweeping.reductions.reduction import Reduction, ReductionKind, Row, State
from headway.models.sweeping.reductions.sketch import DROPPED, Sketched
from headway.records import dataclass

MOST_EDGES = 1000
"""Most limits of a histogram; each takes a pass over the values."""

MOST_BINS = 24
"""Most bins of an automatic histogram, apart from those for zero and infinity."""

_INFINITE = int(np.array(np.inf).view(np.int64)) >> DROPPED


@dataclass(frozen=True)
class Histogram(Reduction):
    """Counts of the values from each limit to below the next, and outside all limits.

    Parameters
    ----------
    output, unit
        As for `Reduction`.
    edges
        In SI, rising; infinite values are above the last.

    Examples
    --------
    >>> summary = Histogram("time", edges=(1.0, 2.0))
    >>> rows = summary.rows(summary.of({"time": np.array([0.5, 1.0, 1.5, 2.0, np.inf])}, 0))
    >>> [(row["statistic"], row["value"]) for row in rows]
    [('below 1', 1), ('1 to 2', 2), ('2 and above', 2)]
    """

    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in pairwise(self.edges))
        if not rising or not all(map(math.isfinite, self.edges)):
            msg = f"{self.text}: limits must be finite and increasing"
            raise InvalidParameter(msg)
        if not 1 <= len(self.edges) <= MOST_EDGES:
            msg = f"histogram({self.output}): give 1 to {MOST_EDGES} limits"
            raise InvalidParameter(msg)

    @property
    def text(self) -> str:
        """As one writes it."""
        limits = (limit_text(edge, self.unit) for edge in self.edges)
        return f"histogram({', '.join((self.output, *limits))})"

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:  # noqa: ARG002
        """Counts of points from each limit on, and of points with and without a value."""
        values = self.column(columns)
        absent = np.count_nonzero(np.isnan(values))
        reached = [np.count_nonzero(values >= edge) for edge in self.edges]
        return {"reached": np.array(reached), "counts": np.array((values.size - absent, absent))}

    def merge(self, left: State, right: State) -> State:
        """Add the counts."""
        return {name: left[name] + right[name] for name in left}

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:  # noqa: ARG002
        """A row for each bin, with its limits ``from`` and ``to`` in SI."""
        points, absent = state["counts"].tolist()
        counts = -np.diff([points, *state["reached"].tolist(), 0])
        limits = pairwise((-math.inf, *self.edges, math.inf))
        return [
            bin_row(self, limit, int(count), (points, absent))
            for limit, count in zip(limits, counts, strict=True)
        ]


@dataclass(frozen=True)
class OwnHistogram(Sketched):
    """Exact counts in up to 24 bins that suit the values, of equal width in octaves.

    Each bin includes its lower limit but not its upper one; for negative values, the reverse.
    Zeros and infinite values have bins of their own.

    Examples
    --------
    >>> summary = OwnHistogram("time")
    >>> rows = summary.rows(summary.of({"time": np.array([2.0, 3.0, 2.0**20, 0.0, np.inf])}, 0))
    >>> [(row["statistic"], row["value"]) for row in rows if row["value"]]
    [('0', 1), ('2 to 4', 2), ('1.04858e+06 to 2.09715e+06', 1), ('infinite', 1)]
    """

    @property
    def text(self) -> str:
        """As one writes it."""
        return f"histogram({self.output})"

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:  # noqa: ARG002
        """A row for each bin, with its limits ``from`` and ``to`` in SI."""
        shift = _coarseness(state)
        low, zero, high, absent = state["counts"].tolist()
        up, down = (_bins(state, k, shift) for k in (0, 1))
        bins = [((-math.inf, -math.inf), low)] if low else []
        bins += [((-ends[1], -ends[0]), count) for ends, count in reversed(down)]
        bins += [((0.0, 0.0), zero)] if zero else []
        bins += up
        bins += [((math.inf, math.inf), high)] if high else []
        of = (sum(count for _, count in bins), absent)
        return [bin_row(self, limits, count, of) for limits, count in bins]


def _sides(state: State) -> list[tuple[int, NDArray[np.int64]]]:
    """First bin and counts of the positive sizes, and of the negative ones."""
    return [(int(state["starts"][k]), state[side]) for k, side in enumerate(("above", "below"))]


def _coarseness(state: State) -> int:
    """Halvings needed to reduce the number of bins to the limit."""
    shift = 0
    while sum(_spanned(*side, shift) for side in _sides(state)) > MOST_BINS:
        shift += 1
    return shift


def _spanned(first: int, counts: NDArray[np.int64], shift: int) -> int:
    return ((first + counts.size - 1) >> shift) - (first >> shift) + 1 if counts.size else 0


def _bins(state: State, k: int, shift: int) -> list[tuple[tuple[float, float], int]]:
    """Limits and counts of sizes in coarse bins, including empty ones between."""
    first, counts = _sides(state)[k]
    if not counts.size:
        return []
    start = first >> shift
    own = ((np.arange(counts.size) + first) >> shift) - start
    coarse = np.zeros(int(own[-1]) + 1, np.int64)
    np.add.at(coarse, own, counts)
    edges = (start + np.arange(coarse.size + 1)) << shift
    limits = (np.minimum(edges, _INFINITE).astype(np.int64) << DROPPED).view(np.float64).tolist()
    return list(zip(pairwise(limits), coarse.tolist(), strict=True))


def bin_row(
    reduction: Reduction, limits: tuple[float, float], count: int, of: tuple[int, int]
) -> Row:
    """A row of a histogram."""
    row = reduction.row(_words(*limits, reduction.unit), count, of, measures="count")
    return row | {"from": limits[0], "to": limits[1]}


def _words(low: float, high: float, unit: Unit) -> str:
    if low == high:
        return {0.0: "0", math.inf: "infinite"}.get(low, "minus infinite")
    if math.isinf(low):
        return f"below {limit_text(high, unit, exact=False)}"
    start, end = (limit_text(limit, unit, exact=False) for limit in (low, high))
    return f"{start} and above" if math.isinf(high) else f"{start} to {end}"


def _read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
    if not arguments:
        return OwnHistogram(output, unit)
    return Histogram(output, unit, tuple(quantity(text, unit, output) for text in arguments))


HISTOGRAM = ReductionKind(
    "histogram(OUTPUT) or histogram(OUTPUT, LIMIT, LIMIT)",
    "number of points between limits, given or chosen automatically",
    _read,
)
