"""A page on a load test alone: what an audit found, what was measured, and what was checked."""

from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np

from headway.errors import MeasurementError
from headway.models.analysis.audit import Audit
from headway.models.auditing.finding import Severity, kind_words
from headway.models.language.scales import Scale, units_of
from headway.models.measured.spans.forms import FORMS
from headway.models.plotting.graphs.tested import tested_figure
from headway.models.plotting.loadtests import are_parts
from headway.models.reading.loadtest import LoadTest
from headway.models.reports.contents import (
    CHANGE,
    DATA,
    LIGHTS,
    SYSTEM,
    TRUST,
    Block,
    Contents,
    Drawn,
    Folded,
    Grid,
    Heading,
    Headline,
    Light,
    Sign,
    Warned,
    Words,
)
from headway.models.reports.figures import PageFigure, inline_svg
from headway.models.reports.paged import Paged
from headway.models.reports.pointer import readings
from headway.models.showing.audits import BLIND
from headway.models.tables.forms import tables
from headway.models.tables.table import Column, Table
from headway.numerals import counted, four_digits, grouped
from headway.records import dataclass

_ASKED, _OF_TRACES = "Can this load test be trusted?", "Can these traces be trusted?"
_TRACERS = frozenset(form.name for form in FORMS)
_VERDICTS = {
    Severity.ERROR: "No",
    Severity.WARNING: "With care",
    Severity.NOTE: "Yes, as far as the checks can see",
}


@dataclass(frozen=True)
class AuditReport(Paged):
    """What a page shows of a load test.

    Parameters
    ----------
    audit
        The test with its findings.
    command
        The command that made the page.

    Examples
    --------
    >>> import headway
    >>> AuditReport(headway.audit(headway.read("load_tests/wrk")))
    AuditReport(load_tests/wrk/connections-01.txt and 8 more: 3 findings)
    >>> page = AuditReport(headway.audit(headway.read("load_tests/wrk"))).to_html()
    >>> "What was checked" in page
    True
    """

    audit: Audit
    command: str = ""

    def __repr__(self) -> str:
        return (
            f"AuditReport({self.audit.test.source}: {counted(len(self.audit.findings), 'finding')})"
        )


def audit_units(report: AuditReport) -> Scale:
    """The units of the audit."""
    return units_of(report.audit)


def audited_contents(report: AuditReport) -> Contents:
    """The contents of a page on a load test."""
    audit = report.audit
    drawn = _drawing(audit)
    _, *opened = tables(audit)
    found = [(LIGHTS[f.severity], f.severity.value, f.text) for f in audit.findings]
    none = Words("None of the checks below found anything.")
    checked = Folded("What was checked", [Grid(_checks(audit))])
    seen = Heading("What open clients would have seen")
    sections: dict[str, list[Block]] = {
        CHANGE.name: [seen, *map(Grid, opened)] if opened else [],
        TRUST.name: [Warned(found) if found else none, checked],
        SYSTEM.name: tested(audit.test),
        DATA.name: [Grid(_points(audit))],
    }
    caption = drawn.words if drawn else ""
    return Contents(
        audit.test.source, _headline(audit), _signs(audit), drawn, caption, sections, report.command
    )


def tested(test: LoadTest) -> list[Block]:
    """A picture of what was tested, and how to learn more about its inside."""
    with matplotlib.rc_context({"text.parse_math": False}):
        words = "Who sends requests, and what answers them. The test says nothing about its inside."
        if _are_traces(test):
            return [Words("headway model makes a model of these services from the same files.")]
        drawn = PageFigure(inline_svg(tested_figure(test), "tested", words), words)
    return [
        Drawn(drawn, words),
        Words(
            "Run headway report server with the same --data to fit a model of what may be inside."
        ),
    ]


def _headline(audit: Audit) -> Headline:
    """Whether the test can be trusted, by its worst finding, and how far it went."""
    counts = {each: [f.kind for f in audit.findings if f.severity is each] for each in Severity}
    worst = next((each for each in Severity if counts[each]), Severity.NOTE)
    named = ", ".join(dict.fromkeys(map(kind_words, counts[worst])))
    why = (
        f": {counted(len(counts[worst]), worst.value)} ({named}), explained below" if named else ""
    )
    asked = _OF_TRACES if _are_traces(audit.test) else _ASKED
    if not named and audit.is_blind:
        return Headline(asked, f"Perhaps: {BLIND}.")
    top = _top(audit)
    reached = f"; the highest throughput was {top}" if top else ""
    return Headline(asked, f"{_VERDICTS[worst]}{why}{reached}.")


def _are_traces(test: LoadTest) -> bool:
    """Whether spans were read, of which each point is a service."""
    return bool(test.points) and {point.tool for point in test.points} <= _TRACERS


def _top(audit: Audit) -> str:
    """The highest throughput as text; empty if none was measured, or each is of another part."""
    if are_parts(audit.test.points):
        return ""
    rates = [point.throughput for point in audit.test.points if point.throughput is not None]
    return f"{four_digits(float(np.max(rates)))} op/s" if rates else ""


def _signs(audit: Audit) -> list[Sign]:
    """The highest throughput, points, and findings by severity."""
    signs = [Sign("points", grouped(str(len(audit.test.points))))]
    if _top(audit):
        signs.insert(0, Sign("highest throughput", _top(audit)))
    for each in Severity:
        count = sum(f.severity is each for f in audit.findings)
        light = LIGHTS[each] if count else Light.GOOD
        signs.append(Sign(f"{each.value}s", str(count) if count else "none", light))
    return signs


def _drawing(audit: Audit) -> PageFigure | None:
    """Response times over throughput; None if they were not both measured."""
    with matplotlib.rc_context({"text.parse_math": False}):
        try:
            figure: Any = audit.plot()
        except MeasurementError:
            return None
        figure.axes[0].set_title("")
        drawn = [line.get_label() for line in figure.axes[0].get_lines()]
        tails = [str(label) for label in drawn if str(label).startswith("p")]
        more = f", and the percentiles {', '.join(tails)}," if tails else ""
        if are_parts(audit.test.points):
            words = f"Mean response time{more} of each part of the test."
            return PageFigure(inline_svg(figure, "test", words), words)
        words = f"Mean response time{more} over throughput, a mark for each point of the test."
        return PageFigure(inline_svg(figure, "test", words), words, readings(figure))


def _points(audit: Audit) -> Table:
    """The points of the test, without advice on options of a command."""
    [table] = tables(audit.test)
    return replace(table, notes=tuple(n for n in table.notes if not n.startswith("--")))


def _checks(audit: Audit) -> Table:
    """All kinds of finding, what each looks for, and how often it was found."""
    counts = [sum(f.kind == kind.name for f in audit.findings) for kind in audit.checked]
    columns = (
        Column("check", tuple(kind_words(kind.name) for kind in audit.checked)),
        Column("looks for", tuple(kind.means.replace("`value`", "x") for kind in audit.checked)),
        Column("findings", tuple(str(count) if count else "none" for count in counts)),
    )
    return Table("Checks", columns)
