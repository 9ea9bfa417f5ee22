"""Numbers that a model's parts are made of: each with its unit, or as the formula that it is."""

from collections.abc import Iterator

from headway.models.files.building.expressions import units_of
from headway.models.language.formula import Formula
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.components import Component
from headway.queueing.disciplines.table import DEFAULT

RATE = unit("1/s")
LOAD_UNITS = {"arrival_rate": RATE, "think_time": unit("s")}
"""Units of a class's numbers; the others have none."""


def number_text(read: Formula, own_unit: Unit, scale: Scale) -> str:
    """A formula as it is written, a number with its unit.

    Parameters
    ----------
    read
        A formula, or a number in SI units.
    own_unit
        The unit that such a number has.
    scale
        The units of the answer that shows it.

    Examples
    --------
    >>> from headway.models.language.formula import formula
    >>> number_text(formula("0.01"), unit("s"), Scale())
    '10 ms'
    >>> number_text(formula("2 * n"), ONE, Scale())
    '2 * n'
    """
    if read.constant is None or own_unit is ONE:
        return read.text
    return scale.stated(read.constant, own_unit)


def unit_in(component: Component, key: str) -> Unit:
    """The unit of a component's number, such as ``service_time`` or ``service_time[web]``.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> cpu = ModelGraph("one").station("cpu", MM1(0.01)).stations["cpu"]
    >>> unit_in(cpu, "service_time").text, unit_in(cpu, "visits[web]").text
    ('s', '')
    """
    return units_of(component.kind).get(key.partition("[")[0], ONE)


def kind_text(component: Component, ways: str = "") -> str:
    """A component's kind, and the discipline of one that does not serve in order of arrival.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> graph = ModelGraph("one").station("cpu", MM1(0.01), discipline="ps")
    >>> kind_text(graph.stations["cpu"])
    'MM1, ps'
    """
    plain = component.discipline == DEFAULT
    return component.kind.__name__ + ways + ("" if plain else f", {component.discipline}")


def numbers_of(component: Component) -> Iterator[tuple[str, tuple[Formula, ...]]]:
    """What a component is made of, by name; no mean of all classes where they have their own.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> two = ModelGraph("two").station("cpu", MM1(0.01), None, {"web": 0.01, "desk": 0.02})
    >>> [name for name, _ in numbers_of(two.stations["cpu"])]
    ['service_time[web]', 'service_time[desk]']
    """
    formulas = component.formulas()
    by_class = "".join(formulas)
    for name, reads in formulas.items():
        if f"{name}[" not in by_class:
            yield name.replace("[]", ""), reads


def constants(graph: ModelGraph) -> Iterator[tuple[float, Unit]]:
    """Every number with a unit that stands in a graph itself, and not in a parameter."""
    for table in (graph.stations, *graph.algorithms.values()):
        for component in table.values():
            for key, reads in component.formulas().items():
                yield from ((c, unit_in(component, key)) for read in reads if (c := read.constant))
    for numbers in graph.classes.values():
        for key, read in numbers.items():
            if read.constant:
                yield read.constant, LOAD_UNITS.get(key, ONE)
    yield from ((read.constant, RATE) for read in graph.arrivals.values() if read.constant)
