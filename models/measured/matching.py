"""What a table measures of a model: which columns set parameters, and which measure outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.language.units import unit
from headway.models.measured.bends import bent_by_level
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
    part_of,
    role_of,
)
from headway.models.measured.statistic import percentile_of
from headway.models.solving.solutions.asked import percentile_name
from headway.models.structure.model import Model
from headway.models.structure.parts.links import settable

Named: TypeAlias = str | Sequence[str] | None
"""Columns of what was measured: one, several (parted by commas too), or as titles tell."""

ADDED = "+"
"""How the name of a column begins that holds what is added to a parameter."""

CURVE = "measured curve"
"""Column of words that tells of each row which of several curves it is of."""


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
    beside
        The same rows measured as other outputs.
    added
        What was told to be added to parameters, an entry a row; `inputs` has it in them.
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
        """One match an output, this one first."""
        return (self, *self.beside)

    @property
    def full(self) -> NDArray[np.bool_]:
        """Which points lie on branches that bend back, of a curve over throughput."""
        timed = (one for one in self.each if one.output == "response_time")
        rate, times = self.load.values, next(timed, None)
        if times is None:
            return np.zeros(rate.shape, bool)
        return np.asarray(bent_by_level(self.inputs, rate, times.measured.values), bool)


_Measured = tuple[Observed, str, float | None]


def match(model: Model, measurements: Measurements, x: str | None = None, y: Named = None) -> Match:
    """Find what a table measures of a model; see `headway.models.analysis.comparison.compare`."""
    model = _exposed(_closed_as_measured(model, measurements, x), measurements)
    measurements = _told_of_each(model, measurements)
    named = outputs_named(measurements, y)
    settings = _settings(model, measurements, x, named)
    first = next(iter(settings.values()))
    found = [_measured(model, measurements, one, first) for one in named or (None,)]
    _check_different(measurements.source, found)
    needed = [found[0][0].values, *(column.values for column in settings.values())]
    if not named:
        found += _other_half(model, measurements, first, found[0], needed)
    needed += [column.values for column, _, _ in found[1:]]
    keep = np.asarray(np.isfinite(np.stack(needed)).all(axis=0))
    if not keep.any():
        titles = ", ".join(column.header for column, _, _ in found)
        msg = f"{measurements.source}: no row has {titles} and every other column needed"
        raise MeasurementError(msg)
    kept = measurements.only(keep)
    _check_curves(measurements, kept)
    inputs = {name: kept.column(column.header).values for name, column in settings.items()}
    added = {c.name[1:]: c.values for c in kept.columns.values() if _adds(c)}
    inputs |= {n: _base(model, inputs, n) + more for n, more in added.items()}
    _check_told(measurements, [*settings.values(), *filter(_adds, kept.columns.values())])
    load = kept.column(first.header)
    check_whole(kept, load)
    shown = replace(load, unit=unit("job")) if is_population(load) else load
    every = [
        Match(model, output, inputs, shown, kept.column(column.header), kept, percent, added=added)
        for column, output, percent in found
    ]
    return replace(every[0], beside=tuple(every[1:]))


def turns_away(model: Model) -> bool:
    """Whether an open model may let less through than arrives, as there is room for a few only."""
    return not model.is_closed and any(one.loses for one in model.graph.stations.values())


def is_offered(model: Model, load: Observed) -> bool:
    """Whether a load is what was offered to a model that may turn some of it away."""
    return turns_away(model) and role_of(load) is OFFERED


def _adds(column: Observed) -> bool:
    return column.stated and column.name.startswith(ADDED)


def _check_told(measurements: Measurements, used: Sequence[Observed]) -> None:
    """Refuse what is told of curves and sets nothing, as another column says it."""
    names = {column.name for column in used}
    for column in measurements.columns.values():
        if column.stated and column.name not in names:
            msg = f"{measurements.source}: {column.name} is told, but a column of the data says it"
            raise MeasurementError(msg)


def _base(model: Model, inputs: Mapping[str, FloatArray], name: str) -> FloatArray:
    """What is added to: a column's values, else the model's own."""
    value = inputs.get(name, model.parameters[name].value)
    if value is None:
        msg = f"{name} has no value that more could be added to; set {name}=..."
        raise MeasurementError(msg)
    return np.asarray(value, float)


def _told_of_each(model: Model, measurements: Measurements) -> Measurements:
    """Check what was told of curves; those that were told nothing are at the model's own value."""
    columns = dict(measurements.columns)
    for title, column in measurements.columns.items():
        if not column.stated:
            continue
        name = column.name.removeprefix(ADDED)
        if name not in model.parameters:
            msg = f"{measurements.source}: {model.name} has no parameter {name!r} that is told"
            raise MeasurementError(msg + nearest(name, model.parameters))
        check_unit(measurements.source, column, model.parameters[name].unit)
        if np.isnan(column.values).any():
            own = _base(model, {}, name)
            columns[title] = replace(
                column, values=np.where(np.isnan(column.values), own, column.values)
            )
    return replace(measurements, columns=columns)


