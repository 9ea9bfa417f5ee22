"""What a load over time gives: answers of each period, of the worst part, and of the whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from headway.kinds import FloatArray
from headway.models.tables.shown import Answer
from headway.queueing.transient.autoscaler import Autoscaler
from headway.queueing.transient.drain import Drain

if TYPE_CHECKING:
    from headway.models.structure.model import Model


@dataclass(frozen=True)
class Periods:
    """Answers of periods one after another, an array each; NaN where unknown.

    Parameters
    ----------
    starts, ends
        [s], in the day's own time.
    arrival_rate, throughput
        Jobs that come, and that are done [1/s].
    response_time
        Mean of those that come in a period [s].
    queue_length, utilisation
        On average: jobs there, and share of the servers that is busy (of the busiest station).
    loss_probability
        Share of arrivals that find no room.
    servers
        Servers of the only queue, on average.
    percentiles
        Of the response time of those that come in a period [s], by percent.
    over_target
        Share of them that takes longer than the target.
    replicas
        That an autoscaler asks for, on average.
    clients
        Where clients give up, outputs of theirs by name, as goodput [1/s]; else none.
    """

    starts: FloatArray
    ends: FloatArray
    arrival_rate: FloatArray
    throughput: FloatArray
    response_time: FloatArray
    queue_length: FloatArray
    utilisation: FloatArray
    loss_probability: FloatArray
    servers: FloatArray
    percentiles: dict[float, FloatArray]
    over_target: FloatArray | None = None
    replicas: FloatArray | None = None
    clients: Mapping[str, FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True)
class Scaling:
    """What an autoscaler did over a time, and what it needs.

    Parameters
    ----------
    law
        The autoscaler.
    times, replicas, low, high
        Replicas asked for from these times on [s]: their mean, and what 5 and 95 of 100 days do
        not exceed.
    changes
        How often their number changes.
    over
        For how long its looks see the metric above its target and its tolerance [s].
    growth
        How many times as high the load is at most by the time that replicas are there for it.
    needless
        How often replicas were removed only to be added again for no more load: oscillation.
    cost
        Of all replicas.
    """

    law: Autoscaler
    times: FloatArray
    replicas: FloatArray
    low: FloatArray
    high: FloatArray
    changes: float
    over: float
    growth: float
    needless: float
    cost: float

    @property
    def room(self) -> float:
        """The highest target of a utilisation at which the load may grow so, without saturation."""
        return 1 / (self.growth * (1 + self.law.tolerance))


_UNNAMED = ("percentiles", "clients", "starts", "ends")  # of periods: no numbers by this name


@dataclass(frozen=True)
class Timeline(Answer):
    """A model over a load that follows time.

    Parameters
    ----------
    model
        The model.
    periods
        Answers by period.
    day
        The same of the whole, as one period.
    worst
        Of the part with the longest mean response time; a minute of a day.
    method
        The method that answered.
    approximation
        What is approximate, and by how much; empty if nothing is.
    target
        Response time that is to be kept [s]; None where none was given.
    start
        Jobs at the start; None for a steady state.
    drained
        The law of the time until a backlog is gone; None where there is none to speak of.
    time_over
        For how long the mean response time exceeds the target, by minutes or shorter parts [s].
    scaling
        What an autoscaler did; None where there is none.
    cost
        Of the whole day; None where none was asked for.
    notes
        What else is to be known.
    """

    model: "Model"
    periods: Periods
    day: Periods
    worst: Periods
    method: str
    approximation: str = ""
    target: float | None = None
    start: int | None = None
    drained: Drain | None = None
    time_over: float | None = None
    scaling: Scaling | None = None
    cost: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def over_target(self) -> float:
        """Share of the whole day's requests that takes longer than the target; NaN without one."""
        share = self.day.over_target
        return float("nan") if share is None else float(share[0])

    def __getitem__(self, name: str) -> FloatArray:
        """A number of each period by name.

        Raises
        ------
        KeyError
            For another name.
        """
        if name in self.periods.clients:
            return np.asarray(self.periods.clients[name])
        if name in _UNNAMED or not hasattr(self.periods, name):
            raise KeyError(name)
        return np.asarray(getattr(self.periods, name))
