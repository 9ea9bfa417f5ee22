"""Reports as one HTML page that needs nothing but itself: no network, and no script to read it."""

import base64
import hashlib
from typing import Any

from headway.models.language.scales import units_of
from headway.models.reports.alone import ModelReport
from headway.models.reports.figures import Drawings, PageFigure, captions, drawings, palette
from headway.models.reports.formulas import Equation, equations, uses_erlang
from headway.models.reports.panel import Panel, panel, solved_by
from headway.models.reports.report import Report
from headway.models.reports.templates import environment, shipped
from headway.models.reports.words import (
    bottleneck_words,
    data_table,
    derivative_table,
    fitted_by,
    form_tables,
    key_figures,
    load_table,
    maker,
    operating_point_words,
    parameter_table,
    point_table,
    question,
    sensitivity_table,
    summary_tables,
    warnings,
)
from headway.models.showing.sensitivities import of_all_models

SECTIONS = (
    ("data", "Question and data"),
    ("model", "Model"),
    ("formula", "Formula"),
    ("curve-and-residuals", "Curve and residuals"),
    ("curve", "Curve"),
    ("sensitivities", "Sensitivities"),
    ("what-if", "What if"),
    ("command", "How this page was made"),
)

STYLES = ("colours.css", "tables.css", "panel.css", "report.css")
"""The page's style sheet, in pieces; the last one says where the others give way."""

TRUST = ("trust", "Can the test be trusted?")
"""The section of what an audit finds, where it finds anything."""

_LEADS = ("A model", "A model compared with measurements")


def page(report: Report | ModelReport) -> str:
    """Write a report as HTML; the same report gives the same page.

    Whatever comes from files or from the command line is escaped, and the page forbids itself
    to load anything, and to run any script but its own.

    Parameters
    ----------
    report
        What to show.
    """
    template = environment().get_template("report.html")
    return template.render(report=report, **_texts(report), **_tables(report), **_panel(report))


def _texts(report: Report | ModelReport) -> dict[str, Any]:
    """Sentences, figures and formulas."""
    output = report.comparison.output if isinstance(report, Report) else report.output
    formulas = equations(report.model, output)
    drawn = drawings(report)
    return {
        **_of_data(report, drawn),
        "title": report.title,
        "scale": units_of(report),
        "lead": report.model.doc or _LEADS[isinstance(report, Report)],
        "typed": report.command,
        "style": page_style(drawn.graph, drawn.curve, drawn.tornado),
        "maker": maker(),
        "key_figures": key_figures(report),
        "bottleneck": bottleneck_words(report),
        "warnings": warnings(report),
        "operating_point": operating_point_words(report),
        "equations": formulas,
        "erlang": uses_erlang(formulas),
        "method": _method(report, formulas),
        "drawings": drawn,
        "captions": captions(report, drawn),
        "output": output.replace("_", " "),
    }


def _of_data(report: Report | ModelReport, drawn: Drawings) -> dict[str, Any]:
    """What a page says of measurements, where it has any, and the sections that it has."""
    missing = {"curve"}
    texts: dict[str, Any] = {"findings": (), "question": "", "fitted_by": ""}
    if isinstance(report, Report):
        texts = {
            "findings": report.comparison.findings,
            "question": question(report),
            "fitted_by": fitted_by(report),
        }
    else:
        missing = {"data", "curve-and-residuals"} | ({"curve"} if drawn.curve is None else set())
    there = [section for section in SECTIONS if section[0] not in missing]
    curves = [section for section in there if section[0].startswith("curve")]
    sections = [*there[:1], *[TRUST] * bool(texts["findings"]), *there[1:]]
    return {**texts, "sections": sections, "curve_section": next(iter(curves), None)}


def page_style(*drawn: PageFigure | None) -> str:
    """The page's style sheet, with the colours of its figures on light and on dark."""
    light, dark = palette("".join(figure.svg for figure in drawn if figure))
    colours = f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{"
    style = "".join(map(shipped, STYLES))
    return f"{style}{colours}\n  :root {{ {dark} }}\n}}"


def _method(report: Report | ModelReport, formulas: list[Equation]) -> str:
    """How a network without closed form is solved."""
    if not (report.model.is_closed or report.model.graph.classes):
        return "" if formulas else "The model has no formula short enough to be read."
    kind = "closed network" if report.model.is_closed else "network of several classes"
    ground = report.ground
    how = f"it is solved by {solved_by(ground)}" if ground else "it is solved numerically"
    return f"A {kind} has no single formula; {how}."


def _tables(report: Report | ModelReport) -> dict[str, Any]:
    effects, scale = report.sensitivity, units_of(report)
    return {
        **_tables_of_data(report),
        "parameter_table": parameter_table(report),
        "sensitivity_table": sensitivity_table(effects, scale) if effects else None,
        "of_all_models": of_all_models(effects) if effects else None,
        "derivative_table": derivative_table(effects, scale) if effects else None,
    }


def _tables_of_data(report: Report | ModelReport) -> dict[str, Any]:
    """Tables of measurements, or of predictions where a page has no measurements."""
    if isinstance(report, Report):
        return {
            "data_table": data_table(report),
            "form_tables": form_tables(report),
            "summary_tables": summary_tables(report),
            "point_table": point_table(report),
            "load_table": None,
        }
    tables: dict[str, Any] = {"form_tables": [], "summary_tables": []}
    return tables | {"data_table": None, "point_table": None, "load_table": load_table(report)}


def _panel(report: Report | ModelReport) -> dict[str, Any]:
    """The panel with its script, and a policy that lets no other script run."""
    made = panel(report)
    if not isinstance(made, Panel):
        return {"panel": None, "no_panel": made.reason, "script": "", "policy": policy("'none'")}
    script = "\n".join(["", made.script, *map(shipped, ("parts.js", "panel.js"))])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'"
    return {"panel": made, "no_panel": "", "script": script, "policy": policy(allowed)}


def policy(scripts: str) -> str:
    """What a page may load and run: nothing, but for scripts of these digests."""
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
