"""A model's formulas as mathematics that browsers typeset without a script (MathML)."""

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import sympy
from sympy.printing.mathml import MathMLPresentationPrinter

from headway.errors import HeadwayError
from headway.models.language.formula import Formula
from headway.models.reports.wrapping import NARROW, WIDE, wrapped
from headway.models.solving.symbolic import (
    bounded_symbols,
    closed_form,
    symbol,
    whole_numbers,
)
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.outputs import percent_of
from headway.records import dataclass

MOST_OPERATIONS = 150
"""Formulas with more operations than this are not shown; the page says so instead."""

_NO_FORM = (HeadwayError, TypeError, ValueError, AttributeError, NotImplementedError)
_SIGNS = {">": "&gt;", "<": "&lt;", ">=": "≥", "<=": "≤", "==": "=", "!=": "≠"}


@dataclass(frozen=True)
class Equation:
    """A name and the expression for it.

    Parameters
    ----------
    name
        The left side.
    mathml
        The whole equation as a MathML element.
    form
        The right side as an expression of SymPy.
    doc
        The meaning of the name.
    """

    name: str
    mathml: str
    form: Any
    doc: str = ""

    @property
    def text(self) -> str:
        """The right side as text, for readers who cannot see the mathematics."""
        return str(self.form)

    @property
    def lines(self) -> dict[str, list[str]]:
        """Pieces that fit a screen and a telephone, by style class; one if both are the same."""
        wide, narrow = (wrapped(self.mathml, room) for room in (WIDE, NARROW))
        return {"": wide} if wide == narrow else {" on-wide": wide, " on-narrow": narrow}


class _Printer(MathMLPresentationPrinter):  # type: ignore[misc]
    """SymPy's printer, with names in roman type and a station's part as a subscript.

    SymPy writes text as it is, so characters that mean something in HTML are escaped here.
    """

    def _print_Symbol(self, sym: Any, style: str = "plain") -> Any:  # noqa: ARG002, N802
        whole, _, part = str(sym.name).partition(".")
        if not part:
            return self._word(whole)
        row = self.dom.createElement("msub")
        row.appendChild(self._word(part))
        row.appendChild(self._word(whole))
        return row

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
        terms = super()._as_ordered_terms(expr, order)
        return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))

    def _word(self, name: str) -> Any:
        element = self.dom.createElement("mi")
        element.appendChild(self.dom.createTextNode(escape(name.replace("_", " "))))
        return element

    def _print_ErlangC(self, call: Any) -> Any:  # noqa: N802
        return self._called("C", call)

    def _print_ErlangB(self, call: Any) -> Any:  # noqa: N802
        return self._called("B", call)

    def _called(self, letter: str, call: Any) -> Any:
        row = self.dom.createElement("mrow")
        row.appendChild(self._word(letter))
        row.appendChild(self._paren_comma_separated(*call.args))
        return row

    def _print_Relational(self, relation: Any) -> Any:  # noqa: N802
        row = self.dom.createElement("mrow")
        sign = self.dom.createElement("mo")
        sign.appendChild(self.dom.createTextNode(_SIGNS[relation.rel_op]))
        for part in (self._print(relation.lhs), sign, self._print(relation.rhs)):
            row.appendChild(part)
        return row

    def _print_Piecewise(self, cases: Any) -> Any:  # noqa: N802
        table = self.dom.createElement("mtable")
        for value, condition in cases.args:
            row = self.dom.createElement("mtr")
            words = "if\N{NO-BREAK SPACE}" if condition != True else "otherwise"  # noqa: E712 - SymPy's own true
            row.appendChild(self._cell(self._print(value)))
            shown = [] if condition == True else [self._print(condition)]  # noqa: E712
            row.appendChild(self._cell(self._text(words), *shown))
            table.appendChild(row)
        whole = self.dom.createElement("mrow")
        brace = self.dom.createElement("mo")
        brace.appendChild(self.dom.createTextNode("{"))
        whole.appendChild(brace)
        whole.appendChild(table)
        return whole

    def _text(self, words: str) -> Any:
        element = self.dom.createElement("mtext")
        element.appendChild(self.dom.createTextNode(words))
        return element

    def _cell(self, *parts: Any) -> Any:
        cell = self.dom.createElement("mtd")
        for part in parts:
            cell.appendChild(part)
        return cell


