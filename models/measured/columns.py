"""Select columns of a table: by role, and as the load or the output.

Roles are declared in `headway.models.measured.roles`. Which column is the load is decided here and
nowhere else: the offered rate, else the population that was set, else the throughput,
else the measured number of requests inside.
"""

import shlex
from collections.abc import Collection, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from headway.errors import MeasurementError, quoted
from headway.models.language.units import Unit, compatible, is_counted
from headway.models.measured.cells import Observed
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import (
    DELIVERED,
    INSIDE,
    OFFERED,
    PERCENTILE,
    POPULATION,
    RESPONSE,
    Role,
    fits,
    part_of,
    role_of,
    same_title,
    titled,
    unsure,
)
from headway.models.tables.description import Field, only_csv
from headway.numerals import digits

_BUSY = 0.05  # share of the cycle below which a think time counts as noise


def is_population(column: Observed) -> bool:
    """Whether a column counts circulating jobs, so that using it as the load closes the model."""
    role = role_of(column)
    return role is not None and role.closed


def check_whole(measurements: Measurements, load: Observed) -> None:
    r"""Refuse a population that is not a whole number, naming its line.

    Raises
    ------
    MeasurementError
        With the line and the number.

    Examples
    --------
    >>> table = Measurements.parse("population,rate_s\n1,9\n2.5,20\n", "own.csv")
    >>> check_whole(table, table.column("population"))
    Traceback (most recent call last):
    ...
    headway.errors.MeasurementError: own.csv:3: population of 2.5: jobs must be whole numbers
    """
    if not is_population(load):
        return
    for line, jobs in zip(measurements.lines, load.values.tolist(), strict=False):
        if isfinite(jobs) and (jobs < 0 or jobs % 1):
            where = f"{measurements.source}:{line}"
            msg = f"{where}: {load.header} of {digits(jobs)}: jobs must be whole numbers"
            raise MeasurementError(msg)


def is_rate(column: Observed) -> bool:
    """Whether a column counts something per time."""
    return column.unit.dimension[:2] == DELIVERED.unit.dimension[:2]


def find(measurements: Measurements, *roles: Role) -> Observed | None:
    """The first column with one of these roles: the user's choice, or else by order of titles.

    Raises
    ------
    MeasurementError
        If it has a cell that is not a number of this column.
    """
    both = (*measurements.columns.values(), *measurements.spoilt.values())
    mine = [column for column in both if role_of(column) in roles]
    column_ = min(mine, key=lambda column: _rank(column, roles), default=None)
    return None if column_ is None else column_.usable()


def _rank(column: Observed, roles: Sequence[Role]) -> tuple[int, int]:
    """The rank of a column among those that may have a role; the user's choice comes first."""
    titles = [title for role in roles for title in role.titles]
    if column.role:
        return 0, 0
    return 1, next((i for i, each in enumerate(titles) if same_title(column.header, each)), 0)


def load_column(
    measurements: Measurements, x: str | None = None, taken: Collection[str] = ()
) -> Observed:
    r"""The column of the load.

    Parameters
    ----------
    measurements
        A table.
    x
        The column's name; by default, its title decides.
    taken
        Names of columns that set a parameter of that name, so that they are not a population.

    Raises
    ------
    MeasurementError
        If there is none; lists the columns of the table.

    Examples
    --------
    >>> def load(header):
    ...     return load_column(Measurements.parse(f"{header}\n8,9,1\n", "own.csv")).header
    >>> load("clients,throughput_ops_s,response_ms")
    'clients'
    >>> load("outstanding,throughput_ops_s,response_ms")
    'throughput_ops_s'
    """
    if x is not None:
        return measurements.column(x)
    rate = find(measurements, DELIVERED, OFFERED)
    population, inside = (
        None if counted is None or counted.name in taken else counted
        for counted in (find(measurements, POPULATION), find(measurements, INSIDE))
    )
    offered = _varied(find(measurements, OFFERED))
    if population is not None and not offered and (rate is None or _varied(population)):
        return population
    return rate or inside or _named(measurements, DELIVERED, OFFERED)


def _varied(column: Observed | None) -> bool:
    """Whether a column exists and its values differ between rows."""
    if column is None:
        return False
    known = column.values[np.isfinite(column.values)]
    return known.size == 1 or np.unique(known).size > 1


def response_column(measurements: Measurements, y: str | None = None) -> Observed:
    """The column of the response time, or the named column.

    Raises
    ------
    MeasurementError
        If there is none; lists the columns of the table.
    """
    if y is not None:
        return measurements.column(y)
    timed = find(measurements, RESPONSE)
    return timed if timed is not None else _named(measurements, RESPONSE)


def lone_percentile(measurements: Measurements) -> Observed | None:
    r"""The only column of percentiles, in a table without a column of mean response times.

    Examples
    --------
    >>> table = Measurements.parse("throughput_ops_s,p99_ms\n4,20\n8,24\n", "own.csv")
    >>> lone_percentile(table).header
    'p99_ms'
    """
    if find(measurements, RESPONSE) is not None:
        return None
    parts = ((part_of(column), column) for column in measurements.columns.values())
    percentiles = [column for part, column in parts if part is not None and part.role is PERCENTILE]
    return percentiles[0] if len(percentiles) == 1 else None


