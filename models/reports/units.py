"""The units of a page: chosen once, for its tables, sentences, figures and sliders."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from headway.models.analysis.sensitivity import Sensitivity
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import Unit
from headway.models.reports.alone import ModelReport
from headway.models.reports.report import Report
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model


def report_units(report: Report) -> Scale:
    """The units of a fit or comparison, whose figure the page shows, and of the tables with it."""
    comparison = report.comparison
    load = (comparison.load.values, comparison.load.unit)
    beside = [load, *numbers_of(report.model), *_point(report.sensitivity)]
    stated = report.model.stated
    return units_of(report.forms or report.fit or comparison).completed(beside, stated)


def model_units(report: ModelReport) -> Scale:
    """The units of the curve, and of the tables with it."""
    beside = [*numbers_of(report.model), *_point(report.sensitivity)]
    stated = report.model.stated
    first = Scale() if report.curve is None else units_of(report.curve)
    return first.completed(beside, stated)


def panel_units(solution: Solution) -> Scale:
    """The units of a notebook's panel: those of its first answer and of its sliders."""
    stated = solution.model.stated
    return units_of(solution).completed(numbers_of(solution.model), stated)


def numbers_of(model: Model) -> Iterator[tuple[Any, Unit]]:
    """The parameters of a model, with one value or several each."""
    for parameter in model.parameters.values():
        if parameter.value is not None:
            yield np.asarray(parameter.value, float), parameter.unit


def _point(sensitivity: Sensitivity | None) -> Iterator[tuple[Any, Unit]]:
    """The outputs at the operating point."""
    if sensitivity is not None:
        for name in sensitivity.effects:
            yield float(sensitivity.solution[name]), sensitivity.model.meaning(name).unit
