"""Audits as tables, rows and CSV."""

from collections.abc import Sequence
from typing import Any

from headway.models.analysis.audit import Audit
from headway.models.auditing.finding import Finding
from headway.models.tables.table import Column, Table


def audit_tables(found: Audit) -> list[Table]:
    """A line a finding, the gravest first."""
    title = f"{found.test.source}: {len(found.test.points)} points by {', '.join(found.test.tools)}"
    if not found.findings:
        return [Table(title, (), ("nothing speaks against this test",))]
    columns = (
        Column("finding", tuple(each.kind.replace("_", " ") for each in found.findings)),
        Column("severity", tuple(each.severity.value for each in found.findings)),
        Column("what, and what to do", tuple(each.text for each in found.findings)),
    )
    return [Table(title, columns)]


def audit_rows(found: Audit) -> list[dict[str, Any]]:
    """A dict a finding."""
    return finding_rows(found.findings)


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """A line a finding, for the notes of an answer that it touches."""
    return [f"{each.severity.value} of the test: {each.text}" for each in findings]


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


def audit_document(found: Audit) -> dict[str, Any]:
    """The JSON contract's document."""
    return {"findings": audit_rows(found)}


def audit_csv(found: Audit) -> str:
    """A CSV row a finding."""
    columns = (
        Column("kind", tuple(each.kind for each in found.findings)),
        Column("severity", tuple(each.severity.value for each in found.findings)),
        Column("text", tuple(each.text for each in found.findings)),
        Column("value", tuple(each.value for each in found.findings)),
    )
    return Table("", columns).to_csv()
