"""Priorities of classes."""

from headway.errors import InvalidParameter
from headway.numerals import digits


def check_priority(name: str, priority: float) -> None:
    """Refuse a priority of a class that is no whole number of 1 or more.

    Raises
    ------
    InvalidParameter
        Naming the class.
    """
    if not (priority >= 1 and priority == int(priority)):
        msg = (
            f"class {name}: priority is {digits(priority)}; it must be a whole number, 1 for "
            "the class served first"
        )
        raise InvalidParameter(msg)
