"""The data of a page's panel: a model over loads, with or without measurements."""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.analysis.comparison import Comparison
from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.tables.table import scale_of
from headway.records import dataclass


@dataclass(frozen=True)
class Ground:
    """A model over loads; numbers in SI.

    Parameters
    ----------
    model, solution
        The model, and its solution at the loads.
    point
        The model at the operating point; None if it sustains no load.
    output
        The output that is drawn.
    load
        The parameter that is the load; None if no parameter is.
    loads, load_unit
        The loads, and the unit in which they are shown.
    predicted
        The predicted output at the loads.
    measured, counted
        The measured output at the loads, and whether each point counts; empty if nothing was
        measured.
    scale
        The units of the page.
    """

    model: Model
    point: Model | None
    solution: Solution
    output: str
    load: str | None
    loads: FloatArray
    load_unit: Unit
    predicted: FloatArray
    measured: FloatArray
    counted: NDArray[np.bool_]
    scale: Scale

    @property
    def shown(self) -> Unit:
        """The unit of the output."""
        values = self.measured if self.measured.size else self.predicted
        return scale_of(values, self.model.meaning(self.output).unit, self.scale)

    @property
    def rate(self) -> Unit:
        """The unit of throughput."""
        return self.scale.unit(self.model.meaning("throughput").unit)

    @property
    def top(self) -> float:
        """The largest value to draw."""
        if self.measured.size:
            return float(np.max(self.measured))
        finite = self.predicted[np.isfinite(self.predicted)]
        return float(np.percentile(finite, 90)) if finite.size else 1.0


def measured_ground(comparison: Comparison, point: Model | None, scale: Scale) -> Ground:
    """The data that a comparison with measurements gives a panel.

    Parameters
    ----------
    comparison
        The model and its measurements.
    point
        The operating point.
    scale
        The units of the page.
    """
    return Ground(
        comparison.model,
        point,
        comparison.solution,
        comparison.output,
        comparison.load_parameter,
        comparison.load.values,
        scale.unit(comparison.load.unit),
        comparison.predicted,
        comparison.measured.values,
        comparison.in_range,
        scale,
    )
