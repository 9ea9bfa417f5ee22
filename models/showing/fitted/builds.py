"""Two builds compared, described: one row per quantity, and one per quantity and load."""

import math

from headway.models.inference.builds import Builds, Difference
from headway.models.language.scales import Scale
from headway.models.tables.description import Description, Field, Records, field
from headway.models.tables.table import Column, Table
from headway.numerals import counted, digits, significant

_AT_EACH = ("response_time", "throughput")
"""What tables show for each load; JSON and CSV have everything."""


def describe(builds: Builds) -> Description:
    """One row per difference in SI, with the load, or without one over all loads."""
    every = (*builds.overall, *builds.by_load)
    return Description(
        records=lambda: _records(every),
        scale=lambda: Scale.of(
            [pair for d in every for pair in ((d.first, d.unit), (d.second, d.unit))],
            [builds.load_unit],
        ),
        tables=lambda scale: _tables(builds, scale),
        document=lambda rows: {
            "first": builds.first,
            "second": builds.second,
            "at_most": builds.at_most,
            "worse": [one.quantity for one in builds.worse],
            "undecided": [one.quantity for one in builds.undecided],
            "repeated": builds.repeated,
            "runs": builds.runs,
            "differences": rows,
            "notes": list(builds.notes),
        },
    )


def _records(every: tuple[Difference, ...]) -> Records:
    ends = [None if math.isnan(one.low) else (one.low, one.high) for one in every]
    return Records(
        (
            field("quantity", (one.quantity for one in every)),
            field("load", (one.load for one in every)),
            field("first", (one.first for one in every)),
            field("second", (one.second for one in every)),
            field("ratio", (one.ratio for one in every)),
            Field(("ci95",), ends, csv=("low_ratio", "high_ratio")),
        )
    )


def _tables(builds: Builds, scale: Scale) -> list[Table]:
    title = f"{builds.second} against {builds.first}"
    first = _table(title, builds.overall, builds, scale, _notes(builds))
    each = tuple(one for one in builds.by_load if one.quantity in _AT_EACH)
    if len({one.load for one in each}) < 2:
        return [first]
    return [first, _table("at each load", each, builds, scale, ())]


def _table(
    title: str,
    rows: tuple[Difference, ...],
    builds: Builds,
    scale: Scale,
    notes: tuple[str, ...],
) -> Table:
    columns = [Column("quantity", tuple(one.quantity.replace("_", " ") for one in rows))]
    if any(one.load is not None for one in rows):
        loads = tuple(scale.text(one.load or 0.0, builds.load_unit) for one in rows)
        columns.append(Column("at", loads))
    columns += [
        Column("before", tuple(scale.text(one.first, one.unit) for one in rows)),
        Column("after", tuple(scale.text(one.second, one.unit) for one in rows)),
        Column("change", tuple(_percent(one.ratio) for one in rows)),
    ]
    if not all(math.isnan(one.low) for one in rows):
        columns.append(Column("95% interval", tuple(_interval(one) for one in rows)))
        columns.append(Column("verdict", tuple(_verdict(one) for one in rows)))
    return Table(title, tuple(columns), notes)


def _percent(ratio: float) -> str:
    return f"{'+' if ratio >= 1 else ''}{significant(100 * (ratio - 1), 3)}%"


def _interval(one: Difference) -> str:
    if math.isnan(one.low):
        return "-"
    return f"{_percent(one.low)} to {_percent(one.high)}"


def change_words(one: Difference) -> str:
    """A change with its interval, if it has one.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> change_words(Difference("response_time", unit("s"), None, 1, 1.1, 1.1, 1.05, 1.15, False))
    '+10% (95%: +5% to +15%)'
    """
    ends = "" if math.isnan(one.low) else f" (95%: {_interval(one)})"
    return f"{_percent(one.ratio)}{ends}"


def _verdict(one: Difference) -> str:
    if math.isnan(one.low):
        return "measured once"
    if not one.is_clear:
        return "undecided"
    return "worse" if one.is_worse else "better"


def _notes(builds: Builds) -> tuple[str, ...]:
    limit = f"{digits(100 * builds.at_most)}%"
    notes = []
    if builds.worse:
        names = ", ".join(one.quantity.replace("_", " ") for one in builds.worse)
        notes.append(f"worse by more than {limit}: {names}")
    elif builds.undecided:
        names = ", ".join(one.quantity.replace("_", " ") for one in builds.undecided)
        notes.append(f"these runs cannot rule out a worsening of more than {limit}: {names}")
    else:
        notes.append(f"nothing is worse by more than {limit}")
    if builds.has_enough:
        notes.append(f"as many runs as these would show a change of {limit} 4 times out of 5")
    elif builds.runs is not None:
        runs = counted(builds.runs, "run")
        notes.append(f"{runs} per load and build would show a change of {limit} 4 times out of 5")
    how = (
        "intervals come from the scatter between runs of one build at one load"
        if builds.repeated
        else "no load was repeated, so differences between loads count as scatter; repeat some"
    )
    over = "overall figures are geometric means over the loads that both builds have"
    return (*notes, how, over, *builds.notes)