def _check_curves(measurements: Measurements, kept: Measurements) -> None:
    """Refuse to leave a whole curve out, as none of its rows is complete."""
    for curve in measurements.labels.get(CURVE, ()):
        if curve not in kept.labels[CURVE]:
            msg = f"{curve}: no row has every column that the other curves have"
            raise MeasurementError(msg)


def outputs_named(measurements: Measurements, y: Named) -> tuple[str, ...]:
    r"""Titles of the columns that are named, which commas may part; none where titles tell.

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
    """Refuse an output that is named twice, be it by one column or by two."""
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
    """What else was measured: throughput beside response times, where the load leaves it open."""
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


def _measured(
    model: Model, measurements: Measurements, y: str | None, load: Observed
) -> tuple[Observed, str, float | None]:
    """Find the measured column, the output it measures, and the percentage of a percentile."""
    outputs = [*model.graph.outputs, *(["response_time"] if model.graph.stations else [])]
    outputs += ["throughput"] if is_population(load) or is_offered(model, load) else []
    outputs += [f"{name}.utilisation" for name in model.graph.stations]
    column = _output_column(model, measurements, y, outputs)
    percent = None if column.name in outputs else percentile_of(measurements.source, column)
    told = (column.name, _told_output(model, measurements.source, column, outputs))
    usual = "response_time" if model.graph.stations else outputs[0]
    output = next((name for name in told if name in outputs), usual)
    check_unit(measurements.source, column, model.meaning(output).unit)
    if percent is None:
        return column, output, None
    _check_percentile(model, measurements.source, column)
    return column, percentile_name(percent), percent


def _told_output(model: Model, source: str, column: Observed, outputs: Sequence[str]) -> str:
    """The output that a column's role tells: of a utilisation, that of the station so called."""
    part = part_of(column)
    if part is None:
        return ""
    if part.role is not UTILISATION:
        return part.role.output
    told = f"{part.key}.utilisation"
    if told not in outputs:
        stations = ", ".join(model.graph.stations) or "none"
        msg = (
            f"{source}: {column.header} is a utilisation of {part.key}, which is no station of "
            f"{model.name} ({stations}); name one: --role {column.header}=STATION_util"
        )
        raise MeasurementError(msg)
    return told


def _output_column(
    model: Model, measurements: Measurements, y: str | None, outputs: list[str]
) -> Observed:
    """The column that is named, else the response time, else an output by its own name.

    Where none of them is there, the only column of percentiles. A program, which has no response
    time, gives way to its outputs.
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
    return found or lone_percentile(measurements) or response_column(measurements)


def _check_percentile(model: Model, source: str, column: Observed) -> None:
    """Refuse percentiles of a formula that has no law, and of what is not of one class."""
    from headway.models.solving.summed import summed_in

    formula = "response_time" in model.graph.outputs and summed_in(model) is None
    if formula or not model.graph.stations:
        why = "its answer is a formula, which has a mean only"
    elif model.graph.classes:
        why = "percentiles are compared in networks of one class only"
    else:
        return
    msg = (
        f"{source}: column {column.header} holds percentiles, {model.name} has none: {why}; "
        "take the column of the mean, or of the throughput"
    )
    raise GraphError(msg)


def _settings(
    model: Model, measurements: Measurements, x: str | None, y: Sequence[str]
) -> dict[str, Observed]:
    """Which column sets which parameter; the one that is drawn over comes first."""
    named = [found for found in (measurements.find([one]) for one in y) if found is not None]
    both = (*measurements.columns.values(), *measurements.spoilt.values())
    own = {
        name: column.asked()
        for column in both
        for name in (column.name, column.role)
        if name in model.parameters and not any(column is one for one in named)
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
        asked = find(measurements, OFFERED) if x is None and turns_away(model) else None
        return {"arrival_rate": asked or load_column(measurements, x, model.parameters)}
    if model.is_closed and x is None and own.keys() & {"population", "think_time"}:
        jobs = own.get("population") or find(measurements, POPULATION)
        return {} if jobs is None else {"population": jobs}
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
