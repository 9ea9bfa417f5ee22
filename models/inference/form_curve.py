"""A measured curve as forms need it: its columns, where forms start, and which of them suit it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.errors import GraphError, MeasurementError
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal
from headway.models.inference.closed_curves import BEHIND, clients_of
from headway.models.inference.forecasting.highest_load import percentile_column
from headway.models.inference.forms import Form, knowing, limits_from_curve, of_loads
from headway.models.measured.columns import find, is_population, load_column, lone_percentile
from headway.models.measured.matching import Match, Named, match, outputs_named
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import DELIVERED, OFFERED
from headway.models.measured.statistic import percentile_of
from headway.models.signatures.sfs import curve as curve_of
from headway.models.structure.loads import Load
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

_BEYOND = 4.0  # largest count that is tried, in multiples of the most jobs that were inside
ALL_ROWS = slice(None)
_INSTANT = 1e-9  # seconds: less than any response time


@dataclass(frozen=True)
class FormCurve:
    """A curve as forms need it: columns, rates and times.

    The think time is that of a population that is the load, and None for an open curve. Settings
    are those stated for whole curves, by row.
    """

    columns: tuple[str, Named]
    load: FloatArray
    rate: FloatArray
    time: FloatArray
    forms: Sequence[Form]
    think_time: float | None = None
    settings: tuple[FloatArray, ...] = ()

    def different(self, inside: NDArray[np.bool_]) -> int:
        """Number of different loads and stated settings among some of its points."""
        rows = np.stack([self.load, *self.settings])
        return distinct_columns(rows[:, inside])[0].size

    def limits(
        self, form: Form, inside: NDArray[np.bool_] | slice = ALL_ROWS
    ) -> dict[str, tuple[float, float]]:
        """Search ranges of parameters that the curve bounds, and of some counts.

        More servers, batches or places than were ever in use, X R, make no difference.
        """
        limits = limits_from_curve(form, self.rate[inside], self.time[inside])
        if form.variant.load is not Load.OFFERED:
            return limits
        most = float(np.ceil(_BEYOND * (self.rate * self.time).max()))
        return limits | {
            name: (1.0, max(most, 2.0)) for name in form.free if name in counts(form.made.graph)
        }


def curve_for_forms(
    measurements: Measurements, x: str | None, y: str | None, every: Sequence[Form]
) -> FormCurve:
    """Choose the columns for all forms, and the forms that suit the load."""
    curve = _chosen(measurements, x, y, every)
    return replace(curve, settings=_settings(measurements, curve))


def limited_column(
    measurements: Measurements, target: str | Goal, x: str | None = None
) -> str | None:
    r"""The column of a limited percentile to which forms are fitted; None if fitted to means.

    Parameters
    ----------
    measurements
        A table.
    target
        The limit.
    x
        Column of the load.

    Examples
    --------
    >>> table = Measurements.parse("rps,response_ms,p99_ms\n100,9,30\n400,20,60\n", "open")
    >>> limited_column(table, "response_time_p99<=50ms")
    'p99_ms'
    >>> table = Measurements.parse("clients,response_ms,p99_ms\n10,9,30\n40,20,60\n", "closed")
    >>> limited_column(table, "response_time_p99<=50ms") is None
    True
    """
    column = percentile_column(measurements, target)
    return None if column is None or is_population(load_column(measurements, x)) else column


def _settings(measurements: Measurements, curve: FormCurve) -> tuple[FloatArray, ...]:
    """Settings stated for whole curves, at the points that count."""
    x, y = curve.columns
    names = [x, *([y] if isinstance(y, str) else y or ())]
    measured = np.stack([measurements.column(name).values for name in names])
    complete = np.isfinite(measured).all(axis=0)
    stated = (np.nan_to_num(c.values[complete]) for c in measurements.columns.values() if c.stated)
    return tuple(values for values in stated if values.shape == curve.load.shape)


def _chosen(
    measurements: Measurements, x: str | None, y: str | None, every: Sequence[Form]
) -> FormCurve:
    if is_population(load_column(measurements, x)):
        _check_no_percentiles(measurements, y)
        forms = _suiting(measurements, every, Load.POPULATION)
        return _circulating(measurements, x, y, forms)
    if _has_percentiles(measurements, y):
        return _of_percentiles(measurements, x, y, _suiting(measurements, every, Load.OPEN))
    offered = _offered(measurements, x, y, every)
    if offered is not None:
        return offered
    curve = curve_of(measurements, x, y)
    columns = (curve.load.header, curve.response_time.header)
    circulating = clients_of(measurements, *columns)
    self_limiting = (Load.CLOSED,) if circulating is not None and circulating.closed else ()
    forms = _suiting(measurements, every, Load.OPEN, *self_limiting)
    load = curve.load.values
    return FormCurve(columns, load, load, curve.response_time.values, forms)


def _offered(
    measurements: Measurements, x: str | None, y: str | None, every: Sequence[Form]
) -> FormCurve | None:
    """A test that fell behind its offered load, for forms with limited room; None for any other.

    These forms explain throughput and response time at the offered rate. Open forms are not tried
    as well: they cannot explain a throughput below the offered load, and an AICc of other data
    cannot be compared.
    """
    forms = knowing(of_loads(every, Load.OFFERED), measurements.facts)
    requested, rate = find(measurements, OFFERED), find(measurements, DELIVERED)
    named = {column.header: column for column in (requested, rate) if column is not None}
    other = x is not None and (requested is None or measurements.column(x) is not requested)
    if not forms or len(named) < 2 or y is not None or other:
        return None
    matched = match(forms[0].made, measurements)
    by_output = {one.output: one.measured.values for one in matched.each}
    if set(by_output) != {"response_time", "throughput"}:
        return None
    load, delivered = matched.load.values, by_output["throughput"]
    if not (delivered < BEHIND * load).any():
        return None
    columns = (matched.load.header, [one.measured.header for one in matched.each])
    return FormCurve(columns, load, delivered, by_output["response_time"], forms)


def _suiting(measurements: Measurements, every: Sequence[Form], *loads: Load) -> Sequence[Form]:
    """Forms for these loads for which all necessary facts are stated; never none."""
    suiting = knowing(of_loads(every, *loads), measurements.facts)
    if not suiting:
        names = ", ".join(dict.fromkeys(form.model for form in every))
        msg = (
            f"{measurements.source}: none of the forms {names} applies to this load "
            f"({', '.join(loads)}) and the columns of the file"
        )
        raise MeasurementError(msg)
    return suiting


def _circulating(
    measurements: Measurements, x: str | None, y: str | None, forms: Sequence[Form]
) -> FormCurve:
    """A closed test: rates follow from times, or times from rates, by Little's law."""
    matched = match(forms[0].made, measurements, x, y)
    jobs, measured = matched.load.values, matched.measured.values
    think = float(np.mean(matched.model.inputs["think_time"]))
    with np.errstate(divide="ignore"):
        if matched.output == "throughput":
            rate, time = measured, jobs / measured - think
        else:
            rate, time = jobs / (measured + think), measured
    columns = (matched.load.header, [one.measured.header for one in matched.each])
    return FormCurve(columns, jobs, rate, np.maximum(time, _INSTANT), forms, think)


