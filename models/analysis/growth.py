"""Growth: when a load that grows every year saturates each resource."""

import math
from collections.abc import Iterator

from headway.errors import InvalidParameter
from headway.models.analysis.balance import Balance, Bars
from headway.models.tables.shown import Answer
from headway.numerals import digits
from headway.records import dataclass

_MONTHS = 12


@dataclass(frozen=True)
class Month:
    """A month of a year.

    Examples
    --------
    >>> str(month("2026-11").after(1.5)), str(month("2026-11"))
    ('2028-05', '2026-11')
    """

    year: int
    number: int

    def after(self, years: float) -> "Month":
        """The month that many years later."""
        months = self.year * _MONTHS + self.number - 1 + math.floor(years * _MONTHS + 1e-9)
        return Month(months // _MONTHS, months % _MONTHS + 1)

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.number:02d}"


def month(text: str) -> Month:
    """Read a month, as 2026-11.

    Raises
    ------
    InvalidParameter
        For text that is not a month.
    """
    year, dash, number = text.strip().partition("-")
    digits = all(part.isascii() and part.isdigit() for part in (year, number))
    if not (dash and digits and len(year) == 4 and 1 <= int(number) <= _MONTHS):
        msg = f"{text!r} is not a month; write year and month, such as 2026-11"
        raise InvalidParameter(msg)
    return Month(int(year), int(number))


@dataclass(frozen=True)
class Saturation:
    """When a resource saturates.

    Parameters
    ----------
    machine, phase, resource
        The resource, its machine, and the phase of the program (empty if it has only one).
    load
        The load at which it saturates [SI].
    years
        Time from the start; 0 if it is already saturated.
    """

    machine: str
    phase: str
    resource: str
    load: float
    years: float


@dataclass(frozen=True)
class Growth(Answer):
    """When each resource of machines saturates as the load grows by a share every year.

    Parameters
    ----------
    balance
        The load at which each resource saturates.
    start
        The load now [SI].
    per_year
        Growth in a year as a share, above 0: 0.3 is 30%.
    first
        The present month; None for no dates.

    Raises
    ------
    InvalidParameter
        For a load or growth of zero or below.

    Examples
    --------
    >>> from headway.models import ModelGraph, balance
    >>> from headway.queueing import MM1
    >>> graph = ModelGraph("two").station("cpu", MM1(0.001)).station("disk", MM1(0.0004))
    >>> graph = graph.route("cpu", "disk")
    >>> grown = Growth(balance(graph.at(arrival_rate=1)), 500.0, 1.0)
    >>> [(one.resource, round(one.years, 3)) for one in grown.fillings()]
    [('cpu', 1.0), ('disk', 2.322)]
    """

    balance: Balance
    start: float
    per_year: float
    first: Month | None = None

    def __post_init__(self) -> None:
        for name, value in (("the load to start from", self.start), ("the growth", self.per_year)):
            if not (math.isfinite(value) and value > 0):
                msg = f"{name} is {digits(value)}; it must be above 0"
                raise InvalidParameter(msg)

    def __repr__(self) -> str:
        return f"Growth({digits(self.start)} by {digits(100 * self.per_year)}% a year)"

    def fillings(self) -> list[Saturation]:
        """When each resource saturates, in order, machine by machine."""
        return [one for bars in self.balance.machines for one in self._of(bars)]

    def _of(self, bars: Bars) -> Iterator[Saturation]:
        for phase in bars.phases:
            for limit in bars.order(phase):
                factor = max(limit.load / self.start, 1.0)
                years = math.log(factor) / math.log1p(self.per_year)
                yield Saturation(bars.title, phase, limit.resource, limit.load, years)

    def date(self, filling: Saturation) -> Month | None:
        """The month in which a resource saturates; None without a start."""
        return None if self.first is None else self.first.after(filling.years)
