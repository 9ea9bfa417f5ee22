"""The next run of a search described: one row with the load, or with the answer at the end."""

import math

from headway.models.inference.limit_search import NextRun
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.tables.description import Description, Field, Records
from headway.models.tables.table import Column, Table


def describe(run: NextRun) -> Description:
    """One row: the next load in SI, if there is one, and what is known of the highest load."""
    low, middle, high = (end if math.isfinite(end) else None for end in run.highest.tolist())
    records = Records(
        (
            Field(("next",), [run.at], csv=("next",)),
            Field(("highest",), [middle], csv=("highest",)),
            Field(("ci95",), [[low, high]], csv=("highest_low", "highest_high")),
            Field(("runs",), [run.runs], csv=("runs",)),
            Field(("reason",), [run.reason], csv=("reason",)),
        )
    )
    shown = [load for load in (low, middle, high, run.at) if load is not None]
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([(shown, run.unit)], [run.unit]),
        tables=lambda scale: [_table(run, scale)],
        document=lambda rows: {
            "target": run.goal.output,
            "limit": run.goal.limit,
            "load": run.load,
            "finished": run.at is None,
            **rows[0],
        },
    )


def _table(run: NextRun, scale: Scale) -> Table:
    limit = Scale().text(run.goal.limit, unit("s"))
    title = f"highest load with {run.goal.output.replace('_', ' ')} <= {limit}"
    at = "none" if run.at is None else scale.text(run.at, run.unit)
    cells = (at, known(run, scale), str(run.runs))
    titles = ("next load", "highest load", "runs so far")
    columns = tuple(Column(t, (c,)) for t, c in zip(titles, cells, strict=True))
    return Table(title, columns, (run.reason,))


def known(run: NextRun, scale: Scale | None = None) -> str:
    """The highest load with its interval, as text.

    Parameters
    ----------
    run
        The next run, or the end of the search.
    scale
        The units of an answer; by default those of what was measured.
    """
    low, middle, high = run.highest.tolist()
    shown = scale or Scale.of([], [run.unit])
    if math.isinf(high):
        return f"at least {shown.text(low, run.unit)}" if low else "unknown"
    if not low and not middle:
        return f"below {shown.text(high, run.unit)}"
    return f"{shown.text(middle, run.unit)} (95%: {shown.ends(low, high, run.unit)})"
