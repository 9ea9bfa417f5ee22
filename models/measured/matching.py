"""Match a table with a model: which columns set parameters, and which measure outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.language.units import unit
from headway.models.measured.arrivals import POISSON
from headway.models.measured.bends import bends_by_level
from headway.models.measured.cells import Observed
from headway.models.measured.columns import (
    check_unit,
    check_whole,
    find,
    is_population,
    is_rate,
    load_column,
    lone_percentile,
    response_column,
    think_time,
)
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import (
    DELIVERED,
    OFFERED,
    POPULATION,
    RESPONSE,
    UTILISATION,
    counted_in,
    part_of,
    role_of,
)
from headway.models.measured.statistic import percentile_of
from headway.models.structure.model import Model
from headway.models.structure.outputs import percentile_name
from headway.models.structure.parts.links import settable
from headway.records import dataclass

Named: TypeAlias = str | Sequence[str] | None
"""Measured columns: one, several (or separated by commas), or by default those with known titles.
"""

ADDED = "+"
"""Prefix of the name of a column whose values are added to a parameter."""

CURVE = "measured curve"
"""Column of words that names the curve of each row."""


@dataclass(frozen=True)
class Match:
    """The columns of a table that set parameters, and the one that measures an output.

    Parameters
    ----------
    model
        The model that was measured; closed if the load is a population.
    output
        The output that was measured.
    inputs
        SI values by parameter, one entry per complete row.
    load, measured
        The columns of the load and of the output, complete rows only.
    table
        These rows.
    percent
        The percentage, if the column holds percentiles of the response time.
    beside
        The same rows measured as other outputs.
    added
        Given increments of parameters, one entry per row; `inputs` includes them.
    """

    model: Model
    output: str
    inputs: Mapping[str, FloatArray]
    load: Observed
    measured: Observed
    table: Measurements
    percent: float | None = None
    beside: "tuple[Match, ...]" = ()
    added: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def each(self) -> "tuple[Match, ...]":
        """One match per output, this one first."""
        return (self, *self.beside)

    @property
    def full(self) -> NDArray[np.bool_]:
        """Mark the points on branches that bend back, for a curve over throughput."""
        timed = (one for one in self.each if one.output == "response_time")
        rate, times = self.load.values, next(timed, None)
        if times is None:
            return np.zeros(rate.shape, bool)
        return np.asarray(bends_by_level(self.inputs, rate, times.measured.values), bool)


_Measured = tuple[Observed, str, float | None]


def match(model: Model, measurements: Measurements, x: str | None = None, y: Named = None) -> Match:
    """Match a table with a model; see `headway.models.analysis.comparison.compare`."""
    model = _arriving_as_measured(_closed_as_measured(model, measurements, x), measurements)
    measurements = _clients_as_measured(model, measurements)
    model = _exposed(model, measurements)
    measurements = _stated_of_each(model, measurements)
    named = outputs_named(measurements, y)
    settings = _settings(model, measurements, x, named)
    first = next(iter(settings.values()))
    measured = [_measured(model, measurements, one, first) for one in named or (None,)]
    _check_different(measurements.source, measured)
    needed = [measured[0][0].values, *(column.values for column in settings.values())]
    if not named:
        measured += _other_half(model, measurements, first, measured[0], needed)
    needed += [column.values for column, _, _ in measured[1:]]
    keep = np.asarray(np.isfinite(np.stack(needed)).all(axis=0))
    if not keep.any():
        titles = ", ".join(column.header for column, _, _ in measured)
        msg = (
            f"{measurements.source}: no row has values of {titles} and of every other column needed"
        )
        raise MeasurementError(msg)
    kept = measurements.only(keep)
    _check_curves(measurements, kept)
    inputs = {name: kept.column(column.header).values for name, column in settings.items()}
    added = {c.name[1:]: c.values for c in kept.columns.values() if _adds(c)}
    inputs |= {n: _base(model, inputs, n) + more for n, more in added.items()}
    _check_stated(measurements, [*settings.values(), *filter(_adds, kept.columns.values())])
    load = kept.column(first.header)
    check_whole(kept, load)
    shown = replace(load, unit=counted_in(load)) if is_population(load) else load
    every = [
        Match(model, output, inputs, shown, kept.column(column.header), kept, percent, added=added)
        for column, output, percent in measured
    ]
    return replace(every[0], beside=tuple(every[1:]))


def turns_away(model: Model) -> bool:
    """Whether an open model may lose arrivals, because a station has limited room."""
    return not model.is_closed and any(one.loses for one in model.graph.stations.values())


def is_offered(model: Model, load: Observed) -> bool:
    """Whether a load is the rate offered to a model that may reject part of it."""
    return turns_away(model) and role_of(load) is OFFERED


def _adds(column: Observed) -> bool:
    return column.stated and column.name.startswith(ADDED)


def _check_stated(measurements: Measurements, used: Sequence[Observed]) -> None:
    """Refuse a value given for a curve that another column already sets."""
    names = {column.name for column in used}
    for column in measurements.columns.values():
        if column.stated and column.name not in names:
            msg = (
                f"{measurements.source}: {column.name} is given for the curve, but the data also "
                "have a column of it; remove one"
            )
            raise MeasurementError(msg)


def _base(model: Model, inputs: Mapping[str, FloatArray], name: str) -> FloatArray:
    """The base of an increment: a column's values, or else the model's own."""
    value = inputs.get(name, model.parameters[name].value)
    if value is None:
        msg = f"{name} needs a value to which the data can add; set {name}=..."
        raise MeasurementError(msg)
    return np.asarray(value, float)


def _stated_of_each(model: Model, measurements: Measurements) -> Measurements:
    """Check the values given for curves; other curves use the model's own value."""
    columns = dict(measurements.columns)
    for title, column in measurements.columns.items():
        if not column.stated:
            continue
        name = column.name.removeprefix(ADDED)
        if name not in model.parameters:
            msg = (
                f"{measurements.source}: {model.name} has no parameter {name!r}, which is given "
                "for a curve"
            )
            raise MeasurementError(msg + nearest(name, model.parameters))
        check_unit(measurements.source, column, model.parameters[name].unit)
        if np.isnan(column.values).any():
            own = _base(model, {}, name)
            columns[title] = replace(
                column, values=np.where(np.isnan(column.values), own, column.values)
            )
    return replace(measurements, columns=columns)


