"""Fitted servers side by side: each with its best form, and all with one form."""

from collections.abc import Sequence

import numpy as np

from headway.models.inference.server import ServerFit
from headway.models.inference.side_by_side import SideBySide, differences, name_of
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.showing.audits import finding_lines
from headway.models.showing.fitted.servers import left_out_error, quantity_text, rms_error
from headway.models.tables.description import Description, Records, field
from headway.models.tables.forms import document
from headway.models.tables.table import Column, Table

MOST_COLUMNS = 4
"""Most servers that one table holds side by side; for more, only the chosen forms are shown."""


def describe(fits: SideBySide) -> Description:
    """One row per server; in CSV, one row per server and quantity, all with one form."""
    return Description(
        records=lambda: Records.of(document(server) for server in fits.servers),
        scale=lambda: _scale(fits),
        tables=lambda scale: _tables(fits, scale),
        document=lambda rows: {
            "model": fits.common.family,
            "servers": rows,
            "common_form": fits.common.name,
            "differences": differences(fits.common_fits()),
        },
        csv=lambda: _quantities(fits).csv(),
    )


def _quantities(fits: SideBySide) -> Records:
    each = [
        (server.best, quantity) for server in fits.common_fits() for quantity in server.quantities
    ]
    return Records(
        (
            field("server", (best.measurements.source for best, _ in each)),
            field("quantity", (one.name for _, one in each)),
            field("value", (one.value if one.determined else None for _, one in each)),
            field("low", (one.low for _, one in each)),
            field("high", (one.high for _, one in each)),
            field("x", (best.comparison.axes.x for best, _ in each)),
            field("y", (best.comparison.axes.y for best, _ in each)),
        )
    )


def _scale(side: SideBySide) -> Scale:
    """One unit per dimension for several servers side by side; that of the files if it suits."""
    few = len(side.servers) <= MOST_COLUMNS
    servers = [*side.servers, *(side.common_fits() if few else ())]
    measured = [one.measured.unit for s in side.servers for one in s.best.comparison.each]
    return Scale.of(((t.value, unit(t.unit)) for s in servers for t in s.quantities), measured)


def _tables(fits: SideBySide, scale: Scale) -> list[Table]:
    """Each server's chosen form, all servers with one form, and how they differ."""
    side = [_side_table(fits, scale)] if len(fits.servers) <= MOST_COLUMNS else []
    return [_winners_table(fits.servers, scale), *side]


def _winners_table(servers: Sequence[ServerFit], scale: Scale) -> Table:
    bases, time, rate = [_value_of(s, "base") for s in servers], unit("ms"), unit("op/s")
    columns = (
        Column("server", tuple(name_of(s) for s in servers)),
        Column("chosen form", tuple(s.form.name for s in servers)),
        Column("RMS error", tuple(rms_error(s.best) for s in servers)),
        Column("leave-one-out", tuple(left_out_error(s.best) for s in servers)),
        Column(f"saturation [{scale.unit(rate)}]", tuple(_limit_of(s, scale) for s in servers)),
        Column(f"base [{scale.unit(time)}]", tuple(scale.bare(base, time) for base in bases)),
        Column("runner-up", tuple(_runner_up(s) for s in servers)),
    )
    errors = [s.best.comparison.summary["rms_relative_error"] for s in servers]
    notes = [
        f"median RMS error {np.median(errors):.2%}, "
        f"{sum(error <= 0.1 for error in errors)} of {len(errors)} within 10%"
    ]
    notes += sorted({s.best.comparison.axes.note for s in servers})
    if len(servers) <= MOST_COLUMNS:
        notes += [f"{name_of(s)}: {text}" for s in servers for text in s.best.warnings_in(scale)]
        notes += [
            f"{name_of(s)}: {text}"
            for s in servers
            for text in finding_lines(s.best.comparison.findings, scale)
        ]
    return Table("servers, each with its best form", columns, tuple(notes))


def _runner_up(server: ServerFit) -> str:
    return server.candidates[1][0].name if len(server.candidates) > 1 else "-"


def _value_of(server: ServerFit, begins: str) -> float:
    return next(t.value for t in server.quantities if t.name.startswith(begins))


def _limit_of(server: ServerFit, scale: Scale) -> str:
    limit = next(t for t in server.quantities if t.name.startswith("saturation"))
    shown = scale.bare(limit.value if limit.determined else limit.low, unit(limit.unit))
    return shown if limit.determined else f"at least {shown}"


def _side_table(side: SideBySide, scale: Scale) -> Table:
    fits = side.common_fits()
    rows = list(zip(*(s.quantities for s in fits), strict=True))
    largest = [max(quantity.value for quantity in row) for row in rows]
    columns = [Column("quantity", tuple(row[0].name for row in rows))]
    for each in fits:
        pairs = zip(each.quantities, largest, strict=True)
        columns.append(
            Column(name_of(each), tuple(quantity_text(t, scale, most) for t, most in pairs))
        )
    title = f"all by one form, {side.common.name}"
    return Table(title, tuple(columns), tuple(differences(fits)))
