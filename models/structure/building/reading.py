"""Formulas of a graph that is being built: names declared, expressions read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeAlias

from headway.errors import GraphError, UnknownParameter, nearest
from headway.kinds import CONSTANTS, FUNCTIONS, Amount, Quantity, is_symbolic
from headway.models.language.formula import Formula, formula_at, of_number
from headway.models.language.names import check_name
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.structure import RESERVED, Structure
from headway.records import dataclass

Expression: TypeAlias = Quantity | str
"""A number, a formula as text, or a SymPy expression."""


@dataclass(frozen=True, eq=False)
class Reading(Structure):
    """A graph that reads text, numbers and SymPy expressions as formulas of its names."""

    def declare(self, *names: str) -> Self:
        """Declare parameters that formulas may use and that `at` gives values."""
        known = {*self.parameters, "arrival_rate"}
        new = tuple(name for name in names if name not in known)
        for name in new:
            self._check_new(name)
        return replace(self, parameters=self.parameters + new)

    def without(self, name: str) -> Self:
        """The graph without a parameter that no formula uses."""
        return replace(self, parameters=tuple(each for each in self.parameters if each != name))

    def _check_new(self, name: str) -> None:
        check_name(name, (*RESERVED, *FUNCTIONS, *CONSTANTS))
        if any(name in known for known in (self.parameters, self.bindings, self.outputs)):
            msg = f"{name} is defined twice; rename or delete one"
            raise GraphError(msg)

    def _component(
        self, name: str, component: object, parts: Sequence[str]
    ) -> tuple[Self, Component]:
        graph, read = self._fields(name, {part: getattr(component, part) for part in parts})
        return graph, Component(type(component), read)

    def _fields(
        self, name: str, values: Mapping[str, Amount]
    ) -> tuple[Self, dict[str, Formula | tuple[Formula, ...]]]:
        """Read the numbers of a component; lists become several formulas."""
        if not name.isidentifier() or self.has_component(name):
            why = "is already taken" if name.isidentifier() else "is not a valid name"
            msg = f"component {name!r} {why}; choose another name, with letters, digits and _ only"
            raise GraphError(msg)
        graph = self
        read: dict[str, Formula | tuple[Formula, ...]] = {}
        for part, value in values.items():
            place = f"{name}.{part}"
            if isinstance(value, list | tuple):
                graph, several = graph._read_all(dict(enumerate(value)), place)
                read[part] = tuple(several.values())
            else:
                graph, read[part] = graph._read(value, place)
        return graph, read

    def _read_all(
        self, expressions: Mapping[Any, Expression | None], place: str
    ) -> tuple[Self, dict[Any, Formula]]:
        """Read several expressions, leaving out those that are None."""
        graph = self
        read = {}
        for key, expression in expressions.items():
            if expression is not None:
                graph, read[key] = graph._read(expression, place)
        return graph, read

    def _read(self, expression: Expression, place: str) -> tuple[Self, Formula]:
        """Make a formula of an expression; symbols of a SymPy expression are declared."""
        if isinstance(expression, str):
            read = formula_at(expression, place)
            self.check_known(read, place)
            return self, read
        if not is_symbolic(expression):
            return self, of_number(float(expression))  # type: ignore[arg-type]
        from headway.models.language.from_sympy import from_sympy

        read = from_sympy(expression)
        return self.declare(*sorted(self._unknown(read))), read

    def _unknown(self, read: Formula) -> list[str]:
        """Names in a formula that this graph lacks."""
        return [name for name in read.names if not self.has(name)]

    def check_known(self, read: Formula, place: str) -> None:
        """Refuse a formula with a name that is unknown in this graph."""
        for name in sorted(self._unknown(read)):
            if "." in name and not self.has_component(name.split(".")[0]):
                msg = f"{place}: unknown component {name!r}; check its name"
                raise UnknownParameter(msg)
            msg = f"{place}: {name!r} in {read.text!r} is unknown{nearest(name, self.names)}"
            raise UnknownParameter(msg)
