"""Formulas as text: read once into a small tree, evaluated over any kind of number.

A formula may contain ``+ - * / **``, comparisons, the functions of `headway.kinds.FUNCTIONS`, the
laws of `headway.models.language.algorithms.LAWS`, ``pi`` and names; nothing else. Its text is
parsed by the ``ast`` module, and every node is checked against that list before anything is
calculated; no text ever reaches ``eval``.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from headway import kinds
from headway.errors import FormulaError, UnitError, alike, is_hidden, quoted
from headway.kinds import Amount, is_symbolic, number_of
from headway.models.language.algorithms import LAWS
from headway.models.language.units import quantity
from headway.numerals import digits
from headway.records import dataclass

_BLANKS = str.maketrans(dict.fromkeys("\t\r\n", " "))
MOST_CHARACTERS = 10_000
MOST_BRACKETS = 100
LARGEST_EXPONENT = 1000

_OPERATORS: dict[str, Callable[[Amount, Amount], Amount]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_NUMERIC: dict[str, Callable[[Amount, Amount], Amount]] = {"/": np.true_divide, "**": np.power}
_SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@dataclass(frozen=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True)
class Name:
    """A parameter, or a component's part such as ``cpu.utilisation``."""

    name: str


@dataclass(frozen=True)
class Operation:
    """An arithmetic operator or a comparison, with its two operands."""

    symbol: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True)
class Call:
    """One of the listed functions or laws."""

    function: str
    arguments: tuple["Tree", ...]


Tree: TypeAlias = Constant | Name | Operation | Call


@dataclass(frozen=True)
class Formula:
    """A formula: its text as written and its tree.

    Examples
    --------
    >>> miss = formula("1 - min(1, memory / touched)")
    >>> sorted(miss.names)
    ['memory', 'touched']
    >>> miss.evaluate({"memory": 3.0, "touched": 4.0})
    0.25
    """

    text: str
    tree: Tree

    @property
    def names(self) -> frozenset[str]:
        """Every name it uses."""
        return frozenset(_names(self.tree))

    @property
    def constant(self) -> float | None:
        """Its value, if it is a plain number."""
        return self.tree.value if isinstance(self.tree, Constant) else None

    def evaluate(self, values: Mapping[str, Amount]) -> Amount:
        """Calculate it from the values of its names: floats, arrays or SymPy expressions.

        Numbers follow IEEE arithmetic: 1/0 is infinite, 0/0 is not a number.
        """
        if isinstance(self.tree, Constant):
            return self.tree.value
        with np.errstate(all="ignore"):
            return kinds.plain(_evaluate(self.tree, values))


def of_number(value: float) -> Formula:
    """Make a formula of a number.

    Examples
    --------
    >>> of_number(0.1).text
    '0.1'
    """
    return Formula(f"{value:.15g}", Constant(value))


def _names(tree: Tree) -> set[str]:
    if isinstance(tree, Name):
        return {tree.name}
    if isinstance(tree, Operation):
        return _names(tree.left) | _names(tree.right)
    if isinstance(tree, Call):
        return set().union(*map(_names, tree.arguments))
    return set()


def _evaluate(tree: Tree, values: Mapping[str, Amount]) -> Amount:
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Name):
        return values[tree.name]
    if isinstance(tree, Call):
        return _call(tree.function, [_evaluate(a, values) for a in tree.arguments])
    return _operate(tree.symbol, _evaluate(tree.left, values), _evaluate(tree.right, values))


def _call(function: str, arguments: Sequence[Amount]) -> Amount:
    law = LAWS.get(function)
    return kinds.apply(function, *arguments) if law is None else law.function(*arguments)


def _operate(symbol: str, left: Amount, right: Amount) -> Amount:
    if symbol in ("==", "!=") and is_symbolic(left, right):
        import sympy

        return sympy.Eq(left, right) if symbol == "==" else sympy.Ne(left, right)
    if is_symbolic(left, right):
        return _OPERATORS[symbol](left, right)
    return _NUMERIC.get(symbol, _OPERATORS[symbol])(left, right)


def render(tree: Tree) -> str:
    """Write a tree as text that `formula` reads back to the same tree.

    Examples
    --------
    >>> render(formula("a + 2*b").tree)
    '(a + (2.0 * b))'
    """
    if isinstance(tree, Constant):
        return repr(tree.value)
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Call):
        return f"{tree.function}({', '.join(map(render, tree.arguments))})"
    return f"({render(tree.left)} {tree.symbol} {render(tree.right)})"


@lru_cache(maxsize=4096)
def formula(text: str) -> Formula:
    """Read a formula.

    Parameters
    ----------
    text
        For example ``"cpu_time + 2.4 * added_overhead"``.

    Raises
    ------
    FormulaError
        For text that is not a formula, or contains anything but arithmetic, comparisons, names and
        the listed functions.

    Examples
    --------
    >>> formula("1 + 2 * x").evaluate({"x": 3.0})
    7.0
    >>> formula("().__class__")
    Traceback (most recent call last):
        ...
    headway.errors.FormulaError: formula '().__class__': only NAME.NAME can have a dot
    """
    _check_size(text)
    if "#" in text or any(map(is_hidden, text.translate(_BLANKS))):
        raise _refusal(text, "contains a comment or a control character; delete it")
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _refusal(text, "is not arithmetic; write for example 'a + 2 * b'") from None
    return Formula(text.strip(), _read(parsed, text))


def _refusal(text: str, why: str) -> FormulaError:
    shown = text.strip() if len(text) <= 60 else f"{text.strip()[:57]}..."
    separator = " " if why.startswith("is ") else ": "
    return FormulaError(f"formula {shown!r}{separator}{why}")


