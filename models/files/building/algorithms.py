"""Components with an algorithm of a model file: pipelines, contention, caches."""

from collections.abc import Mapping
from typing import Any

from headway.models.files.building.entries import Entries
from headway.models.files.building.expressions import units_of
from headway.models.files.building.keys import algorithm_keys
from headway.models.language.algorithms import ALGORITHMS, Algorithm
from headway.models.structure.graph import ModelGraph

WORDS = {key for kind in ALGORITHMS.values() for key in (kind.word, kind.labels, kind.file) if key}
"""Keys of these tables that hold words rather than numbers."""


class Algorithms(Entries):
    """Adds components with an algorithm to a graph."""

    def algorithm(self, graph: ModelGraph, table: str, name: str) -> ModelGraph:
        """Add a component with an algorithm."""
        algorithm, numbers = ALGORITHMS[table], dict(getattr(self.entry, table)[name])
        word = self._word(table, name, algorithm, numbers)
        with self.place(table, name, algorithm.word):
            kind = algorithm.kind(word)
        if word == algorithm.file and algorithm.file in numbers:
            numbers |= self._curve(table, name, numbers.pop(algorithm.file))
        known = algorithm_keys(algorithm, kind)
        self.check_names(table, name, numbers, known)
        labels = self._labels(table, name, numbers.pop(algorithm.labels, None))
        numbers = {**dict(algorithm.defaults), **numbers}
        for key in (*algorithm.needed(kind), *(key for key in known if key in numbers)):
            wanted = list if key in algorithm.lists else (str, int, float)
            if not isinstance(numbers.get(key), wanted):
                msg = f"{name} needs {key}, {_what(key, algorithm)}"
                raise self.place.error(msg, table, name)
        values = self.numbers(graph, table, name, numbers, units_of(kind))
        stages = () if algorithm.kinds else self._stages(table, name, values, labels)
        return graph.algorithm(table, name, values, stages, word)

    def miss_curve(self, file: str) -> dict[str, list[float]]:
        """Sizes and miss ratios from a file in the model file's folder."""
        raise NotImplementedError

    def _word(self, table: str, name: str, algorithm: Algorithm, numbers: dict[str, Any]) -> str:
        """Which of several kinds it is: as stated, or by the keys that are given."""
        if not algorithm.kinds:
            return ""
        by_file = {algorithm.file, "sizes"} & numbers.keys()
        usual = algorithm.file if by_file else algorithm.kinds[0][0]
        word = numbers.pop(algorithm.word, usual)
        if not (isinstance(word, str) and word):
            msg = f"must be one of {', '.join(word for word, _ in algorithm.kinds)}"
            raise self.place.error(msg, table, name, algorithm.word)
        return word

    def _curve(self, table: str, name: str, file: Any) -> dict[str, list[float]]:
        if not isinstance(file, str):
            msg = 'must be the name of a CSV file, such as "misses.csv"'
            raise self.place.error(msg, table, name, ALGORITHMS[table].file)
        with self.place(table, name, ALGORITHMS[table].file):
            return self.miss_curve(file)

    def _labels(self, table: str, name: str, given: Any) -> list[Any] | None:
        """Names of the entries of lists, if the file gives them."""
        if given is not None and not isinstance(given, list):
            raise self.place.error("must be a list of names", table, name, ALGORITHMS[table].labels)
        return given

    def _stages(
        self, table: str, name: str, values: Mapping[str, Any], labels: list[Any] | None
    ) -> tuple[str, ...]:
        """Names of a pipeline's stages, or their numbers; refuses lists of different length."""
        lengths = {key: len(values[key]) for key in ALGORITHMS[table].lists}
        count = max(lengths.values(), default=0)
        stages = list(range(1, count + 1)) if labels is None else labels
        if set(lengths.values()) - {len(stages)} or (lengths and not count):
            counts = ", ".join(f"{length} {key}" for key, length in lengths.items())
            msg = f"{name} has {len(stages)} stages, but {counts}; give one of each for every stage"
            raise self.place.error(msg, table, name)
        return tuple(map(str, stages))


def _what(key: str, algorithm: Algorithm) -> str:
    if key not in algorithm.lists:
        return "a number"
    return "a list" if algorithm.kinds else "a list with one entry for each stage"
