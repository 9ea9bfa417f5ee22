"""SymPy expressions converted to formulas: how symbols made in a notebook enter a model graph."""

from functools import reduce
from typing import Any

import sympy

from headway.errors import FormulaError
from headway.kinds import SYMBOLIC
from headway.models.language.formula import Call, Constant, Formula, Name, Operation, Tree, render

_FUNCTIONS: dict[Any, str] = {getattr(sympy, word): name for name, word in SYMBOLIC.items()}
_CHAINS: dict[Any, str] = {sympy.Add: "+", sympy.Mul: "*"}
_PAIRS: dict[Any, str] = {
    sympy.Pow: "**",
    sympy.StrictLessThan: "<",
    sympy.LessThan: "<=",
    sympy.StrictGreaterThan: ">",
    sympy.GreaterThan: ">=",
    sympy.Eq: "==",
    sympy.Ne: "!=",
}


def from_sympy(expression: Any) -> Formula:
    """Convert a SymPy expression to a formula.

    Parameters
    ----------
    expression
        An expression of symbols, numbers, arithmetic, the functions of SymPy in
        `headway.kinds.SYMBOLIC`, and ``Piecewise``.

    Raises
    ------
    FormulaError
        For anything else.

    Examples
    --------
    >>> x = sympy.Symbol("x", positive=True)
    >>> from_sympy(2 * x + 1).evaluate({"x": 3.0})
    7.0
    """
    tree = _tree(expression)
    return Formula(render(tree), tree)


def _tree(node: Any) -> Tree:
    if node.is_Symbol:
        return Name(node.name)
    if node.is_number and node.is_real:
        return Constant(float(node))
    arguments = [] if node.func is sympy.Piecewise else [_tree(argument) for argument in node.args]
    if node.func in _CHAINS:
        symbol = _CHAINS[node.func]
        return reduce(lambda left, right: Operation(symbol, left, right), arguments)
    if node.func in _PAIRS:
        return Operation(_PAIRS[node.func], *arguments)
    if node.func in _FUNCTIONS:
        return Call(_FUNCTIONS[node.func], tuple(arguments))
    if node.func is sympy.Piecewise:
        return _branches(list(node.args))
    msg = f"{node.func.__name__} in {node} has no equivalent in headway's formulas; rewrite it"
    raise FormulaError(msg)


def _branches(pairs: list[Any]) -> Tree:
    value, condition = pairs[0]
    if condition == sympy.true:
        return _tree(value)
    if len(pairs) == 1:
        msg = f"the Piecewise with {value} needs a last branch for every other case"
        raise FormulaError(msg)
    return Call("where", (_tree(condition), _tree(value), _branches(pairs[1:])))
