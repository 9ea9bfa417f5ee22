"""Marks of a solution: its method, approximation and saturation."""

import numpy as np
from numpy.typing import NDArray

from headway.queueing.methods.registry import approximates
from headway.records import dataclass

DRIVEN = "throughput-driven"
"""Method of a closed network whose think time follows from a measured throughput."""

QNA = "qna"
"""Method of an open network through which the variability of arrivals is propagated."""


APPROXIMATE = "approximate"
"""Method of a closed network that an exact method solves only approximately, as its label says."""


def method_shown(used: str, approximation: str) -> str:
    """The name of an answer's method; an approximate answer never has the name of an exact one.

    Parameters
    ----------
    used
        The method that solved the network.
    approximation
        What is not exact about the answer, in words; empty if it is exact.

    Examples
    --------
    >>> from headway.queueing import Method
    >>> method_shown(Method.EXACT, ""), method_shown(Method.EXACT, "cpu: first come first served")
    ('exact', 'approximate')
    """
    return APPROXIMATE if approximation and not approximates(str(used)) else str(used)


@dataclass(frozen=True)
class Marks:
    """Method, approximation and saturation of a solution.

    Parameters
    ----------
    method
        ``open``, `QNA`, the method for closed networks, `APPROXIMATE`, or `DRIVEN`.
    approximation
        A note on its approximation; empty if it is exact.
    saturated
        One boolean per point, set by solvers of several classes; None if utilisations decide.
    overload
        The problem at the first saturated point, in one line.
    unsolved
        Why the first unknown point has no answer, in one line; empty if all have one.
    is_quick
        Whether the method solves hundreds of points in a fraction of a second, so that curves
        and tables can have many.
    again
        The method to ask for in order to solve further points in the same way.
    """

    method: str = "open"
    approximation: str = ""
    saturated: NDArray[np.bool_] | None = None
    overload: str = ""
    unsolved: str = ""
    is_quick: bool = True
    again: str = "auto"