def _check_curves(measurements: Measurements, kept: Measurements) -> None:
    """Refuse a curve without a complete row, rather than ignore it."""
    for curve in measurements.labels.get(CURVE, ()):
        if curve not in kept.labels[CURVE]:
            msg = f"{curve}: no row is complete; every curve needs the same columns"
            raise MeasurementError(msg)


def outputs_named(measurements: Measurements, y: Named) -> tuple[str, ...]:
    r"""Titles of the named columns, which commas may separate; none if the user names none.

    Examples
    --------
    >>> table = Measurements.parse("clients,throughput_ops_s,response_ms\n1,9,100\n", "own.csv")
    >>> outputs_named(table, "throughput_ops_s,response_ms"), outputs_named(table, None)
    (('throughput_ops_s', 'response_ms'), ())
    """
    if y is None:
        return ()
    if not isinstance(y, str):
        return tuple(y)
    whole = next(measurements.named(y), None)
    return (y,) if whole is not None else tuple(part.strip() for part in y.split(","))


def _check_different(source: str, measured: Sequence[_Measured]) -> None:
    """Refuse an output that is named twice, by one column or by two."""
    for (one, output, _), (other, same, _) in combinations(measured, 2):
        if output == same:
            twice = one.header if one.header == other.header else f"{one.header}, {other.header}"
            msg = f"{source}: --y names the {output.replace('_', ' ')} twice ({twice}); keep one"
            raise MeasurementError(msg)


