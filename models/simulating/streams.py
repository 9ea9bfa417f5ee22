"""Arrivals from outside for a simulation: single or in batches, at random, by trace or by rates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum, inf

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, FloatArray, check_domain
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import batch_at, scv_at
from headway.queueing.flows.batch_sizes import BatchSizes

SPREAD_ARRIVALS = (
    "times between arrivals do not depend on each other; with an scv below 1 they are "
    "gamma-distributed, above 1 hyperexponential with balanced means"
)


BATCHES = "a batch comes in at one station, all its jobs at the same time"
TRACED = "times between arrivals are those of a trace, in its order, and again from its start"
CHANGING = "rates of arrivals change with time; answers are averages over whole periods"


@dataclass(frozen=True)
class RateTable:
    """A rate of arrivals that changes with time, and repeats.

    Between two changes arrivals are Poisson; the integral of the rate between two of them is
    exponential, of mean 1, wherever it changes in between.

    Parameters
    ----------
    starts
        When each rate begins [s]: at 0 first, and later each time.
    rates
        Of arrivals, from then on [1/s].
    period
        After which the table begins anew [s], longer than the last start.

    Raises
    ------
    InvalidParameter
        For other numbers, and for rates that are all zero.

    Examples
    --------
    >>> RateTable((0.0, 1.0), (2.0, 8.0), 3.0).mean
    6.0
    """

    starts: tuple[float, ...]
    rates: tuple[float, ...]
    period: float

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.rates) or not self.starts:
            msg = f"{len(self.rates)} rates of arrivals for {len(self.starts)} times; give as many"
            raise InvalidParameter(msg)
        if self.starts[0] != 0 or not all(np.diff(self.starts) > 0):
            raise InvalidParameter("times of rates must begin with 0, and only grow")
        if not self.starts[-1] < self.period < inf:
            msg = "the period of rates must be finite, and longer than the last of their times"
            raise InvalidParameter(msg)
        rates = np.array(self.rates)
        check_domain("rate of arrivals", rates, lambda r: (r >= 0) & (r < inf), "0 or more")
        if not rates.any():
            raise InvalidParameter("rates of arrivals are all zero, so nobody comes; give one more")

    @property
    def mean(self) -> float:
        """Over a period [1/s]."""
        lengths = np.diff([*self.starts, self.period])
        return fsum(np.array(self.rates) * lengths) / self.period

    def times(self, factor: float) -> "RateTable":
        """The same with each rate that many times as large."""
        return replace(self, rates=tuple(factor * rate for rate in self.rates))


@dataclass(frozen=True)
class Stream:
    """Arrivals at a station, by position, with their own interarrival times.

    Parameters
    ----------
    station
        Where jobs come in; -1 where their class says so.
    rate
        Of jobs [1/s], on average.
    scv
        Of the times between arrivals, or between batches.
    batch
        How many jobs come together; None for single ones.
    gaps
        Times between arrivals that are played in this order, then again from the first [s].
    changing
        Rates by time.
    """

    station: int
    rate: float
    scv: float
    batch: BatchSizes | None = None
    gaps: tuple[float, ...] = ()
    changing: RateTable | None = None

    @property
    def burst(self) -> float:
        """How much the number of arrivals in a long time varies, over that of a Poisson flow.

        Batches of X jobs whose gaps have scv c: c E[X] + Var[X] / E[X].
        """
        if self.batch is None:
            return self.scv
        mean = float(self.batch.mean)
        return self.scv * mean + float(self.batch.second) / mean - mean

    @property
    def cycle(self) -> float:
        """Time after which arrivals repeat [s]; 0 where they do not."""
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
        The total rate [1/s], and the probability to enter at each station, shape (stations,).
    values
        The graph's numbers.
    own
        The scv of arrivals at stations whose kind says it; what the graph says goes before.
    """
    scvs = {**own} | {name: float(scv_at(name).of(values)) for name in graph.arrival_scvs}
    batches = {name: batch_at(name).of(values) for name in graph.arrival_batches}
    if set(scvs.values()) <= {1.0} and not batches:
        return ()
    shares = zip(graph.stations, entry.tolist(), strict=True)
    return tuple(
        Stream(k, rate * share, scvs.get(name, 1.0), batches.get(name))
        for k, (name, share) in enumerate(shares)
        if share
    )
