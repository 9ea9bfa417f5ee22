"""Listed points: columns of a file or arrays, and draws of uncertain parameters."""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.structure.model import Model
from headway.models.sweeping.axes import described
from headway.models.sweeping.shares import sobol
from headway.models.sweeping.spaces import check_parameters, check_piece
from headway.models.uncertain.sampling import SCORE_BITS, Joint, check_whole, joint, scores_at
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Listed(Kept):
    """Points in the order of a list.

    Parameters
    ----------
    columns
        By parameter, at least one: its value at each point [SI], all of one shape (points,).

    Raises
    ------
    InvalidParameter
        For no column, no point, columns of unequal length, or values that are not finite.

    Examples
    --------
    >>> rows = Listed({"rate": np.array([100.0, 300.0]), "disks": np.array([2.0, 3.0])})
    >>> rows.size, rows.piece(1, 2).points(1, 2)
    (2, {'rate': array([300.]), 'disks': array([3.])})
    """

    columns: Mapping[str, FloatArray]
    sampled = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parameters(self.columns)
        for name, column in self.columns.items():
            self._check(name, column)

    def _check(self, name: str, column: FloatArray) -> None:
        first, size = self.names[0], len(np.atleast_1d(self.columns[self.names[0]]))
        if column.ndim != 1 or not column.size:
            msg = (
                f"{name} has values of shape {column.shape}; give a one-dimensional list of at "
                "least one"
            )
            raise InvalidParameter(msg)
        if column.size != size:
            msg = (
                f"{name} has {column.size} values but {first} has {size}; give one of each for "
                "every point"
            )
            raise InvalidParameter(msg)
        if not np.isfinite(column).all():
            place = int(np.flatnonzero(~np.isfinite(column))[0])
            msg = f"{name} is {digits(column[place])} at point {place}; it must be finite"
            raise InvalidParameter(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters to which it gives values."""
        return tuple(self.columns)

    @property
    def size(self) -> int:
        """Number of points."""
        return next(iter(self.columns.values())).size

    def piece(self, start: int, stop: int) -> "ListedPiece":
        """The points from `start` to before `stop`."""
        check_piece(self, start, stop)
        return ListedPiece(
            {name: column[start:stop] for name, column in self.columns.items()}, start
        )

    def ends(self) -> dict[str, FloatArray]:
        """The least and the largest value of each parameter."""
        return {name: np.array([c.min(), c.max()]) for name, c in self.columns.items()}

    def counting(self, whole: Set[str]) -> "Listed":  # noqa: ARG002
        """The same points: their values are given."""
        return self

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        columns = {name: described(column) for name, column in self.columns.items()}
        return {"kind": "listed", "size": self.size, "parameters": columns}


@dataclass(frozen=True, eq=False)
class ListedPiece(Kept):
    """Part of a list of points."""

    columns: Mapping[str, FloatArray]
    first: int

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each."""
        low, high = start - self.first, stop - self.first
        return {name: column[low:high] for name, column in self.columns.items()}


@dataclass(frozen=True, eq=False)
class Drawn(Kept):
    """Joint draws of the uncertain parameters of a model, as from `draws`.

    Parameters
    ----------
    law
        Their joint distribution: `headway.models.uncertain.sampling.joint` of a model.
    count
        How many points, from 1 to 2^30.
    seed
        A whole number of 0 or more; the same gives the same draws.

    Raises
    ------
    InvalidParameter
        For a count or seed out of bounds.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> model = model.uncertain({"service_time": ("0.9 ms", "1.1 ms")})
    >>> points = drawn_from(model, 10**6).piece(0, 1000).points(0, 1000)
    >>> points["service_time"].tolist() == model.draws(1000)["service_time"].tolist()
    True
    """

    law: Joint
    count: int
    seed: int = 1
    sampled = True

    def __post_init__(self) -> None:
        super().__post_init__()
        count = check_whole("sample", self.count, 1, 2**SCORE_BITS)
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "seed", check_whole("seed", self.seed, 0, 2**63))

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters to which it gives values."""
        return tuple(self.law.marginals)

    @property
    def size(self) -> int:
        """Number of points."""
        return self.count

    def piece(self, start: int, stop: int) -> "Drawn":
        """The part that a worker needs for some points: the distribution itself, which is small."""
        check_piece(self, start, stop)
        return self

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each."""
        shares = sobol(len(self.names), self.seed, start, stop, SCORE_BITS)
        return self.law.values(scores_at(np.array(shares).T))

    def ends(self) -> dict[str, FloatArray]:
        """Nothing: draws stay within the bounds of their parameters."""
        return {}

    def counting(self, whole: Set[str]) -> "Drawn":  # noqa: ARG002
        """The same draws: counts are already whole numbers."""
        return self

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        own = {"kind": "drawn", "size": self.size, "seed": self.seed}
        return {**own, **self.law.describe()}


def drawn_from(model: Model, count: int, seed: int = 1) -> Drawn:
    """Draw the uncertain parameters of a model a given number of times.

    Raises
    ------
    InvalidParameter
        If no parameter has an interval, or one has an unknown end.
    """
    return Drawn(joint(model), count, seed)
