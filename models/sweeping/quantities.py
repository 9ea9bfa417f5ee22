"""Quantities that a sweep can reduce: outputs, quantities of stations and classes, parameters."""

from collections.abc import Iterable, Iterator, Mapping

from headway.models.language.units import Unit, unit
from headway.models.solving.arrays import result_units
from headway.models.solving.solutions.on_demand import named_outputs
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.outputs import read_output
from headway.records import dataclass


@dataclass(frozen=True)
class Units(Mapping[str, Unit]):
    """Units of all quantities, including those on demand, which cannot be listed completely."""

    listed: Mapping[str, Unit]
    classes: tuple[str, ...]
    stations: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Unit:
        if name in self.listed:
            return self.listed[name]
        request = read_output(name, self.classes, self.stations)
        if request is None:
            raise KeyError(name)
        return request.output.meaning(unit("1/s")).unit

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)


def known_units(solution: Solution) -> Units:
    """Find the units of all quantities that solutions of this kind can give.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> units = known_units(model.solve(500))
    >>> [str(units[name]) for name in ("response_time_p99", "throughput", "service_time")]
    ['s', 'op/s', 'ms']
    """
    results = {name: unit(text) for name, text in result_units(solution)}
    parameters = {name: each.unit for name, each in solution.model.parameters.items()}
    return Units(parameters | results, solution.classes, solution.stations)


def known_names(names: Iterable[str], units: Units) -> list[str]:
    """Canonical names of outputs.

    Raises
    ------
    InvalidParameter
        For an unknown output; suggests the nearest names.

    Examples
    --------
    >>> known_names(["time", "response_time_p99.0"], Units({"time": unit("s")}, ()))
    ['time', 'response_time_p99']
    """
    return named_outputs(names, units, units.classes, "there is no output", units.stations)
