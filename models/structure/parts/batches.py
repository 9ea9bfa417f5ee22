"""Sizes of batches of arrivals, given by formulas."""

from collections.abc import Mapping

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.formula import Formula
from headway.queueing.flows.batch_sizes import BatchSizes
from headway.records import dataclass

MEAN = "mean"
"""The key of the mean of geometric sizes."""


@dataclass(frozen=True)
class Batch:
    """Sizes of batches, with a formula for each of their numbers.

    Parameters
    ----------
    numbers
        Probabilities by size; or the constant size, by ""; or the mean of geometric sizes, by
        ``mean``.

    Raises
    ------
    GraphError
        For a key that is none of these.
    """

    numbers: tuple[tuple[str, Formula], ...]

    def __post_init__(self) -> None:
        keys = [key for key, _ in self.numbers]
        if keys in ([""], [MEAN]):
            return
        for key in keys:
            if not (key.isascii() and key.isdigit()):
                msg = (
                    f"batch has the key {key!r}; give a whole number, {{ mean = 4 }} for geometric "
                    "sizes, or sizes with probabilities such as { 1 = 0.5, 2 = 0.5 }"
                )
                raise GraphError(msg)
        if len(set(map(int, keys))) < len(keys):
            raise GraphError("batch gives a size twice; give each size once")

    @property
    def names(self) -> frozenset[str]:
        """Names in its formulas."""
        return frozenset[str]().union(*(read.names for _, read in self.numbers))

    @property
    def text(self) -> str:
        """The sizes as people write them: ``4``, ``mean 4``, or ``1: 0.5, 2: 0.5``."""
        texts = [read.text if not key else f"{key} {read.text}" for key, read in self.numbers]
        if self.numbers[0][0] in ("", MEAN):
            return texts[0]
        return ", ".join(f"{key}: {read.text}" for key, read in self.numbers)

    def evaluate(self, values: Mapping[str, Amount]) -> BatchSizes:
        """The sizes at all operating points.

        Raises
        ------
        GraphError
            For probabilities that differ between points.
        InvalidParameter
            For sizes and probabilities outside their domain.
        """
        found = {key: read.evaluate(values) for key, read in self.numbers}
        if "" in found:
            return BatchSizes(constant=found[""])
        if MEAN in found:
            return BatchSizes(geometric=found[MEAN])
        if any(np.size(chance) > 1 for chance in found.values()):
            msg = "probabilities of the sizes of batches are the same at all points; give numbers"
            raise GraphError(msg)
        chances = ((int(key), float(np.ravel(chance)[0])) for key, chance in found.items())
        return BatchSizes(tuple(sorted(chances)))
