"""The highest load under a limit described: what is known now, and one row per further run."""

import math
from dataclasses import replace

from headway.models.inference.forecasting.highest_load import HighestLoad
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.showing.fitted.next_loads import runs_table
from headway.models.tables.description import Description, Field, Records
from headway.models.tables.table import Table


def describe(found: HighestLoad) -> Description:
    """One row per further run: its load in SI, and the factor that the interval then reaches."""
    low, middle, high = (end if math.isfinite(end) else None for end in found.highest.tolist())
    ahead = found.ahead
    records = Records(
        (
            Field(("load",), ahead.loads.tolist(), csv=("load",)),
            Field(("expected_factor",), ahead.factors[1:].tolist(), csv=("factor",)),
        )
    )
    shown = [load for load in (low, middle, high, *ahead.loads.tolist()) if load is not None]
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([(shown, found.unit)], [found.unit]),
        tables=lambda scale: [_table(found, scale)],
        document=lambda rows: {
            "target": found.goal.output,
            "limit": found.goal.limit,
            "load": found.load,
            "highest": middle,
            "ci95": [low, high],
            "precision": found.precision,
            "budget": found.budget,
            "stop": found.reason,
            "runs": rows,
        },
    )


def _table(found: HighestLoad, scale: Scale) -> Table:
    low, middle, high = found.highest.tolist()
    own, goal = found.unit, found.goal
    limit = f"{goal.output.replace('_', ' ')} <= {Scale().text(goal.limit, unit('s'))}"
    if not high > 0:
        known = f"no load, however low, meets {limit}"
    elif math.isfinite(high):
        known = f"it is now {scale.text(middle, own)} (95%: {scale.ends(low, high, own)})"
    else:
        known = f"it is now at least {scale.text(low, own)}; no measurement shows an upper limit"
    runs = runs_table(replace(found.ahead, quantity=f"highest load with {limit}"), scale)
    later = "stop then: " if found.ahead.loads.size else "stop: "
    return replace(runs, notes=(known, f"{later}{found.reason}"))