def _other_half(
    model: Model,
    measurements: Measurements,
    load: Observed,
    first: _Measured,
    needed: Sequence[FloatArray],
) -> list[_Measured]:
    """The other measured output: throughput as well as response times, unless the load sets it."""
    roles = {"response_time": DELIVERED, "throughput": RESPONSE}
    _, output, percent = first
    leaves_open = is_population(load) or is_offered(model, load)
    if not leaves_open or not model.graph.stations or output not in roles or percent:
        return []
    other = find(measurements, roles[output])
    rows = np.isfinite(np.stack(needed)).all(axis=0)
    if other is None or other.name in model.parameters or not (other.values[rows] > 0).all():
        return []
    return [_measured(model, measurements, other.header, load)]


def _exposed(model: Model, measurements: Measurements) -> Model:
    """Expose a parameter for every column with the name of something that can be set."""
    names = {column.name for column in measurements.columns.values()}
    known = {*settable(model.graph.links, model.parameters), *model.graph.own_numbers}
    return model.exposing(*names.intersection(known))


def _clients_as_measured(model: Model, measurements: Measurements) -> Measurements:
    """Take a column of clients as those of layered services, where one task has them all."""
    counted = find(measurements, POPULATION)
    if model.graph.layers is None:
        return measurements
    from headway.models.structure.parts.own_numbers import clients_name

    crowd = clients_name(model.graph.layers)
    if not crowd or counted is None or counted.name in model.parameters:
        return measurements
    columns = dict(measurements.columns)
    if any(column.name == crowd for column in columns.values()):
        return measurements
    title = next(title for title, column in columns.items() if column.name == counted.name)
    return replace(measurements, columns={**columns, title: replace(columns[title], name=crowd)})


def _closed_as_measured(model: Model, measurements: Measurements, x: str | None) -> Model:
    """Close an open model whose load was measured as a population.

    Its population is the largest one measured. Its think time follows from Little's law if the
    throughput was measured too.
    """
    if "arrival_rate" not in model.parameters:
        return model
    load = load_column(measurements, x, model.parameters)
    if not is_population(load):
        return model
    return model.closed(float(np.nanmax(load.values)), think_time(measurements, load))


def _arriving_as_measured(model: Model, measurements: Measurements) -> Model:
    """Let requests arrive at an open model as they arrived at the measured server.

    A model that specifies its arrivals keeps them.
    """
    scv = measurements.arrival_scv
    open_network = bool(model.graph.stations) and not model.graph.classes and not model.is_closed
    if scv in (None, POISSON) or not open_network or model.graph.spreads:
        return model
    return model.arriving(float(scv or 0.0))


def _measured(
    model: Model, measurements: Measurements, y: str | None, load: Observed
) -> tuple[Observed, str, float | None]:
    """Find the measured column, the output it measures, and the percentage of a percentile."""
    timed = ["response_time"] if model.graph.stations or model.graph.layers else []
    outputs = [*model.graph.outputs, *timed]
    outputs += ["throughput"] if is_population(load) or is_offered(model, load) else []
    if model.graph.layers and y is None:  # for layered services, throughputs come first
        outputs.sort(key="response_time".__eq__)
    outputs += [f"{name}.utilisation" for name in model.graph.stations]
    column = _output_column(model, measurements, y, outputs)
    percent = None if column.name in outputs else percentile_of(measurements.source, column)
    named = (column.name, _output_by_role(model, measurements.source, column, outputs))
    usual = "response_time" if model.graph.stations else outputs[0]
    output = next((name for name in named if name in outputs), usual)
    check_unit(measurements.source, column, model.meaning(output).unit)
    if percent is None:
        return column, output, None
    _check_percentile(model, measurements.source, column)
    return column, percentile_name(percent), percent


