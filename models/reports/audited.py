"""A page of a load test alone: what an audit found, what was measured, and what was checked."""

from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np

from headway.errors import MeasurementError
from headway.models.analysis.audit import CHECKS, Audit
from headway.models.auditing.finding import Severity
from headway.models.language.verbs import perform
from headway.models.reports.figures import PageFigure, inline_svg
from headway.models.reports.page import page_style, policy
from headway.models.reports.templates import environment
from headway.models.reports.words import maker
from headway.models.tables.forms import tables
from headway.models.tables.table import Column, Table
from headway.numerals import counted, four_digits, grouped
from headway.records import dataclass


@dataclass(frozen=True)
class AuditReport:
    """What a page says of a load test.

    Parameters
    ----------
    audit
        The test with its findings.
    command
        What was typed to get the page.

    Examples
    --------
    >>> import headway
    >>> AuditReport(headway.audit(headway.read("load_tests/wrk")))
    AuditReport(load_tests/wrk/connections-01.txt and 8 more: 3 findings)
    """

    audit: Audit
    command: str = ""

    def __repr__(self) -> str:
        return (
            f"AuditReport({self.audit.test.source}: {counted(len(self.audit.findings), 'finding')})"
        )

    def to_html(self) -> str:
        """One page that needs nothing but itself.

        Examples
        --------
        >>> import headway
        >>> page = AuditReport(headway.audit(headway.read("load_tests/wrk"))).to_html()
        >>> "Findings" in page
        True
        """
        text: str = perform(self, "html")
        return text


def audit_page(report: AuditReport) -> str:
    """Write an audit as HTML; the same audit gives the same page."""
    audit = report.audit
    drawn = _drawing(audit)
    _, *opened = tables(audit)
    sections = [("findings", "Findings"), ("measurements", "Measurements")]
    sections += [("open", "What open clients would have seen")] * bool(opened)
    sections += [("checks", "What was checked"), ("command", "How this page was made")]
    return (
        environment()
        .get_template("audit.html")
        .render(
            title=audit.test.source,
            lead="Can this load test be trusted?",
            sections=sections,
            typed=report.command,
            maker=maker(),
            style=page_style(drawn),
            policy=policy("'none'"),
            key_figures=_key_figures(audit),
            findings=audit.findings,
            drawn=drawn,
            test_tables=[_points(audit)],
            open_tables=opened,
            check_table=_checks(audit),
        )
    )


def _key_figures(audit: Audit) -> list[tuple[str, str]]:
    """Points, findings by severity, and the highest throughput."""
    points = audit.test.points
    counts = [sum(f.severity is each for f in audit.findings) for each in Severity]
    figures = [("points", grouped(str(len(points))))]
    figures += [(f"{each.value}s", str(n)) for each, n in zip(Severity, counts, strict=True)]
    rates = [point.throughput for point in points if point.throughput is not None]
    if rates:
        figures.append(("highest throughput", f"{four_digits(float(np.max(rates)))} op/s"))
    return figures


def _drawing(audit: Audit) -> PageFigure | None:
    """Response times over throughput; None where they were not both measured."""
    with matplotlib.rc_context({"text.parse_math": False}):
        try:
            figure: Any = audit.plot()
        except MeasurementError:
            return None
        figure.axes[0].set_title("")
        drawn = [line.get_label() for line in figure.axes[0].get_lines()]
        tails = [str(label) for label in drawn if str(label).startswith("p")]
        more = f", and the percentiles {', '.join(tails)}," if tails else ""
        words = f"Mean response time{more} over throughput, a mark for each point of the test."
        return PageFigure(inline_svg(figure, "test", words), words)


def _points(audit: Audit) -> Table:
    """The points of the test; without the advice on options of a command."""
    [table] = tables(audit.test)
    return replace(table, notes=tuple(n for n in table.notes if not n.startswith("--")))


def _checks(audit: Audit) -> Table:
    """Every kind of finding, what it looks for, and how often it was found."""
    counts = [sum(f.kind == kind.name for f in audit.findings) for kind in CHECKS]
    columns = (
        Column("check", tuple(kind.name.replace("_", " ") for kind in CHECKS)),
        Column("looks for", tuple(kind.means.replace("`value`", "x") for kind in CHECKS)),
        Column("findings", tuple(str(count) if count else "none" for count in counts)),
    )
    return Table("Checks", columns)
