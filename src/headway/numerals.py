"""Numbers as people read them: with few digits, and the same on every processor."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

LARGEST_WHOLE = 1e12
"""Whole numbers below this are written out."""

MANY = 1e4
"""From here on thousands are separated by commas."""

_SURE = 11
"""Number of significant digits on which all processors agree.

The last bits of a sum, a matrix or a library function differ between processors, by a few 1e-16 per
operation: 800 becomes 800.0000000001. What is shown must not depend on them: whether a number is
whole, on which side of a power of ten it is, and which of two equal numbers is first.
"""

_HUGE = 1e300
"""Larger numbers are left alone: rounding could exceed the largest float."""

_ALIKE = 1e-11
"""Relative difference below which two processors may order numbers differently."""

_SIZES, _KIB = ("KiB", "MiB", "GiB", "TiB"), 1024
_LARGE = 1e9  # from here on powers of ten are clearer than zeros
_TIMES = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def settled(number: float, largest: float | None = None) -> float:
    """Round a number to the digits on which all processors agree.

    Parameters
    ----------
    number
        The number, to be shown or to be compared with a threshold.
    largest
        The largest number beside it, if it is another one: 11 digits of the largest count.

    Examples
    --------
    >>> settled(800.0000000001), settled(0.1 + 0.2), settled(2e-14, 800.0)
    (800.0, 0.3, 0.0)
    """
    size = abs(number if largest is None else largest)
    if not 0 < size < _HUGE or not math.isfinite(number):
        return number
    if largest is None:
        return float(f"{number:.{_SURE - 1}e}")
    return round(number, _SURE - 1 - power_of_ten(size)) + 0.0  # no minus sign before 0


def power_of_ten(number: float) -> int:
    """Power of ten of a number's first digit, from the digits on which all processors agree.

    Examples
    --------
    >>> power_of_ten(999.9999999999999), power_of_ten(999.9), power_of_ten(0.05), power_of_ten(0)
    (3, 2, -2, 0)
    """
    return int(f"{number:.{_SURE - 1}e}".partition("e")[2])


def is_whole(number: float, largest: float | None = None) -> bool:
    """Whether a number is whole, by the digits on which all processors agree.

    Parameters
    ----------
    number
        The number; infinities and NaN are not whole.
    largest
        The largest number beside it, if it is another one: 11 digits of the largest count.

    Examples
    --------
    >>> is_whole(800.0000000001), is_whole(800.0001), is_whole(2e-14), is_whole(2e-14, 800.0)
    (True, False, False, True)
    """
    return math.isfinite(number) and settled(number, largest) % 1 == 0


def digits(number: float) -> str:
    """Write a number with six digits, and counts in full.

    Examples
    --------
    >>> digits(1279018.0), digits(0.1234567), digits(800.0000000001)
    ('1,279,018', '0.123457', '800')
    """
    is_count = abs(number) < LARGEST_WHOLE and is_whole(number)
    return grouped(f"{number:.0f}" if is_count else f"{settled(number):.6g}")


def four_digits(number: float) -> str:
    """Write four significant digits, large numbers in full.

    Examples
    --------
    >>> four_digits(0.0123456), four_digits(1373412.0), four_digits(6.02e23)
    ('0.01235', '1,373,000', '6.02e+23')
    """
    return significant(number, 4)


def rounded(number: float) -> float:
    """Four significant digits of a number; whole ones in full.

    Examples
    --------
    >>> rounded(0.00932801), rounded(1048576.0)
    (0.009328, 1048576.0)
    """
    return number if is_whole(number) else float(f"{number:.4g}")


def significant(number: float, count: int) -> str:
    """Write a number with so many significant digits, large numbers in full.

    Examples
    --------
    >>> significant(0.0123456, 2), significant(123.4, 2), significant(20870.0, 3)
    ('0.012', '120', '20,900')
    """
    text = f"{settled(number):.{count}g}"
    is_large = 10**count <= abs(float(text)) < _LARGE
    return grouped(f"{float(text):.0f}") if is_large else text


def grouped(text: str) -> str:
    """Separate the thousands of a written number of five digits or more.

    Examples
    --------
    >>> grouped("30910.5"), grouped("-1200"), grouped("6e+23")
    ('30,910.5', '-1200', '6e+23')
    """
    whole, point, rest = text.partition(".")
    bare = whole.lstrip("+-")
    if len(bare) < 5 or not bare.isdigit():
        return text
    return f"{whole[: len(whole) - len(bare)]}{int(bare):,}{point}{rest}"


def counted(number: int, word: str) -> str:
    """A number with the noun that it counts.

    Examples
    --------
    >>> counted(1, "point"), counted(3, "point"), counted(20000, "class")
    ('1 point', '3 points', '20,000 classes')
    """
    ending = "" if number == 1 else "es" if word.endswith("s") else "s"
    return f"{grouped(str(number))} {word}{ending}"


def some_of(names: Collection[str], most: int) -> str:
    """A list of names, only the first if there are many.

    Examples
    --------
    >>> some_of(["a", "b"], 2), some_of(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b and 2 more')
    """
    more = len(names) - most
    return ", ".join([*names][:most]) + (f" and {more} more" if more > 0 else "")


def times(*seconds: float) -> list[str]:
    """Times in one sentence, with four digits, all in the unit that suits the largest.

    Examples
    --------
    >>> times(0.0123456, 2e-05), times(float("inf"))
    (['12.35 ms', '0.02 ms'], ['inf s'])
    >>> times(5e-7)
    ['0.5 us']
    """
    largest = max((settled(abs(each)) for each in seconds if np.isfinite(each)), default=0.0)
    name, scale = next((x for x in _TIMES if largest >= x[1]), _TIMES[-1] if largest else _TIMES[0])
    return [f"{four_digits(each / scale)} {name}" for each in seconds]


def data_size(number: float) -> str:
    """A size of data: in KiB, MiB or GiB if it is a whole number of these, otherwise in bytes.

    Examples
    --------
    >>> data_size(65536.0), data_size(1048576.0), data_size(23170.0), data_size(3000.0)
    ('64 KiB', '1 MiB', '23,170 B', '3000 B')
    """
    name, scale = "B", 1
    for larger in _SIZES if number > 0 else ():
        if number % (_KIB * scale):
            break
        name, scale = larger, _KIB * scale
    return f"{digits(number / scale)} {name}"


def first_largest(values: Any, axis: int | None = None) -> Any:
    """Index of the first of the largest values, which may differ in their last bits.

    Parameters
    ----------
    values
        The values; NaN is never the largest.
    axis
        Axis along which to search; all values if not given.

    Examples
    --------
    >>> int(first_largest([0.3, 0.1 + 0.2, 0.2])), int(first_largest([0.3, 0.30001]))
    (0, 1)
    """
    numbers = np.nan_to_num(np.asarray(values, float), nan=-np.inf)
    top = numbers.max(axis=axis, keepdims=True)
    with np.errstate(all="ignore"):  # near the largest float the difference overflows
        near = top - _ALIKE * np.abs(top)
    near = np.where(np.isfinite(near), near, top)
    return (numbers >= near).argmax(axis=axis)


def ranked(names: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """Names in ascending order of their values, or as given if only the last bits differ.

    Examples
    --------
    >>> ranked(["cpu", "disk", "wire"], {"wire": 0.1, "disk": 0.3, "cpu": 0.1 + 0.2})
    ['wire', 'cpu', 'disk']
    """
    return sorted(names, key=lambda name: settled(values[name]))
