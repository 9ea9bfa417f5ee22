"""Audits described: one row per finding, the most severe first."""

from collections.abc import Sequence
from typing import Any

from headway.models.analysis.audit import Audit
from headway.models.auditing.finding import Finding, kind_words
from headway.models.auditing.open_view import OpenPoint
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import unit
from headway.models.showing.loadtests import columns_document, columns_taken, left_out
from headway.models.tables.description import (
    Description,
    Records,
    Row,
    field,
    only_json,
    words,
)
from headway.models.tables.table import Column, Table
from headway.numerals import digits

BLIND = "the files do not say what the load was, so hardly anything could be checked"
"""Note on points without a load, if no check found anything."""

_TIME = unit("s")
_OPEN = "what open clients would see at these rates"


def describe(audit: Audit) -> Description:
    """One row per finding, in the units of the test that was audited."""
    return Description(
        records=lambda: finding_records(audit.findings),
        scale=lambda: units_of(audit.test),
        tables=lambda scale: _tables(audit, scale),
        document=lambda rows: {
            "findings": rows,
            "as_open": open_rows(audit.as_open),
            "columns": columns_document(audit.test),
        },
    )


def finding_records(findings: Sequence[Finding]) -> Records:
    """One row per finding."""
    return Records(
        (
            field("kind", (each.kind for each in findings)),
            words("finding", (kind_words(each.kind) for each in findings)),
            field("severity", (each.severity.value for each in findings), title="severity"),
            field("text", (each.text for each in findings), title="finding and remedy"),
            field("value", (each.value for each in findings)),
            only_json("ci95", (each.ci95 for each in findings)),
            only_json("points", (list(each.points) for each in findings)),
        )
    )


def _tables(audit: Audit, scale: Scale) -> list[Table]:
    """The findings and, for a closed test, what open clients would measure."""
    answered = [p for p in audit.as_open if not p.refused]
    reasons = dict.fromkeys(p.refused for p in audit.as_open if p.refused)
    unknown = [f"not determined: {reason}" for reason in reasons]
    opened = [_open_table(answered, unknown, scale)] if answered else []
    alone = [] if answered else [f"{_OPEN} is {each}" for each in unknown]
    taken = [*columns_taken(audit.test), *left_out(audit.test), *alone]
    if not audit.findings:
        none = (
            f"no problems found, but {BLIND}"
            if audit.is_blind
            else "no problems found in this test"
        )
        return [Table(audit.test.title, (), (none, *taken)), *opened]
    return [finding_records(audit.findings).table(audit.test.title, scale, taken), *opened]


def _open_table(answered: Sequence[OpenPoint], unknown: Sequence[str], scale: Scale) -> Table:
    """Response times for open clients, each with its measured error."""
    title = f"{_OPEN}, by a model of the server (approximate)"
    shown = scale.unit(_TIME)
    columns = [
        Column("clients", tuple(f"{digits(p.population)}" for p in answered)),
        Column.of("throughput", [p.throughput for p in answered], unit("op/s")),
        Column("busy", tuple(f"{p.utilisation:.0%}" for p in answered)),
        Column.of("closed", [p.closed for p in answered], _TIME, scale),
        Column(
            f"open [{shown}]", tuple(_within(p.response_time, p.error, scale) for p in answered)
        ),
    ]
    for percent in answered[0].percentiles or ():
        tails = [(p.percentiles or {}).get(percent) for p in answered]
        cells = (
            _within(t, p.percentile_error, scale) for t, p in zip(tails, answered, strict=True)
        )
        columns.append(Column(f"p{digits(percent)} [{shown}]", tuple(cells)))
    notes = (*unknown, "± held for nine of ten simulated servers (docs/accuracy.md)")
    return Table(title, tuple(columns), notes)


def _within(time: float | None, error: float | None, scale: Scale) -> str:
    return "-" if time is None or error is None else f"{scale.bare(time, _TIME)} ± {error:.0%}"


def open_rows(points: Sequence[OpenPoint]) -> list[dict[str, Any]]:
    """A dict for each closed point, for JSON."""
    return [
        {
            "population": p.population,
            "throughput": p.throughput,
            "utilisation": p.utilisation,
            "closed_response_time": p.closed,
            "response_time": p.response_time,
            "relative_error": p.error,
            "percentiles": {f"p{digits(q)}": t for q, t in (p.percentiles or {}).items()} or None,
            "percentiles_relative_error": p.percentile_error,
            "refused": p.refused or None,
        }
        for p in points
    ]


def finding_lines(findings: Sequence[Finding], scale: Scale) -> list[str]:
    """A line per finding, for the notes of an answer that it concerns, in its units."""
    return [f"{each.severity.value} of the test: {each.text_in(scale)}" for each in findings]


def finding_rows(findings: Sequence[Finding]) -> list[Row]:
    """A dict for each finding, for JSON."""
    return finding_records(findings).rows()
