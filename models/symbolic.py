"""Closed forms: the same steps as for numbers, fed with symbols."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from headway.errors import UnknownParameter
from headway.models.graph import ModelGraph
from headway.models.model import Model
from headway.models.names import nearest
from headway.models.parameters import Parameter
from headway.queueing.erlang import erlang_b, erlang_c


def symbol(name: str) -> Any:
    """The symbol of a parameter; all parameters count as positive, which keeps forms short."""
    return sympy.Symbol(name, positive=True)


def bounded_symbols(model: Model) -> dict[str, Any]:
    """Symbols of a model's parameters that promise no more than their bounds do.

    `symbol` takes everything as positive: a condition such as ``writing > 0`` is then decided
    once and for all, which is wrong for a parameter that may be zero.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> bounded_symbols(catalogue_model("server"))["delay"].is_positive is None
    True
    """
    return {name: _bounded(parameter) for name, parameter in model.parameters.items()}


def _bounded(parameter: Parameter) -> Any:
    if parameter.minimum > 0:
        return symbol(parameter.name)
    if parameter.minimum == 0:
        return sympy.Symbol(parameter.name, nonnegative=True)
    return sympy.Symbol(parameter.name, real=True)


def closed_form(graph: ModelGraph, output: str, symbols: Mapping[str, Any] | None = None) -> Any:
    """Write an output of an open network, or of a program, as a SymPy expression.

    Parameters
    ----------
    graph
        Any graph; servers may be symbols too, Erlang's formulas then stay functions.
    output
        ``response_time``, an output of the graph, a binding, or a part such as
        ``cpu.utilisation``.
    symbols
        A symbol for each parameter; positive ones if left out.

    Raises
    ------
    UnknownParameter
        For an output that the graph does not have.
    """
    if output not in graph.names or (output == "saturation_throughput"):
        msg = f"{graph.name} has no closed form of {output!r}{nearest(output, graph.outputs)}"
        raise UnknownParameter(msg)
    rate = {} if graph.arrivals else {"arrival_rate": symbol("arrival_rate")}
    given = {name: symbol(name) for name in graph.parameters} | rate | dict(symbols or {})
    return whole_numbers(graph.plan.run(given, [output])[output])


def whole_numbers(expression: Any) -> Any:
    """Write whole numbers without decimal point: 2*x for 2.0*x.

    Examples
    --------
    >>> whole_numbers(2.0 * sympy.Symbol("x"))
    2*x
    """
    form = sympy.sympify(expression)
    whole = {number for number in form.atoms(sympy.Float) if float(number).is_integer()}
    return form.xreplace({number: sympy.Integer(int(number)) for number in whole})


def numeric(expression: Any, arguments: Sequence[Any]) -> Any:
    """Compile a closed form into a function of arrays.

    Parameters
    ----------
    expression
        SymPy expression, or a list of them.
    arguments
        Its symbols, in the order of the function's arguments.

    Examples
    --------
    >>> x = sympy.Symbol("x")
    >>> numeric(x + 1, [x])(2.0)
    3.0
    """
    modules = [{"ErlangB": erlang_b, "ErlangC": erlang_c}, "numpy"]
    return sympy.lambdify(list(arguments), expression, modules=modules, cse=True)
