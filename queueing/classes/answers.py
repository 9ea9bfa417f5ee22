"""Results for open and closed classes, from those found for the closed ones."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray, plain
from headway.queueing.classes.fcfs import (
    is_exact,
    mean_service_ahead,
    open_region,
    refuse_unmeasured,
    returning_waits,
    spread_waits,
)
from headway.queueing.classes.lengths import Lengths
from headway.queueing.closed.measured import open_note
from headway.queueing.network.names import Method
from headway.queueing.network.network import (
    Network,
)
from headway.queueing.network.overload import Overload
from headway.queueing.network.product_form import last_in_pools, turns_at, unequal
from headway.queueing.network.result import Result
from headway.queueing.orders.measured import last_note
from headway.queueing.stations.speeds.varying import work_at


def answered(network: Network, overload: Overload, found: Lengths) -> Result:
    """The results of all classes and stations, from those found for the closed classes.

    Parameters
    ----------
    network
        The whole network, including open classes.
    overload
        The stations that open classes saturate.
    found
        Throughputs and queue lengths of the closed classes.
    """
    unlike, closed = unequal(network), ~network.is_open
    rate, queue = network.rates.copy(), np.zeros(network.demand.shape)
    rate[closed], queue[closed] = found.throughput, found.queue_length
    if network.has_open:
        stay = _open_stay(network, found, queue, unlike)
        queue[~closed] = (network.rates[:, None] * network.visits * stay)[~closed]
    note = found.approximation
    if not note and found.open_stay is None:
        note = _in_order(network, unlike, overload)
    if found.method is not Method.CHAIN:
        note = "; ".join(filter(None, (note, last_note(last_in_pools(network)))))
    return laid_out_result(network, replace(found, approximation=note), rate, queue, overload)


def _open_stay(
    network: Network, result: Lengths, queue: FloatArray, unlike: NDArray[np.bool_]
) -> FloatArray:
    """Response time per visit of open classes, shape (classes, stations, points) [s]."""
    if result.open_stay is not None:
        return result.open_stay
    shared = network.service_times * result.open_growth
    if not unlike.any():
        return np.asarray(shared)
    busy = network.rates[:, None] * network.demand
    mean = mean_service_ahead(network, queue, busy)
    waits = (network.demand > 0) * (result.open_growth - 1) * mean
    for k, wait in spread_waits(network).items():
        waits[:, k] = np.where(network.demand[:, k] > 0, wait, 0.0)
    for k, each in returning_waits(network, unlike).items():
        waits[:, k] = np.where(network.demand[:, k] > 0, each, 0.0)
    return np.where(unlike, network.service_times + waits, shared)


def _in_order(network: Network, unlike: NDArray[np.bool_], overload: Overload) -> str:
    """The label for open classes with different times at queues in order of arrival."""
    if not unlike.any() or not network.is_open.any() or is_exact(network, unlike):
        return ""
    refuse_unmeasured(network, unlike)
    return open_note(turns_at(network), open_region(network, overload.load / network.full))


def laid_out_result(
    network: Network,
    result: Lengths,
    rate: FloatArray,
    queue: FloatArray,
    overload: Overload,
) -> Result:
    """All results from throughputs and queue lengths, by the operational laws.

    Parameters
    ----------
    network, result, overload
        As for `answered`; from the result, its method, its approximation and working servers.
    rate, queue
        For all classes, shape (classes, points) [1/s] and (classes, stations, points).
    """
    stuck = overload.stuck
    queue = _with_stuck(network, overload, queue)
    through = network.visits * rate[:, None]
    some = through > 0
    # A job that is present and never served stays for ever.
    unserved = np.where(queue > 0, np.inf, network.service_times)
    per_visit = np.where(some, queue / np.where(some, through, 1.0), unserved)
    if overload.message:
        per_visit = np.where(stuck, np.inf, per_visit)
    busy = _busy(network, result, through * network.service_times, overload)
    went = network.visits > 0
    residence = np.where(went, network.visits * np.where(went, per_visit, 0.0), 0.0)

    def shaped(values: FloatArray) -> Amount:
        return plain(values.reshape((*values.shape[:-1], *network.shape)))

    return Result(
        method=result.method,
        throughput=shaped(rate),
        response_time=shaped(residence.sum(axis=1)),
        utilisation=shaped(busy.swapaxes(0, 1)),
        queue_length=shaped(queue.swapaxes(0, 1)),
        residence_time=shaped(residence.swapaxes(0, 1)),
        station_response_time=shaped(per_visit.swapaxes(0, 1)),
        station_throughput=shaped(through.swapaxes(0, 1)),
        saturated=overload.saturated.reshape(network.shape),
        overload=overload.message,
        approximation=result.approximation,
        offered=shaped(np.where(network.is_delay[:, None], 0.0, overload.load / network.full)),
    )


def _busy(network: Network, result: Lengths, work: FloatArray, overload: Overload) -> FloatArray:
    """Utilisation by class and station; with varying speeds, the share of servers working."""
    busy = np.where(network.is_delay[:, None], 0.0, work / network.full)
    opened = network.is_open
    for k, speeds in network.speeds.items():
        if result.working is None:
            load = work[opened, k].sum(axis=0)
            stable = np.where(load < speeds[-1], load, 0.0)
            closed, each = None, work_at(speeds, stable, network.crews[k])
        else:
            closed, each = result.working[0][:, k], result.working[1][k]
        busy[opened, k] = np.where(overload.full[k], busy[opened, k], work[opened, k] * each)
        if closed is not None:
            busy[~opened, k] = closed
    return busy


def _with_stuck(network: Network, overload: Overload, queue: FloatArray) -> FloatArray:
    """Infinite open queues at saturated stations, and closed jobs that never leave these."""
    if not overload.message:
        return queue
    stuck = overload.stuck
    here = np.where(stuck.sum(axis=1, keepdims=True) > 1, np.nan, network.population[:, None])
    open_queue = np.where(network.rates[:, None] > 0, np.inf, 0.0)
    endless = np.where(network.is_open[:, None, None], open_queue, here)
    return np.where(stuck, endless, queue)
