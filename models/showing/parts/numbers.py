"""Numbers of a model's parts: each with its unit, or as the formula that it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from headway.models.files.building.expressions import units_of
from headway.models.language.formula import Formula
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.components import Component
from headway.queueing.disciplines.table import DEFAULT

RATE = unit("1/s")
LOAD_UNITS = {"arrival_rate": RATE, "think_time": unit("s")}
"""Units of a class's numbers; its other numbers have none."""


def number_text(read: Formula, own_unit: Unit, scale: Scale) -> str:
    """A formula as it is written, or a number with its unit.

    Parameters
    ----------
    read
        A formula, or a number in SI units.
    own_unit
        The number's own unit.
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


def known_values(
    model: Model, scale: Scale, written: Callable[[float], float] = float
) -> dict[str, str]:
    """Values, as text, of the parameters that have a single one.

    Parameters
    ----------
    model
        The model.
    scale
        The units of the answer that shows them.
    written
        How far each is written out; by default in full.
    """
    known = ((p, p.value) for p in model.parameters.values() if p.value is not None)
    single = ((p, written(float(np.asarray(v)))) for p, v in known if np.ndim(v) == 0)
    return {p.name: p.shown(value, scale) for p, value in single}


def number_texts(
    component: Component,
    name: str,
    reads: Sequence[Formula],
    scale: Scale,
    known: Mapping[str, str],
) -> list[str]:
    """Numbers of a component; if a parameter has the number's own name, its value.

    Parameters
    ----------
    component
        The component.
    name, reads
        The number's name, and its formulas.
    scale
        The units of the answer that shows it.
    known
        As from `known_values`.

    Examples
    --------
    >>> from headway.queueing import MMm
    >>> cpu = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers"))
    >>> reads = cpu.stations["cpu"].formulas()["servers"]
    >>> number_texts(cpu.stations["cpu"], "servers", reads, Scale(), {"servers": "4"})
    ['4']
    """
    if [read.text for read in reads] == [name] and name in known:
        return [known[name]]
    return [number_text(read, unit_in(component, name), scale) for read in reads]


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
    """A component's kind, and its discipline unless it serves in order of arrival.

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
    """The numbers of a component by name; without means over classes if these have their own.

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
    """Numbers with a unit that are in a graph itself, and not in a parameter."""
    for table in (graph.stations, *graph.algorithms.values()):
        for component in table.values():
            for key, reads in component.formulas().items():
                yield from ((c, unit_in(component, key)) for read in reads if (c := read.constant))
    for numbers in graph.classes.values():
        for key, read in numbers.items():
            if read.constant:
                yield read.constant, LOAD_UNITS.get(key, ONE)
    yield from ((read.constant, RATE) for read in graph.arrivals.values() if read.constant)