def mathml(expression: Any) -> str:
    """Write an expression as presentation MathML, without the enclosing ``math`` element.

    Examples
    --------
    >>> mathml(sympy.Symbol("cpu_time") + 1)
    '<mrow><mi>cpu time</mi><mo>+</mo><mn>1</mn></mrow>'
    """
    printer = _Printer({"mul_symbol": "dot"})
    element = printer._print(sympy.sympify(expression, strict=True))
    return str(element.toxml()).replace("<mo>-</mo>", "<mo>−</mo>")


def equations(model: Model, output: str = "") -> list[Equation]:
    """Equations of what is calculated: outputs, the stations' parts that they use, and bindings.

    A percentile that is the output asked for comes first, written with the times that it adds up.

    Those of stations are the laws of an open network. Networks that are closed, that block, or
    whose clients give up are solved by a method, and have equations of outputs and bindings only.
    What has no closed form is left out.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> [e.name for e in equations(catalogue_model("server-single"))]
    ['response_time', 'node.response_time']
    >>> equations(catalogue_model("server-single"))[0].text
    'delay + node.response_time'
    """
    graph = model.graph
    written = partial(_as_written, bounded_symbols(model))
    forms = [_percentile_equation(model, output)] if percent_of(output) else []
    forms += [_equation(model, name, written(read)) for name, read in graph.outputs.items()]
    if model.network_kind in (NetworkKind.OPEN, NetworkKind.PROGRAM):
        forms += _part_equations(model)
    forms += [_equation(model, name, written(read)) for name, read in graph.bindings.items()]
    return [equation for equation in forms if equation is not None]


def _as_written(symbols: Mapping[str, Any], read: Formula) -> Any:
    """A formula with symbols; a symbol for a calculated number may have any sign."""
    try:
        return read.evaluate({n: symbols.get(n, _calculated(n)) for n in read.names})
    except _NO_FORM:
        return None


def _calculated(name: str) -> Any:
    return sympy.Symbol(name, real=True)


def _percentile_equation(model: Model, name: str) -> Equation | None:
    """A percentile in terms of the stations' times, as these appear in the other equations."""
    if name in model.graph.names or model.is_closed:
        return None
    parts = ("residence_time", "response_time")
    times = [f"{station}.{part}" for station in model.graph.stations for part in parts]
    symbols = {time: symbol(time) for time in times} | bounded_symbols(model)
    try:
        return _equation(model, name, closed_form(model.graph, name, symbols))
    except _NO_FORM:
        return None


def _part_equations(model: Model) -> list[Equation | None]:
    """Response time as a sum of residence times, and every part of a component that is used."""
    graph = model.graph
    symbols = {name: _calculated(name) for name in graph.bindings} | bounded_symbols(model)
    forms, parts = [], _parts_used(model)
    if graph.stations and "response_time" not in graph.outputs:
        residences = [f"{name}.residence_time" for name in graph.stations]
        given = symbols | {name: _calculated(name) for name in residences}
        forms.append(_equation(model, "response_time", _run(model, given, "response_time")))
        parts = list(dict.fromkeys([*residences, *parts]))
    return forms + [_equation(model, name, _run(model, symbols, name)) for name in parts]


def _parts_used(model: Model) -> list[str]:
    """Parts such as ``cpu.utilisation`` that outputs and bindings use, in alphabetical order."""
    formulas = (*model.graph.outputs.values(), *model.graph.bindings.values())
    return sorted({name for read in formulas for name in read.names if "." in name})


def _run(model: Model, given: dict[str, Any], target: str) -> Any:
    try:
        return model.graph.plan.run(given, [target])[target]
    except _NO_FORM:
        return None


def _equation(model: Model, name: str, right: Any) -> Equation | None:
    if right is None or right == _calculated(name):
        return None
    if sympy.sympify(right, strict=True).count_ops() > MOST_OPERATIONS:
        return None
    form = whole_numbers(right)
    equals = f"<mrow>{mathml(symbol(name))}<mo>=</mo>{mathml(form)}</mrow>"
    doc = model.meaning(name).doc
    return Equation(name, equals, form, doc)


def uses_erlang(equations: list[Equation]) -> bool:
    """Whether some equation contains Erlang's C."""
    return any("erlang_c(" in equation.text for equation in equations)
