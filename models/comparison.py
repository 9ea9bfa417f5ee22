"""A model held against measurements: errors point by point, and what they sum up to."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measurements import Measurements, Observed
from headway.models.model import Model
from headway.models.names import nearest
from headway.models.regression import FEWEST_POINTS, r_squared
from headway.models.signatures.sfs import (
    ALL,
    RESPONSE_NAMES,
    THROUGHPUT_NAMES,
    Range,
    SfsSignature,
    sfs_signature,
)
from headway.models.solution import Solution
from headway.models.tables import Shown, Table
from headway.models.units import compatible, unit


@dataclass(frozen=True)
class Comparison(Shown):
    """Predicted against measured.

    Parameters
    ----------
    solution
        The model solved at the measured points.
    output
        The output that was measured.
    load, measured
        The columns of the data it was held against.
    within
        Range of load that errors, lines and signatures are summed up over.
    """

    solution: Solution
    output: str
    load: Observed
    measured: Observed
    within: Range

    def __repr__(self) -> str:
        worst = self.summary["max_relative_error"]
        return (
            f"Comparison({self.model.name}, {len(self.measured.values)} points, worst {worst:.1%})"
        )

    @property
    def model(self) -> Model:
        """The model at the measured points."""
        return self.solution.model

    @cached_property
    def load_parameter(self) -> str | None:
        """The parameter that the load sets; None where a closed network paces itself to it."""
        loads, inputs = self.load.values, self.model.inputs
        swept = (name for name, value in inputs.items() if np.ndim(value))
        return next((name for name in swept if np.array_equal(inputs[name], loads)), None)

    @cached_property
    def predicted(self) -> FloatArray:
        """What the model says [SI]; infinite at points it cannot sustain."""
        return np.atleast_1d(np.asarray(self.solution[self.output], float))

    @cached_property
    def relative_error(self) -> FloatArray:
        """(predicted - measured) / measured, by point."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.predicted - self.measured.values) / self.measured.values

    @cached_property
    def in_range(self) -> NDArray[np.bool_]:
        """Which points lie in the range of load."""
        return self.within.holds(self.load.values)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Which points the summary counts: in range, and sustained by the model."""
        return self.in_range & np.isfinite(self.relative_error)

    @cached_property
    def summary(self) -> dict[str, float]:
        """RMS, largest and median size of the relative errors, and r squared, in range."""
        errors = self.relative_error[self.counted]
        if errors.size == 0:
            return dict.fromkeys(SUMMARY, float("nan"))
        sizes = np.abs(errors)
        explained = r_squared(self.measured.values[self.counted], self.predicted[self.counted])
        values = (np.sqrt(np.mean(errors**2)), sizes.max(), np.median(sizes), explained)
        return dict(zip(SUMMARY, map(float, values), strict=True))

    @cached_property
    def signatures(self) -> dict[str, SfsSignature]:
        """SFS signatures of both, where response time was measured over enough loads."""
        inside = self.in_range & np.isfinite(self.predicted)
        loads = self.load.values
        if self.output != "response_time" or np.unique(loads[inside]).size < FEWEST_POINTS:
            return {}
        sustained = np.isfinite(self.predicted)
        return {
            "measured": sfs_signature(loads, self.measured.values, self.within),
            "predicted": sfs_signature(loads[sustained], self.predicted[sustained], self.within),
        }

    def plot(self) -> Any:
        """Draw points, model, lines and relative residuals, as a matplotlib Figure."""
        from headway.models.plotting.figures import comparison_figure

        return comparison_figure(self)

    def tables(self) -> list[Table]:
        """Points, summary and signatures."""
        from headway.models.comparison_tables import comparison_tables

        return comparison_tables(self)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a point: inputs, measured, predicted, relative error, whether in range."""
        from headway.models.comparison_tables import comparison_rows

        return comparison_rows(self)

    def to_json(self) -> str:
        """Strict JSON by the contract in docs/design.md."""
        from headway.models.answers import strict_json
        from headway.models.comparison_tables import comparison_document

        return strict_json(comparison_document(self))

    def to_csv(self) -> str:
        """A CSV row a point."""
        from headway.models.comparison_tables import point_table

        return point_table(self).to_csv()


SUMMARY = ("rms_relative_error", "max_relative_error", "median_relative_error", "r_squared")


@dataclass(frozen=True)
class Match:
    """Which columns of a table set which parameters, and which one measures an output.

    Parameters
    ----------
    output
        The output that was measured.
    inputs
        SI values by parameter, an entry a complete row.
    load, measured
        The columns of the load and of the output, complete rows only.
    """

    output: str
    inputs: Mapping[str, FloatArray]
    load: Observed
    measured: Observed


