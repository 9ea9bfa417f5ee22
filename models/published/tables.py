"""Reproductions as tables, JSON and CSV."""

from typing import Any

from headway.models.language.scales import Scale
from headway.models.published.cells import Cell, Expectation, Outcome
from headway.models.published.reproduction import Recomputed, Reproduction, View
from headway.models.tables.table import Column, Table


def printed_scale(reproduction: Reproduction) -> Scale:
    """No common unit: each cell has the unit of its publication."""
    del reproduction
    return Scale()


def shown_tables(reproduction: Reproduction) -> list[Table]:
    """The tables of a view."""
    views = {View.SUMMARY: summary_tables, View.CELLS: cell_tables, View.ERRATA: errata_tables}
    return views[reproduction.view](reproduction)


def summary_tables(reproduction: Reproduction) -> list[Table]:
    """One line per table, and the outcome of all cells."""
    parts = reproduction.parts
    columns = (
        Column("table", tuple(part.name for part in parts)),
        Column("cells", tuple(float(len(part.cells)) for part in parts)),
        Column(
            "agree", tuple(_of(part.count(Outcome.AGREES), len(part.expected)) for part in parts)
        ),
        Column("errata", tuple(_count(part, Outcome.ERRATUM) for part in parts)),
        Column("beyond", tuple(_count(part, Outcome.BEYOND) for part in parts)),
        Column("input", tuple(_count(part, Outcome.INPUT) for part in parts)),
        Column("worst", tuple(_worst(part) for part in parts)),
    )
    return [Table("published tables, recomputed", columns, tuple(_notes(reproduction)))]


def _of(some: int, all_cells: int) -> str:
    return f"{some}/{all_cells}"


def _count(part: Recomputed, outcome: Outcome) -> str:
    return str(part.count(outcome) or "-")


def _worst(part: Recomputed) -> str:
    ratio = part.worst
    return "-" if ratio is None else f"{ratio:.2f}"


def _notes(reproduction: Reproduction) -> list[str]:
    """Say how many cells came to what, and name those that should agree and do not."""
    total = sum(len(part.cells) for part in reproduction.parts)
    expected = sum(len(part.expected) for part in reproduction.parts)
    notes = [
        f"{total} cells: {reproduction.count(Outcome.AGREES)} of {expected} agree that should; "
        f"{reproduction.count(Outcome.ERRATUM)} errata of print,",
        f"{reproduction.count(Outcome.BEYOND)} beyond the model, "
        f"{reproduction.count(Outcome.INPUT)} that set the model (input) and prove nothing",
        "worst: largest difference over its tolerance; TABLE or --cells shows cells, --errata why",
    ]
    for part in reproduction.parts:
        notes += [
            f"DIFFERS: {part.name}: {cell.name}: printed {cell.printed}, "
            f"recomputed {cell.recomputed}"
            for cell in part.cells
            if cell.outcome is Outcome.DIFFERS
        ]
    return notes


def cell_tables(reproduction: Reproduction) -> list[Table]:
    """Every cell of every table, with explanations below."""
    return [_cells(part) for part in reproduction.parts]


def _cells(part: Recomputed) -> Table:
    unit = f" [{part.table.unit}]" if part.table.unit else ""
    cells = part.cells
    columns = (
        Column("cell", tuple(cell.name for cell in cells)),
        Column(f"printed{unit}", tuple(_shown(cell.printed) for cell in cells)),
        Column(f"recomputed{unit}", tuple(_shown(cell.recomputed) for cell in cells)),
        Column("difference", tuple(_difference(cell) for cell in cells)),
        Column("tolerance", tuple(_tolerance(cell) for cell in cells)),
        Column("outcome", tuple(cell.outcome.value for cell in cells)),
    )
    notes = [f"tolerance: {part.table.tolerance}"]
    reasons = dict.fromkeys((c.outcome.value, c.explanation) for c in cells if c.explanation)
    for outcome, reason in reasons:
        who = [c.name for c in cells if (c.outcome.value, c.explanation) == (outcome, reason)]
        names = ", ".join(who) if len(who) <= 4 else f"{who[0]} ... {who[-1]} ({len(who)} cells)"
        notes.append(f"{outcome}: {names}: {reason}")
    return Table(f"{part.name}: {part.table.title}", columns, tuple(notes))


