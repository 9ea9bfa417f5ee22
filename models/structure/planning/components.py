"""Steps for numbers that formulas give: bindings, links, and components with an algorithm."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.formula import Formula
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.keys import (
    Given,
    Key,
    Values,
    component_at,
    scv_by,
    time_by,
    visits_by,
)
from headway.models.structure.parts.structure import Structure
from headway.numerals import digits


class Step(NamedTuple, Generic[Given]):
    """One step of a calculation: its key, the keys that it needs, and its function.

    The key of a number that formulas can use is its name.
    """

    key: Key[Given]
    needs: frozenset[str]
    calculate: Callable[[Values], Given]


AnyStep: TypeAlias = Step[Any]

_NOTHING: Mapping[str, Amount] = MappingProxyType({})


def step(
    key: Key[Given], needs: Iterable[str], calculate: Callable[[Values], Given]
) -> Step[Given]:
    """A step whose result is not a number for formulas."""
    return Step(key, frozenset(needs), calculate)


def number(name: str, needs: Iterable[str], calculate: Callable[[Values], Amount]) -> Step[Any]:
    """A step for a number that formulas can use."""
    return Step(Key(name), frozenset(needs), calculate)


def formula_steps(formulas: Iterable[tuple[str, Formula]], prefix: str = "") -> list[AnyStep]:
    """A step for each of several formulas by name."""
    return [number(f"{prefix}{name}", f.names, f.evaluate) for name, f in formulas]


def component_steps(name: str, component: Component) -> list[AnyStep]:
    """A step for each of a component's numbers; a list of numbers is one."""
    steps = []
    for part, read in component.fields.items():
        if isinstance(read, tuple):
            needs = frozenset[str]().union(*(f.names for f in read))
            steps.append(number(f"{name}.{part}", needs, partial(_several, read)))
        else:
            steps.append(number(f"{name}.{part}", read.names, read.evaluate))
    by_class = {visits_by(name, c): f for c, f in component.visits.items()}
    by_class |= {time_by(name, c): f for c, f in component.service_times.items()}
    by_class |= {scv_by(name, c): f for c, f in component.scvs.items()}
    return steps + formula_steps(by_class.items())


def _several(formulas: tuple[Formula, ...], values: Values) -> tuple[Amount, ...]:
    return tuple(read.evaluate(values) for read in formulas)


def link_steps(graph: Structure) -> list[AnyStep]:
    """Steps for the numbers of a graph's links; the overhead is the mean of both sides'."""
    steps = []
    for name, link in graph.links.items():
        steps += component_steps(name, link)
        sides = (f"{name}.send_overhead", f"{name}.receive_overhead")
        if "overhead" not in link.fields:
            steps.append(number(f"{name}.overhead", sides, partial(_mean, sides)))
    return steps


def algorithm_steps(table: str, name: str, component: Component) -> list[AnyStep]:
    """Steps for a component's numbers, for the component itself, and for its results."""
    made = component_at(table, name)
    numbers = [f"{name}.{field}" for field in component.fields]
    answers = [
        number(f"{name}.{part}", {made}, partial(_answer, name, made, part))
        for part in ALGORITHMS[table].parts
    ]
    making = step(made, numbers, partial(build, component, name))
    return [*component_steps(name, component), making, *answers]


def _answer(name: str, made: Key[object], part: str, values: Values) -> Amount:
    with named(name):
        return getattr(made.of(values), part)


def _mean(names: tuple[str, str], values: Values) -> Amount:
    return (values[names[0]] + values[names[1]]) / 2


def build(
    component: Component, name: str, values: Values, more: Mapping[str, Amount] = _NOTHING
) -> Amount:
    """Build a component from its numbers; its own checks refuse numbers outside their domain."""
    with named(name):
        return component.kind(**{p: values[f"{name}.{p}"] for p in component.fields}, **more)


@contextmanager
def named(name: str, given: Mapping[str, object] = _NOTHING) -> Iterator[None]:
    """Prefix a component's errors with its name, and end them with the parameters that it has."""
    try:
        yield
    except InvalidParameter as error:
        with_them = ", ".join(f"{key} = {_short(value)}" for key, value in given.items())
        msg = f"{name}: {error}{with_them and f' ({with_them})'}"
        raise InvalidParameter(msg) from None


def _short(value: object) -> str:
    """A value, or its first and last."""
    each = np.ravel(np.asarray(value, float))
    ends = each if len(each) < 3 else each[[0, -1]]
    return "..".join(dict.fromkeys(digits(one) for one in ends))
