"""Samples of a space: points of a Sobol sequence, of Latin hypercubes, or random ones."""

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.sweeping.axes import Spread
from headway.models.sweeping.shares import SOBOL_BITS, Shares, latin, sobol, uniform
from headway.models.sweeping.spaces import check_parameters, check_piece
from headway.models.uncertain.sampling import check_whole
from headway.records import dataclass

MOST_SAMPLES = 2**SOBOL_BITS
"""Most points of a sample."""

MOST_DIMENSIONS = 21_201
"""Dimensions with known direction numbers."""


@dataclass(frozen=True, eq=False)
class Sample(Kept):
    """Points that fill a space; each one depends only on its index.

    Parameters
    ----------
    parameters
        By name, at least one: the range of its values, or the choices.
    count
        Number of points, from 1 to 2^52.
    kind
        "sobol", points of one scrambled sequence, which fill the space most evenly; "latin",
        hypercubes of 32,768 points with one in each stratum of each parameter; "random",
        independent points.
    seed
        A whole number of 0 or more; the same seed gives the same points. A longer sample begins
        with the points of a shorter one, except for incomplete Latin hypercubes.

    Raises
    ------
    InvalidParameter
        For no parameter or too many, a count or seed out of bounds, or an unknown kind.

    Examples
    --------
    >>> from headway.models.sweeping.axes import Between
    >>> sample = Sample({"arrival_rate": Between(100.0, 900.0)}, 10**9, "sobol", seed=3)
    >>> points = sample.piece(10**8, 10**8 + 4).points(10**8, 10**8 + 4)
    >>> sorted(((points["arrival_rate"] - 100) // 200).tolist())
    [0.0, 1.0, 2.0, 3.0]
    """

    parameters: Mapping[str, Spread]
    count: int
    kind: str = "sobol"
    seed: int = 1
    sampled = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parameters(self.parameters)
        count = check_whole("sample", self.count, 1, MOST_SAMPLES)
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "seed", check_whole("seed", self.seed, 0, 2**63))
        if self.kind not in _SHARES:
            msg = f"unknown kind of sample {self.kind!r}{nearest(self.kind, _SHARES)}"
            raise InvalidParameter(msg)
        if len(self.parameters) > MOST_DIMENSIONS:
            msg = f"{len(self.parameters)} parameters; a sample has at most {MOST_DIMENSIONS}"
            raise InvalidParameter(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters it gives values to."""
        return tuple(self.parameters)

    @property
    def size(self) -> int:
        """How many points."""
        return self.count

    def piece(self, start: int, stop: int) -> "Sample":
        """The part that a worker needs for some points: the sample itself, which is small."""
        check_piece(self, start, stop)
        return self

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each."""
        shares = _SHARES[self.kind](self, start, stop)
        each = zip(self.parameters.items(), shares, strict=True)
        return {name: spread.at(own) for (name, spread), own in each}

    def ends(self) -> dict[str, FloatArray]:
        """The least and the largest value of each parameter."""
        return {name: spread.ends() for name, spread in self.parameters.items()}

    def counting(self, whole: Set[str]) -> "Sample":
        """The same sample, with whole numbers for some parameters."""
        own = {name: s.counting() if name in whole else s for name, s in self.parameters.items()}
        return replace(self, parameters=own)

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        parameters = {name: spread.describe() for name, spread in self.parameters.items()}
        own = {"kind": self.kind, "size": self.size, "seed": self.seed}
        return {**own, "parameters": parameters}


def _sobol(sample: Sample, start: int, stop: int) -> Shares:
    return sobol(len(sample.parameters), sample.seed, start, stop)


def _latin(sample: Sample, start: int, stop: int) -> Shares:
    return latin(len(sample.parameters), sample.seed, start, stop, sample.count)


def _random(sample: Sample, start: int, stop: int) -> Shares:
    return uniform(len(sample.parameters), sample.seed, start, stop)


_SHARES: Mapping[str, Callable[[Sample, int, int], Shares]] = MappingProxyType(
    {"sobol": _sobol, "latin": _latin, "random": _random}
)

KINDS = tuple(_SHARES)
"""Kinds of sample."""
