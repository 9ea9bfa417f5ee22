"""What another tool's file expects beside what headway finds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from headway.kinds import FloatArray
from headway.models.importing.building import Imported
from headway.models.importing.foreign.network import Expected, Serves
from headway.models.importing.reader import read_foreign
from headway.models.language.frozen import Kept
from headway.models.language.units import ONE, Unit, unit
from headway.models.solving.classes.solve import class_solution
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer

MEASURES = {
    "number of customers": "queue_length",
    "queue length": "queue_length",
    "queue-length": "queue_length",
    "utilization": "utilisation",
    "throughput": "throughput",
    "response time": "response_time",
    "residence time": "residence_time",
    "system throughput": "throughput",
    "system response time": "response_time",
}
"""Measures of JMT's files, in small letters, by what headway calls them."""

SHOWN = ("utilisation", "queue_length", "response_time")
"""What is shown of each station, also where the file expects nothing."""

UNITS: Mapping[str, Unit] = {
    "throughput": unit("op/s"),
    "response_time": unit("s"),
    "residence_time": unit("s"),
}


_WITHOUT = (Serves.AT_ONCE, Serves.FORK)
"""Stations without servers of their own."""


@dataclass(frozen=True)
class ExpectedRow:
    """A value of the file and headway's.

    Parameters
    ----------
    station, job_class
        As the file names them; empty for all.
    measure
        As headway calls it, or as the file does where headway has none such.
    expected
        The file's value, with its interval where it has one; None where it has no value.
    solved
        Headway's, in SI; None where it has none such.
    """

    station: str
    job_class: str
    measure: str
    expected: Expected | None
    solved: float | None

    @property
    def in_file(self) -> float | None:
        """The file's value, in SI; None where it has none."""
        return None if self.expected is None else self.expected.value

    @property
    def difference(self) -> float | None:
        """Headway's value over the file's, less 1; None without both, or where the file's is 0."""
        if self.expected is None or self.solved is None or self.expected.value == 0:
            return None
        return self.solved / self.expected.value - 1

    @property
    def inside(self) -> bool | None:
        """Whether the file's interval holds headway's value; None where it has none."""
        given = self.expected
        if given is None or given.low is None or given.high is None or self.solved is None:
            return None
        return given.low <= self.solved <= given.high

    @property
    def unit(self) -> Unit:
        """What the measure is shown in."""
        return UNITS.get(self.measure, ONE)


@dataclass(frozen=True, eq=False)
class Import(Kept, Answer):
    """A model of another tool, solved, beside what its file expects.

    Parameters
    ----------
    source
        The file's name.
    imported
        The model, and what the file says.
    solution
        Of the model.
    """

    source: str
    imported: Imported
    solution: Solution

    @property
    def model(self) -> Model:
        """Headway's model."""
        return self.imported.model

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the file is not in the model, and what headway's answer is."""
        nearly = self.solution.approximation
        said = (f"approximate: {nearly}",) if nearly else ()
        return (*said, *self.imported.network.notes)

    @cached_property
    def lines(self) -> tuple[ExpectedRow, ...]:
        """Every value that the file holds, then those of stations it has none of."""
        given = [self._line(each) for each in self.imported.network.expected]
        known = {(line.station, line.measure) for line in given if not line.job_class}
        return (*given, *(line for line in self._others() if _key(line) not in known))

    def _others(self) -> Iterator[ExpectedRow]:
        for name in self.imported.stations:
            for part in SHOWN:
                yield ExpectedRow(name, "", part, None, self._solved(part, name, ""))

    def _line(self, expected: Expected) -> ExpectedRow:
        measure = MEASURES.get(expected.measure.strip().lower())
        station, job_class = expected.station, expected.job_class
        if measure is None:
            return ExpectedRow(station, job_class, expected.measure, expected, None)
        return ExpectedRow(
            station, job_class, measure, expected, self._solved(measure, station, job_class)
        )

    def _solved(self, measure: str, station: str, job_class: str) -> float | None:
        """Headway's value; None where files mean another thing by the measure."""
        own = self.imported.stations.get(station)
        of = self.imported.classes.get(job_class)
        if (station and own is None) or (job_class and of is None):
            return None
        if own is None:
            return self._of_system(measure, of)
        if measure == "utilisation" and station in self._at_once:
            return None
        if of is None or len(self.imported.classes) == 1:
            return _plain(self.solution[f"{own}.{measure}"])
        return self._by_class(measure, own, of)

    def _of_system(self, measure: str, of: str | None) -> float | None:
        """A value of the whole network: all of it, or a class; of closed ones no cycle's time."""
        classes = self.imported.network.classes
        concerned = [c for c in classes if of in (None, self.imported.classes[c.name])]
        if measure == "response_time" and any(c.arrivals is None for c in concerned):
            return None
        if of is None or len(self.imported.classes) == 1:
            return _plain(self.solution[measure])
        return _plain(self.solution[f"class {of}.{measure}"])

    @cached_property
    def _at_once(self) -> frozenset[str]:
        """Stations without a queue, whose utilisation tools define in several ways."""
        stations = self.imported.network.stations
        return frozenset(s.name for s in stations if s.serves in _WITHOUT)

    def _by_class(self, measure: str, own: str, of: str) -> float:
        graph = self.model.graph
        found = self._classes[measure]
        return _plain(found[list(graph.stations).index(own)][list(graph.classes).index(of)])

    @cached_property
    def _classes(self) -> Mapping[str, FloatArray]:
        """Answers by station and class."""
        _, found = class_solution(self.model, "auto")
        return {
            "utilisation": found.utilisation,
            "queue_length": found.queue_length,
            "throughput": found.station_throughput,
            "response_time": found.station_response_time,
            "residence_time": found.residence_time,
        }


def _key(line: ExpectedRow) -> tuple[str, str]:
    return line.station, line.measure


def _plain(value: object) -> float:
    return float(np.ravel(np.asarray(value, float))[0])


def import_model(path: str | Path) -> Import:
    """Read and solve a model of JMT, and set it beside the values that its file holds.

    Parameters
    ----------
    path
        Of a JMVA or JSIMg file, compressed or not.

    Raises
    ------
    ModelFileError
        For a file that is none, or holds what headway has not yet, by name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from headway.models import ModelGraph, to_jmva
    >>> from headway.queueing import MM1
    >>> shop = ModelGraph("shop").station("till", MM1(0.5)).at(arrival_rate=1.0)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "shop.jmva"
    ...     _ = path.write_text(to_jmva(shop))
    ...     found = import_model(path)
    >>> found.solution.response_time, [line.measure for line in found.lines]
    (1.0, ['utilisation', 'queue_length', 'response_time'])
    """
    found = read_foreign(path)
    return Import(str(path), found, found.model.solve())