def match(
    model: Model, measurements: Measurements, x: str | None = None, y: str | None = None
) -> Match:
    """Find what a table measures of a model; see `compare` for arguments and errors."""
    output, measured = _measured_output(model, measurements, y)
    settings = _settings(model, measurements, x, measured)
    load_name = next(iter(settings))
    complete = np.isfinite(np.stack([measured.values, *(c.values for c in settings.values())]))
    keep = np.asarray(complete.all(axis=0))
    if not keep.any():
        msg = f"{measurements.source}: no row has {measured.header} and every other column needed"
        raise MeasurementError(msg)
    kept = measurements.only(keep)
    inputs = {name: kept.column(column.header).values for name, column in settings.items()}
    return Match(
        output, inputs, kept.column(settings[load_name].header), kept.column(measured.header)
    )


def compare(
    model: Model,
    measurements: Measurements,
    x: str | None = None,
    y: str | None = None,
    within: Range = ALL,
) -> Comparison:
    """Solve a model at measured points and hold it against them.

    Parameters
    ----------
    model
        Its remaining parameters have values.
    measurements
        A column for an output (``response_ms``), one for the load (``throughput_ops_s``),
        and perhaps columns that bear names of parameters.
    x, y
        Columns for load and output where the usual names are not used.
    within
        Range of load to sum up over.

    Raises
    ------
    MeasurementError
        For missing columns or units of another dimension, and if no row is complete or none
        lies in the range.
    """
    found = match(model, measurements, x, y)
    if not within.holds(found.load.values).any():
        msg = f"{measurements.source}: no load lies between {within.low:g} and {within.high:g}"
        raise MeasurementError(msg)
    solution = _solved(model, found)
    return Comparison(solution, found.output, found.load, found.measured, within)


def _solved(model: Model, found: Match) -> Solution:
    """Solve at the measured points; a closed model paces itself to the delivered throughput.

    Where the curve bends back nobody thinks longer than the model's think time.
    """
    if "throughput" not in found.inputs:
        return model.at(found.inputs).solve()
    from headway.models.fitting.paced import bent_by_level, paced_solution

    rate = found.load.values
    full = bent_by_level(found.inputs, rate, found.measured.values)
    settings = {n: v for n, v in found.inputs.items() if n != "throughput"}
    return paced_solution(model.at(settings), rate, full)


def _measured_output(
    model: Model, measurements: Measurements, y: str | None
) -> tuple[str, Observed]:
    """Find the measured column and the output it measures."""
    outputs = [*model.graph.outputs, *(["response_time"] if model.graph.stations else [])]
    synonyms = {"response": "response_time"}
    names = (y,) if y else (*outputs, *RESPONSE_NAMES)
    column = measurements.column(*names)
    output = synonyms.get(column.name, column.name)
    if output not in outputs:
        output = "response_time" if model.graph.stations else outputs[0]
    _check_unit(measurements.source, column, model.meaning(output).unit)
    return output, column


def _settings(
    model: Model, measurements: Measurements, x: str | None, measured: Observed
) -> dict[str, Observed]:
    """Which column sets which parameter; the one that is drawn over comes first."""
    own = {
        column.name: column
        for column in measurements.columns.values()
        if column.name in model.parameters and column is not measured
    }
    first: dict[str, Observed] = {}
    if "arrival_rate" in model.parameters:
        first = {"arrival_rate": measurements.column(*((x,) if x else THROUGHPUT_NAMES))}
    elif x:
        column = measurements.column(x)
        if column.name not in model.parameters:
            msg = f"{measurements.source}: {model.name} has no parameter for column {x}"
            raise MeasurementError(msg + nearest(column.name, model.parameters))
        first = {column.name: column}
    if model.is_closed and not x and not own.keys() & {"population", "think_time"}:
        first = {"throughput": measurements.column(*THROUGHPUT_NAMES)}
    settings = first | {name: column for name, column in own.items() if name not in first}
    if not settings:
        msg = f"{measurements.source}: no column bears the name of a parameter of {model.name}"
        raise MeasurementError(msg + nearest("", model.parameters))
    for name, column in settings.items():
        wanted = model.parameters[name].unit if name in model.parameters else unit("op/s")
        _check_unit(measurements.source, column, wanted)
    return settings


def _check_unit(source: str, column: Observed, wanted: Any) -> None:
    if not compatible(column.unit.dimension, wanted.dimension) or (
        wanted.text and not column.unit.text
    ):
        told = f"is in {column.unit}" if column.unit.text else "has no unit in its name"
        msg = f"{source}: column {column.header} {told}; it needs one like {wanted or 'a number'}"
        raise MeasurementError(msg)