def errata_tables(reproduction: Reproduction) -> list[Table]:
    """Every erratum of print, with the explanation of each below."""
    rows = [(part, cell) for part in reproduction.parts for cell in part.errata]
    columns = (
        Column("table", tuple(part.name for part, _ in rows)),
        Column("cell", tuple(cell.name for _, cell in rows)),
        Column("printed", tuple(_shown(cell.printed) for _, cell in rows)),
        Column("recomputed", tuple(_shown(cell.recomputed) for _, cell in rows)),
        Column("unit", tuple(part.table.unit or "-" for part, _ in rows)),
    )
    reasons: dict[str, list[str]] = {}
    for part, cell in rows:
        places = reasons.setdefault(cell.explanation, [])
        places += [part.name] * (part.name not in places)
    notes = [f"{', '.join(places)}: {reason}" for reason, places in reasons.items()]
    return [Table("errata of print", columns, tuple(notes) or ("there are none",))]


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"


def _difference(cell: Cell) -> str:
    return "-" if cell.difference is None else f"{cell.difference:+.2g}"


def _tolerance(cell: Cell) -> str:
    if cell.difference is None or cell.expectation is not Expectation.AGREE:
        return "-"
    return f"{cell.tolerance:.2g}"


def document_of(reproduction: Reproduction) -> dict[str, Any]:
    """The JSON contract's document for `reproduce`."""
    return {
        "tables": [_entry(part) for part in reproduction.parts],
        "cells": sum(len(part.cells) for part in reproduction.parts),
        "reproduced": reproduction.count(Outcome.AGREES),
        "different": reproduction.count(Outcome.DIFFERS),
    }


def cell_rows(reproduction: Reproduction) -> list[dict[str, Any]]:
    """A dict per cell, in printed units."""
    return [
        {"table": part.name, **_value(cell)} for part in reproduction.parts for cell in part.cells
    ]


def _entry(part: Recomputed) -> dict[str, Any]:
    return {
        "table": part.name,
        "document": part.document.title,
        "title": part.table.title,
        "unit": part.table.unit or None,
        "cells": len(part.cells),
        "expected": len(part.expected),
        "reproduced": part.count(Outcome.AGREES),
        "tolerance": part.table.tolerance,
        "largest_difference": part.largest_difference,
        "errata": [
            {
                "cell": cell.name,
                "printed": cell.printed,
                "recomputed": cell.recomputed,
                "explanation": cell.explanation,
            }
            for cell in part.errata
        ],
        "values": [_value(cell) for cell in part.cells],
    }


def _value(cell: Cell) -> dict[str, Any]:
    expected = cell.expectation is Expectation.AGREE
    return {
        "cell": cell.name,
        "printed": cell.printed,
        "recomputed": cell.recomputed,
        "difference": cell.difference,
        "tolerance": cell.tolerance if expected and cell.difference is not None else None,
        "outcome": cell.outcome.value,
        "explanation": cell.explanation or None,
    }


def cells_csv(reproduction: Reproduction) -> str:
    """A CSV row per cell, in printed units."""
    rows = [(part, cell) for part in reproduction.parts for cell in part.cells]
    columns = (
        Column("table", tuple(part.name for part, _ in rows)),
        Column("unit", tuple(part.table.unit for part, _ in rows)),
        Column("cell", tuple(cell.name for _, cell in rows)),
        Column("printed", tuple(cell.printed for _, cell in rows)),
        Column("recomputed", tuple(cell.recomputed for _, cell in rows)),
        Column("difference", tuple(cell.difference for _, cell in rows)),
        Column("tolerance", tuple(cell.tolerance for _, cell in rows)),
        Column("outcome", tuple(cell.outcome.value for _, cell in rows)),
        Column("explanation", tuple(cell.explanation for _, cell in rows)),
    )
    return Table("cells", columns).to_csv()
