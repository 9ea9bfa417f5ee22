"""The distributions of the number of jobs and of waits, for every kind of station."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headway.errors import GraphError
from headway.kinds import Quantity, number
from headway.queueing.stations.abilities import InSearches, ServiceKind

if TYPE_CHECKING:
    from headway.queueing.numbers.laws import NumberLaw
    from headway.queueing.numbers.waits import WaitLaw


class Counted(InSearches):
    """A station's laws at one arrival rate, below saturation.

    Kinds with a product form get them from how they serve; others define or refuse them.
    """

    lawless: ClassVar[str]
    service_time: Quantity | str

    @property
    def label(self) -> str:
        """Its name in messages: its kind."""
        return type(self).__name__

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return 1

    @property
    def mean_service(self) -> float:
        """Mean service time [s], if it is a number."""
        return float(np.asarray(number("service_time", self.service_time), float))

    @property
    def plain_count(self) -> float:
        """Number of servers m, if it is a number."""
        return float(np.asarray(self.count, float))

    @property
    def plain_scv(self) -> float | None:
        """Scv of service times, if it is a number; None if two moments do not determine them."""
        scv = self.can.service_scv
        value = getattr(self, scv) if isinstance(scv, str) else scv
        return None if value is None else float(np.asarray(number("scv", value), float))

    def number_law(self, arrival_rate: float, again: float = 0.0) -> "NumberLaw":
        """Distribution of the number of jobs.

        Parameters
        ----------
        arrival_rate
            Arrival rate of new jobs, below saturation [1/s].
        again
            Probability of returning at once, for kinds that have a law of their own for it.

        Raises
        ------
        GraphError
            For a kind whose number of jobs has no known law.
        """
        from headway.queueing.numbers.laws import delayed, served, side_by_side

        arrival_rate = arrival_rate / (1 - again)
        time, count, kind = self.mean_service, int(self.plain_count), self.can.product_form
        if kind is ServiceKind.DELAY:
            return delayed(arrival_rate * time)
        if kind is ServiceKind.QUEUE:
            return served(count, arrival_rate * time)
        if kind is ServiceKind.PARALLEL:
            return side_by_side(count, arrival_rate * time / count)
        raise self._unknown("the number of jobs at")

    def wait_law(self, arrival_rate: float) -> "WaitLaw":
        """Law of the wait before service, first come, first served; refused if unknown."""
        from headway.queueing.numbers.laws import served
        from headway.queueing.numbers.waits import NO_WAIT, exponential_wait

        time, count, kind = self.mean_service, int(self.plain_count), self.can.product_form
        if kind is ServiceKind.DELAY:
            return NO_WAIT
        if kind in {ServiceKind.QUEUE, ServiceKind.PARALLEL}:
            rate = arrival_rate / count if kind is ServiceKind.PARALLEL else arrival_rate
            pool = 1 if kind is ServiceKind.PARALLEL else count
            law = served(pool, rate * time)
            return exponential_wait(law.waits, time / (pool - rate * time))
        raise self._unknown("the waiting time at")

    def _unknown(self, what: str) -> GraphError:
        kind = self.label
        return GraphError(f"{what} {kind} has no known distribution: {self.lawless}")
