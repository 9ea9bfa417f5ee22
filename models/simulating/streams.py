"""Arrivals from outside for a simulation: single or in batches, Poisson, by trace or by rates."""

from collections.abc import Mapping
from math import fsum

from headway.kinds import Amount, FloatArray
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import batch_at, scv_at
from headway.queueing.flows.batch_sizes import BatchSizes
from headway.queueing.flows.courses import RateTable, Trace
from headway.records import dataclass

SPREAD_ARRIVALS = (
    "times between arrivals do not depend on each other; with an scv below 1 they are "
    "gamma-distributed, above 1 hyperexponential with balanced means"
)


BATCHES = "a batch comes in at one station, all its jobs at the same time"
TRACED = "times between arrivals are those of a trace, in its order, repeated from the start"
CHANGING = "rates of arrivals change with time; answers are averages over whole periods"


@dataclass(frozen=True)
class Stream:
    """Arrivals at a station, by position, with their own interarrival times.

    Parameters
    ----------
    station
        Position of the station where jobs enter; -1 where their class decides it.
    rate
        Mean arrival rate of jobs [1/s].
    scv
        The scv of the times between arrivals, or between batches.
    batch
        How many jobs come together; None if they come singly.
    gaps
        Times between arrivals, played in this order and then again from the first [s].
    changing
        Rates that follow time.
    """

    station: int
    rate: float
    scv: float
    batch: BatchSizes | None = None
    gaps: tuple[float, ...] = ()
    changing: RateTable | None = None

    @property
    def burst(self) -> float:
        """Variance of the number of arrivals in a long time over that of a Poisson flow.

        Batches of X jobs whose gaps have scv c: c E[X] + Var[X] / E[X].
        """
        if self.batch is None:
            return self.scv
        mean = float(self.batch.mean)
        return self.scv * mean + float(self.batch.second) / mean - mean

    @property
    def cycle(self) -> float:
        """Time after which arrivals repeat [s]; 0 if they do not."""
        return self.changing.period if self.changing is not None else fsum(self.gaps)


def streams_of(
    graph: ModelGraph,
    rate: float,
    entry: FloatArray,
    values: Mapping[str, Amount],
    own: Mapping[str, float],
) -> tuple[Stream, ...]:
    """Arrivals from outside by station; empty if all are Poisson and form one flow.

    Parameters
    ----------
    graph
        A graph whose arrivals may have an scv.
    rate, entry
        The total rate [1/s], and the probability of entering at each station, shape (stations,).
    values
        The graph's numbers.
    own
        The scv of arrivals at stations whose kind sets it; the graph's own takes precedence.
    """
    scvs = {**own} | {name: float(scv_at(name).of(values)) for name in graph.arrival_scvs}
    batches = {name: batch_at(name).of(values) for name in graph.arrival_batches}
    courses = rate > 0 and bool(graph.arrival_courses)
    if set(scvs.values()) <= {1.0} and not (batches or courses):
        return ()
    shares = zip(graph.stations, entry.tolist(), strict=True)
    return tuple(
        _stream(graph, k, name, rate * share, scvs.get(name, 1.0), batches.get(name))
        for k, (name, share) in enumerate(shares)
        if share
    )


def _stream(
    graph: ModelGraph, k: int, name: str, rate: float, scv: float, batch: BatchSizes | None
) -> Stream:
    course = graph.arrival_courses.get(name)
    if isinstance(course, Trace):
        return Stream(k, rate, scv, gaps=course.gaps)
    return Stream(k, rate, scv, batch, changing=course)
