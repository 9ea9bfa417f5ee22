"""Tables of several systems: a column of words divides the rows into separate tests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from headway.errors import MeasurementError, nearest, quoted
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point
from headway.models.measured.roles import same_title
from headway.models.measured.tools.mlperf_storage import ACCELERATOR
from headway.numerals import counted, some_of

_TITLES = (
    "system", "framework", "server", "build", "version", "variant", "configuration", "config",
    "machine", "host", "platform", "deployment", "branch", "commit",
)  # fmt: skip
"""Titles of columns that say what was measured."""

_SHOWN = 5
"""Most systems that a refusal names."""


def where(table: Measurements, wanted: Mapping[str, str]) -> Measurements:
    r"""The rows of a table in which certain columns hold certain words.

    Parameters
    ----------
    table
        Measurements.
    wanted
        The word by column.

    Raises
    ------
    MeasurementError
        For a column that does not exist or has numbers, and for a word that is in no row.

    Examples
    --------
    >>> table = Measurements.parse("system,rps\na,1\nb,2\n", "a.csv")
    >>> where(table, {"system": "b"}).column("rps").values.tolist()
    [2.0]
    """
    for column, word in wanted.items():
        if column not in table.labels:
            some = (
                nearest(column, table.labels) if table.labels else ": all its columns are numbers"
            )
            msg = f"{table.source}: there is no column of words {quoted(column)}{some}"
            raise MeasurementError(msg)
        words = np.array(table.labels[column])
        if word not in words:
            known = some_of(dict.fromkeys(table.labels[column]), _SHOWN)
            msg = f"{table.source}: no row has {column} {quoted(word)}; there are {known}"
            raise MeasurementError(msg)
        table = table.only(words == word)
    return table


def systems_in(table: Measurements) -> dict[str, Measurements]:
    r"""The parts of a table by the system measured; empty if there is only one.

    Examples
    --------
    >>> table = Measurements.parse("build,rps\nold,1\nold,2\nnew,2\nnew,3\n", "a.csv")
    >>> {name: len(part) for name, part in systems_in(table).items()}
    {'a.csv, build old': 2, 'a.csv, build new': 2}
    """
    column = _parting(table)
    words = dict.fromkeys(table.labels[column]) if column else {}
    parts = {f"{table.source}, {column} {word}": where(table, {column: word}) for word in words}
    return {name: replace(part, source=name) for name, part in parts.items()}


def _parting(table: Measurements) -> str:
    """The column whose words divide a table; empty if none does."""
    return next(
        (
            title
            for title, words in table.labels.items()
            if any(same_title(title, each) for each in _TITLES) and len(set(words)) > 1
        ),
        "",
    )


def check_one_system(table: Measurements) -> None:
    """Refuse a table of several systems, which are not one curve.

    Raises
    ------
    MeasurementError
        With the column, the systems, and the option that selects one.
    """
    column = _parting(table)
    if column:
        words = dict.fromkeys(table.labels[column])
        first = next(iter(words))
        msg = (
            f"{table.source}: column {column} splits it into {counted(len(words), 'system')} "
            f"({some_of(words, _SHOWN)}); take one, such as --where {column}={first}"
        )
        raise MeasurementError(msg)


def check_one_work(points: Sequence[Point], source: str) -> None:
    """Refuse accelerators of several systems or workloads, whose times of computation differ.

    Parameters
    ----------
    points
        Measured points of any kind.
    source
        Their name, for the message.

    Raises
    ------
    MeasurementError
        With how many there are, and the first of them.

    Examples
    --------
    >>> busy = {"accelerator": 0.9}
    >>> a, b = (Point("MLPerf Storage", utilisation=busy, name=name) for name in ("a", "b"))
    >>> check_one_work([a, a], "runs.csv")
    """
    names = dict.fromkeys(point.name for point in points if ACCELERATOR in point.utilisation)
    if len(names) > 1:
        msg = (
            f"{source}: has accelerators of {len(names)} systems or workloads "
            f"({some_of(names, _SHOWN)}); give the runs of one, such as its folder"
        )
        raise MeasurementError(msg)
