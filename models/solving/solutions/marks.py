"""What is to be said of a solution beside its numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PACED = "paced"
"""Method of a closed network whose think time follows from a measured throughput."""

QNA = "qna"
"""Method of an open network through which the variability of arrivals is propagated."""


@dataclass(frozen=True)
class Marks:
    """How a solution was found, and what is wrong with it.

    Parameters
    ----------
    method
        ``open``, `QNA`, or the method for closed networks, or `PACED`.
    approximation
        What is not exact about it; empty if nothing is.
    saturated
        A mark a saturated point, where the solver of several classes sets them; None where
        utilisations tell.
    overload
        What is wrong at the first of these points, in one line.
    """

    method: str = "open"
    approximation: str = ""
    saturated: NDArray[np.bool_] | None = None
    overload: str = ""
