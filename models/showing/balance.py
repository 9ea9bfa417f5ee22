"""Balances as tables, rows and CSV."""

import math
from typing import Any

from headway.models.analysis.balance import Balance, Bars
from headway.models.language.scales import Scale
from headway.models.tables.table import Column, Table


def balance_scale(balance: Balance) -> Scale:
    """The unit of loads: by those of all machines."""
    limits = [(x.load, bars.unit) for bars in balance.machines for x in bars.limits]
    return Scale.of(limits, [bars.unit for bars in balance.machines])


def balance_tables(balance: Balance) -> list[Table]:
    """The load that each resource bears, a row a phase."""
    unit = balance_scale(balance).unit(balance.machines[0].unit)
    rows = [(bars, phase) for bars in balance.machines for phase in bars.phases]
    resources = dict.fromkeys(x.resource for bars in balance.machines for x in bars.limits)
    columns = [Column("machine", tuple(bars.title for bars, _ in rows))]
    if any(phase for _, phase in rows):
        columns.append(Column("phase", tuple(phase for _, phase in rows)))
    for name in resources:
        loads = tuple(_load(bars, phase, name) for bars, phase in rows)
        columns.append(Column(name, loads, unit))
    columns.append(Column("saturates first", tuple(bars.first(p) for bars, p in rows)))
    columns.append(Column("balance", tuple(bars.evenness(p) for bars, p in rows)))
    note = "loads at which each resource saturates; balance = least / greatest, 1 is even"
    notes = dict.fromkeys(note for bars in balance.machines for note in bars.notes)
    return [Table("balance", tuple(columns), (note, *notes))]


def balance_rows(balance: Balance) -> list[dict[str, Any]]:
    """A dict a machine and phase, loads in SI, unused resources infinite."""
    return [
        {
            "machine": bars.title,
            "phase": phase or None,
            "saturation": {x.resource: x.load for x in bars.limits if x.phase == phase},
            "order": [x.resource for x in bars.order(phase)],
            "first": bars.order(phase)[0].resource,
            "balance": bars.evenness(phase),
        }
        for bars in balance.machines
        for phase in bars.phases
    ]


def balance_document(balance: Balance) -> dict[str, Any]:
    """The JSON contract's document; a resource that is not used is null."""
    return {"machines": balance_rows(balance)}


def balance_csv(balance: Balance) -> str:
    """A CSV row a machine and phase."""
    return balance_tables(balance)[0].to_csv()


def _load(bars: Bars, phase: str, resource: str) -> float | None:
    loads = [x.load for x in bars.limits if (x.phase, x.resource) == (phase, resource)]
    return loads[0] if loads and math.isfinite(loads[0]) else None
