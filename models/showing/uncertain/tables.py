"""Tables of answers with 95% bands, and which parameter to measure next."""

from typing import Any

import numpy as np

from headway.models.language.digits import ends, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.showing.parts.alternatives import beyond_note, mixed_note
from headway.models.showing.solutions import input_columns, notes_of, swept
from headway.models.solving.solutions.solution import STATION_RESULTS
from headway.models.structure.outputs import on_demand, part_unit
from headway.models.structure.parts.keys import of_class
from headway.models.tables.table import Column, Table
from headway.models.uncertain.importance import most_important
from headway.models.uncertain.propagation import Propagation
from headway.numerals import digits, significant

MOST_OUTPUTS = 4
"""Most outputs in the table of a sweep, with their bands."""

_LIMITS = ("saturation_throughput", "knee_population")
"""Outputs that a sweep mentions in a note, if at all."""

_LEAST = 1e-3  # errors of an index below this are not shown
_SAME = 1e-9  # relative width of a band below which it is none


def bands_tables(propagation: Propagation, scale: Scale) -> list[Table]:
    """Bands over many operating points, or for outputs, classes and stations at a single one."""
    if np.prod(propagation.solution.shape) > 1:
        return [_sweep_table(propagation, scale), *_sweep_importances(propagation, scale)]
    return [
        _outputs_table(propagation, scale),
        *_part_tables(propagation, scale),
        *_importance_table(propagation),
    ]


def _notes(propagation: Propagation, scale: Scale) -> list[str]:
    """What the bands represent, and how many draws saturate."""
    parameters = propagation.model.parameters
    texts = [
        f"{name} {scale.ends(*p.interval, p.unit)}"
        for name, p in parameters.items()
        if p.interval is not None
    ]
    notes = [
        *notes_of(propagation.solution, scale),
        f"95% bands of {propagation.count} draws, seed {propagation.seed}: {', '.join(texts)}",
    ]
    if propagation.model.correlations:
        pairs = propagation.model.correlations.items()
        notes.append(f"correlations: {', '.join(f'{a}, {b} {v:+.2f}' for (a, b), v in pairs)}")
    notes += mixed_note(propagation.model) + beyond_note(propagation.model)
    notes += _limit(propagation)
    most = float(np.max(propagation.saturated_share))
    if most > 0:
        notes.append(
            f"up to {most:.1%} of the draws saturate: their infinite times count as above every "
            "number"
        )
    return notes


def _limit(propagation: Propagation) -> list[str]:
    """The band of the saturation throughput, if it is the same at several operating points."""
    solution, name = propagation.solution, _LIMITS[0]
    if name not in solution.outputs or np.prod(solution.shape) < 2:
        return []
    low, high = (np.unique(np.ravel(end)) for end in propagation.band(name))
    if low.size > 1 or high.size > 1 or not np.isfinite(low[0]):
        return []
    rate = solution.model.meaning(name).unit
    band = with_unit(ends(float(low[0]), float(high[0]), rate), rate)
    return [f"95% band of the saturation throughput: {band}"]


def _sweep_table(propagation: Propagation, scale: Scale) -> Table:
    solution = propagation.solution
    columns = input_columns(solution, scale)
    names = [
        name for name in solution.outputs if name not in _LIMITS and _varies(propagation, name)
    ]
    for name in names[:MOST_OUTPUTS]:
        columns += _three(propagation, name, name, solution.model.meaning(name).unit, scale)
    for name in solution.classes:
        for part in solution.class_parts:
            key = str(of_class(name, part))
            if _varies(propagation, key):
                title, own = f"{part.replace('_', ' ')} {name}", solution.model.meaning(part).unit
                columns += _three(propagation, title, key, own, scale)
    if propagation.saturated_share.any():
        columns.append(_saturating(propagation))
    hidden = max(len(names) - MOST_OUTPUTS, 0)
    more = [f"and {hidden} more outputs, in --csv and --json"] if hidden else []
    keys = max(1, len(swept(solution)))
    return Table(solution.model.title, tuple(columns), (*_notes(propagation, scale), *more), keys)


def _varies(propagation: Propagation, name: str) -> bool:
    """Whether the draws affect an output at some point."""
    low, high = propagation.band(name)
    with np.errstate(invalid="ignore"):
        return not bool(np.all(high - low <= _SAME * np.abs(high)))


def _three(
    propagation: Propagation, title: str, name: str, own_unit: Unit, scale: Scale
) -> list[Column]:
    """Best value and both ends, in one unit."""
    values = np.ravel(np.asarray(propagation.solution[name], float))
    unit = Column.of(title, values, own_unit, scale).unit
    low, high = (tuple(np.ravel(end).tolist()) for end in propagation.band(name))
    return [
        Column(title, tuple(values.tolist()), unit),
        Column("from", low, unit),
        Column("to", high, unit),
    ]


def _saturating(propagation: Propagation) -> Column:
    shares = propagation.saturated_share.ravel().tolist()
    return Column("draws that saturate", tuple(f"{share:.1%}" for share in shares))


def _outputs_table(propagation: Propagation, scale: Scale) -> Table:
    solution = propagation.solution
    units = {n: solution.model.meaning(n).unit for n in solution.outputs}
    rows = [(n, *_cells(propagation, n, unit, scale)) for n, unit in units.items()]
    names, values, bands = zip(*rows, strict=True)
    columns = (Column("output", names), Column("value", values), Column("95% band", bands))
    return Table(solution.model.title, columns, tuple(_notes(propagation, scale)))


