"""The solution by class, from that of chains as aggregated classes.

Of the jobs of a chain at station k, class c has the share V_c R_c / sum of V_d R_d, and of its busy
servers V_c S_c / sum of V_d S_d. If jobs share the servers, R_c is in proportion to S_c; if they
wait in order, all classes wait equally long. With a product form this is exact (Baskett, Chandy,
Muntz and Palacios, JACM 22(2), 1975).
"""

from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, plain
from headway.queueing.chains.class_traffic import ClassTraffic, mean_time
from headway.queueing.chains.measured import MergedStations
from headway.queueing.classes.fcfs import refuse_unmeasured
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import (
    comers,
    last_in_pools,
    named,
    turns_at,
    without_form,
)
from headway.queueing.network.result import Result
from headway.queueing.network.turns import OrderedStations


def divided_by_class(traffic: ClassTraffic, whole: Result, network: Network) -> Result:
    """Divide the solution of chains among their classes.

    Parameters
    ----------
    traffic, whole
        The traffic by class, and the solution of its
        `headway.queueing.chains.class_traffic.network_of`.
    network
        The network by class (`headway.queueing.chains.whole_chain.network_by_class`).
    """
    notes = filter(None, (whole.approximation, merged_at(traffic, network).note))
    noted = replace(whole, approximation="; ".join(notes))
    stay, queue, busy = (np.zeros(traffic.visits.shape) for _ in range(3))
    rate = np.zeros(traffic.shares.shape)
    sizes = (len(traffic.stations), traffic.visits.shape[-1])
    for g, group in enumerate(traffic.groups):
        members = list(group)
        rate[members] = np.reshape(whole.throughput[g], -1)
        together = np.reshape(whole.station_response_time[:, g], sizes)
        stay[members] = _response_times(traffic, members, together)
        there = np.reshape(whole.queue_length[:, g], sizes)
        queue[members] = there * _shares(traffic, members, stay[members])
        work = np.reshape(whole.utilisation[:, g], sizes)
        busy[members] = work * _shares(traffic, members, traffic.times[members])
    return assembled(traffic, noted, stay, queue, busy, rate)


def assembled(
    traffic: ClassTraffic,
    whole: Result,
    stay: FloatArray,
    queue: FloatArray,
    busy: FloatArray,
    rate: FloatArray,
) -> Result:
    """Assemble a result by class.

    Parameters
    ----------
    traffic, whole
        The network by class, and the solution that supplies method, saturation and label.
    stay, queue, busy
        Response time of a visit [s], jobs present, and utilisation, shape (classes, stations,
        points).
    rate
        Cycles of each class's chain [1/s], shape (classes, points).
    """
    through = rate[:, None] * traffic.visits
    residence = _residence_times(traffic, stay)
    alone = _residence_times(traffic, traffic.times)
    residence = np.where(traffic.shares[:, None] > 0, residence, alone)

    def shaped(values: FloatArray) -> Amount:
        return plain(values.reshape((*values.shape[:-1], *traffic.shape)))

    return replace(
        whole,
        throughput=shaped(traffic.shares * rate),
        response_time=shaped(residence.sum(axis=1)),
        utilisation=shaped(busy.swapaxes(0, 1)),
        queue_length=shaped(queue.swapaxes(0, 1)),
        residence_time=shaped(residence.swapaxes(0, 1)),
        station_response_time=shaped(stay.swapaxes(0, 1)),
        station_throughput=shaped(through.swapaxes(0, 1)),
    )


def _response_times(traffic: ClassTraffic, members: list[int], together: FloatArray) -> FloatArray:
    """Response time R_c of a visit: S_c + W, or S_c R / S if jobs slow each other down."""
    times, mean = traffic.times[members], mean_time(traffic, members)
    scale = together / np.where(mean > 0, mean, 1.0)
    in_order = np.array([not s.discipline.slows for s in traffic.stations])
    endless = np.isinf(together)
    wait = np.where(endless, np.inf, together - np.where(endless, 0.0, mean))
    grown = np.where(in_order[:, None], times + wait, times * np.where(times > 0, scale, 0.0))
    return np.where((times > 0) & (mean > 0), grown, times)


def _shares(traffic: ClassTraffic, members: list[int], each: FloatArray) -> FloatArray:
    """Share of each class in a group at a station: V_c t_c / sum of V_d t_d, for times t."""
    if len(members) == 1:
        return np.ones(each.shape)
    weights = traffic.counted[members] * np.where(np.isfinite(each), each, traffic.times[members])
    total = weights.sum(axis=0)
    return weights / np.where(total > 0, total, 1.0)


def _residence_times(traffic: ClassTraffic, stay: FloatArray) -> FloatArray:
    """Residence time [s] of cycles begun in each class, shape (classes, stations, points)."""
    begun = traffic.cycles.visits
    times = np.zeros(traffic.visits.shape)
    for c, there in enumerate(stay):
        visits = np.moveaxis(begun[:, :, c], 0, -1)
        times = times + np.where(visits == 0, 0.0, visits * np.where(visits == 0, 0.0, there))
    return times


def merged_at(traffic: ClassTraffic, network: Network) -> MergedStations:
    """Stations where classes of a closed chain meet without a product form, and count as one class.

    Parameters
    ----------
    traffic, network
        As for `divided_by_class`.

    Raises
    ------
    GraphError
        For speeds that depend on the number present, and disciplines without a measured error.
    """
    come = comers(network)
    # longest over shortest mean service time of a chain's classes
    ratios = np.ones(network.servers.shape)
    for chain in map(list, traffic.cycles.chains):
        if not traffic.classes[chain[0]].is_open:
            longest = np.where(come[chain], traffic.times[chain], 0.0).max(axis=0)
            shortest = np.where(come[chain], traffic.times[chain], np.inf).min(axis=0)
            ratios = np.maximum(ratios, longest / shortest)
    ratios = np.where(without_form(network), ratios, 1.0)
    here = np.asarray((ratios > 1).any(axis=1))
    if not here.any():
        return MergedStations(OrderedStations(), (), 1.0)
    varying = named(network, here & network.is_varying)
    if varying:
        msg = (
            f"{varying[0]}: first come first served, its speed by number present needs one service "
            'time for all classes of a chain; use discipline "ps"'
        )
        raise GraphError(msg)
    refuse_unmeasured(network, here)
    return MergedStations(
        turns_at(network, here), last_in_pools(network, here), float(ratios.max())
    )
