"""Growth described: when each resource saturates."""

from collections.abc import Iterator

from headway.models.analysis.growth import Growth, Saturation
from headway.models.language.scales import Scale, units_of
from headway.models.tables.description import (
    Description,
    Field,
    Records,
    common,
    field,
    only_json,
)
from headway.models.tables.table import Table
from headway.numerals import digits, significant


def describe(growth: Growth) -> Description:
    """One row per resource, in the order in which they saturate."""
    records = Records(tuple(_fields(growth)))
    return Description(
        records=lambda: records,
        scale=lambda: units_of(growth.balance),
        tables=lambda scale: [_table(growth, records, scale)],
        document=lambda rows: {
            "from": growth.start,
            "per_year": growth.per_year,
            "start": None if growth.first is None else str(growth.first),
            "full": rows,
        },
    )


def _fields(growth: Growth) -> Iterator[Field]:
    fillings, unit = growth.fillings(), growth.balance.machines[0].unit
    yield field("machine", (one.machine for one in fillings), title="machine")
    phases = [one.phase or None for one in fillings]
    yield field("phase", phases, title="phase") if any(phases) else only_json("phase", phases)
    yield field("resource", (one.resource for one in fillings), title="resource")
    loads = [one.load for one in fillings]
    yield Field(("load",), loads, unit, ("saturates at",), "saturates at", common)
    yield field("years", (one.years for one in fillings), title="years")
    if growth.first is None:
        yield only_json("month", (None for _ in fillings))
    else:
        yield field("month", (str(growth.date(one)) for one in fillings), title="month")


def _table(growth: Growth, records: Records, scale: Scale) -> Table:
    start = scale.stated(growth.start, growth.balance.machines[0].unit)
    title = f"from {start}, {digits(100 * growth.per_year)}% more a year"
    return records.table(title, scale, _sentences(growth))


def _sentences(growth: Growth) -> Iterator[str]:
    """What saturates first and next: a line for each machine and phase."""
    groups: dict[str, list[Saturation]] = {}
    for one in growth.fillings():
        groups.setdefault(" ".join(filter(None, (one.machine, one.phase))), []).append(one)
    for name, (first, *later) in groups.items():
        whose = f"{name}: " if len(groups) > 1 else ""
        following = f"; {later[0].resource} is next, {_when(growth, later[0])}" if later else ""
        verb = "is saturated" if first.years == 0 else "saturates"
        yield f"{whose}{first.resource} {verb} {_when(growth, first)}{following}"


def _when(growth: Growth, one: Saturation) -> str:
    if one.years == 0:
        return "already"
    date = growth.date(one)
    return f"in {significant(one.years, 3)} years" + (f" ({date})" if date else "")
