"""When resources saturate, as a table, rows and CSV."""

from collections.abc import Iterator
from typing import Any

from headway.models.analysis.growth import Filling, Growth
from headway.models.language.scales import Scale
from headway.models.showing.balance import balance_scale
from headway.models.tables.table import Column, Table
from headway.numerals import digits, significant


def growth_scale(growth: Growth) -> Scale:
    """The unit of loads: that of the balance."""
    return balance_scale(growth.balance)


def growth_tables(growth: Growth) -> list[Table]:
    """A row for each resource, in the order in which they saturate."""
    start = growth_scale(growth).stated(growth.start, growth.balance.machines[0].unit)
    title = f"from {start}, {digits(100 * growth.per_year)}% more a year"
    return [Table(title, _columns(growth), tuple(_words(growth)))]


def _columns(growth: Growth) -> tuple[Column, ...]:
    fillings = growth.fillings()
    columns = [Column("machine", tuple(one.machine for one in fillings))]
    if any(one.phase for one in fillings):
        columns.append(Column("phase", tuple(one.phase for one in fillings)))
    columns.append(Column("resource", tuple(one.resource for one in fillings)))
    loads = tuple(one.load for one in fillings)
    unit = growth_scale(growth).unit(growth.balance.machines[0].unit)
    columns.append(Column("saturates at", loads, unit))
    columns.append(Column("years", tuple(one.years for one in fillings)))
    if growth.first is not None:
        columns.append(Column("month", tuple(str(growth.date(one)) for one in fillings)))
    return tuple(columns)


def _words(growth: Growth) -> Iterator[str]:
    """What saturates first and next: a line for each machine and phase."""
    groups: dict[str, list[Filling]] = {}
    for one in growth.fillings():
        groups.setdefault(" ".join(filter(None, (one.machine, one.phase))), []).append(one)
    for name, (first, *later) in groups.items():
        whose = f"{name}: " if len(groups) > 1 else ""
        following = f"; {later[0].resource} is next, {_when(growth, later[0])}" if later else ""
        verb = "is saturated" if first.years == 0 else "saturates"
        yield f"{whose}{first.resource} {verb} {_when(growth, first)}{following}"


def _when(growth: Growth, one: Filling) -> str:
    if one.years == 0:
        return "already"
    date = growth.date(one)
    return f"in {significant(one.years, 3)} years" + (f" ({date})" if date else "")


def growth_rows(growth: Growth) -> list[dict[str, Any]]:
    """A dict for each resource, in the order in which they saturate."""
    return [
        {
            "machine": one.machine,
            "phase": one.phase or None,
            "resource": one.resource,
            "load": one.load,
            "years": one.years,
            "month": None if growth.first is None else str(growth.date(one)),
        }
        for one in growth.fillings()
    ]


def growth_document(growth: Growth) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "from": growth.start,
        "per_year": growth.per_year,
        "start": None if growth.first is None else str(growth.first),
        "full": growth_rows(growth),
    }


def growth_csv(growth: Growth) -> str:
    """A CSV row a resource."""
    return growth_tables(growth)[0].to_csv()
