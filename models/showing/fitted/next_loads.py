"""Advice on what to measure next, described: one row per further run."""

from dataclasses import replace

from headway.models.inference.forecasting.next_load import PAYS, NextLoads
from headway.models.language.scales import Scale
from headway.models.tables.description import Description, Field, Records
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits, significant


def describe(loads: NextLoads) -> Description:
    """One row per further run: its load in SI, and the factor that the interval then reaches."""
    records = Records(
        (
            Field(("load",), loads.loads.tolist(), csv=("load",)),
            Field(("expected_factor",), loads.factors[1:].tolist(), csv=("factor",)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([(loads.loads, loads.unit)], [loads.unit]),
        tables=lambda scale: [_table(loads, scale)],
        document=lambda rows: {
            "quantity": loads.quantity,
            "load": loads.load,
            "factor": float(loads.factors[0]),
            "runs": rows,
        },
    )


def _table(loads: NextLoads, scale: Scale) -> Table:
    now = f"its 95% interval now: {_reach(loads.factors[0])}"
    stop = f"a run after these narrows it by less than {PAYS:.0%}"
    if not loads.loads.size:
        stop = f"no further run narrows it by {PAYS:.0%} or more"
    return replace(runs_table(loads, scale), notes=(now, stop))


def runs_table(loads: NextLoads, scale: Scale) -> Table:
    """One row per further run, without remarks; no columns if there is none.

    Parameters
    ----------
    loads
        The runs.
    scale
        The units of the answer.
    """
    title = f"{loads.quantity.replace('_', ' ')}: where to measure next"
    if not loads.loads.size:
        return Table(title, (), ())
    columns = (
        Column("run", tuple(str(k + 1) for k in range(loads.loads.size))),
        Column("measure at", tuple(scale.text(load, loads.unit) for load in loads.loads.tolist())),
        Column("95% interval then", tuple(map(_reach, loads.factors[1:].tolist()))),
    )
    return Table(title, columns, ())


def _reach(factor: float) -> str:
    """How far an interval reaches: in percent, or as a factor if that is more than twofold."""
    if factor > 2:
        return f"up to {four_digits(factor)} times as much or as little"
    return f"± {significant(100 * (factor - 1), 2)}%"
