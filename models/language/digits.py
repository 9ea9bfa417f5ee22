"""Numbers with units as people read them: few digits, in a unit that suits their size."""

import math

from headway.models.language.units import Unit, readable, unit
from headway.numerals import four_digits, grouped, is_whole, power_of_ten, settled

_KIB = 1024.0
_SIZES = ("KiB", "MiB", "GiB", "TiB")
_SLOPE = 0.1  # a slope below this is shown for a thousand times as much
_MOST = 2  # factors of a thousand at most
_NOTHING = 1e-5  # relative to the other end of an interval: below its last digit


def shown_unit(stated: Unit, size: float) -> Unit:
    """A unit of the same dimension that shows a value of that size (in SI) with few digits.

    Values in KiB and similar units stay in these, and so do sizes of whole KiB.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> str(shown_unit(unit("s"), 0.0034)), str(shown_unit(unit("KiB"), 2e6))
    ('ms', 'KiB')
    >>> str(shown_unit(unit("B"), 1048576)), str(shown_unit(unit("B"), 1000000))
    ('MiB', 'MB')
    """
    if stated.text == "B" and size >= _KIB and is_whole(size / _KIB) and not is_whole(size / 1000):
        return [each for each in map(unit, _SIZES) if is_whole(size / each.scale)][-1]
    if "iB" in stated.text:
        return stated
    best = readable(stated.dimension, size)
    return best if best.text and stated.text and best.scale != 1 else stated


def with_unit(number: str, unit: Unit) -> str:
    """A number with its unit; a per cent sign follows directly, and one client is singular.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> with_unit("40", unit("%")), with_unit("1", unit("jobs")), with_unit("2", unit("jobs"))
    ('40%', '1 job', '2 jobs')
    """
    space = "" if unit.text == "%" else " "
    text = unit.text.removesuffix("s") if number == "1" and unit.is_count else unit.text
    return f"{number}{space}{text}".rstrip()


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
    >>> ends(1e-9, 0.002709, unit("ms"))  # beside its high end the low one is zero
    '0 to 2.709'
    """
    low = 0.0 if math.isfinite(high) and abs(low) < _NOTHING * abs(high) else low
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
    value, error = settled(value), settled(error)
    last = 1 - power_of_ten(error)
    places = max(0, last)
    if places > 6 or abs(value) >= 1e7:
        return with_unit(f"{four_digits(value)} ± {error:.2g}", unit)
    tens = min(0, last)  # of an error of 1234 the last two digits are not significant
    both = (
        grouped(f"{round(each, tens):.{places}f}" if tens else f"{each:.{places}f}")
        for each in (value, error)
    )
    return with_unit(" ± ".join(both), unit)


def to_error(value: float, error: float, unit: Unit) -> str:
    """Write a value to the digits that its error leaves, without the error.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> to_error(0.00065432, 0.0000123, unit("us")), to_error(0.0127048, float("inf"), unit("ms"))
    ('654 us', '12.7 ms')
    """
    number, known, _ = with_error(value, error, unit).partition(" ± ")
    return with_unit(number, unit) if known else number


def slope_unit(output: Unit, by: Unit, slope: float) -> Unit:
    """The usual unit of a slope: ms per 1,000 op/s.

    Parameters
    ----------
    output, by
        Units of the quantity that changes and of the quantity it changes with.
    slope
        SI value of the slope: it determines how many of the latter are taken.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> in_unit(3e-9, slope_unit(unit("ms"), unit("op/s"), 3e-9))
    '3'
    >>> str(slope_unit(unit("ms"), unit("op/s"), 3e-7)), str(slope_unit(unit("ms"), unit("s"), 5.0))
    ('ms per 1,000 op/s', 'ms per s')
    """
    one = settled(abs(slope) * by.scale / output.scale)
    thousands = 0 if not by.text or not 0 < one < _SLOPE else 1
    while thousands and one * 1000.0**thousands < _SLOPE and thousands < _MOST:
        thousands += 1
    times = 1000.0**thousands
    below = " ".join([f"{times:,.0f}"] * (thousands > 0 or not by.text) + [by.text] * bool(by.text))
    dimension = tuple(a - b for a, b in zip(output.dimension, by.dimension, strict=True))
    return Unit(f"{output.text} per {below}".strip(), output.scale / by.scale / times, dimension)  # type: ignore[arg-type]
