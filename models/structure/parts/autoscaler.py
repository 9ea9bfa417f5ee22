"""An autoscaler of a model: which parameter it sets, by which metric, and its numbers."""

from collections.abc import Mapping

from headway.errors import GraphError, InvalidParameter, nearest
from headway.kinds import Amount
from headway.models.language.formula import Formula
from headway.queueing.transient.autoscaler import NUMBERS, Autoscaler
from headway.records import dataclass


@dataclass(frozen=True)
class AutoscalerTerms:
    """An autoscaler with a formula for each number.

    Parameters
    ----------
    scales
        The parameter that is the number of replicas; its value is that at the start of a day.
    metric
        What it looks at.
    numbers
        Formulas by the names of the numbers of `Autoscaler`.

    Raises
    ------
    GraphError
        For a name that is none, and without a target or a maximum.
    """

    scales: str
    metric: str
    numbers: tuple[tuple[str, Formula], ...]

    def __post_init__(self) -> None:
        given = [name for name, _ in self.numbers]
        for name in given:
            if name not in NUMBERS:
                msg = f"the autoscaler has no {name!r}{nearest(name, NUMBERS)}"
                raise GraphError(msg)
        for name in ("target", "maximum"):
            if name not in given:
                msg = f"the autoscaler has no {name}; give it"
                raise GraphError(msg)

    @property
    def names(self) -> frozenset[str]:
        """Names in the formulas."""
        return frozenset[str]().union(*(read.names for _, read in self.numbers))

    def evaluate(self, values: Mapping[str, Amount]) -> Autoscaler:
        """The autoscaler with these values of parameters.

        Raises
        ------
        InvalidParameter
            For numbers outside their domain.
        """
        found = {name: read.evaluate(values) for name, read in self.numbers}
        try:
            numbers = {name: float(value) for name, value in found.items()}
        except TypeError:
            msg = "the autoscaler has one value of each number; give no lists"
            raise InvalidParameter(msg) from None
        return Autoscaler(self.metric, **numbers)
