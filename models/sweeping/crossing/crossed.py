"""Spaces of crossed samples, from which Sobol indices are estimated."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.sweeping.axes import Spread
from headway.models.sweeping.reductions.crossing import Crossing
from headway.models.sweeping.shares import sobol
from headway.models.uncertain.sampling import Joint, scores_at
from headway.records import dataclass


class ParameterDistribution(Protocol):
    """A distribution of parameters; frozen, picklable and equal by value."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""

    @property
    def together(self) -> bool:
        """Whether some are correlated."""

    def values(self, shares: FloatArray, first: int) -> dict[str, FloatArray]:
        """Values by name at points of the unit cube, shape (points, parameters).

        If parameters are correlated, the first column belongs to the parameter with index `first`,
        and each further one adds what is new in the next parameter.
        """

    def ends(self) -> dict[str, FloatArray]:
        """Values by parameter whose bounds must be checked."""

    def counting(self, whole: Set[str]) -> "ParameterDistribution":
        """The same, with whole numbers for some parameters that have only a range."""

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""


@dataclass(frozen=True, eq=False)
class Independent(Kept):
    """Independent parameters.

    Examples
    --------
    >>> from headway.models.sweeping.axes import Between
    >>> law = Independent({"arrival_rate": Between(100.0, 900.0)})
    >>> law.values(np.array([[0.25]]), 0)["arrival_rate"].tolist()
    [300.0]
    """

    spreads: Mapping[str, Spread]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(self.spreads)

    @property
    def together(self) -> bool:
        """Never."""
        return False

    def values(self, shares: FloatArray, first: int) -> dict[str, FloatArray]:  # noqa: ARG002
        """Values by name at points of the unit cube."""
        each = zip(self.spreads.items(), shares.T, strict=True)
        return {name: spread.at(own) for (name, spread), own in each}

    def ends(self) -> dict[str, FloatArray]:
        """The least and the largest value of each parameter."""
        return {name: spread.ends() for name, spread in self.spreads.items()}

    def counting(self, whole: Set[str]) -> "Independent":
        """The same, with whole numbers for some."""
        own = {name: s.counting() if name in whole else s for name, s in self.spreads.items()}
        return Independent(own)

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        return {"parameters": {name: each.describe() for name, each in self.spreads.items()}}


@dataclass(frozen=True, eq=False)
class Uncertain(Kept):
    """Uncertain parameters of a model, by their intervals and correlations."""

    joint: Joint

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(self.joint.marginals)

    @property
    def together(self) -> bool:
        """Whether some are correlated."""
        return bool((self.joint.correlations != np.eye(len(self.names))).any())

    def values(self, shares: FloatArray, first: int) -> dict[str, FloatArray]:
        """Values by name at points of the unit cube."""
        return self.joint.values(scores_at(shares), first)

    def ends(self) -> dict[str, FloatArray]:
        """None: all values stay within the bounds of their parameters."""
        return {}

    def counting(self, whole: Set[str]) -> "Uncertain":  # noqa: ARG002
        """The same: its marginals already handle counts."""
        return self

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        return self.joint.describe()


@dataclass(frozen=True, eq=False)
class Crossed(Kept):
    """Points of 16 replicates of crossed samples, each from its own scrambled Sobol sequence.

    Parameters
    ----------
    law
        Distribution of the parameters.
    crossing
        Layout of the points.
    seed
        Seed of the scrambling.

    Examples
    --------
    >>> from headway.models.sweeping.axes import Between
    >>> law = Independent({"a": Between(0.0, 1.0), "b": Between(0.0, 1.0)})
    >>> space = Crossed(law, Crossing(2, together=False, samples=8, block=32), seed=1)
    >>> points = space.points(0, 32)  # rows of 8: A, B, A with a from B, A with b from B
    >>> bool((points["a"][16:24] == points["a"][8:16]).all()), space.size
    (True, 512)
    """

    law: ParameterDistribution
    crossing: Crossing
    seed: int = 1
    sampled = True

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters to which it gives values."""
        return self.law.names

    @property
    def size(self) -> int:
        """Number of points."""
        return self.crossing.size

    def piece(self, start: int, stop: int) -> "Crossed":  # noqa: ARG002
        """The part that a worker needs for some points: the space itself, which is small."""
        return self

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each."""
        block = self.crossing.block
        first = start // block
        columns = [self._block(each) for each in range(first, -(-stop // block))]
        own = slice(start - first * block, stop - first * block)
        return {name: np.concatenate([each[name] for each in columns])[own] for name in self.names}

    def _block(self, block: int) -> dict[str, FloatArray]:
        """Its points; positions left over by the samples repeat the last one."""
        replicate, start, stop = self.crossing.samples_in(block)
        width = self.crossing.parameters
        shares = np.stack(sobol(2 * width, _seed(self.seed, replicate), start, stop), axis=1)
        rows = list(self._rows(shares[:, :width], shares[:, width:]))
        missing = self.crossing.block - self.crossing.rows * (stop - start)
        each = {name: np.concatenate([row[name] for row in rows]) for name in self.names}
        return {name: np.pad(values, (0, missing), "edge") for name, values in each.items()}

    def _rows(self, one: FloatArray, other: FloatArray) -> Iterator[dict[str, FloatArray]]:
        """Values of each row of the crossing, in order."""
        places, last = range(self.crossing.parameters), self.crossing.parameters - 1
        turns = [(place, (0, last)) for place in places] if self.law.together else [(0, places)]
        for first, columns in turns:
            for shares in (one, other, *(_mixed(one, other, column) for column in columns)):
                yield self.law.values(shares, first)

    def ends(self) -> Mapping[str, FloatArray]:
        """Values by parameter whose bounds must be checked."""
        return self.law.ends()

    def counting(self, whole: Set[str]) -> "Crossed":
        """The same, with whole numbers for some parameters."""
        return replace(self, law=self.law.counting(whole))

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        own = {"kind": "crossed", "samples": self.crossing.samples, "seed": self.seed}
        return {**own, "size": self.size, **self.law.describe()}


def _mixed(one: FloatArray, other: FloatArray, column: int) -> FloatArray:
    """The first sample, with one column from the second."""
    mixed = one.copy()
    mixed[:, column] = other[:, column]
    return mixed


@lru_cache(maxsize=64)
def _seed(seed: int, replicate: int) -> int:
    return int(np.random.SeedSequence([seed, replicate]).generate_state(1)[0])
