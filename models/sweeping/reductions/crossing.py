"""Layout of points for Sobol indices, so that each block can be reduced separately.

A sample consists of two independent draws A and B of all parameters; the model is solved at A, at
B, and, for each parameter, at A with that parameter from B. All points of a sample are in one
block.

Source: Saltelli et al., *Variance based sensitivity analysis of model output*, 2010; Mara and
Tarantola, *Variance-based sensitivity indices for models with dependent inputs*, 2012.
"""

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.records import dataclass

REPLICATES = 16
"""Independent replicates, whose differences give the error."""

_TURNED = 4
"""Solutions per correlated parameter: A, B, and A with the first or last from B."""


@dataclass(frozen=True)
class Crossing:
    """Positions of the points of samples: blocks of a few samples, one row for each mixture.

    Parameters
    ----------
    parameters
        Number of parameters.
    together
        Whether some are correlated: each then gets its own draws, in which it comes first.
    samples
        Samples of each replicate.
    block
        Points of a block: as many as a sweep solves as one array, or that divided by a power of
        two.

    Raises
    ------
    InvalidParameter
        If a block is too small for the points of a sample.

    Examples
    --------
    >>> crossing = Crossing(4, together=False, samples=1000, block=2048)
    >>> crossing.rows, crossing.width, crossing.blocks, crossing.size
    (6, 341, 3, 98304)
    """

    parameters: int
    together: bool
    samples: int
    block: int

    def __post_init__(self) -> None:
        if self.samples < 2 or self.width < 1:
            msg = (
                f"Sobol indices of {self.parameters} parameters from {self.samples} samples: use "
                f"at least 2 samples, and no more parameters than fit blocks of {self.block} points"
            )
            raise InvalidParameter(msg)

    @property
    def rows(self) -> int:
        """Points of a sample."""
        return _TURNED * self.parameters if self.together else self.parameters + 2

    @property
    def width(self) -> int:
        """Samples of a block."""
        return self.block // self.rows

    @property
    def blocks(self) -> int:
        """Number of blocks of each replicate."""
        return -(-self.samples // self.width)

    @property
    def size(self) -> int:
        """Number of all points, including those that fill up blocks."""
        return REPLICATES * self.blocks * self.block

    def samples_in(self, block: int) -> tuple[int, int, int]:
        """The replicate of a block, its first sample, and the one after its last."""
        replicate, place = divmod(block, self.blocks)
        start = place * self.width
        return replicate, start, min(start + self.width, self.samples)

    def first_rows(self) -> NDArray[np.int64]:
        """Rows A, B and mixed for each parameter's first index, shape (3, parameters)."""
        places = np.arange(self.parameters)
        if self.together:
            return np.stack([_TURNED * places + row for row in range(3)])
        return np.stack([0 * places, 0 * places + 1, places + 2])

    def total_rows(self) -> NDArray[np.int64]:
        """Rows A and mixed for each parameter's total index, shape (2, parameters)."""
        places = np.arange(self.parameters)
        if self.together:  # a parameter is last when the one after it is first
            after = (places + 1) % self.parameters
            return np.stack([_TURNED * after, _TURNED * after + 3])
        return np.stack([0 * places, places + 2])
