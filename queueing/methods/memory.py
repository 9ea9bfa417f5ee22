"""The memory that an exact solution may take, and the refusal if it needs more."""

from collections.abc import Callable, Sequence
from math import prod

from headway.errors import InvalidParameter
from headway.numerals import four_digits

LARGEST = 1e9  # largest memory of an exact solution [B]


def check_memory(sizes: Sequence[int], needed: float, instead: Callable[[], str] = str) -> None:
    """Refuse a lattice that needs more memory than `LARGEST`, with its size and the remedy.

    Parameters
    ----------
    sizes
        N_c + 1 for each class.
    needed
        Memory the method needs [B].
    instead
        Returns the name of another exact method that would work, if called.

    Raises
    ------
    InvalidParameter
        If that is more than `LARGEST`.

    Examples
    --------
    >>> check_memory([41, 41, 41], 4.4e6)
    """
    if needed > LARGEST:
        msg = (
            f"method exact needs {four_digits(prod(sizes))} populations "
            f"({four_digits(needed / 1e9)} GB); use method linearizer or schweitzer{instead()}"
        )
        raise InvalidParameter(msg)
