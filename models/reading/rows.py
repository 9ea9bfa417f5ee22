"""Rows of a table as points of a load test, by the roles of its columns."""

import math
import shlex
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from headway.errors import ImpossiblePoint, MeasurementError
from headway.models.language.units import si_text
from headway.models.measured.cells import Observed
from headway.models.measured.columns import find
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Loop, Point
from headway.models.measured.roles import (
    EXTREME,
    MANY,
    OFFERED,
    PERCENTILE,
    POPULATION,
    ROLES,
    UTILISATION,
    ColumnRole,
    Role,
    part_of,
    titled,
    unsure,
)
from headway.records import dataclass


@dataclass(frozen=True)
class Used:
    """A column of a table, and its role.

    Parameters
    ----------
    column, unit
        Its title, and its unit.
    role
        The role that it was given; empty if it was not used.
    why
        Why it was not used, if it is for more than having no role.

    Examples
    --------
    >>> print(Used("latency_ms", "ms", "response time"))
    response time from latency_ms
    """

    column: str
    unit: str
    role: str = ""
    why: str = ""

    def __str__(self) -> str:
        if self.role:
            return f"{self.role} from {self.column}"
        return f"{self.column} ({self.why})" if self.why else self.column


def read_rows(table: Measurements) -> tuple[list[Point], tuple[Used, ...]]:
    r"""Points of a table, one per row, and the role of each column.

    Raises
    ------
    MeasurementError
        For a column whose title implies a role and lacks its unit, a bad cell in a column with a
        role, and a table without any role.

    Examples
    --------
    >>> table = Measurements.parse("clients,rps,p99 (ms),host\n2,90,30,a\n", "own.csv")
    >>> [point], used = read_rows(table)
    >>> point.population, point.throughput, dict(point.percentiles)
    (2.0, 90.0, {99.0: 0.03})
    >>> print(*used, sep=", ")
    population from clients, throughput from rps, response time p99 from p99 (ms), host
    """
    _check_units(table)
    taken = _taken(table)
    if not taken:
        names = ", ".join([*table.columns, *table.spoilt, *table.labels][:6])
        msg = (
            f"{table.source}: no column has a known role ({names}); give one, such as "
            "--role COLUMN=throughput, or name columns like throughput_ops_s,response_ms"
        )
        raise MeasurementError(msg)
    return [_point(table, taken, row) for row in range(len(table))], _used(table, taken)


def points_of_table(table: Measurements) -> list[Point]:
    r"""Rows of a table as points, by the columns whose roles are clear and whose cells are good.

    Examples
    --------
    >>> table = Measurements.parse("load_ops_s,response_ms,p99\n10,3.5,4", "a.csv")
    >>> [(point.offered_rate, dict(point.percentiles)) for point in points_of_table(table)]
    [(10.0, {})]
    """
    taken = _taken(replace(table, spoilt={}))
    return [_point(table, taken, row) for row in range(len(table))]


def _taken(table: Measurements) -> dict[ColumnRole, Observed]:
    """The column for each role; the first that has it, in the order of titles."""
    single = ((ColumnRole(role), find(table, role)) for role in ROLES)
    columns = {part: column for part, column in single if column is not None}
    for column in (*table.columns.values(), *table.spoilt.values()):
        part = part_of(column)
        known = columns.get(part) if part is not None else None
        if part is None or part.role not in MANY or _is_unclear(column, part.role):
            continue
        if known is None or (column.role and not known.role):
            columns[part] = column.usable()
    return columns


def _check_units(table: Measurements) -> None:
    """Refuse a column whose title implies a role that needs a unit, and has none."""
    for column in table.columns.values():
        part = titled(column.header)
        needs = part is not None and part.role is not EXTREME and part.role.unit.text
        if part is None or column.role or column.unit.text or not needs:
            continue
        if part_of(column) is None:
            wanted = part.role.unit
            msg = (
                f"{table.source}: column {column.header} has no unit in its name; as "
                f"{part.shown} it needs one: {_option('unit', column, str(wanted))}, or "
                f"{_option('role', column, 'none')}"
            )
            raise MeasurementError(msg)


def _is_unclear(column: Observed, role: Role) -> bool:
    """Whether plain numbers above 1 may be a utilisation in per cent: headway does not guess."""
    return role is UTILISATION and not column.unit.text and bool(np.any(column.values > 1))


def _used(table: Measurements, taken: dict[ColumnRole, Observed]) -> tuple[Used, ...]:
    """The role of every column; those that were not used come last."""
    used = [Used(c.header, _unit(c), part.shown) for part, c in taken.items()]
    names = {each.column for each in used}
    others = [*table.columns.values(), *table.spoilt.values()]
    left = [Used(c.header, _unit(c), why=_why(c)) for c in others if c.header not in names]
    return (*used, *left, *(Used(title, "") for title in table.labels))


def _unit(column: Observed) -> str:
    return column.unit.text or si_text(column.unit.dimension)


def _why(column: Observed) -> str:
    part = part_of(column)
    if part is not None and _is_unclear(column, part.role):
        ways = " or ".join(_option("unit", column, way) for way in ("%", "1"))
        return f"it may be a share or per cent: {ways}"
    if part is not None:
        return f"another column is the {part.shown}"
    some = unsure(column)
    if not some:
        return ""
    names = " or ".join(role.name for role in some)
    return f"{names}? {_option('role', column, some[0].word)}"


def _option(name: str, column: Observed, value: str) -> str:
    """What to type in a shell."""
    return f"--{name} {shlex.quote(f'{column.header}={value}')}"


def _point(table: Measurements, taken: dict[ColumnRole, Observed], row: int) -> Point:
    cells = {part: float(column.values[row]) for part, column in taken.items()}
    known = {part: value for part, value in cells.items() if not math.isnan(value)}
    is_closed = ColumnRole(POPULATION) in taken and ColumnRole(OFFERED) not in taken
    try:
        return _made(table, known, Loop.CLOSED if is_closed else None)
    except ImpossiblePoint as error:
        msg = f"{table.source}:{table.lines[row]}: {error}"
        raise MeasurementError(msg) from None


def _made(table: Measurements, known: Mapping[ColumnRole, float], loop: Loop | None) -> Point:
    single = {part.role.part: value for part, value in known.items() if part.role not in MANY}
    return Point(
        table.kind,
        loop,
        offered_rate=single.get("offered_rate"),
        population=single.get("population"),
        think_time=single.get("think_time"),
        throughput=single.get("throughput"),
        response_time=single.get("response_time"),
        percentiles={float(p.key): v for p, v in known.items() if p.role is PERCENTILE},
        errors=single.get("errors"),
        samples=single.get("samples"),
        duration=single.get("duration"),
        utilisation={p.key: v for p, v in known.items() if p.role is UTILISATION},
        more={p.written: v for p, v in known.items() if p.role.part in ("", EXTREME.part)},
        file=table.source,
    )
