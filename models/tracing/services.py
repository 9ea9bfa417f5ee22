"""Services found in traces: what their entries do, their threads, and the rates of each load."""

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from headway.errors import MeasurementError, quoted
from headway.models.measured.spans.columns import Spans
from headway.models.tracing.keys import Key, Keyed, keyed
from headway.models.tracing.measured import Measured, measured_of
from headway.models.tracing.metrics import Metrics
from headway.models.tracing.peers import orphans_of, peers_of
from headway.models.tracing.pools import Pool
from headway.models.tracing.processors import ProcessorTime, processor_times
from headway.models.tracing.requests import Requests, requests_of
from headway.models.tracing.spread import stated_error
from headway.models.tracing.threads import Growth, threads_of
from headway.records import dataclass

MOST_OUTSIDE = 500
"""Operations that are asked for from outside: layers take some 10 s for so many."""


@dataclass(frozen=True)
class Load:
    """A load as the traces show it.

    Parameters
    ----------
    name, traces, sampled
        The name of its file, the number of traces, and the share that was kept.
    window
        Time from the first request to the last [s].
    rate
        Rate of all requests from outside [1/s]; 0 for a single request, or if all came at once.
    shares
        Shares of these requests, by entry.
    response_time, error
        Mean over all requests from outside, and its error, of which 1.96 are its interval [s].
    """

    name: str
    traces: int
    sampled: float
    window: float
    rate: float
    shares: Mapping[Key, float]
    response_time: float
    error: float

    @property
    def rates(self) -> dict[Key, float]:
        """Requests from outside by entry [1/s]."""
        return {key: share * self.rate for key, share in self.shares.items()}


@dataclass(frozen=True)
class Services:
    """Everything that was found in traces.

    Parameters
    ----------
    entries
        Entries by key, callers first if there is an order.
    pools, processors
        Threads of each service, and servers of the processors of those whose work stretches.
    loads
        Loads in the order of their rates.
    requests
        The requests in which they were found, in the same order.
    orphans
        Requests that began traces of their own and that a peer must have made: their number per
        call of the peer, by entry.
    within, doubted
        Entries that only begin traces: those called by a peer, and those that may be.
    numbered
        Keys by their numbers in stages.
    growing
        Services whose work differs between loads without an explanation.
    piling
        Services whose requests wait longer and longer in a load known in part, and that load.
    processor_times
        Processor time per request of the services that have metrics.
    """

    entries: Mapping[Key, Measured]
    pools: Mapping[str, Pool]
    processors: Mapping[str, Pool]
    loads: tuple[Load, ...]
    requests: tuple[Requests, ...]
    orphans: Mapping[Key, float]
    within: tuple[Key, ...]
    doubted: tuple[Key, ...]
    numbered: tuple[Key, ...]
    growing: Mapping[str, Growth]
    piling: Mapping[str, str]
    processor_times: Mapping[str, ProcessorTime]

    def asked(self, entry: Measured) -> set[Key]:
        """Entries whose answer an entry waits for."""
        return {
            self.numbered[number]
            for block in entry.doing.blocks
            for stage in block.stages
            for number in stage.callees
        }


def services_of(
    loads: Sequence[Spans],
    sampled: Mapping[str, float] | None = None,
    metrics: Metrics | None = None,
) -> Services:
    """Find services in the spans of one load or several.

    Parameters
    ----------
    loads
        Loads from `headway.models.reading.traces.read_loads`.
    sampled
        Share of traces that were kept, by load, if the spans do not say it; above 0, at most 1.
    metrics
        Metrics of processors, if there are any.

    Raises
    ------
    MeasurementError
        For traces of which none begins in a service, and for too many operations that are asked
        for from outside.
    """
    requests = [requests_of(spans) for spans in loads]
    shares = [(sampled or {}).get(each.load, each.sampled) for each in requests]
    table = keyed(requests, shares)
    _check_few(table)
    threads = threads_of(table)
    entries = measured_of(table, threads)
    times = {} if metrics is None else processor_times(table, entries, metrics)
    orphans = orphans_of(table)
    peers, pools = peers_of(table, threads.callers)
    entries |= peers
    found = tuple(_load(table, k) for k in range(len(table.loads)))
    if not any(load.shares for load in found):
        msg = "no trace begins in a service: all parents of its first spans are missing"
        raise MeasurementError(msg)
    return Services(
        entries,
        {**threads.pools, **pools},
        threads.processors,
        found,
        table.loads,
        orphans,
        table.within,
        table.doubted,
        table.keys,
        threads.growing,
        threads.piling,
        times,
    )


def _check_few(table: Keyed) -> None:
    outside = np.unique(table.key[table.outside])
    if len(outside) > MOST_OUTSIDE:
        operation = quoted(table.operation_of(table.keys[outside[0]]))
        msg = (
            f"{len(outside):,} operations are asked for from outside, such as {operation}: more "
            f"than the {MOST_OUTSIDE} of a model; name spans by routes, without what is in a "
            "request"
        )
        raise MeasurementError(msg)


def _load(requests: Keyed, k: int) -> Load:
    """Rates and response times of a load, for requests from outside."""
    each, share = requests.loads[k], requests.shares[k]
    rows = (requests.load == k) & requests.outside
    times = (requests.end - requests.start)[rows]
    counts = np.bincount(requests.key[rows])
    rate = max(len(times) - 1, 0) / (each.window or inf) / share
    return Load(
        each.load,
        len(np.unique(each.trace)),
        share,
        each.window,
        rate,
        {requests.keys[n]: float(counts[n]) / len(times) for n in np.flatnonzero(counts).tolist()},
        float(times.mean()) if len(times) else inf,
        stated_error(times, requests.trace[rows]),
    )
