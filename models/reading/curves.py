"""Several curves of one system, each with the settings at which it was measured, as one table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway.errors import MeasurementError, UnitError, quoted
from headway.models.files.shipped import shipped_or_own
from headway.models.language.units import LEADING_NUMBER, quantity, unit
from headway.models.measured.arrivals import same_arrivals
from headway.models.measured.cells import Observed
from headway.models.measured.matching import ADDED, CURVE
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import part_of

AT = "@"
"""Separates the name of a file from the settings at which its curve was measured."""


def given(measurements: Measurements, settings: Mapping[str, str | float]) -> Measurements:
    """State the settings at which a curve was measured; see `Measurements.given`."""
    columns = dict(measurements.columns)
    for name, value in settings.items():
        column = _constant(measurements, name, str(value))
        if measurements.find([column.name]) is not None:
            msg = (
                f"{measurements.source}: {name} is given, but the file has a column of it "
                "too; keep one"
            )
            raise MeasurementError(msg)
        columns[column.header] = column
    text = ",".join(f"{name}={value}" for name, value in settings.items())
    return replace(measurements, columns=columns, source=f"{measurements.source}{AT}{text}")


def _constant(measurements: Measurements, name: str, value: str) -> Observed:
    """A column of one number; a value that begins with a plus is added to the parameter's."""
    text = value.strip()
    adds = text.startswith(ADDED)
    try:
        number = quantity(text.removeprefix(ADDED), name=name)
    except UnitError as error:
        msg = f"{measurements.source}: {error}"
        raise MeasurementError(msg) from None
    shown = unit(LEADING_NUMBER.sub("", text))
    title = ADDED + name if adds else name
    count = len(measurements)
    return Observed(title, title, shown, np.full(count, number), np.zeros(count), stated=True)


def together(tables: Sequence[Measurements]) -> Measurements:
    r"""Join curves of one system into one table, in order to fit what they share.

    Parameters
    ----------
    tables
        Curves, which may have stated settings; other settings are as in the model.

    Raises
    ------
    MeasurementError
        For no table, and for columns of one meaning whose units differ in dimension.

    Examples
    --------
    >>> base = Measurements.parse("load_ops_s,response_ms\n100,3.4\n", "base.csv")
    >>> slow = Measurements.parse("load_ops_s,response_ms\n90,4.4\n", "slow.csv")
    >>> both = together([base, slow.given({"delay": "+1 ms"})])
    >>> both.column("+delay").values.tolist(), both.source
    ([0.0, 0.001], 'base.csv and slow.csv@delay=+1 ms')
    """
    if not tables:
        raise MeasurementError("no curve is given; give at least one")
    if len(tables) == 1:
        return tables[0]
    columns: dict[str, Observed] = {}
    spoilt: dict[str, Observed] = {}
    aligned = _aligned(tables)
    for key in dict.fromkeys(key for named in aligned for key in named):
        column = _stacked([named.get(key) for named in aligned], tables)
        (spoilt if column.complaint else columns)[column.header] = column
    labels = _labels(tables)
    lines = tuple(line for table in tables for line in table.lines)
    whole = all(len(table.made_of) == len(table) for table in tables)
    made_of = tuple(one for table in tables for one in table.made_of) if whole else ()
    source = " and ".join(dict.fromkeys(table.source for table in tables))
    joined = Measurements(source, columns, labels, lines, spoilt=spoilt, kind=tables[0].kind)
    stated = same_arrivals(table.stated_scv for table in tables)
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    return replace(joined, made_of=made_of, stated_scv=stated, notes=notes)


def _labels(tables: Sequence[Measurements]) -> dict[str, tuple[str, ...]]:
    """Columns of words of all tables, and the index of the curve for each row."""
    labels = {}
    for title in dict.fromkeys(title for table in tables for title in table.labels):
        each = (table.labels.get(title, ("",) * len(table)) for table in tables)
        labels[title] = tuple(word for words in each for word in words)
    curves = tuple(name for table in tables for name in (table.source,) * len(table))
    return {**labels, CURVE: curves}


def _aligned(tables: Sequence[Measurements]) -> list[dict[str, Observed]]:
    """Columns of each table by a common name: their own, or that of their role in another."""
    known: dict[str, str] = {}
    aligned = []
    for table in tables:
        own = {c.name: c for c in (*table.columns.values(), *table.spoilt.values())}
        roles = {name: _role(column) for name, column in own.items()}
        taken = {role: name for name, role in known.items() if role and name not in own}
        names = {name: name for name in own}
        for name in own.keys() - known.keys():
            alone = list(roles.values()).count(roles[name]) == 1
            names[name] = taken.get(roles[name], name) if alone else name
        aligned.append({names[name]: column for name, column in own.items()})
        known |= {names[name]: roles[name] for name in own if names[name] not in known}
    return aligned


def _role(column: Observed) -> str:
    part = None if column.stated else part_of(column)
    return "" if part is None else str(part)


def _stacked(each: Sequence[Observed | None], tables: Sequence[Measurements]) -> Observed:
    """One column over all tables; where a table lacks it, it is unknown, or nothing is added."""
    first = next(column for column in each if column is not None)
    for column, table in zip(each, tables, strict=True):
        if column is not None and column.unit.dimension != first.unit.dimension:
            msg = (
                f"{table.source}: {column.header} and {first.header} have different units; "
                "use the same unit in both files"
            )
            raise MeasurementError(msg)
    missing = 0.0 if first.stated and first.name.startswith(ADDED) else np.nan
    empty = [np.full(len(table), missing) for table in tables]
    pairs = list(zip(each, empty, strict=True))
    return replace(
        first,
        values=np.concatenate(
            [none if column is None else column.values for column, none in pairs]
        ),
        resolution=np.concatenate(
            [0 * none if column is None else column.resolution for column, none in pairs]
        ),
        complaint=next((c.complaint for c in each if c is not None and c.complaint), ""),
        stated=any(column is not None and column.stated for column in each),
    )


def curve_and_settings(text: str) -> tuple[Path, dict[str, str]]:
    """Read ``slow.csv@delay=1ms,overhead=+20us``; an existing file of that name is a path.

    Raises
    ------
    MeasurementError
        For a setting without a size.

    Examples
    --------
    >>> path, settings = curve_and_settings("slow.csv@delay=+1ms")
    >>> str(path), settings
    ('slow.csv', {'delay': '+1ms'})
    """
    path = Path(text)
    if AT not in text or shipped_or_own(path).exists():
        return path, {}
    name, _, settings_text = text.rpartition(AT)
    settings: dict[str, str] = {}
    for part in settings_text.split(","):
        parameter, equals, value = (piece.strip() for piece in part.partition("="))
        if not (parameter and equals and value):
            msg = (
                f"{text}: {quoted(part)} has no value; write {parameter or 'delay'}=1ms, "
                f"or {parameter or 'delay'}=+1ms for what was added"
            )
            raise MeasurementError(msg)
        if parameter in settings:
            msg = f"{text}: {parameter} is given twice; keep one"
            raise MeasurementError(msg)
        settings[parameter] = value
    return Path(name), settings
