"""Results in another tool's file, compared with headway's."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from headway.kinds import FloatArray
from headway.models.importing.building import Imported
from headway.models.importing.foreign.network import Expected, Serves
from headway.models.importing.lqn.results import LayeredFile
from headway.models.importing.reader import read_foreign
from headway.models.language.frozen import Kept
from headway.models.language.units import ONE, Unit, unit
from headway.models.solving.classes.class_values import class_solution
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.records import dataclass

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
"""headway's names of JMT's measures (in lower case)."""

SHOWN = ("utilisation", "queue_length", "response_time")
"""Measures shown for every station, even without values in the file."""

UNITS: Mapping[str, Unit] = {
    "throughput": unit("op/s"),
    "response_time": unit("s"),
    "residence_time": unit("s"),
    "service_time": unit("s"),
    "second_phase": unit("s"),
    "waiting_time": unit("s"),
}


_WITHOUT = (Serves.AT_ONCE, Serves.FORK)
"""Stations without servers of their own."""


@dataclass(frozen=True)
class ExpectedRow:
    """A value from the file and headway's value.

    Parameters
    ----------
    station, job_class
        Names in the file; empty for all. Of layered services the name of a part, and its kind.
    measure
        headway's name of the measure, or the file's if headway has none.
    expected
        The file's value, with its interval if it has one; None without a value.
    solved
        headway's value in SI; None if it has none.
    """

    station: str
    job_class: str
    measure: str
    expected: Expected | None
    solved: float | None

    @property
    def in_file(self) -> float | None:
        """The file's value in SI; None if it has none."""
        return None if self.expected is None else self.expected.value

    @property
    def difference(self) -> float | None:
        """Headway's value over the file's, minus 1; None if one is missing or the file's is 0."""
        if self.expected is None or self.solved is None or self.expected.value == 0:
            return None
        return self.solved / self.expected.value - 1

    @property
    def inside(self) -> bool | None:
        """Whether the file's interval contains headway's value; None without an interval."""
        given = self.expected
        if given is None or given.low is None or given.high is None or self.solved is None:
            return None
        return given.low <= self.solved <= given.high

    @property
    def unit(self) -> Unit:
        """The unit in which the measure is shown."""
        return UNITS.get(self.measure, ONE)


@dataclass(frozen=True, eq=False)
class Import(Kept, Answer):
    """A solved model of another tool, with the results in its file.

    Parameters
    ----------
    source
        The file's name.
    imported
        The model, and the contents of the file.
    solution
        Solution of the model.
    """

    source: str
    imported: Imported
    solution: Solution

    @property
    def model(self) -> Model:
        """The headway model."""
        return self.imported.model

    @property
    def notes(self) -> tuple[str, ...]:
        """What the model leaves out, and whether headway's answer is approximate."""
        nearly = self.solution.approximation
        approximate = (f"approximate: {nearly}",) if nearly else ()
        return (*approximate, *self.imported.network.notes)

    @cached_property
    def lines(self) -> tuple[ExpectedRow, ...]:
        """All values in the file, then those of stations without values."""
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
        """Headway's value; None if the file defines the measure differently."""
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
        """A value of the whole network or of a class; not the cycle time of a closed one."""
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
        station, chosen = list(self.model.graph.stations).index(own), self._names.index(of)
        if measure == "residence_time" and self.imported.network.class_routes:
            here = _plain(self._classes["queue_length"][station][chosen])
            return here / self._rounds(of)
        return _plain(self._classes[measure][station][chosen])

    @property
    def _names(self) -> list[str]:
        return list(self.model.graph.classes)

    def _rounds(self, of: str) -> float:
        """Jobs of a chain of classes that enter, or begin a round, per second.

        A job is at a station Q_c / X of the time as one of class c, where X counts the jobs of all
        classes that change into it or that it changes into.
        """
        rates = self._classes["rounds"]
        together = chain_of(of, self.imported)
        return sum(_plain(rates[self._names.index(name)]) for name in together)

    @cached_property
    def _classes(self) -> Mapping[str, FloatArray]:
        """Results by station and class."""
        _, result = class_solution(self.model, "auto")
        return {
            "utilisation": result.utilisation,
            "queue_length": result.queue_length,
            "throughput": result.station_throughput,
            "response_time": result.station_response_time,
            "residence_time": result.residence_time,
            "rounds": result.throughput,
        }


def chain_of(name: str, imported: Imported) -> frozenset[str]:
    """The classes that change into a class, or that it changes into, and the class itself."""
    pairs = [
        {imported.classes[c], imported.classes[becomes]}
        for (c, _), (becomes, _) in imported.network.class_routes
    ]
    together, before = {name}, 0
    while len(together) > before:
        before = len(together)
        together.update(*(pair for pair in pairs if pair & together))
    return frozenset(together)


def _key(line: ExpectedRow) -> tuple[str, str]:
    return line.station, line.measure


def _plain(value: object) -> float:
    return float(np.ravel(np.asarray(value, float))[0])


@dataclass(frozen=True, eq=False)
class LayeredImport(Kept, Answer):
    """Solved layered services of another tool's file, with the results in it.

    Parameters
    ----------
    source
        The file's name.
    file
        The model, and the results in the file.
    solution
        Solution of the model.
    """

    source: str
    file: LayeredFile
    solution: Solution

    @property
    def model(self) -> Model:
        """The headway model."""
        return self.file.model

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether headway's answer is approximate, and which results are passed over."""
        nearly = self.solution.approximation
        notes = [f"approximate: {nearly}"] if nearly else []
        if self.file.unread:
            notes.append(
                f"results in the file that are not compared: {', '.join(self.file.unread)}"
            )
        return tuple(notes)

    @cached_property
    def lines(self) -> tuple[ExpectedRow, ...]:
        """All values in the file; without any, the throughput and busy threads of each task."""
        return tuple(map(self._line, self.file.expected)) or tuple(self._others())

    def _line(self, expected: Expected) -> ExpectedRow:
        kind, name = expected.job_class, expected.station
        solved = self._solved(kind, name, expected.measure)
        return ExpectedRow(name, kind, expected.measure, expected, solved)

    def _others(self) -> Iterator[ExpectedRow]:
        layers = self.model.graph.layers
        for name in layers.tasks if layers else ():
            for part in ("throughput", "busy"):
                yield ExpectedRow(name, "tasks", part, None, self._solved("tasks", name, part))

    def _solved(self, kind: str, name: str, measure: str) -> float | None:
        layers = self.model.graph.layers
        assert layers is not None  # noqa: S101 - its file says so
        return _plain(self.solution[f"{layers.key(kind, name)}.{measure}"])


def import_model(path: str | Path) -> Import | LayeredImport:
    """Read and solve a model of another tool, and compare the results with those in its file.

    Parameters
    ----------
    path
        Path of a JMVA, JSIMg, PMIF or LQNX file, compressed or not.

    Raises
    ------
    ModelFileError
        For a file of another kind, or for parts that headway does not support; names them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from headway.models import ModelGraph, to_jmva
    >>> from headway.queueing import MM1
    >>> shop = ModelGraph("shop").station("till", MM1(0.5)).at(arrival_rate=1.0)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "shop.jmva"
    ...     _ = path.write_text(to_jmva(shop))
    ...     answer = import_model(path)
    >>> answer.solution.response_time, [line.measure for line in answer.lines]
    (1.0, ['utilisation', 'queue_length', 'response_time'])
    """
    imported = read_foreign(path)
    if isinstance(imported, LayeredFile):
        return LayeredImport(str(path), imported, imported.model.solve())
    return Import(str(path), imported, imported.model.solve())