def _check_size(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise _refusal(
            text, f"is longer than {MOST_CHARACTERS} characters; split it into named parts"
        )
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > MOST_BRACKETS:
        raise _refusal(
            text, f"brackets nested more than {MOST_BRACKETS} deep; split it into named parts"
        )


def _read(node: ast.expr, text: str, depth: int = 0) -> Tree:
    if depth > 2 * MOST_BRACKETS:
        raise _refusal(text, "has too many terms in a row; split it into named parts")
    reader = _READERS.get(type(node))
    if reader is None:
        what = _PLAIN_WORDS.get(type(node), f"{type(node).__name__.lower()} syntax")
        raise _refusal(text, f"{what} is not allowed; use numbers, names, + - * / ** and functions")
    return reader(node, text, depth)


def _read_constant(node: Any, text: str, _depth: int) -> Tree:
    if type(node.value) not in (int, float):
        raise _refusal(text, f"{node.value!r} is not a number")
    written = ast.get_source_segment(text.strip(), node) or ""
    if number_of(written) is None:
        raise _refusal(text, f"{quoted(written)} is not a number in decimal digits")
    if not abs(node.value) <= 1e300:
        raise _refusal(text, "contains a number above 1e300; use a smaller one")
    return Constant(float(node.value))


def _read_name(node: Any, _text: str, _depth: int) -> Tree:
    value = kinds.CONSTANTS.get(node.id)
    return Name(node.id) if value is None else Constant(value)


def _read_dotted(node: Any, text: str, _depth: int) -> Tree:
    if not isinstance(node.value, ast.Name) or node.attr.startswith("_"):
        raise _refusal(text, "only NAME.NAME can have a dot")
    return Name(f"{node.value.id}.{node.attr}")


def _read_operation(node: Any, text: str, depth: int) -> Tree:
    symbol = _SYMBOLS.get(type(node.op))
    if symbol is None:
        raise _refusal(text, f"operator {type(node.op).__name__} is not supported; use + - * / **")
    right = _read(node.right, text, depth + 1)
    if symbol == "**" and isinstance(right, Constant) and abs(right.value) > LARGEST_EXPONENT:
        raise _refusal(
            text,
            f"exponent {digits(right.value)} is above the limit of {LARGEST_EXPONENT}; "
            "use a smaller one",
        )
    return Operation(symbol, _read(node.left, text, depth + 1), right)


def _read_sign(node: Any, text: str, depth: int) -> Tree:
    operand = _read(node.operand, text, depth + 1)
    if isinstance(node.op, ast.UAdd):
        return operand
    if not isinstance(node.op, ast.USub):
        raise _refusal(text, "only + and - can precede a term")
    if isinstance(operand, Constant):
        return Constant(-operand.value)
    return Operation("*", Constant(-1.0), operand)


def _read_comparison(node: Any, text: str, depth: int) -> Tree:
    symbol = _SYMBOLS.get(type(node.ops[0]))
    if len(node.ops) != 1 or symbol is None:
        raise _refusal(text, "compare two terms with < <= > >= == or !=")
    left, right = _read(node.left, text, depth + 1), _read(node.comparators[0], text, depth + 1)
    return Operation(symbol, left, right)


def _read_call(node: Any, text: str, depth: int) -> Tree:
    name = node.func.id if isinstance(node.func, ast.Name) else "that"
    if name not in {*kinds.FUNCTIONS, *LAWS} or node.keywords:
        raise _refusal(text, f"{name}() is not a function here; there are {_known_functions(name)}")
    arguments = tuple(_read(argument, text, depth + 1) for argument in node.args)
    if name in LAWS:
        _check_law(name, len(arguments), text)
        return Call(name, arguments)
    most, least = {"where": (3, 3), "min": (99, 1), "max": (99, 1)}.get(name, (1, 1))
    if not least <= len(arguments) <= most:
        raise _refusal(text, f"{name}() does not accept {len(arguments)} arguments")
    return Call(name, arguments)


def _check_law(name: str, count: int, text: str) -> None:
    law = LAWS[name]
    if not law.takes(count):
        takes = ", ".join(law.arguments)
        raise _refusal(text, f"{name}() does not accept {count} arguments; it takes {takes}")


def _known_functions(name: str) -> str:
    similar = alike(name, LAWS)
    return " ".join(sorted(kinds.FUNCTIONS)) + (f"; did you mean {similar}?" if similar else "")


_READERS: dict[type, Callable[[Any, str, int], Tree]] = {
    ast.Constant: _read_constant,
    ast.Name: _read_name,
    ast.Attribute: _read_dotted,
    ast.BinOp: _read_operation,
    ast.UnaryOp: _read_sign,
    ast.Compare: _read_comparison,
    ast.Call: _read_call,
}
_PLAIN_WORDS: dict[type, str] = {
    ast.Lambda: "a lambda",
    ast.Subscript: "indexing",
    ast.IfExp: "if/else (use where(condition, a, b))",
    ast.BoolOp: "and/or (multiply the conditions)",
}


def formula_at(text: str, place: str) -> Formula:
    """Read a formula; for a quantity with unit, explain how to give it.

    Raises
    ------
    FormulaError
        For a quantity, with the place of the text.
    """
    try:
        return formula(text)
    except FormulaError as error:
        try:
            value = quantity(text)
        except UnitError:
            raise error from None
        msg = (
            f"{place}: {text!r} is a quantity, but numbers here are in SI units: write {value:g}, "
            "or declare a parameter and give it to at()"
        )
        raise FormulaError(msg) from None
