"""Reproductions described: every cell as printed and as recomputed."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from headway.models.language.scales import Scale
from headway.models.published.cells import Cell, Expectation, Outcome
from headway.models.published.reproduction import Recomputed, Reproduction, View
from headway.models.tables.description import Description, Records, field, only_csv, without
from headway.models.tables.table import Column, Table


def describe(reproduction: Reproduction) -> Description:
    """One row per cell, in the unit of its publication rather than of the answer."""
    return Description(
        records=lambda: _records(reproduction.parts),
        scale=Scale,
        tables=lambda _: _VIEWS[reproduction.view](reproduction),
        document=lambda _: {
            "tables": [_entry(part) for part in reproduction.parts],
            "cells": sum(len(part.cells) for part in reproduction.parts),
            "reproduced": reproduction.count(Outcome.AGREES),
            "different": reproduction.count(Outcome.DIFFERS),
        },
    )


def _records(parts: Sequence[Recomputed]) -> Records:
    each = [(part, cell) for part in parts for cell in part.cells]
    cells = [cell for _, cell in each]
    return Records(
        (
            field("table", (part.name for part, _ in each)),
            only_csv("unit", (part.table.unit for part, _ in each)),
            field("cell", (cell.name for cell in cells)),
            field("printed", (cell.printed for cell in cells)),
            field("recomputed", (cell.recomputed for cell in cells)),
            field("difference", (cell.difference for cell in cells)),
            field("tolerance", (_held_to(cell) for cell in cells)),
            field("outcome", (cell.outcome.value for cell in cells)),
            field("explanation", (cell.explanation or None for cell in cells)),
        )
    )


def _held_to(cell: Cell) -> float | None:
    """The tolerance of a cell that should agree."""
    expected = cell.expectation is Expectation.AGREE and cell.difference is not None
    return cell.tolerance if expected else None


def _summary(reproduction: Reproduction) -> Table:
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
    return Table("published tables, recomputed", columns, tuple(_notes(reproduction)))


def _of(some: int, all_cells: int) -> str:
    return f"{some}/{all_cells}"


def _count(part: Recomputed, outcome: Outcome) -> str:
    return str(part.count(outcome) or "-")


def _worst(part: Recomputed) -> str:
    ratio = part.worst
    return "-" if ratio is None else f"{ratio:.2f}"


def _notes(reproduction: Reproduction) -> list[str]:
    """How many cells had which outcome, and the names of those that should agree and do not."""
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


def _errata(reproduction: Reproduction) -> Table:
    """Every erratum of print, with the explanations below."""
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
    return Table("errata of print", columns, tuple(notes) or ("there are none",))


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"


def _difference(cell: Cell) -> str:
    return "-" if cell.difference is None else f"{cell.difference:+.2g}"


def _tolerance(cell: Cell) -> str:
    held_to = _held_to(cell)
    return "-" if held_to is None else f"{held_to:.2g}"


_VIEWS: Final[dict[View, Callable[[Reproduction], list[Table]]]] = {
    View.SUMMARY: lambda reproduction: [_summary(reproduction)],
    View.CELLS: lambda reproduction: [_cells(part) for part in reproduction.parts],
    View.ERRATA: lambda reproduction: [_errata(reproduction)],
}
"""What people are shown."""


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
        "values": [without(row, "table") for row in _records([part]).rows()],
    }
