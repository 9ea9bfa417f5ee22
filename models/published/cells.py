"""A cell of a published table: as printed, as recomputed, and the outcome."""

import math
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TypeAlias

from headway.records import dataclass

Value: TypeAlias = float | str

ROUNDING = 1e-9
"""Slack for numbers at the edge of their tolerance."""


class Expectation(StrEnum):
    """What is known about a cell beforehand."""

    AGREE = "agree"
    ERRATUM = "erratum"
    BEYOND = "beyond the model"
    INPUT = "sets the model"


class Outcome(StrEnum):
    """The outcome of a cell."""

    AGREES = "agrees"
    DIFFERS = "DIFFERS"
    ERRATUM = "erratum"
    BEYOND = "beyond the model"
    INPUT = "sets the model"


@dataclass(frozen=True)
class Cell:
    """A printed value and its recomputation.

    Parameters
    ----------
    name
        Which cell it is.
    printed, recomputed
        Numbers in the table's unit, or words.
    tolerance
        Largest difference that counts as agreement.
    expectation
        Whether it should agree; an erratum, or a number beyond the model, need not.
    explanation
        Why it need not agree.

    Examples
    --------
    >>> Cell("Radix at 103 us", 263.6, 263.58, 0.05).outcome.value
    'agrees'
    """

    name: str
    printed: Value
    recomputed: Value
    tolerance: float = 0.0
    expectation: Expectation = Expectation.AGREE
    explanation: str = ""

    @property
    def difference(self) -> float | None:
        """Recomputed minus printed; None for text."""
        if isinstance(self.printed, str) or isinstance(self.recomputed, str):
            return None
        return self.recomputed - self.printed

    @property
    def is_near(self) -> bool:
        """Whether both are the same within the tolerance."""
        gap = self.difference
        if gap is None:
            return self.printed == self.recomputed
        return abs(gap) <= self.tolerance + ROUNDING * (1 + abs(self.tolerance))

    @property
    def outcome(self) -> Outcome:
        """Whether it agrees, or why it need not."""
        if self.expectation is Expectation.AGREE:
            return Outcome.AGREES if self.is_near else Outcome.DIFFERS
        return Outcome(self.expectation.value)


@dataclass(frozen=True)
class PublishedTable:
    """A table of a document, and how its cells are recomputed.

    Parameters
    ----------
    name
        Name such as ``table-3.3``; ``document/name`` is unique among all tables.
    title
        What it contains, and which model recomputes it.
    unit
        Unit of its cells, for people; empty if they differ.
    recompute
        A function that returns the cells.
    tolerance
        The tolerance in words, with its reason.
    """

    name: str
    title: str
    unit: str
    recompute: Callable[[], Iterable[Cell]]
    tolerance: str


def half_unit(printed: str) -> float:
    """Half a unit of a printed number's last digit: its precision.

    Examples
    --------
    >>> half_unit("3.40"), half_unit("198")
    (0.005, 0.5)
    """
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def cell_of_print(name: str, printed: str, recomputed: float, slack: float = 0.0) -> Cell:
    """A cell that should agree to its printed digit, with slack for rounded inputs."""
    tolerance = half_unit(printed) + slack
    if not math.isfinite(recomputed):
        return Cell(name, float(printed), "infinite", tolerance)
    return Cell(name, float(printed), float(recomputed), tolerance)
