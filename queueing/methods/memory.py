"""How much memory an exact solution may take, and what is said where it needs more."""

from collections.abc import Callable, Sequence
from math import prod

from headway.errors import InvalidParameter
from headway.numerals import four_digits

LARGEST = 1e9  # bytes that an exact solution may take


def check_memory(sizes: Sequence[int], needed: float, instead: Callable[[], str] = str) -> None:
    """Refuse a lattice that needs more memory than `LARGEST`, with its size and the remedy.

    Parameters
    ----------
    sizes
        N_c + 1 for each class.
    needed
        Memory the method needs [B].
    instead
        Says which other exact method would do, if asked.

    Raises
    ------
    InvalidParameter
        If that is too much.

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
