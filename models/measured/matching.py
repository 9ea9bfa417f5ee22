"""What a table measures of a model: which columns set parameters, and which one an output."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from headway.errors import GraphError, MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.language.units import unit
from headway.models.measured.cells import Observed
from headway.models.measured.columns import (
    check_unit,
    find,
    is_population,
    is_rate,
    load_column,
    response_column,
)
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import DELIVERED, RESPONSE, role_of
from headway.models.measured.statistic import percentile_of
from headway.models.structure.model import Model
from headway.models.structure.parts.links import settable

_BUSY = 0.05  # share of the circle below which a think time is none but noise


@dataclass(frozen=True)
class Match:
    """Which columns of a table set which parameters, and which one measures an output.

    Parameters
    ----------
    model
        What is measured: the model that was asked for, closed where the load is a population.
    output
        The output that was measured.
    inputs
        SI values by parameter, an entry a complete row.
    load, measured
        The columns of the load and of the output, complete rows only.
    table
        These rows.
    percent
        The percentage, where the column holds percentiles of the response time.
    """

    model: Model
    output: str
    inputs: Mapping[str, FloatArray]
    load: Observed
    measured: Observed
    table: Measurements
    percent: float | None = None


def match(
    model: Model, measurements: Measurements, x: str | None = None, y: str | None = None
) -> Match:
    """Find what a table measures of a model; see `headway.models.analysis.comparison.compare`."""
    model = _exposed(_closed_as_measured(model, measurements, x), measurements)
    settings = _settings(model, measurements, x, y)
    first = next(iter(settings.values()))
    measured, output, percent = _measured(model, measurements, y, first)
    complete = np.isfinite(np.stack([measured.values, *(c.values for c in settings.values())]))
    keep = np.asarray(complete.all(axis=0))
    if not keep.any():
        msg = f"{measurements.source}: no row has {measured.header} and every other column needed"
        raise MeasurementError(msg)
    kept = measurements.only(keep)
    inputs = {name: kept.column(column.header).values for name, column in settings.items()}
    load = kept.column(first.header)
    shown = replace(load, unit=unit("job")) if is_population(load) else load
    return Match(model, output, inputs, shown, kept.column(measured.header), kept, percent)


def _exposed(model: Model, measurements: Measurements) -> Model:
    """Let every column that bears the name of what can be set find a parameter of that name."""
    names = {column.name for column in measurements.columns.values()}
    return model.exposing(*names.intersection(settable(model.graph.links, model.parameters)))


def _closed_as_measured(model: Model, measurements: Measurements, x: str | None) -> Model:
    """Close an open model whose load was measured as a population.

    It stands at the largest population. Its think time follows by Little's law, where what came
    through was measured too.
    """
    if "arrival_rate" not in model.parameters:
        return model
    load = load_column(measurements, x, model.parameters)
    if not is_population(load):
        return model
    return model.closed(float(np.nanmax(load.values)), think_time(measurements, load))


def think_time(measurements: Measurements, population: Observed) -> float:
    r"""Mean time between an answer and the next request, Z = N/X - R [s].

    Parameters
    ----------
    measurements
        A table; Z is 0 where it has no column of throughput or none of response time, and where
        less than 5 % of the circle would be left to it, which noise makes too.
    population
        Its column of jobs that circulate.

    Examples
    --------
    >>> text = "clients,throughput_ops_s,response_ms\n4,2,1000\n8,4,1000\n"
    >>> table = Measurements.parse(text, "own.csv")
    >>> think_time(table, table.column("clients"))
    1.0
    """
    rate, response = find(measurements, DELIVERED), find(measurements, RESPONSE)
    if rate is None or response is None:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        circle = population.values / rate.values
        spare = circle - response.values
    known = np.isfinite(spare)
    if not known.any() or np.median((spare / circle)[known]) < _BUSY:
        return 0.0
    return float(np.median(spare[known]))


def _measured(
    model: Model, measurements: Measurements, y: str | None, load: Observed
) -> tuple[Observed, str, float | None]:
    """Find the measured column, the output it measures, and the percentage of a percentile."""
    outputs = [*model.graph.outputs, *(["response_time"] if model.graph.stations else [])]
    outputs += ["throughput"] if is_population(load) else []
    column = _output_column(model, measurements, y, outputs)
    percent = None if column.name in outputs else percentile_of(measurements.source, column)
    role = role_of(column)
    told = (column.name, role.output if role else "")
    usual = "response_time" if model.graph.stations else outputs[0]
    output = next((name for name in told if name in outputs), usual)
    check_unit(measurements.source, column, model.meaning(output).unit)
    if percent is None:
        return column, output, None
    _check_percentile(model, measurements.source, column)
    return column, f"response_time_p{percent:g}", percent


def _output_column(
    model: Model, measurements: Measurements, y: str | None, outputs: list[str]
) -> Observed:
    """The column that is named, else the response time, else an output by its own name.

    A program, which has no response time, gives way to its outputs.
    """
    if y is not None:
        return measurements.column(y)
    own = measurements.find(outputs)
    timed = find(measurements, RESPONSE)
    if timed is not None and timed.name in model.parameters:
        timed = None
    first, second = (timed, own) if model.graph.stations else (own, timed)
    found = first or second
    if found is None and "throughput" in outputs:
        found = find(measurements, DELIVERED)
    return found or response_column(measurements)


def _check_percentile(model: Model, source: str, column: Observed) -> None:
    """Refuse percentiles of what is no sum of stations' times, or is none of one open class."""
    if not model.graph.stations or "response_time" in model.graph.outputs:
        why = "its answer is a formula, which has a mean only"
    elif model.is_closed or model.graph.classes:
        why = "percentiles are known for open networks of one class only"
    else:
        return
    msg = (
        f"{source}: column {column.header} holds percentiles, {model.name} has none: {why}; "
        "take the column of the mean, or of the throughput"
    )
    raise GraphError(msg)