def _cells(propagation: Propagation, name: str, own_unit: Unit, scale: Scale) -> tuple[str, str]:
    """A value and its band as text, each with its unit."""
    value = float(np.ravel(propagation.solution[name])[0])
    column = Column.of(name, value, own_unit, scale)
    low, high = (float(np.ravel(end)[0]) for end in propagation.band(name))
    text = with_unit(column.texts[0], column.unit)
    if np.isnan(low) or np.isnan(high):
        return text, "-"
    if high - low <= _SAME * abs(high):
        return text, "certain"
    return text, with_unit(ends(low, high, column.unit), column.unit)


def _part_tables(propagation: Propagation, scale: Scale) -> list[Table]:
    """Classes and stations: each number, with its band beside it."""
    solution = propagation.solution
    tables = []
    if solution.classes:
        keys = [[str(of_class(c, part)) for c in solution.classes] for part in solution.class_parts]
        parts = solution.class_parts
        tables.append(_parts(propagation, "classes", solution.classes, parts, keys, scale))
    if solution.stations:
        keys = [[f"{station}.{part}" for station in solution.stations] for part in STATION_RESULTS]
        tables.append(
            _parts(propagation, "stations", solution.stations, STATION_RESULTS, keys, scale)
        )
    return tables


def _parts(
    propagation: Propagation,
    title: str,
    names: tuple[str, ...],
    parts: Any,
    keys: list[list[str]],
    scale: Scale,
) -> Table:
    columns = [Column({"classes": "class"}.get(title, "station"), names)]
    for part, each in zip(parts, keys, strict=True):
        cells = [_cells(propagation, key, part_unit(part), scale) for key in each]
        values, bands = zip(*cells, strict=True)
        columns += [Column(part.replace("_", " "), values), Column("95% band", bands)]
    own = f"{title} of {propagation.model.name}" if propagation.model.alternatives else title
    return Table(own, tuple(columns))


def _importance_table(propagation: Propagation) -> list[Table]:
    """Shares of every output's variance by parameter, at the only point."""
    importance = propagation.importance
    rows = [
        (
            output,
            importance.parameters[k],
            _share(importance.first[output][k, 0]),
            _share(total[k, 0]),
        )
        for output, total in importance.total.items()
        if _varies(propagation, output)
        for k in np.argsort(-importance.first[output][:, 0], kind="stable").tolist()
    ]
    if not rows:
        return []
    titles = ("output", "parameter", "first index", "total index")
    columns = [Column(t, tuple(c)) for t, c in zip(titles, zip(*rows, strict=True), strict=True)]
    notes = (*_advice(propagation, _main(propagation)[0]), *_importance_notes(propagation))
    return [Table("what to measure next", tuple(columns), notes, 2)]


def _advice(propagation: Propagation, output: str) -> list[str]:
    """Name the parameter to measure, by the last operating point where the draws show it."""
    for point in range(int(np.prod(propagation.solution.shape)) - 1, -1, -1):
        name = most_important(propagation.importance, output, point)
        if name is not None:
            share = propagation.importance.first[output][
                propagation.importance.parameters.index(name), point
            ]
            return [f"measure {name} next: {share:.0%} of the variance of {output} goes with it"]
    return []


def _share(index: float) -> str:
    return "-" if np.isnan(index) else f"{index:.2f}"


def _moved(error: float) -> str:
    return f"less than {digits(_LEAST)}" if error < _LEAST else f"{significant(error, 1)} at most"


def _importance_notes(propagation: Propagation) -> tuple[str, ...]:
    importance = propagation.importance
    notes = [
        "first index: share of the variance that would go if this parameter alone were known",
        "total index: share that would stay if all the others were known",
        f"from {importance.draws} draws; half of them alone would change the indices by "
        f"{_moved(importance.error)}",
    ]
    if propagation.model.correlations:
        notes.append("what correlated parameters share counts in the first index of each")
    if propagation.is_slow:
        notes.append("not for percentiles, which this network solves one by one")
    unknown = [name for name, shares in importance.first.items() if np.isnan(shares).any()]
    if unknown and propagation.saturated_share.any():
        notes.append(
            "- where some draws saturate: an infinite variance has no shares; "
            "saturation_throughput has them"
        )
    return tuple(notes)


def _sweep_importances(propagation: Propagation, scale: Scale) -> list[Table]:
    """Shares by operating point, for the output asked for."""
    return [
        _by_point(propagation, output, scale)
        for output in _main(propagation)
        if _varies(propagation, output)
    ]


def _main(propagation: Propagation) -> list[str]:
    """The output whose importance a sweep shows: percentiles asked for, or else the mean."""
    solution = propagation.solution
    percentiles = [one.name for one in on_demand(propagation.importance.first)]
    return percentiles or (["response_time"] if solution.stations else [solution.outputs[0]])


def _by_point(propagation: Propagation, output: str, scale: Scale) -> Table:
    solution, importance = propagation.solution, propagation.importance
    columns = input_columns(solution, scale)
    for k, name in enumerate(importance.parameters):
        for title, shares in (("first", importance.first), ("total", importance.total)):
            cells = tuple(map(_share, shares[output][k].tolist()))
            columns.append(Column(f"{name} {title} index", cells))
    title = f"what to measure next for {output}"
    notes = (*_advice(propagation, output), *_importance_notes(propagation))
    return Table(title, tuple(columns), notes, max(1, len(swept(solution))))
