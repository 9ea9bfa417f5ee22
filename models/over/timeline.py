"""Answers of a model over time: for each period, the worst part, and the whole."""

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
    """Answers for consecutive periods, in one array for each quantity; NaN where unknown.

    Parameters
    ----------
    starts, ends
        When each period starts and ends, in the day's own time [s].
    arrival_rate, throughput
        Arrivals and completions [1/s].
    response_time
        Mean response time of jobs that arrive in a period [s].
    queue_length, utilisation
        Time averages: number of jobs in the system, and utilisation of the busiest station.
    loss_probability
        Share of arrivals that find no room.
    servers
        Mean number of servers of the only queue.
    percentiles
        Percentiles of the response time of jobs that arrive in a period [s], by percent.
    over_target
        Share of these jobs that take longer than the target.
    replicas
        Mean number of replicas that an autoscaler asks for.
    clients
        Where clients give up, their outputs by name, such as goodput [1/s]; otherwise empty.
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
    """What an autoscaler did over a time, and the room that it needs.

    Parameters
    ----------
    law
        The autoscaler.
    times, replicas, low, high
        Replicas asked for from each time on [s]: their mean, and the numbers that 5% and 95% of
        days do not exceed.
    changes
        Number of times that the replicas change.
    over
        How long its looks find the metric above its target by more than the tolerance [s].
    growth
        The largest factor by which the load grows until replicas for it are ready.
    needless
        Number of times that replicas are removed and then added again without more load:
        oscillation.
    cost
        Cost of all replicas.
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
        """The highest utilisation target at which load can grow by `growth` without saturation."""
        return 1 / (self.growth * (1 + self.law.tolerance))


# fields of periods that are not results by name
_UNNAMED = ("percentiles", "clients", "starts", "ends")


@dataclass(frozen=True)
class Timeline(Answer):
    """A model over a load that follows time.

    Parameters
    ----------
    model
        The model.
    periods
        Answers of each period.
    day
        Answers of the whole day, as one period.
    worst
        Answers of the part with the longest mean response time; a minute of a day.
    method
        The method that answered.
    approximation
        What is approximate, and by how much; empty if nothing is.
    target
        Response time to be kept [s]; None where none was given.
    start
        Jobs present at the start; None for a steady state.
    drained
        Law of the time until a backlog has gone; None where there is no backlog.
    time_over
        How long the mean response time exceeds the target, by minutes or shorter parts [s].
    scaling
        What an autoscaler did; None where there is none.
    cost
        Cost of the whole day; None where no cost was asked for.
    notes
        Further notes for the reader.
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
        """Share of the whole day's requests that exceed the target; NaN without a target."""
        share = self.day.over_target
        return float("nan") if share is None else float(share[0])

    def __getitem__(self, name: str) -> FloatArray:
        """A result of each period, by name.

        Raises
        ------
        KeyError
            For an unknown name.
        """
        if name in self.periods.clients:
            return np.asarray(self.periods.clients[name])
        if name in _UNNAMED or not hasattr(self.periods, name):
            raise KeyError(name)
        return np.asarray(getattr(self.periods, name))
