"""Balances described: the load at which each resource saturates."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from headway.models.analysis.balance import Balance
from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.tables.description import (
    ABSENT,
    Description,
    Field,
    Records,
    common,
    field,
    only_json,
)
from headway.models.tables.table import Column

_NOTE = "loads at which each resource saturates; balance = least / greatest, 1 is even"


def describe(balance: Balance) -> Description:
    """One row per machine and phase; loads in SI, infinite for unused resources."""
    limits = [(x.load, bars.unit) for bars in balance.machines for x in bars.limits]
    notes = dict.fromkeys(note for bars in balance.machines for note in bars.notes)
    records = Records(tuple(_fields(balance)))
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of(limits, [bars.unit for bars in balance.machines]),
        tables=lambda scale: [records.table("balance", scale, (_NOTE, *notes))],
        document=lambda rows: {"machines": rows},
    )


def _fields(balance: Balance) -> Iterator[Field]:
    rows = [(bars, phase) for bars in balance.machines for phase in bars.phases]
    yield field("machine", (bars.title for bars, _ in rows), title="machine")
    phases = [phase or None for _, phase in rows]
    yield field("phase", phases, title="phase") if any(phases) else only_json("phase", phases)
    loads = [{x.resource: x.load for x in bars.limits if x.phase == phase} for bars, phase in rows]
    for name in dict.fromkeys(x.resource for bars in balance.machines for x in bars.limits):
        each, unit = [known.get(name, ABSENT) for known in loads], balance.machines[0].unit
        yield Field(("saturation", name), each, unit, (name,), name, _finite)
    orders = [bars.order(phase) for bars, phase in rows]
    yield only_json("order", ([x.resource for x in order] for order in orders))
    firsts = [bars.first(phase) for bars, phase in rows]
    yield Field((), firsts, csv=("saturates first",), title="saturates first")
    yield only_json("first", (order[0].resource for order in orders))
    yield field("balance", (bars.evenness(phase) for bars, phase in rows), title="balance")


def _finite(title: str, values: Sequence[Any], units: Sequence[Unit], scale: Scale) -> Column:
    """Loads in the answer's unit; None for resources that are not used."""
    known = [None if value is None or math.isinf(value) else value for value in values]
    return common(title, known, units, scale)
