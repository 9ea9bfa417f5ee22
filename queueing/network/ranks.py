"""Priorities of classes."""

from headway.errors import InvalidParameter
from headway.numerals import digits


def check_priority(name: str, priority: float) -> None:
    """Refuse a priority that is not a whole number from 1.

    Raises
    ------
    InvalidParameter
        With the name of the class.
    """
    if not (priority >= 1 and priority == int(priority)):
        msg = (
            f"class {name}: priority is {digits(priority)}; it must be a whole number, 1 for "
            "the class served first"
        )
        raise InvalidParameter(msg)
