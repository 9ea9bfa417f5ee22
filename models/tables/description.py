"""The content of an answer, described once: all its forms follow from the description.

An answer says the same to people and to programs. Its `Description` has the fields of its rows
(each with its unit and its names in JSON, CSV and tables), the tables that people read, and the
contents of JSON besides the rows. `headway.models.tables.forms` makes text, HTML, CSV and JSON from
it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit
from headway.models.tables.table import Cell, Column, Table
from headway.records import dataclass

ABSENT: Final = "(absent)"
"""Value of a field in a row that lacks it: no key in JSON, an empty cell elsewhere."""

Row: TypeAlias = dict[str, Any]
Writer: TypeAlias = Callable[[str, Sequence[Any], Sequence[Unit], Scale], Column]
"""How tables write a field: a function that makes a column in the answer's units from title, values
and units."""


def scaled(title: str, values: Sequence[Any], units: Sequence[Unit], scale: Scale) -> Column:
    """Numbers with equal decimals, in the answer's unit or one that suits them."""
    known = [value for value in values if value is not None]
    own = units[0] if units else ONE
    return Column(title, tuple(values), Column.of(title, known, own, scale).unit)


def common(title: str, values: Sequence[Any], units: Sequence[Unit], scale: Scale) -> Column:
    """Numbers with equal decimals, in the answer's unit whatever their size."""
    return Column(title, tuple(values), scale.unit(units[0]) if units else ONE)


def each(write: Callable[[Scale, Any, Unit], str]) -> Writer:
    """Write each value on its own, as `Scale.text` does; None stays empty.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> each(Scale.text)("at", [0.001, None], [unit("s")] * 2, Scale()).cells
    ('1 ms', None)
    """

    def written(title: str, values: Sequence[Any], units: Sequence[Unit], scale: Scale) -> Column:
        pairs = zip(values, units, strict=True)
        return Column(title, tuple(None if v is None else write(scale, v, u) for v, u in pairs))

    return written


TEXT = each(Scale.text)
"""Four digits and the unit in each cell."""

BARE = each(Scale.bare)
"""Four digits in each cell, without the unit."""

ENDS = each(lambda scale, pair, unit: scale.ends(pair[0], pair[1], unit))
"""Both ends of an interval and the unit in each cell."""


@dataclass(frozen=True)
class Field:
    """One quantity in each row of an answer.

    Parameters
    ----------
    path
        Keys that lead to it in a row of JSON; none if it is not in JSON.
    values
        One value per row: a number in SI units, a pair of numbers, a word, or None if unknown.
    unit
        The unit in which the values are stated; a sequence of one per row if rows differ.
    csv
        Names of its columns in CSV, one for each number of a value; none if it is not in CSV.
    title
        Its heading in tables; None if it is not in tables.
    writer
        How tables write it; None for numbers in the unit stated, and for words.
    flags
        How CSV and tables write true and false.
    bare
        Whether its names in CSV end without a unit.
    """

    path: tuple[str, ...]
    values: Sequence[Any]
    unit: Unit | Sequence[Unit] = ONE
    csv: tuple[str, ...] = ()
    title: str | None = None
    writer: Writer | None = None
    flags: tuple[str, str] = ("yes", "no")
    bare: bool = False

    def columns(self) -> list[Column]:
        """Its columns in CSV, in SI units, with the ends of an interval side by side."""
        unit = self.unit if isinstance(self.unit, Unit) and not self.bare else ONE
        if len(self.csv) == 1:
            return [Column(self.csv[0], tuple(map(self._cell, self.values)), unit)]
        empty = (None,) * len(self.csv)
        filled = [empty if value is None or value is ABSENT else value for value in self.values]
        return [
            Column(name, tuple(self._cell(value[place]) for value in filled), unit)
            for place, name in enumerate(self.csv)
        ]

    def shown(self, scale: Scale, places: Sequence[int]) -> Column:
        """Its column in a table, for some of the rows."""
        values = [None if (v := self.values[k]) is ABSENT else v for k in places]
        units = [self.unit if isinstance(self.unit, Unit) else self.unit[k] for k in places]
        if self.writer is not None:
            return self.writer(self.title or "", values, units, scale)
        unit = self.unit if isinstance(self.unit, Unit) else ONE
        return Column(self.title or "", tuple(map(self._cell, values)), unit)

    def _cell(self, value: Any) -> Cell:
        if isinstance(value, bool):
            return self.flags[0] if value else self.flags[1]
        return None if value is ABSENT else value


def field(
    name: str,
    values: Iterable[Any],
    unit: Unit | Sequence[Unit] = ONE,
    title: str | None = None,
    writer: Writer | None = None,
    *,
    bare: bool = False,
) -> Field:
    """A field with the same name in JSON and CSV; if it has a title, it is in tables too.

    Examples
    --------
    >>> field("load", [1.0, 2.0]).csv
    ('load',)
    """
    return Field((name,), tuple(values), unit, (name,), title, writer, bare=bare)


def interval(
    name: str, values: Iterable[Any], csv: tuple[str, ...], unit: Unit | Sequence[Unit] = ONE
) -> Field:
    """A field of pairs: a list in JSON, a column for each end in CSV."""
    return Field((name,), tuple(values), unit, csv)


