"""Checks described: solved results beside simulated ones."""

from headway.models.language.scales import Scale, units_of
from headway.models.language.units import ONE, Unit, si_text
from headway.models.showing.parts.alternatives import alone_note
from headway.models.showing.simulated.simulations import (
    effort_document,
    effort_notes,
    inputs_document,
    shown,
)
from headway.models.showing.solutions import labels, set_note
from headway.models.simulating.check import TOGETHER, Check, CheckedResult
from headway.models.tables.description import (
    TEXT,
    Description,
    Field,
    Records,
    Writer,
    each,
    field,
    interval,
    only_csv,
    words,
)
from headway.models.tables.table import Table
from headway.numerals import digits


def describe(check: Check) -> Description:
    """One row per result of the system, its classes and stations: solved and simulated, in SI."""
    solution, largest, records = check.solution, check.largest, _records(check)
    return Description(
        records=lambda: records,
        scale=lambda: units_of(check.simulation),
        tables=lambda scale: _tables(check, records, scale),
        document=lambda rows: {
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
            "rows": rows,
        },
    )


_PERCENT: Writer = each(lambda _scale, share, _unit: _percent(share))


def _records(check: Check) -> Records:
    rows, doubt = check.rows_checked, check.solution.approximation
    units, names = tuple(row.unit for row in rows), tuple(row.name for row in rows)
    inside = tuple(row.inside for row in rows)

    def simulated(scale: Scale, row: CheckedResult, unit: Unit) -> str:
        return shown(row.simulated, unit, row.confidence, scale)

    return Records(
        (
            field("name", names, title="answer"),
            field("unit", (si_text(unit.dimension) for unit in units)),
            field("analytic", (row.analytic for row in rows), units, "analytic", TEXT),
            field("simulated", (row.simulated.mean for row in rows)),
            Field((), tuple(rows), units, title="simulated", writer=each(simulated)),
            interval("interval", (list(row.interval) for row in rows), ("low", "high")),
            field("difference", (row.difference for row in rows), ONE, "difference", _PERCENT),
            field("inside", inside),
            words("", ("outside" if known is False else None for known in inside)),
            only_csv("approximation", (doubt for _ in rows)),
        )
    )


def _tables(check: Check, records: Records, scale: Scale) -> list[Table]:
    """The system and its classes, then the stations or services; each row has both results."""
    rows, layers = check.rows_checked, check.simulation.layers
    parts = {name for each in layers.values() for name in each} or set(check.solution.stations)
    within = [k for k, row in enumerate(rows) if row.name.rpartition(".")[0] in parts]
    system = [k for k in range(len(rows)) if k not in within]
    unknown = [f"without an analytic answer: {check.unknown}"] if check.unknown else []
    notes = [
        *set_note(check.solution.model, scale=scale),
        *alone_note(check.solution.model),
        *labels(check.solution),
        *_verdict(check),
        *unknown,
        *effort_notes(check.simulation),
    ]
    title = f"{check.solution.model.title}: solved and simulated"
    tables = (
        records.table(title, scale, places=system),
        records.table("services" if layers else "stations", scale, notes, places=within),
    )
    return [table.filled() for table in tables]


def _percent(share: float) -> str:
    return f"{round(100 * share, 2) + 0.0:+.2f}%"


def _verdict(check: Check) -> list[str]:
    """Name the analytic results outside their intervals, and what that says about them."""
    count = sum(row.inside is not None for row in check.rows_checked)
    sure = f"{digits(100 * TOGETHER)}%"
    largest = check.largest
    most = f"{largest.name}, {_percent(largest.difference or 0.0)}" if largest else "none"
    if not check.outside:
        first = f"all {count} analytic answers lie within their intervals (jointly {sure})"
        return [f"{first}; largest difference: {most}"]
    names = ", ".join(check.outside)
    notes = [f"outside: {names} ({len(check.outside)} of {count}; intervals {sure} together)"]
    if check.solution.approximation:
        return [*notes, f"so the approximation is off here by at most {most}"]
    return [
        *notes,
        f"largest difference: {most}; an exact answer falls outside for one seed in 100",
    ]
