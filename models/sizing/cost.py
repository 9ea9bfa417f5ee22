"""Cost of a configuration: a formula of the choices."""

from collections.abc import Collection

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray
from headway.models.analysis.points import spread
from headway.models.language.formula import Call, Constant, Formula, Name, Operation, Tree, formula
from headway.models.sizing.choices import Columns
from headway.numerals import digits
from headway.records import dataclass

_DIGITS = 12  # significant digits of a cost: costs that agree in all of them are equal
# functions that are 0 or more where their arguments are
_KEEPING = ("min", "max", "ceil", "floor", "sqrt")
_RISING = (*_KEEPING, "exp", "log")


@dataclass(frozen=True)
class Cost:
    """A cost without a unit, in the currency of the formula.

    Parameters
    ----------
    formula
        A formula of the choices, such as ``400*cores + 250*disks``.

    Examples
    --------
    >>> cost = cost_of("400*cores + 250*disks", ["cores", "disks"])
    >>> cost.of({"cores": np.array([1.0, 2.0]), "disks": np.array([4.0, 2.0])}).tolist()
    [1400.0, 1300.0]
    >>> cost.rises("cores"), cost_of("100 - cores", ["cores"]).rises("cores")
    (True, False)
    """

    formula: Formula

    @property
    def text(self) -> str:
        """The formula as it was written."""
        return self.formula.text

    def of(self, columns: Columns) -> FloatArray:
        """Cost of each configuration, in flat order, rounded to the digits that are compared.

        Raises
        ------
        InvalidParameter
            For a cost that is not a positive number.
        """
        shape = np.broadcast_shapes(*map(np.shape, columns.values()))
        costs = np.broadcast_to(np.asarray(self.formula.evaluate(dict(columns)), float), shape)
        costs = costs.reshape(-1)
        wrong = ~(np.isfinite(costs) & (costs > 0))
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise InvalidParameter(self._refusal(spread(columns), first, costs))
        return _rounded(costs)

    def _refusal(self, columns: Columns, place: int, costs: FloatArray) -> str:
        values = ", ".join(f"{n}={digits(float(column[place]))}" for n, column in columns.items())
        return (
            f"cost {self.text!r} is {digits(float(costs[place]))} at {values}; "
            "every configuration must cost more than 0"
        )

    def rises(self, name: str) -> bool:
        """Whether the formula ensures that more of a choice never costs less.

        Choices are taken to be 0 or more.
        """
        return _rises(self.formula.tree, name)


def cost_of(text: str, names: Collection[str]) -> Cost:
    """Read a cost.

    Raises
    ------
    FormulaError, InvalidParameter
        For a malformed formula, or one with a name that is not a choice.
    """
    read = formula(text)
    for name in sorted(read.names.difference(names)):
        msg = f"cost {text!r} names {name!r}, which is not a choice{nearest(name, names)}"
        raise InvalidParameter(msg)
    return Cost(read)


def _rounded(costs: FloatArray) -> FloatArray:
    """Costs to twelve digits, each the nearest float to its decimals, whatever the last bits were.

    Powers of ten are whole numbers and thus exact, and the quotient of two whole numbers is rounded
    once. Whole costs with that many digits stay as they are.
    """
    if costs.max(initial=0) < 10**_DIGITS and (costs == np.trunc(costs)).all():
        return costs
    places = (_DIGITS - 1 - np.floor(np.log10(costs))).astype(int)
    lowest = int(places.min(initial=0))
    each = np.arange(lowest, int(places.max(initial=0)) + 1)
    fine, coarse = 10.0 ** np.maximum(each, 0), 10.0 ** np.maximum(-each, 0)
    fine, coarse = fine[places - lowest], coarse[places - lowest]
    return np.asarray(np.round(costs * fine / coarse) / fine * coarse)


def _rises(tree: Tree, name: str) -> bool:
    """Whether a formula of values of 0 or more can be proved never to fall as one of them grows."""
    if not isinstance(tree, Operation | Call) or name not in Formula("", tree).names:
        return True
    if isinstance(tree, Call):
        return tree.function in _RISING and all(_rises(a, name) for a in tree.arguments)
    left, right = tree.left, tree.right
    if tree.symbol in ("-", "/"):
        fixed = name not in Formula("", right).names
        return fixed and _rises(left, name) and (tree.symbol == "-" or _positive(right))
    both = _rises(left, name) and _rises(right, name)
    return both and (tree.symbol == "+" or (tree.symbol == "*" and _positive(left, right)))


def _positive(*trees: Tree) -> bool:
    """Whether all formulas, of values of 0 or more, can be proved to be 0 or more."""
    return all(map(_is_positive, trees))


def _is_positive(tree: Tree) -> bool:
    if isinstance(tree, Constant):
        return tree.value >= 0
    if isinstance(tree, Name):
        return True
    if isinstance(tree, Call):
        return tree.function in _KEEPING and _positive(*tree.arguments)
    return tree.symbol in ("+", "*", "/") and _positive(tree.left, tree.right)