def only_json(name: str, values: Iterable[Any]) -> Field:
    """A field that is only in JSON."""
    return Field((name,), tuple(values))


def only_csv(name: str, values: Iterable[Any], unit: Unit = ONE) -> Field:
    """A field that is only in CSV."""
    return Field((), tuple(values), unit, (name,))


def words(title: str, values: Iterable[Cell]) -> Field:
    """A field of words that is only in tables."""
    return Field((), tuple(values), title=title)


@dataclass(frozen=True)
class Records:
    """The rows of an answer, field by field, in the order of the columns of CSV.

    Parameters
    ----------
    fields
        The fields, all with one value per row.
    order
        First keys of a row in JSON, if their order is not that of the fields; other keys follow.
    sections
        Keys that every row has in JSON, even if they are empty.
    """

    fields: tuple[Field, ...]
    order: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Records":
        """Records that are only in JSON, of values that have a document of their own.

        Examples
        --------
        >>> Records.of([{"load": 1.0}, {"load": 2.0, "errors": 3}]).rows()
        [{'load': 1.0}, {'load': 2.0, 'errors': 3}]
        """
        each = list(rows)
        keys = dict.fromkeys(key for row in each for key in row)
        return cls(tuple(only_json(key, (row.get(key, ABSENT) for row in each)) for key in keys))

    def rows(self) -> list[Row]:
        """The rows as dicts, as JSON has them.

        Examples
        --------
        >>> load = Field(("inputs", "load"), (1.0, 2.0), csv=("load",))
        >>> Records((load,)).rows()
        [{'inputs': {'load': 1.0}}, {'inputs': {'load': 2.0}}]
        """
        rows: list[Row] = [{key: {} for key in self.sections} for _ in self.places]
        kept = [one for one in self.fields if one.path]
        rank = {key: place for place, key in enumerate(self.order)}
        kept.sort(key=lambda one: rank.get(one.path[0], len(rank)))
        for one in kept:
            *outer, last = one.path
            for row, value in zip(rows, one.values, strict=True):
                if value is ABSENT:
                    continue
                inner = row
                for key in outer:
                    inner = inner.setdefault(key, {})
                inner[last] = list(value) if isinstance(value, tuple) else value
        return rows

    @property
    def places(self) -> range:
        """Indices of the rows."""
        return range(len(self.fields[0].values) if self.fields else 0)

    def csv(self) -> str:
        """The rows as CSV in SI units.

        Examples
        --------
        >>> Records((interval("ci95", [(1.0, 2.0)], ("low", "high")),)).csv().split()
        ['low,high', '1.0,2.0']
        """
        return Table("", tuple(c for one in self.fields for c in one.columns())).to_csv()

    def table(
        self,
        title: str,
        scale: Scale,
        notes: Iterable[str] = (),
        keys: int = 1,
        places: Sequence[int] | None = None,
        titles: Sequence[str] = (),
    ) -> Table:
        """The rows as a table: the fields that have a title.

        Parameters
        ----------
        title, notes, keys
            Title, notes and keys of the table.
        scale
            The units of the answer.
        places
            Indices of the rows to show; by default all.
        titles
            Headings in order, if that is not the order of the fields.
        """
        at = self.places if places is None else places
        shown = [one for one in self.fields if one.title is not None]
        if titles:
            shown = [one for name in titles for one in shown if one.title == name]
        columns = (one.shown(scale, at) for one in shown)
        return Table(title, tuple(columns), tuple(notes), keys)

    def scale(self, stated: Iterable[Unit] = ()) -> Scale:
        """The units of the fields that a table writes in the units of its answer."""
        return Scale.of((pair for one in self.fields for pair in _sizes(one)), stated)


def _sizes(one: Field) -> Iterable[tuple[Any, Unit]]:
    """Numbers with a unit in the fields that tables show."""
    if one.writer is not None:
        units = [one.unit] * len(one.values) if isinstance(one.unit, Unit) else one.unit
        yield from ((v, u) for v, u in zip(one.values, units, strict=True) if isinstance(v, float))


def without(row: Row, *keys: str) -> Row:
    """A row without the fields that the document's structure already implies.

    Examples
    --------
    >>> without({"station": "cpu", "busy": 0.5}, "station")
    {'busy': 0.5}
    """
    return {key: value for key, value in row.items() if key not in keys}


def first(rows: list[Row]) -> Row:
    """The document of an answer with a single row."""
    return rows[0]


@dataclass(frozen=True)
class Description:
    """The content of an answer; each part is computed when a form needs it.

    Parameters
    ----------
    records
        Its rows.
    scale
        The units in which people read it: one for all times, one for all rates.
    tables
        The tables that people read, in given units: its own, or those of the page that shows it.
    document
        The JSON document, given its rows.
    csv
        CSV, if it is not simply that of the rows.
    """

    records: Callable[[], Records]
    scale: Callable[[], Scale]
    tables: Callable[[Scale], list[Table]]
    document: Callable[[list[Row]], Mapping[str, Any]] = first
    csv: Callable[[], str] | None = None
