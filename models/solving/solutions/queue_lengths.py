"""Distributions of the number of jobs at stations, as an answer."""

from collections.abc import Mapping
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, Number, plain
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.numerals import digits
from headway.queueing.numbers.laws import NumberLaw
from headway.records import dataclass

NumberLaws: TypeAlias = list[NumberLaw | None]
"""One distribution per operating point, in flat order; None at saturated points."""


class SolvedNetwork(Protocol):
    """The parts of a solution that this answer needs."""

    @property
    def model(self) -> Model:
        """The solved model."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the operating points."""


Of = TypeVar("Of", bound=SolvedNetwork)

COVERED = 1 - 1e-9
"""Probability covered by the listed numbers of jobs."""

MOST_LISTED = 10_000
"""The most numbers of jobs to list."""


@dataclass(frozen=True, eq=False)
class QueueLengths(Answer, Generic[Of]):
    """Distributions of the number of jobs at stations of a solved network.

    Parameters
    ----------
    solution
        The solved model.
    laws
        By station, one distribution per operating point.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> lengths = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5).queue_lengths("cpu")
    >>> lengths
    QueueLengths(one: cpu)
    >>> lengths.chances("cpu")[:3].round(9).tolist(), lengths.covering("cpu", 0.95)
    ([0.5, 0.25, 0.125], 4.0)
    """

    solution: Of
    laws: Mapping[str, NumberLaws]

    def __repr__(self) -> str:
        return f"QueueLengths({self.solution.model.name}: {', '.join(self.laws)})"

    @property
    def stations(self) -> tuple[str, ...]:
        """Names of the stations.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> one.solve(5).queue_lengths().stations
        ('cpu',)
        """
        return tuple(self.laws)

    def chances(self, station: str) -> FloatArray:
        """Probabilities of 0, 1, 2... jobs along the last axis; other axes are operating points.

        The numbers listed, at most 10,000, cover all but 1e-9 of the time. NaN at saturated points.

        Parameters
        ----------
        station
            One of `stations`.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> lengths = ModelGraph("one").station("cpu", MM1(0.1)).at().solve([5, 8]).queue_lengths()
        >>> lengths.chances("cpu")[:, 0].round(9).tolist()
        [0.5, 0.2]
        """
        most = listed(self.laws[station])
        rows = [
            np.full(most + 1, np.nan) if law is None else law.chances(most)
            for law in self.laws[station]
        ]
        return np.array(rows).reshape(*self.solution.shape, most + 1)

    def covering(self, station: str, share: float) -> Number:
        """The smallest number of jobs that is not exceeded for this share of the time.

        Parameters
        ----------
        station, share
            One of `stations`, and a share between 0 and 1.

        Raises
        ------
        InvalidParameter
            For a share out of range.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> lengths = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(9).queue_lengths()
        >>> lengths.covering("cpu", 0.99)  # 0.9 ** 44 < 1%
        43.0
        """
        if not 0 < share < 1:
            msg = f"share is {digits(share)}; it must be between 0 and 1"
            raise InvalidParameter(msg)
        each = [np.nan if law is None else float(law.covering(share)) for law in self.laws[station]]
        number: Number = plain(np.array(each).reshape(self.solution.shape))
        return number


def listed(laws: NumberLaws) -> int:
    """Largest number of jobs to list, so that each distribution is covered except for 1e-9."""
    known = [law for law in laws if law is not None]
    return min(max((covered(law, COVERED) for law in known), default=0), MOST_LISTED)


def covered(law: NumberLaw, share: float) -> int:
    """Smallest number of jobs that covers a share of the time, within the range of the law."""
    most = law.covering(share)
    return most if law.ratio > 0 else min(most, len(law.head) - 1)