def _settings(
    model: Model, measurements: Measurements, x: str | None, y: str | None
) -> dict[str, Observed]:
    """Which column sets which parameter; the one that is drawn over comes first."""
    named = measurements.find([y]) if y else None
    both = (*measurements.columns.values(), *measurements.spoilt.values())
    own = {
        name: column.asked()
        for column in both
        for name in (column.name, column.role)
        if name in model.parameters and column is not named
    }
    settings = _first(model, measurements, x, own)
    settings |= {name: column for name, column in own.items() if name not in settings}
    if not settings:
        msg = f"{measurements.source}: no column bears the name of a parameter of {model.name}"
        raise MeasurementError(msg + nearest("", model.parameters))
    for name, column in settings.items():
        wanted = model.parameters[name].unit if name in model.parameters else unit("op/s")
        check_unit(measurements.source, column, wanted)
    return settings


def _first(
    model: Model, measurements: Measurements, x: str | None, own: Mapping[str, Observed]
) -> dict[str, Observed]:
    """The parameter that the load sets, and its column; none for a program without `x`."""
    if "arrival_rate" in model.parameters:
        return {"arrival_rate": load_column(measurements, x, model.parameters)}
    if model.is_closed and x is None and own.keys() & {"population", "think_time"}:
        return {name: own[name] for name in ("population",) if name in own}
    if x is None and not model.is_closed:
        return {}
    column = load_column(measurements, x, model.parameters.keys() - {"population"})
    if model.is_closed and is_population(column):
        return {"population": column}
    if column.name in model.parameters:
        return {column.name: column}
    if model.is_closed and is_rate(column):
        return {"throughput": column}
    msg = f"{measurements.source}: {model.name} has no parameter for column {column.header}"
    raise MeasurementError(msg + nearest(column.name, model.parameters))
