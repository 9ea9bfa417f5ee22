"""Kinds of number: a law written once serves floats, NumPy arrays and SymPy expressions.

SymPy is never imported here for numbers: a value can be symbolic only after other code has imported
SymPy.
"""

import math
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.numerals import digits

FloatArray: TypeAlias = NDArray[np.float64]
Number: TypeAlias = float | FloatArray

Amount: TypeAlias = Any
"""A number that a law takes or returns: a float, an array of operating points, or a symbol."""

_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE
)
_ROUNDING = 1e-12
"""Relative distance to a whole number up to which a quotient counts as that number."""

_OF_NUMPY = (np.generic, np.ndarray)

_BEYOND = 999.0
"""A power of ten that no float holds."""


class Quantity(Protocol):
    """A float, a NumPy array or a SymPy expression: anything with plain arithmetic."""

    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...


def is_symbolic(*values: object) -> bool:
    """Tell whether any of the values is a SymPy expression.

    Examples
    --------
    >>> from sympy import Symbol
    >>> is_symbolic(1.0, Symbol("x")), is_symbolic(1.0)
    (True, False)
    """
    sympy = sys.modules.get("sympy")
    return sympy is not None and any(isinstance(value, sympy.Basic) for value in values)


def plain(value: object) -> Any:
    """Turn a NumPy scalar or 0-d array into a float; leave everything else as it is."""
    if isinstance(value, _OF_NUMPY) and value.ndim == 0:
        return value.item()
    return value


def _snapped(rounded: Any, value: Any) -> Any:
    """Round to a whole number if only rounding errors separate a value from it.

    274 / (274 / 102) is 102.00000000000001: cutting into n parts of size/n gives n.
    """
    nearest = np.rint(value)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        near = np.abs(np.asarray(value) - nearest) <= _ROUNDING * np.abs(value)
    return plain(np.where(near, nearest, rounded))


def ceiling(value: Any) -> Any:
    """Round numbers up to whole ones, except for the rounding error of a quotient.

    Parameters
    ----------
    value
        Float or array. A value within 1e-12 of a whole number, relative, counts as that number.

    Examples
    --------
    >>> ceiling(274 / (274 / 102)), ceiling(102.001)
    (102.0, 103.0)
    """
    return _snapped(np.ceil(value), value)


def floor(value: Any) -> Any:
    """Round numbers down to whole ones, except for the rounding error of a quotient.

    Parameters
    ----------
    value
        Float or array. A value within 1e-12 of a whole number, relative, counts as that number.

    Examples
    --------
    >>> floor(0.3 / 0.1), floor(2.999)
    (3.0, 2.0)
    """
    return _snapped(np.floor(value), value)


def _numeric_where(condition: Any, if_true: Any, if_false: Any) -> Any:
    return np.where(condition, if_true, if_false)


def _symbolic_where(condition: Any, if_true: Any, if_false: Any) -> Any:
    import sympy

    return sympy.Piecewise((if_true, condition), (if_false, True))


def _fold(function: Any) -> Callable[..., Any]:
    """Extend a function of two arguments to any number of them."""

    def folded(first: Any, *others: Any) -> Any:
        for other in others:
            first = function(first, other)
        return first

    return folded


_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "min": (_fold(np.minimum), "Min"),
    "max": (_fold(np.maximum), "Max"),
    "abs": (np.abs, "Abs"),
    "ceil": (ceiling, "ceiling"),
    "floor": (floor, "floor"),
    "sqrt": (np.sqrt, "sqrt"),
    "exp": (np.exp, "exp"),
    "log": (np.log, "log"),
    "sin": (np.sin, "sin"),
    "cos": (np.cos, "cos"),
    "where": (_numeric_where, ""),
}
"""Functions over numbers, and their names in SymPy if they have one there."""

FUNCTIONS = frozenset(_FUNCTIONS)

SYMBOLIC = {name: symbolic for name, (_, symbolic) in _FUNCTIONS.items() if symbolic}
"""Names in SymPy of the functions that it has."""

CONSTANTS = {"pi": math.pi}
"""Numbers with a name, in any formula."""


def apply(function: str, *arguments: Any) -> Any:
    """Apply one of `FUNCTIONS` to any kind of number.

    Parameters
    ----------
    function
        Name: min, max, abs, ceil, floor, sqrt, exp, log, sin, cos (of radians) or
        where(condition, a, b).
    arguments
        Floats, arrays or SymPy expressions.

    Examples
    --------
    >>> apply("max", 2.0, 3.0)
    3.0
    >>> from sympy import Symbol
    >>> apply("max", 2, Symbol("x"))
    Max(2, x)
    """
    if not is_symbolic(*arguments):
        return plain(_FUNCTIONS[function][0](*arguments))
    if function == "where":
        return _symbolic_where(*arguments)
    return _symbolic_call(function, *arguments)


