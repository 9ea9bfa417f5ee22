"""When what is full, as a table, rows and CSV."""

from collections.abc import Iterator
from typing import Any

from headway.models.analysis.growth import Filling, Growth
from headway.models.tables.table import Column, Table


def growth_tables(found: Growth) -> list[Table]:
    """A row a resource, in the order in which they are full."""
    unit = found.balance.machines[0].unit
    start = f"{found.start / unit.scale:.6g} {unit}".strip()
    title = f"from {start}, {100 * found.per_year:.6g} % more a year"
    return [Table(title, _columns(found), tuple(_words(found)))]


def _columns(found: Growth) -> tuple[Column, ...]:
    fillings = found.fillings()
    columns = [Column("machine", tuple(one.machine for one in fillings))]
    if any(one.phase for one in fillings):
        columns.append(Column("phase", tuple(one.phase for one in fillings)))
    columns.append(Column("resource", tuple(one.resource for one in fillings)))
    loads, unit = tuple(one.load for one in fillings), found.balance.machines[0].unit
    columns.append(Column("full at", loads, unit))
    columns.append(Column("years", tuple(one.years for one in fillings)))
    if found.first is not None:
        columns.append(Column("month", tuple(str(found.date(one)) for one in fillings)))
    return tuple(columns)


def _words(found: Growth) -> Iterator[str]:
    """What is full first, and what is next once that is relieved: a line a machine and phase."""
    groups: dict[str, list[Filling]] = {}
    for one in found.fillings():
        groups.setdefault(" ".join(filter(None, (one.machine, one.phase))), []).append(one)
    for name, (first, *later) in groups.items():
        whose = f"{name}: " if len(groups) > 1 else ""
        following = f"; {later[0].resource} is next, {_when(found, later[0])}" if later else ""
        yield f"{whose}{first.resource} is full {_when(found, first)}{following}"


def _when(found: Growth, one: Filling) -> str:
    if one.years == 0:
        return "already"
    date = found.date(one)
    return f"in {one.years:.3g} years" + (f" ({date})" if date else "")


def growth_rows(found: Growth) -> list[dict[str, Any]]:
    """A dict a resource, the first to be full first."""
    return [
        {
            "machine": one.machine,
            "phase": one.phase or None,
            "resource": one.resource,
            "load": one.load,
            "years": one.years,
            "month": None if found.first is None else str(found.date(one)),
        }
        for one in found.fillings()
    ]


def growth_document(found: Growth) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "from": found.start,
        "per_year": found.per_year,
        "start": None if found.first is None else str(found.first),
        "full": growth_rows(found),
    }


def growth_csv(found: Growth) -> str:
    """A CSV row a resource."""
    return growth_tables(found)[0].to_csv()
