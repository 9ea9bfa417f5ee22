"""Numbers as people read them: with few digits, in a unit that suits their size."""

import math

from headway.models.language.units import Unit, readable

LARGEST_WHOLE = 1e12
"""Whole numbers below this are written out."""


def digits(number: float) -> str:
    """Write a number with six digits, but counts in full.

    Examples
    --------
    >>> digits(1279018.0), digits(0.1234567)
    ('1279018', '0.123457')
    """
    is_count = abs(number) < LARGEST_WHOLE and number == int(number)
    return f"{number:.0f}" if is_count else f"{number:.6g}"


def four_digits(number: float) -> str:
    """Write four significant digits, large numbers in full.

    Examples
    --------
    >>> four_digits(0.0123456), four_digits(1373412.0), four_digits(6.02e23)
    ('0.01235', '1373000', '6.02e+23')
    """
    text = f"{number:.4g}"
    return f"{float(text):.0f}" if 1e4 <= abs(number) < 1e9 else text


def shown_unit(meant: Unit, size: float) -> Unit:
    """A unit of the same dimension that shows a value of that size (in SI) with few digits.

    What is meant in KiB and the like stays so.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> str(shown_unit(unit("s"), 0.0034)), str(shown_unit(unit("KiB"), 2e6))
    ('ms', 'KiB')
    """
    if "iB" in meant.text:
        return meant
    best = readable(meant.dimension, size)
    return best if best.text and meant.text and best.scale != 1 else meant


def with_unit(number: str, unit: Unit) -> str:
    """A number that is written in a unit, and that unit."""
    return f"{number} {unit}".rstrip()


def in_unit(value: float, unit: Unit) -> str:
    """Write a value in a unit, without it, with four digits.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> in_unit(0.0034, unit("ms")), in_unit(math.inf, unit("ms"))
    ('3.4', '∞')
    """
    return "∞" if math.isinf(value) else four_digits(value / unit.scale)


def ends(low: float, high: float, unit: Unit) -> str:
    """Write the ends of an interval in a unit, without it.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> with_unit(ends(0.0034, 0.012, unit("ms")), unit("ms"))
    '3.4 to 12 ms'
    """
    return f"{in_unit(low, unit)} to {in_unit(high, unit)}"


def with_error(value: float, error: float, unit: Unit) -> str:
    """Write a value and its error with two digits of the latter.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> with_error(0.00065432, 0.0000123, unit("us")), with_error(2.0, float("inf"), unit(""))
    ('654 ± 12 us', '2 ± ?')
    """
    value, error = value / unit.scale, error / unit.scale
    if not math.isfinite(error) or error <= 0 or error < 1e-9 * abs(value):
        unknown = "" if error == 0 or math.isfinite(error) else " ± ?"
        return with_unit(f"{four_digits(value)}{unknown}", unit)
    places = max(0, 1 - math.floor(math.log10(error)))
    if places > 6 or abs(value) >= 1e7:
        return with_unit(f"{four_digits(value)} ± {error:.2g}", unit)
    return with_unit(f"{value:.{places}f} ± {error:.{places}f}", unit)
