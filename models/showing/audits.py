"""Audits as tables, rows and CSV."""

from collections.abc import Sequence
from typing import Any

from headway.models.analysis.audit import Audit
from headway.models.auditing.finding import Finding
from headway.models.auditing.open_view import OpenPoint
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.showing.loadtests import columns_document, columns_taken, loadtest_scale
from headway.models.tables.table import Column, Table
from headway.numerals import digits

_TIME = unit("s")


def audit_scale(audit: Audit) -> Scale:
    """The units of the test that was audited."""
    return loadtest_scale(audit.test)


def audit_tables(audit: Audit) -> list[Table]:
    """A line for each finding, the most severe first."""
    opened = [_open_table(audit.as_open, audit_scale(audit))] if audit.as_open else []
    if not audit.findings:
        nothing = ("no problems found in this test", *columns_taken(audit.test))
        return [Table(audit.test.title, (), nothing), *opened]
    columns = (
        Column("finding", tuple(each.kind.replace("_", " ") for each in audit.findings)),
        Column("severity", tuple(each.severity.value for each in audit.findings)),
        Column("finding and remedy", tuple(each.text for each in audit.findings)),
    )
    return [Table(audit.test.title, columns, tuple(columns_taken(audit.test))), *opened]


def _open_table(points: Sequence[OpenPoint], scale: Scale) -> Table:
    """Response times for open clients, each with its measured error."""
    reasons = list(dict.fromkeys(p.refused for p in points if p.refused))
    answered = [p for p in points if not p.refused]
    title = "an open client at the same rates, from a model (approximate)"
    notes = [f"not determined: {reason}" for reason in reasons]
    if not answered:
        return Table(title, (), tuple(notes))
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
    notes.append("± covered nine of ten simulated servers (docs/accuracy.md)")
    return Table(title, tuple(columns), tuple(notes))


def _within(time: float | None, error: float | None, scale: Scale) -> str:
    return "-" if time is None or error is None else f"{scale.bare(time, _TIME)} ± {error:.0%}"


def open_rows(points: Sequence[OpenPoint]) -> list[dict[str, Any]]:
    """A dict a closed point, for JSON."""
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


def audit_rows(audit: Audit) -> list[dict[str, Any]]:
    """A dict a finding."""
    return finding_rows(audit.findings)


def finding_lines(findings: Sequence[Finding], scale: Scale) -> list[str]:
    """A line a finding, for the notes of an answer that it touches, in that answer's units."""
    return [f"{each.severity.value} of the test: {each.text_in(scale)}" for each in findings]


def finding_rows(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """A dict a finding, for JSON."""
    return [
        {
            "kind": each.kind,
            "severity": each.severity.value,
            "text": each.text,
            "value": each.value,
            "ci95": each.ci95,
            "points": list(each.points),
        }
        for each in findings
    ]


def audit_document(audit: Audit) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "findings": audit_rows(audit),
        "as_open": open_rows(audit.as_open),
        "columns": columns_document(audit.test),
    }


def audit_csv(audit: Audit) -> str:
    """A CSV row a finding."""
    columns = (
        Column("kind", tuple(each.kind for each in audit.findings)),
        Column("severity", tuple(each.severity.value for each in audit.findings)),
        Column("text", tuple(each.text for each in audit.findings)),
        Column("value", tuple(each.value for each in audit.findings)),
    )
    return Table("", columns).to_csv()