def _check_no_percentiles(measurements: Measurements, y: Named) -> None:
    """Refuse a choice by percentiles of populations: each point takes a chain of its own."""
    takes_rates = y is None and find(measurements, DELIVERED) is not None
    if _has_percentiles(measurements, y) and not takes_rates:
        msg = (
            f"{measurements.source}: choosing a form by percentiles of a closed load takes too "
            "long; fit one model with --free, or use the column of the mean or of the throughput"
        )
        raise GraphError(msg)


def _has_percentiles(measurements: Measurements, y: Named) -> bool:
    """Whether a named column holds percentiles, or the only column of times does."""
    if y is None:
        return lone_percentile(measurements) is not None
    named = map(measurements.column, outputs_named(measurements, y))
    return any(percentile_of(measurements.source, column) is not None for column in named)


def _of_percentiles(
    measurements: Measurements, x: str | None, y: Named, forms: Sequence[Form]
) -> FormCurve:
    """An open curve of percentiles, with or without means."""
    matched = _first_match(measurements, x, y, forms)
    load, columns = matched.load.values, [one.measured.header for one in matched.each]
    return FormCurve((matched.load.header, columns), load, load, _mean_times(matched), forms)


def _first_match(
    measurements: Measurements, x: str | None, y: Named, forms: Sequence[Form]
) -> Match:
    """The table's columns, by the first form that predicts what was measured."""
    refused: GraphError | None = None
    for form in forms:
        try:
            return match(form.made, measurements, x, y)
        except GraphError as error:
            refused = refused or error
    raise refused or MeasurementError(
        f"{measurements.source}: there is no form to try; list one with --forms"
    )


def _mean_times(match: Match) -> FloatArray:
    """Mean times to start from; if only percentiles were measured, as if times were exponential."""
    means = (one.measured.values for one in match.each if one.output == "response_time")
    if match.percent is None:
        return next(means, match.measured.values)
    return next(means, match.measured.values / -np.log1p(-match.percent / 100))
