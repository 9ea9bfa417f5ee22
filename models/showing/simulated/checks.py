"""Checks as tables, rows, CSV and JSON."""

from collections.abc import Sequence
from typing import Any

from headway.models.language.scales import Scale
from headway.models.language.units import si_text
from headway.models.showing.simulated.simulations import (
    effort_document,
    effort_notes,
    inputs_document,
    shown,
    simulation_scale,
)
from headway.models.showing.solutions import labels, set_note
from headway.models.simulating.check import TOGETHER, Check, Row
from headway.models.tables.table import Column, Table
from headway.numerals import digits


def check_scale(check: Check) -> Scale:
    """The units of what was simulated."""
    return simulation_scale(check.simulation)


def check_tables(check: Check) -> list[Table]:
    """The system and its classes, then the stations; both answers in each row."""
    stations = set(check.solution.stations)
    inside = [row for row in check.rows_checked if row.name.rpartition(".")[0] in stations]
    system = [row for row in check.rows_checked if row not in inside]
    scale = check_scale(check)
    notes = [
        *set_note(check.solution.model, scale=scale),
        *labels(check.solution),
        *_verdict(check),
    ]
    unknown = [f"without an analytic answer: {check.unknown}"] if check.unknown else []
    below = (*notes, *unknown, *effort_notes(check.simulation))
    title = f"{check.solution.model.title}: solved and simulated"
    return [
        _table(title, "answer", system, scale),
        _table("stations", "answer", inside, scale, below),
    ]


def _table(
    title: str, kind: str, rows: Sequence[Row], scale: Scale, notes: Sequence[str] = ()
) -> Table:
    columns: dict[str, list[str | None]] = {
        kind: [row.name for row in rows],
        "analytic": [
            None if row.analytic is None else scale.text(row.analytic, row.unit) for row in rows
        ],
        "simulated": [shown(row.simulated, row.unit, row.confidence, scale) for row in rows],
        "difference": [_percent(row.difference) for row in rows],
        "": ["outside" if row.inside is False else None for row in rows],
    }
    filled = {name: cells for name, cells in columns.items() if any(cells)}
    return Table(title, tuple(Column(n, tuple(cells)) for n, cells in filled.items()), tuple(notes))


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{round(100 * value, 2) + 0.0:+.2f}%"


def _verdict(check: Check) -> list[str]:
    """Which analytic answers the intervals do not hold, and what that says of them."""
    count = sum(row.inside is not None for row in check.rows_checked)
    sure = f"{digits(100 * TOGETHER)}%"
    largest = check.largest
    most = f"{largest.name}, {_percent(largest.difference)}" if largest else "none"
    if not check.outside:
        first = f"all {count} analytic answers lie in their intervals ({sure} together)"
        return [f"{first}; largest difference: {most}"]
    names = ", ".join(check.outside)
    notes = [f"outside: {names} ({len(check.outside)} of {count}; intervals {sure} together)"]
    if check.solution.approximation:
        return [*notes, f"that is what the approximation misses here: at most {most}"]
    return [*notes, f"largest difference: {most}; an exact answer is outside once in 100 seeds"]


def check_rows(check: Check) -> list[dict[str, Any]]:
    """A dict a row, in SI."""
    return [
        {
            "name": row.name,
            "unit": si_text(row.unit.dimension),
            "analytic": row.analytic,
            "simulated": row.simulated.mean,
            "interval": list(row.interval),
            "difference": row.difference,
            "inside": row.inside,
        }
        for row in check.rows_checked
    ]


def check_document(check: Check) -> dict[str, Any]:
    """The JSON contract's document."""
    solution = check.solution
    largest = check.largest
    return {
        "model": solution.model.name,
        "preset": solution.model.preset,
        "inputs": inputs_document(solution.model),
        "method": solution.method,
        "approximation": solution.approximation or None,
        "unknown": check.unknown or None,
        "simulation": effort_document(check.simulation),
        "confidence": TOGETHER,
        "outside": list(check.outside),
        "largest_difference": None if largest is None else largest.difference,
        "rows": check_rows(check),
    }


def check_csv(check: Check) -> str:
    """A CSV row an answer; SI, the unit in a column of its own as rows differ in it."""
    rows = check_rows(check)
    columns = {
        "name": [row["name"] for row in rows],
        "unit": [row["unit"] for row in rows],
        "analytic": [row["analytic"] for row in rows],
        "simulated": [row["simulated"] for row in rows],
        "low": [row["interval"][0] for row in rows],
        "high": [row["interval"][1] for row in rows],
        "difference": [row["difference"] for row in rows],
        "inside": [_YES[row["inside"]] for row in rows],
        "approximation": [check.solution.approximation] * len(rows),
    }
    return Table("", tuple(Column(n, tuple(cells)) for n, cells in columns.items())).to_csv()


_YES = {True: "yes", False: "no", None: ""}
