"""What the user says about a file: units, roles and decimal mark of a table, part of a run."""

from collections.abc import Collection, Mapping
from dataclasses import field, replace

import numpy as np

from headway.errors import HeadwayError, MeasurementError, UnitError, nearest, quoted
from headway.models.language.titles import split_header, unit_in_words
from headway.models.language.units import Unit
from headway.models.measured.arrivals import arrival_scv_of
from headway.models.measured.cells import Observed, check_decimal
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point
from headway.models.measured.roles import NO_ROLE, Role, fits, part_named, with_mean
from headway.models.measured.window import WHOLE, RunWindow
from headway.models.reading.arriving import arrived, is_traced
from headway.models.reading.clients import NO_CLIENTS, NO_RATES, Told, with_population
from headway.models.reading.systems import where
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True)
class Hints:
    r"""The user's hints about tables.

    Parameters
    ----------
    units
        Unit by column, for columns whose titles have none.
    roles
        Role by column, whatever its title suggests.
    decimal
        The decimal mark, ``.`` or ``,``; empty to detect it.
    window
        The part of each run that counts, if every request has its time.
    skip_bad
        Whether to leave out files that cannot be read, rather than refuse all.
    clients, rates
        Clients of each file, or rates asked for, where tools do not print them.
    where
        The word by column that selects rows, in tables of several systems.
    arrivals
        How requests arrived: ``constant``, ``poisson``, an scv, or ``trace`` if logs show it; empty
        if the files say it.

    Raises
    ------
    MeasurementError
        For an unknown role; suggests the nearest ones.
    UnitError
        For an unknown unit.
    InvalidParameter
        For an invalid decimal mark.

    Examples
    --------
    >>> table = Measurements.parse("rate,t\n100,3\n", "own.csv")
    >>> made = Hints({"rate": "req/s", "t": "ms"}, {"rate": "throughput"}).of(table)
    >>> made.column("t").values.tolist(), made.column("rate").role
    ([0.003], 'throughput')
    """

    units: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    decimal: str = ""
    window: RunWindow = WHOLE
    skip_bad: bool = False
    clients: Told = NO_CLIENTS
    rates: Told = NO_RATES
    where: Mapping[str, str] = field(default_factory=dict)
    arrivals: str = ""

    def __post_init__(self) -> None:
        """Refuse hints that cannot apply to any table."""
        check_decimal(self.decimal)
        if self.arrivals and not is_traced(self.arrivals):
            arrival_scv_of(self.arrivals)
        for column, text in self.units.items():
            _unit(column, text)
        for role in self.roles.values():
            _word(role)

    @property
    def of_files(self) -> bool:
        """Whether something is said about whole files: their number of clients, or their rate."""
        return bool(self.clients.texts or self.rates.texts)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have hints."""
        return tuple(dict.fromkeys([*self.units, *self.roles]))

    def of(self, measurements: Measurements) -> Measurements:
        """Measurements with the hints applied.

        Raises
        ------
        MeasurementError
            For a column that does not exist or has another unit, and for a role given twice or with
            an unsuitable unit.
        """
        measurements = where(measurements, self.where)
        known = with_roles(with_units(measurements, self.units), self.roles)
        every = with_mean({**known.columns, **known.spoilt})
        for column in every.values():
            known = _with(known, column)
        return with_population(self._arriving(known))

    def _arriving(self, measurements: Measurements) -> Measurements:
        """Measurements of requests that arrived as the user says."""
        if not self.arrivals:
            return measurements
        if not is_traced(self.arrivals):
            return replace(measurements, stated_scv=arrival_scv_of(self.arrivals))
        points = [point for point in measurements.made_of if isinstance(point, Point)]
        if len(points) < len(measurements):  # a table, whose rows are not logs
            points = [Point("", file=measurements.source)]
        found = arrived(points, self.arrivals, measurements.source)
        notes = (*measurements.notes, *found.notes)
        return replace(measurements, made_of=found.points, notes=notes)

    def met_in(self, measurements: Measurements) -> Measurements:
        """Measurements with those hints applied whose columns they have."""
        known = {c.header for c in measurements.named(*self.columns)} | set(measurements.labels)
        known |= {column.name for column in measurements.named(*self.columns)}
        units = {name: text for name, text in self.units.items() if name in known}
        roles = {name: role for name, role in self.roles.items() if name in known}
        return replace(self, units=units, roles=roles).of(measurements)

    def check_met(self, titles: Collection[str], source: str) -> None:
        """Refuse hints about a column that is in no table.

        Raises
        ------
        MeasurementError
            With the nearest existing column.
        """
        names = {*titles, *(split_header(title)[0] for title in titles)}
        missing = [name for name in self.columns if name not in names]
        if missing:
            some = (
                nearest(missing[0], titles) if titles else "; its files are not tables with columns"
            )
            msg = f"{source}: there is no column {quoted(missing[0])}{some}"
            raise MeasurementError(msg)


NO_HINTS = Hints()
"""No hints: titles say everything."""


def with_units(measurements: Measurements, given: Mapping[str, str]) -> Measurements:
    r"""Measurements in the user's units, by title or name.

    Raises
    ------
    MeasurementError
        For a column that does not exist, or whose title has another unit.

    Examples
    --------
    >>> table = Measurements.parse("latency\n3\n", "own.csv")
    >>> with_units(table, {"latency": "ms"}).column("latency").values.tolist()
    [0.003]
    """
    for name, text in given.items():
        column, wanted = column_named(measurements, name), _unit(name, text)
        if column.unit.text and (column.unit.scale, column.unit.dimension) != wanted[1:]:
            place = f"{measurements.source}: column {column.header}"
            msg = f"{place} is in {column.unit}, not {text}; drop --unit, or rename the column"
            raise MeasurementError(msg)
        if not column.unit.text:
            measurements = _with(measurements, _in(measurements, column, wanted[0]))
    return measurements


def _in(measurements: Measurements, column: Observed, stated: Unit) -> Observed:
    """A column of plain numbers, in a unit; quantities are not negative."""
    values, known = stated.si(column.values), stated.si(column.resolution)
    below = np.flatnonzero(column.values < 0)
    complaint = column.complaint
    if below.size and not complaint:
        place = f"{measurements.source}:{measurements.lines[below[0]]}"
        complaint = (
            f"{place}: {column.header} is {digits(column.values[below[0]])}; it cannot be negative"
        )
    return replace(column, unit=stated, values=values, resolution=known, complaint=complaint)


def with_roles(measurements: Measurements, given: Mapping[str, str]) -> Measurements:
    r"""Measurements whose columns have the user's roles, by title or name.

    Raises
    ------
    MeasurementError
        For a column that does not exist, a role that is unknown or given twice, and an unsuitable
        unit.

    Examples
    --------
    >>> table = Measurements.parse("rate_ops_s,t_ms\n100,3\n", "own.csv")
    >>> with_roles(table, {"rate_ops_s": "throughput"}).column("rate").role
    'throughput'
    """
    taken: dict[str, str] = {}
    for name, role in given.items():
        column, word = column_named(measurements, name), _word(role)
        if word in taken and word != NO_ROLE:
            msg = (
                f"{measurements.source}: {taken[word]} and {name} cannot both be the {word}; "
                "keep one"
            )
            raise MeasurementError(msg)
        taken[word] = name
        if word != NO_ROLE and not fits(column.unit, part_named(word).role):
            raise _misfit(measurements.source, column, part_named(word).role)
        measurements = _with(_without(measurements, word), replace(column, role=word))
    return measurements


def _without(measurements: Measurements, word: str) -> Measurements:
    """The table, without any column that would have this role by its title."""
    for column in measurements.columns.values():
        if column.role == word != NO_ROLE:
            measurements = _with(measurements, replace(column, role=""))
    return measurements


def column_named(measurements: Measurements, name: str) -> Observed:
    """A column by title or name, even if some of its cells are bad.

    Raises
    ------
    MeasurementError
        If there is none, or it holds words; lists the existing columns.
    """
    column = next(measurements.named(name), None)
    return column if column is not None else measurements.column(name)


def _unit(column: str, text: str) -> tuple[Unit, float, tuple[int, ...]]:
    try:
        in_words = unit_in_words(text)
    except UnitError as error:
        msg = f"unit of column {quoted(column)}: {error}"
        raise UnitError(msg) from None
    if not in_words.text:
        msg = f"unit of column {quoted(column)} is missing; write for example ms, op/s or %"
        raise UnitError(msg)
    return in_words, in_words.scale, in_words.dimension


def _word(role: str) -> str:
    return NO_ROLE if role.strip().lower() == NO_ROLE else str(part_named(role))


def _misfit(source: str, column: Observed, role: Role) -> HeadwayError:
    actual = f"is in {column.unit}" if column.unit.text else "has no unit in its name"
    needs = f"a unit like {role.unit}" if role.unit.text else "no unit, or %"
    say = "" if column.unit.text else f": --unit {column.header}={role.unit}"
    return MeasurementError(
        f"{source}: column {column.header} {actual}; as {role.name} it needs {needs}{say}"
    )


def _with(measurements: Measurements, column: Observed) -> Measurements:
    """The table with one column replaced by another, also among those with bad cells."""
    both = {**measurements.columns, **measurements.spoilt, column.header: column}
    columns = {t: c for t, c in both.items() if not c.complaint}
    spoilt = {t: c for t, c in both.items() if c.complaint}
    return replace(measurements, columns=columns, spoilt=spoilt)