def _output_by_role(model: Model, source: str, column: Observed, outputs: Sequence[str]) -> str:
    """The output that matches a column's role; a utilisation is that of the station it names."""
    part = part_of(column)
    if part is None:
        return ""
    if part.role is not UTILISATION:
        return part.role.output
    output = f"{part.key}.utilisation"
    if output not in outputs:
        stations = ", ".join(model.graph.stations) or "none"
        msg = (
            f"{source}: {column.header} is a utilisation of {part.key}, which is not a station of "
            f"{model.name} ({stations}); name one: --role {column.header}=STATION_util"
        )
        raise MeasurementError(msg)
    return output


def _output_column(
    model: Model, measurements: Measurements, y: str | None, outputs: list[str]
) -> Observed:
    """The named column, or else the response time, or else an output by its own name.

    If the table has none of them, its only column of percentiles. For a program, which has no
    response time, outputs come first.
    """
    if y is not None:
        return measurements.column(y)
    own = measurements.find(outputs)
    timed = find(measurements, RESPONSE)
    if timed is not None and timed.name in model.parameters:
        timed = None
    first, second = (timed, own) if model.graph.stations else (own, timed)
    column = first or second
    if column is None and "throughput" in outputs:
        column = find(measurements, DELIVERED)
    return column or lone_percentile(measurements) or response_column(measurements)


def _check_percentile(model: Model, source: str, column: Observed) -> None:
    """Refuse percentiles of a formula without a distribution, and of models of several classes."""
    from headway.models.solving.response_times.sum_of_times import sum_of_times_in

    formula = "response_time" in model.graph.outputs and sum_of_times_in(model) is None
    if formula or not model.graph.stations:
        why = "its answer is a formula for the mean only"
    elif model.graph.classes:
        why = "headway compares percentiles only in networks of one class"
    else:
        return
    msg = (
        f"{source}: column {column.header} holds percentiles, but {model.name} predicts none: "
        f"{why}; "
        "use the column of the mean or of the throughput"
    )
    raise GraphError(msg)


def _settings(
    model: Model, measurements: Measurements, x: str | None, y: Sequence[str]
) -> dict[str, Observed]:
    """Which column sets which parameter; the x axis of plots comes first."""
    named = [part for part in (measurements.find([one]) for one in y) if part is not None]
    both = (*measurements.columns.values(), *measurements.spoilt.values())
    own = {
        name: column.usable()
        for column in both
        for name in (column.name, column.role)
        if name in model.parameters and not any(column is one for one in named)
    }
    settings = _first(model, measurements, x, own)
    settings |= {name: column for name, column in own.items() if name not in settings}
    if not settings:
        msg = f"{measurements.source}: no column is named after a parameter of {model.name}"
        raise MeasurementError(msg + nearest("", model.parameters))
    for name, column in settings.items():
        wanted = model.parameters[name].unit if name in model.parameters else unit("op/s")
        check_unit(measurements.source, column, wanted)
    return settings


def _first(
    model: Model, measurements: Measurements, x: str | None, own: Mapping[str, Observed]
) -> dict[str, Observed]:
    """The parameter that the load sets, and its column; empty for a program without `x`."""
    if "arrival_rate" in model.parameters:
        offered = find(measurements, OFFERED) if x is None and turns_away(model) else None
        return {"arrival_rate": offered or load_column(measurements, x, model.parameters)}
    if model.is_closed and x is None and own.keys() & {"population", "think_time"}:
        jobs = own.get("population") or find(measurements, POPULATION)
        return {} if jobs is None else {"population": jobs}
    if x is None and not model.is_closed:
        return {}
    column = load_column(measurements, x, model.parameters.keys() - {"population"})
    return {_set_by(model, column, measurements.source): column}


def _set_by(model: Model, column: Observed, source: str) -> str:
    """The parameter set by a column of the load: in a closed model, clients or rates."""
    if model.is_closed and is_population(column):
        return "population"
    if column.name in model.parameters:
        return column.name
    if model.is_closed and is_rate(column):
        return "throughput"
    msg = f"{source}: {model.name} has no parameter for column {column.header}"
    raise MeasurementError(msg + nearest(column.name, model.parameters))
