"""Open, closed and mixed networks of several classes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray, plain
from headway.queueing.classes.fcfs import (
    is_exact,
    mean_service_ahead,
    open_region,
    refuse_mixed,
    refuse_never_served,
    refuse_speeds,
    refuse_unmeasured,
    returning_waits,
    spread_waits,
)
from headway.queueing.classes.lengths import Lengths
from headway.queueing.classes.methods import growth_alone, solve_closed_classes
from headway.queueing.classes.ordered import solve_ordered
from headway.queueing.closed.measured import open_note
from headway.queueing.network.names import Method
from headway.queueing.network.network import (
    JobClass,
    Network,
    Saturation,
    SharedStation,
    read_network,
)
from headway.queueing.network.overload import Overload, find_overload, refuse_overload, without
from headway.queueing.network.product_form import last_in_pools, ranked, turns_at, unequal
from headway.queueing.network.result import Result
from headway.queueing.network.routing import Routing
from headway.queueing.orders.measured import last_note
from headway.queueing.stations.speeds.varying import work_at


def solve_multiclass(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    method: Method = Method.AUTO,
    saturation: Saturation = Saturation.REFUSE,
    ways: Routing | None = None,
) -> Result:
    """Solve a network of several classes, each of them open or closed.

    Open classes take their share of every server first; closed ones circulate in what is
    left: exact for product-form networks (BCMP), single servers and pools alike.

    Parameters
    ----------
    stations
        Stations with service times and visits by class.
    classes
        Classes, in the same order.
    method
        ``exact`` walks the lattice of populations. ``recal`` (whose work depends on the number
        of jobs and stations, not of classes) and ``quadrature`` (few stations) are exact, too,
        for single servers and delays; pools are convolved. ``schweitzer`` and ``linearizer``
        are approximate. ``auto`` takes the exact one estimated fastest, unless all need more
        than 1 GB or much time. ``chain`` goes through all states, and is what small
        networks without a product form are solved by.
    saturation
        ``refuse`` raises where open classes saturate a station; ``mark`` answers all other
        points, and says in `saturated` which were not. At a saturated point the classes that
        need a full station have infinite response times there; closed ones among them come to
        rest (throughput 0), being served ever more slowly beside an endless queue. Everybody
        else is answered as though all that open classes offer reached the other stations.

    ways
        How jobs go between stations, where that is known: small closed networks that have no
        product form are then solved exactly, state by state.

    Returns
    -------
    Result over the broadcast shape of all arrays.

    Raises
    ------
    Saturated
        With ``refuse``, for open classes that some station cannot serve, with its name and
        limit.
    GraphError, InvalidParameter
        For what is no network, or a lattice too large for ``exact``.

    Examples
    --------
    >>> cpu = SharedStation("cpu", service_times=(0.1, 0.2), visits=(1, 1))
    >>> web = JobClass("web", arrival_rate=5.0)
    >>> batch = JobClass("batch", population=1)
    >>> solution = solve_multiclass([cpu], [web, batch])
    >>> solution.throughput.round(12).tolist(), solution.utilisation[0].round(12).tolist()
    ([5.0, 2.5], [0.5, 0.5])

    References
    ----------
    Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975; Lazowska et al., *Quantitative
    System Performance*, 1984, chapter 7.
    """
    network = read_network(stations, classes, ways)
    overload = find_overload(network)
    if Saturation(saturation) is Saturation.REFUSE:
        refuse_overload(overload)
    if ranked(network).any():
        return _by_priority(network, overload, Method(method))
    load, unlike = overload.sustained, unequal(network)
    refuse_speeds(network, unlike)
    refuse_mixed(network)
    refuse_never_served(network)
    closed = ~network.is_open
    result = Lengths.without_jobs(growth_alone(network, load))
    if closed.any():
        result = solve_closed_classes(without(network, overload), load, Method(method))
    rate, queue = network.rates.copy(), np.zeros(network.demand.shape)
    rate[closed], queue[closed] = result.throughput, result.queue_length
    stay = _open_stay(network, result, queue, unlike)
    queue[~closed] = (network.rates[:, None] * network.visits * stay)[~closed]
    note = result.approximation
    if not note and result.open_stay is None:
        note = _in_order(network, unlike, overload)
    if result.method is not Method.CHAIN:
        note = "; ".join(filter(None, (note, last_note(last_in_pools(network)))))
    labelled = replace(result, approximation=note)
    return _solution(network, labelled, rate, queue, overload)


def _by_priority(network: Network, overload: Overload, method: Method) -> Result:
    ordered = solve_ordered(network, overload, method)
    queue = ordered.queue
    if queue is None:
        queue = ordered.rate[:, None] * network.visits * ordered.stay
    none = Lengths.without_jobs(np.ones(network.servers.shape))
    result = replace(none, method=ordered.method, approximation=ordered.approximation)
    return _solution(network, result, ordered.rate, queue, overload)


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
    """Label open classes of different times at queues in order of arrival."""
    if not unlike.any() or not network.is_open.any() or is_exact(network, unlike):
        return ""
    refuse_unmeasured(network, unlike)
    return open_note(turns_at(network), open_region(network, overload.load / network.full))


def _solution(
    network: Network,
    result: Lengths,
    rate: FloatArray,
    queue: FloatArray,
    overload: Overload,
) -> Result:
    """Everything else from throughputs and queue lengths, by the operational laws."""
    stuck = overload.stuck
    queue = _with_stuck(network, overload, queue)
    through = network.visits * rate[:, None]
    some = through > 0
    # Who is there and is never served stays for ever.
    unserved = np.where(queue > 0, np.inf, network.service_times)
    per_visit = np.where(some, queue / np.where(some, through, 1.0), unserved)
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
    """Utilisation by class and station: where speeds vary, of the servers that work."""
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
    """Open queues without end at full stations, and closed jobs that never leave them."""
    stuck = overload.stuck
    here = np.where(stuck.sum(axis=1, keepdims=True) > 1, np.nan, network.population[:, None])
    open_queue = np.where(network.rates[:, None] > 0, np.inf, 0.0)
    endless = np.where(network.is_open[:, None, None], open_queue, here)
    return np.where(stuck, endless, queue)
