"""An autoscaler of a model: the parameter that it sets, its metric, and its numbers."""

from collections.abc import Mapping

import numpy as np

from headway.errors import GraphError, InvalidParameter, nearest
from headway.kinds import Amount, FloatArray
from headway.models.language.formula import Formula
from headway.queueing.transient.autoscaler import NUMBERS, Autoscaler
from headway.records import dataclass

SEEN = ("seen", "ready", "replicas")
"""What a user's rule may name besides parameters: the metric, and replicas, ready and in all."""


@dataclass(frozen=True)
class AutoscalerTerms:
    """An autoscaler with a formula for each number.

    Parameters
    ----------
    scales
        The parameter that is the number of replicas; its value is that at the start of a day.
    metric
        The metric that it observes.
    numbers
        Formulas by the names of the numbers of `Autoscaler`.
    rule
        Number of replicas to ask for, a formula of `SEEN` and parameters; None for Kubernetes'
        rule.

    Raises
    ------
    GraphError
        For an unknown name, or without a target or a maximum.
    """

    scales: str
    metric: str
    numbers: tuple[tuple[str, Formula], ...]
    rule: Formula | None = None

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
        """Names in its formulas."""
        own = frozenset[str]() if self.rule is None else self.rule.names - set(SEEN)
        return own.union(*(read.names for _, read in self.numbers))

    def evaluate(self, values: Mapping[str, Amount]) -> Autoscaler:
        """The autoscaler at these values of the parameters.

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
        rule = None if self.rule is None else _OwnRule(self.rule, values)
        return Autoscaler(self.metric, **numbers, rule=rule)


@dataclass(frozen=True)
class _OwnRule:
    """A rule for the number of replicas given by a formula, at these values of the parameters."""

    formula: Formula
    values: Mapping[str, Amount]

    def __call__(self, seen: FloatArray, ready: int, count: int) -> FloatArray:
        """The number of replicas, from the metric, the ready replicas, and all of them."""
        own = dict(zip(SEEN, (seen, float(ready), float(count)), strict=True))
        return np.asarray(self.formula.evaluate({**self.values, **own}), float)