@lru_cache(maxsize=4096, typed=True)
def _symbolic_call(function: str, *arguments: Any) -> Any:
    """Apply a function of SymPy; cached, as comparing long arguments of a maximum takes long."""
    import sympy

    return getattr(sympy, SYMBOLIC[function])(*arguments)


def number(name: str, value: Quantity | str) -> Quantity:
    """Return a value that can be calculated with; refuse the text of a formula."""
    if isinstance(value, str):
        msg = f"{name} is the formula {value!r}: put it in a ModelGraph and give its names values"
        raise InvalidParameter(msg)
    return value


def _worst(value: Any, good: Callable[[Any], Any]) -> float | None:
    """The first entry of a numeric value that is not good (NaN never is); None if all are."""
    entries = np.asarray(value, dtype=float)
    bad = ~np.asarray(good(entries))
    return float(entries[bad].flat[0]) if bad.any() else None


def check_domain(name: str, value: object, good: Callable[[Any], Any], must: str) -> None:
    """Refuse a number (or an array's entry) outside a domain; pass formulas and symbols.

    Parameters
    ----------
    name, must
        For the message: "service_time is -1; it must be positive and finite".
    value
        Number, array, SymPy expression or formula text; only the first two are checked.
    good
        Tells, entry by entry, whether a numeric value is in the domain.

    Raises
    ------
    InvalidParameter
        With the name, the first offending value and the domain.
    """
    if isinstance(value, str) or (is_symbolic(value) and not cast(Any, value).is_number):
        return
    worst = _worst(value, good)
    if worst is not None:
        msg = f"{name} is {digits(worst)}; it must be {must}"
        raise InvalidParameter(msg)


def ends_of(value: object) -> tuple[float, float] | None:
    """Smallest and largest entry of floats (NaN if any is); None for anything else.

    It takes two passes; checking each entry would make four arrays, at a higher cost than many
    laws.

    Examples
    --------
    >>> ends_of(np.array([2.0, 1.0])), ends_of(0.5), ends_of(1)
    ((1.0, 2.0), (0.5, 0.5), None)
    """
    if type(value) is float:
        return value, value
    if not isinstance(value, np.ndarray) or value.dtype != float or value.size == 0:
        return None
    return float(value.min()), float(value.max())


def check_positive(name: str, value: object) -> None:
    """Refuse a number that is not positive and finite.

    Examples
    --------
    >>> check_positive("service_time", 0.01)
    >>> check_positive("service_time", 0.0)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: service_time is 0; it must be positive and finite
    """
    ends = ends_of(value)
    if ends is None or not (ends[0] > 0 and ends[1] < math.inf):
        check_domain(name, value, lambda x: (x > 0) & (x < math.inf), "positive and finite")


def check_not_negative(name: str, value: object) -> None:
    """Refuse a number that is negative or not finite."""
    ends = ends_of(value)
    if ends is None or not (ends[0] >= 0 and ends[1] < math.inf):
        check_domain(name, value, lambda x: (x >= 0) & (x < math.inf), "zero or more and finite")


def check_count(name: str, value: object) -> None:
    """Refuse a number that is not a whole number of one or more.

    Examples
    --------
    >>> check_count("servers", 2.5)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: servers is 2.5; it must be a whole number of 1 or more
    """
    if type(value) is float and 1 <= value < math.inf and value.is_integer():
        return
    check_domain(
        name,
        value,
        lambda x: (x >= 1) & (x < math.inf) & (x == np.floor(x)),
        "a whole number of 1 or more",
    )


def number_of(text: str) -> float | None:
    """Read a number in decimal digits; None for anything else, such as 1_0, 0x1f or ``٣``.

    Parameters
    ----------
    text
        Digits 0 to 9 with sign, point and exponent; or nan or inf. Surrounding blanks are ignored.

    Returns
    -------
    The float nearest to it; infinite beyond the largest. Zero has no sign.

    Examples
    --------
    >>> number_of(" 3.4e2 "), number_of("-0"), number_of("1_0"), number_of("٣")
    (340.0, 0.0, None, None)
    """
    bare = text.strip()
    return float(bare) + 0.0 if _NUMBER.fullmatch(bare) else None


def resolution(text: str) -> float:
    """Half a unit of the last digit of a number: "3.40" is known to 0.005.

    Parameters
    ----------
    text
        A number that `number_of` reads.

    Examples
    --------
    >>> resolution("3.4"), resolution("198"), resolution("1.5e3"), resolution("0e400")
    (0.05, 0.5, 50.0, inf)
    """
    mantissa, _, exponent = text.strip().lower().partition("e")
    power = max(-_BEYOND, min(_BEYOND, float(exponent or 0)))
    return 0.5 * float(f"1e{int(power) - len(mantissa.partition('.')[2])}")
