"""Reports as one HTML page that needs nothing but itself: no network, and no script to read it."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

import jinja2

from headway.errors import visible
from headway.models.reports.figures import drawings
from headway.models.reports.formulas import equations, uses_erlang
from headway.models.reports.panel import Control, Panel, Role, panel, solved_by
from headway.models.reports.report import Report
from headway.models.reports.words import (
    bottleneck_words,
    data_table,
    derivative_table,
    form_tables,
    key_figures,
    maker,
    operating_point_words,
    parameter_table,
    point_table,
    question,
    sensitivity_table,
    summary_tables,
    warnings,
)

SECTIONS = (
    ("data", "Question and data"),
    ("model", "Model"),
    ("formula", "Formula"),
    ("curve-and-residuals", "Curve and residuals"),
    ("sensitivities", "Sensitivities"),
    ("what-if", "What if"),
    ("command", "How this page was made"),
)

TRUST = ("trust", "Can the test be trusted?")
"""The section of what an audit finds, where it finds anything."""


def page(report: Report) -> str:
    """Write a report as HTML; the same report gives the same page.

    Whatever comes from files or from the command line is escaped, and the page forbids itself
    to load anything, and to run any script but its own.

    Parameters
    ----------
    report
        What to show.
    """
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    environment.globals |= {"note_of": _note_of}
    template = environment.from_string(_shipped("report.html"))
    return template.render(report=report, **_texts(report), **_tables(report), **_panel(report))


def _shown(value: Any) -> Any:
    """Write out controls in text that comes from files; what the page is made of stays."""
    return visible(value, "\n\t") if type(value) is str else value


def _shipped(name: str) -> str:
    return (files("headway.models.reports") / "assets" / name).read_text(encoding="utf-8")


def _texts(report: Report) -> dict[str, Any]:
    """Sentences, figures and formulas."""
    found = equations(report.model, report.comparison.output)
    findings = report.comparison.findings
    sections = [*SECTIONS[:1], *[TRUST] * bool(findings), *SECTIONS[1:]]
    return {
        "sections": sections,
        "findings": findings,
        "style": _shipped("report.css"),
        "maker": maker(),
        "key_figures": key_figures(report),
        "bottleneck": bottleneck_words(report),
        "warnings": warnings(report),
        "question": question(report),
        "operating_point": operating_point_words(report),
        "equations": found,
        "erlang": uses_erlang(found),
        "method": _method(report),
        "drawings": drawings(report),
        "output": report.comparison.output.replace("_", " "),
    }


def _method(report: Report) -> str:
    """How a network without closed form is solved."""
    if not (report.model.is_closed or report.model.graph.classes):
        return ""
    return f"A closed network has no single formula; it is solved by {solved_by(report)}."


def _tables(report: Report) -> dict[str, Any]:
    found = report.sensitivity
    return {
        "data_table": data_table(report),
        "form_tables": form_tables(report),
        "parameter_table": parameter_table(report),
        "summary_tables": summary_tables(report),
        "point_table": point_table(report),
        "sensitivity_table": sensitivity_table(found) if found else None,
        "derivative_table": derivative_table(found) if found else None,
    }


def _panel(report: Report) -> dict[str, Any]:
    """The panel with its script, and a policy that lets no other script run."""
    made = panel(report)
    if not isinstance(made, Panel):
        return {"panel": None, "no_panel": made.reason, "script": "", "policy": _policy("'none'")}
    script = f"\n{made.script}\n{_shipped('panel.js')}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'"
    return {"panel": made, "no_panel": "", "script": script, "policy": _policy(allowed)}


def _policy(scripts: str) -> str:
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _note_of(control: Control) -> str:
    """What stands below a control."""
    fixed = "the curve only: each measured point keeps the value it was measured at"
    notes = [control.parameter.doc, fixed if control.role is Role.DATA else ""]
    return "; ".join(filter(None, notes))