def think_time(measurements: Measurements, population: Observed) -> float:
    r"""Mean time between an answer and the next request, Z = N/X - R [s].

    Parameters
    ----------
    measurements
        A table; Z is 0 if it has no column of throughput or none of response time, and if it would
        be less than 5% of a cycle, as noise alone can cause that.
    population
        Its column of circulating jobs.

    Examples
    --------
    >>> text = "clients,throughput_ops_s,response_ms\n4,2,1000\n8,4,1000\n"
    >>> table = Measurements.parse(text, "own.csv")
    >>> think_time(table, table.column("clients"))
    1.0
    """
    rate, response = find(measurements, DELIVERED), find(measurements, RESPONSE)
    if rate is None or response is None:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        circle = population.values / rate.values
        spare = circle - response.values
    known = np.isfinite(spare)
    if not known.any() or np.median((spare / circle)[known]) < _BUSY:
        return 0.0
    return float(np.median(spare[known]))


def _named(measurements: Measurements, *roles: Role) -> Observed:
    """The column with the title of a role, whatever its dimension; refused if there is none."""
    for column in measurements.columns.values():
        part = None if column.role else titled(column.header)
        if part is not None and part.role in roles:
            return column
    _check_endings(measurements, roles)
    titles = [title for role in roles for title in role.titles]
    hint = _may_be(measurements, roles)
    try:
        return measurements.column(*titles[: 1 if hint else None])
    except MeasurementError as error:
        msg = f"{error}{hint}"
        raise MeasurementError(msg) from None


def _check_endings(measurements: Measurements, roles: Sequence[Role]) -> None:
    """Refuse a column that is titled as a role and ends in an unknown unit."""
    for column in measurements.columns.values():
        title, _, ending = column.header.rpartition("_")
        part = titled(title) if title and not (column.unit.text or column.role) else None
        if part is not None and part.role in roles and part_of(column) is None:
            msg = (
                f"{measurements.source}: {quoted(ending)} in {column.header} is not a known unit; "
                f"write for example {part.role.written}"
            )
            raise MeasurementError(msg)


def _may_be(measurements: Measurements, roles: Sequence[Role]) -> str:
    """Suggest a column and the option that selects it; empty if none fits."""
    for column in measurements.columns.values():
        some = [role for role in unsure(column) if role in roles]
        if some:
            names = " or ".join(role.name for role in unsure(column))
            return f"; {column.header} may be {names}: use {_option(column, some[0])}"
    left = [c for c in measurements.columns.values() if part_of(c) is None and not c.role]
    alike = [column for column in left if column.unit.text and fits(column.unit, roles[0])]
    if len(alike) != 1:
        return ""
    return f"; if {alike[0].header} is the {roles[0].name}, say {_option(alike[0], roles[0])}"


def _option(column: Observed, role: Role) -> str:
    """What to type in a shell."""
    return f"--role {shlex.quote(f'{column.header}={role.word}')}"


def check_unit(source: str, column: Observed, wanted: Unit) -> None:
    """Refuse a column whose dimension does not match its use.

    Raises
    ------
    MeasurementError
        Naming the column, its unit, and a suitable unit.
    """
    if is_counted(wanted) and (not column.unit.text or is_counted(column.unit)):
        return
    bare = bool(wanted.text) and not column.unit.text
    if not compatible(column.unit.dimension, wanted.dimension) or bare:
        raise wrong_unit(source, column, f"a unit like {wanted}" if wanted.text else "no unit")


def wrong_unit(place: str, column: Observed, needs: str) -> MeasurementError:
    """The error of a column whose unit does not match its use."""
    actual = f"is in {column.unit}" if column.unit.text else "has no unit in its name"
    if column.stated and not column.unit.text:
        return MeasurementError(f"{place}: {column.name} has no unit; it needs {needs}")
    return MeasurementError(f"{place}: column {column.header} {actual}; it needs {needs}")


class Axes(NamedTuple):
    r"""Titles of the columns that an answer is based on: the load and the output.

    Examples
    --------
    >>> table = Measurements.parse("throughput_ops_s,response_ms\n100,3.4\n", "own.csv")
    >>> print(Axes.of(load_column(table), response_column(table)))
    response_ms over throughput_ops_s
    """

    x: str
    y: str

    @classmethod
    def of(cls, x: Observed, *y: Observed) -> "Axes":
        """The title of the load's column and those of the outputs, separated by commas."""
        return cls(x.header, ",".join(column.header for column in y))

    def __str__(self) -> str:
        return f"{self.y.replace(',', ', ')} over {self.x}"

    @property
    def note(self) -> str:
        """What a table says about them."""
        return f"columns: {self}"

    def document(self) -> dict[str, str]:
        """The fields of the JSON contract."""
        return self._asdict()

    def fields(self, rows: int) -> tuple[Field, ...]:
        """The same values, in every row of CSV."""
        return tuple(only_csv(name, (title,) * rows) for name, title in self.document().items())
