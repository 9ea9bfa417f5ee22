"""Which number a column is: the role that its title and its dimension tell.

Roles are declared in one table, `ROLES`. Which column is the load is decided here and nowhere
else: a rate that was asked for, else a population that was set, else the rate that came out, else
requests that were seen inside.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headway.errors import MeasurementError
from headway.models.language.units import Unit, compatible, split_header, unit
from headway.models.measured.measurements import Measurements, Observed
from headway.models.tables.table import Column


@dataclass(frozen=True)
class Role:
    """What a column can be.

    Parameters
    ----------
    name
        What documents call it.
    titles
        Titles recognised, without unit, the preferred one first; see `plain_title`.
    unit
        One of the dimension it must have.
    load
        Whether it can be the load.
    closed
        Whether such a load is a population, which closes the model.
    output
        The output of a model that it measures; empty if it is none.
    """

    name: str
    titles: tuple[str, ...]
    unit: Unit
    load: bool = False
    closed: bool = False
    output: str = ""


DELIVERED = Role(
    "throughput", ("throughput", "achieved"), unit("op/s"), load=True, output="throughput"
)
OFFERED = Role(
    "offered rate", ("arrival_rate", "load", "requested", "offered"), unit("op/s"), load=True
)
POPULATION = Role(
    "population",
    (
        "population", "clients", "threads", "connections", "vus", "virtual_users", "users",
        "concurrency", "concurrency_level", "queue_depth", "iodepth", "io_depth",
    ),
    unit("job"),
    load=True,
    closed=True,
)  # fmt: skip
INSIDE = Role(
    "requests inside",
    ("outstanding", "outstanding_requests", "in_flight", "inflight"),
    unit("job"),
    load=True,
    closed=True,
)
RESPONSE = Role(
    "response time", ("response_time", "response", "latency"), unit("s"), output="response_time"
)

ROLES = (DELIVERED, OFFERED, POPULATION, INSIDE, RESPONSE)
"""Every role; a title belongs to one."""

_FILLING = frozenset(
    ("mean", "avg", "average", "number", "num", "no", "of", "count", "concurrent", "active")
)


def plain_title(title: str) -> str:
    """A title as roles know it: small letters, no unit, no words that change nothing.

    Examples
    --------
    >>> plain_title("Mean response time [ms]"), plain_title("num_clients"), plain_title("VUs")
    ('response_time', 'clients', 'vus')
    """
    words = re.split(r"[\s_#-]+", split_header(title)[0].lower())
    return "_".join(word for word in words if word and word not in _FILLING)


def _singular(title: str) -> str:
    return title.removesuffix("s")


def role_of(column: Observed) -> Role | None:
    r"""The role of a column by its title and its dimension; None if it has none.

    Examples
    --------
    >>> table = Measurements.parse("users,users_per_s,p99_ms\n1,2,3\n", "own.csv")
    >>> role_of(table.column("users")).name, role_of(table.column("users_per_s"))
    ('population', None)
    """
    title = _singular(plain_title(column.header))
    for role in ROLES:
        if title in map(_singular, role.titles):
            return role if column.unit.dimension[:2] == role.unit.dimension[:2] else None
    return None


def is_population(column: Observed) -> bool:
    """Whether a column counts jobs that circulate, so that a load of it closes the model."""
    role = role_of(column)
    return role is not None and role.closed


def is_rate(column: Observed) -> bool:
    """Whether a column counts something per time."""
    return column.unit.dimension[:2] == DELIVERED.unit.dimension[:2]


def find(measurements: Measurements, *roles: Role) -> Observed | None:
    """The first column that has one of these roles, by the order of their titles."""
    mine = [c for c in measurements.columns.values() if role_of(c) in roles]
    titles = [_singular(title) for role in roles for title in role.titles]
    return min(mine, key=lambda c: titles.index(_singular(plain_title(c.header))), default=None)


def load_column(
    measurements: Measurements, x: str | None = None, taken: Collection[str] = ()
) -> Observed:
    r"""The column of the load.

    Parameters
    ----------
    measurements
        A table.
    x
        The column's name, where it is not to be told by titles.
    taken
        Names of columns that are no population, as they set a parameter of that name.

    Raises
    ------
    MeasurementError
        If there is none; tells which columns there are.

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
        None if found is None or found.name in taken else found
        for found in (find(measurements, POPULATION), find(measurements, INSIDE))
    )
    asked_for = _varied(find(measurements, OFFERED))
    if population is not None and not asked_for and (rate is None or _varied(population)):
        return population
    return rate or inside or _named(measurements, DELIVERED, OFFERED)


def _varied(column: Observed | None) -> bool:
    """Whether there is such a column, and it is not the same in each of several rows."""
    if column is None:
        return False
    known = column.values[np.isfinite(column.values)]
    return known.size == 1 or np.unique(known).size > 1


def response_column(measurements: Measurements, y: str | None = None) -> Observed:
    """The column of the response time, or the one that is named.

    Raises
    ------
    MeasurementError
        If there is none; tells which columns there are.
    """
    if y is not None:
        return measurements.column(y)
    found = find(measurements, RESPONSE)
    return found if found is not None else _named(measurements, RESPONSE)


def _named(measurements: Measurements, *roles: Role) -> Observed:
    """The column of a role's title, be its dimension what it may; refused if there is none."""
    return measurements.column(*(title for role in roles for title in role.titles))


def check_unit(source: str, column: Observed, wanted: Unit) -> None:
    """Refuse a column of another dimension than what it is to be.

    Raises
    ------
    MeasurementError
        Naming the column, its unit, and one that it needs.
    """
    bare = bool(wanted.text) and not column.unit.text
    if not compatible(column.unit.dimension, wanted.dimension) or bare:
        raise wrong_unit(source, column, f"one like {wanted or 'a number'}")


def wrong_unit(place: str, column: Observed, needs: str) -> MeasurementError:
    """The complaint about a column whose unit is none for what it is to be."""
    told = f"is in {column.unit}" if column.unit.text else "has no unit in its name"
    return MeasurementError(f"{place}: column {column.header} {told}; it needs {needs}")


class Axes(NamedTuple):
    r"""Titles of the columns that an answer comes from: of the load and of the output.

    Examples
    --------
    >>> table = Measurements.parse("throughput_ops_s,response_ms\n100,3.4\n", "own.csv")
    >>> print(Axes.of(load_column(table), response_column(table)))
    y = response_ms, x = throughput_ops_s
    """

    x: str
    y: str

    @classmethod
    def of(cls, x: Observed, y: Observed) -> "Axes":
        """The titles of two columns."""
        return cls(x.header, y.header)

    def __str__(self) -> str:
        return f"y = {self.y}, x = {self.x}"

    def document(self) -> dict[str, str]:
        """The fields of the JSON contract."""
        return self._asdict()

    def columns(self, rows: int) -> tuple[Column, ...]:
        """The same in every row of a table, for CSV."""
        return tuple(Column(name, (title,) * rows) for name, title in self.document().items())
