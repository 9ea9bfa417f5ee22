"""The answers of whole chains parted by class."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, plain
from headway.queueing.chains.measured import chain_note
from headway.queueing.chains.parts import Parts, mean_time
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


def parted(parts: Parts, whole: Result, network: Network) -> Result:
    """Part the solution of whole chains by class.

    Parameters
    ----------
    parts, whole
        The chains, and the solution of `headway.queueing.chains.parts.network_of` them.
    network
        The network by class (`headway.queueing.chains.wholly.network_by_class`).
    """
    noted = replace(whole, approximation=_note(parts, network, whole.approximation))
    return assembled(parts, noted, *_by_class(parts, whole))


def assembled(
    parts: Parts,
    whole: Result,
    stay: FloatArray,
    queue: FloatArray,
    busy: FloatArray,
    rate: FloatArray,
) -> Result:
    """Assemble the results by class.

    Parameters
    ----------
    parts, whole
        The network by class, and the solution whose method, saturation and label it keeps.
    stay, queue, busy
        Time of a visit [s], jobs there, and share of servers, shape (classes, stations, points).
    rate
        Rounds of each class's chain, shape (classes, points) [1/s].
    """
    through = rate[:, None] * parts.visits
    residence = _journeys(parts, stay)
    alone = _journeys(parts, parts.times)
    residence = np.where(parts.shares[:, None] > 0, residence, alone)

    def shaped(values: FloatArray) -> Amount:
        return plain(values.reshape((*values.shape[:-1], *parts.shape)))

    return replace(
        whole,
        throughput=shaped(parts.shares * rate),
        response_time=shaped(residence.sum(axis=1)),
        utilisation=shaped(busy.swapaxes(0, 1)),
        queue_length=shaped(queue.swapaxes(0, 1)),
        residence_time=shaped(residence.swapaxes(0, 1)),
        station_response_time=shaped(stay.swapaxes(0, 1)),
        station_throughput=shaped(through.swapaxes(0, 1)),
    )


def _by_class(parts: Parts, whole: Result) -> tuple[FloatArray, ...]:
    """Time of a visit, jobs there, shares of servers, and rounds of each class's chain [1/s]."""
    stay, queue, busy = (np.zeros(parts.visits.shape) for _ in range(3))
    rate = np.zeros(parts.shares.shape)
    sizes = (len(parts.stations), parts.visits.shape[-1])
    for g, group in enumerate(parts.groups):
        members = list(group)
        rate[members] = np.reshape(whole.throughput[g], -1)
        together = np.reshape(whole.station_response_time[:, g], sizes)
        stay[members] = _stay(parts, members, together)
        there = np.reshape(whole.queue_length[:, g], sizes)
        queue[members] = there * _parted(parts, members, stay[members])
        work = np.reshape(whole.utilisation[:, g], sizes)
        busy[members] = work * _parted(parts, members, parts.times[members])
    return stay, queue, busy, rate


def _stay(parts: Parts, members: list[int], together: FloatArray) -> FloatArray:
    """Time of a visit of each class: in proportion, or waiting as long as all of its chain."""
    times, mean = parts.times[members], mean_time(parts, members)
    scale = together / np.where(mean > 0, mean, 1.0)
    in_order = np.array([not s.discipline.slows for s in parts.stations])
    endless = np.isinf(together)
    wait = np.where(endless, np.inf, together - np.where(endless, 0.0, mean))
    grown = np.where(in_order[:, None], times + wait, times * np.where(times > 0, scale, 0.0))
    return np.where((times > 0) & (mean > 0), grown, times)


def _parted(parts: Parts, members: list[int], each: FloatArray) -> FloatArray:
    """Share of each class in what a group has at a station, by its time of a visit."""
    if len(members) == 1:
        return np.ones(each.shape)
    weights = parts.counted[members] * np.where(np.isfinite(each), each, parts.times[members])
    total = weights.sum(axis=0)
    return weights / np.where(total > 0, total, 1.0)


def _journeys(parts: Parts, stay: FloatArray) -> FloatArray:
    """Time at each station of rounds begun as a class, shape (classes, stations, points) [s]."""
    begun = parts.rounds.visits
    times = np.zeros(parts.visits.shape)
    for c, there in enumerate(stay):
        visits = np.moveaxis(begun[:, :, c], 0, -1)
        times = times + np.where(visits == 0, 0.0, visits * np.where(visits == 0, 0.0, there))
    return times


def _note(parts: Parts, network: Network, other: str) -> str:
    """Label stations without a product form at which classes of one chain meet."""
    here, ratio = _within_a_chain(parts, network)
    if not here.any():
        return other
    varying = named(network, here & network.is_varying)
    if varying:
        msg = (
            f"{varying[0]}: first come first served, its speed by number present needs one service "
            'time for all classes of a chain; use discipline "ps"'
        )
        raise GraphError(msg)
    refuse_unmeasured(network, here)
    turns, last = turns_at(network, here), last_in_pools(network, here)
    return "; ".join(filter(None, (other, chain_note(turns, last, ratio))))


def _within_a_chain(parts: Parts, network: Network) -> tuple[NDArray[np.bool_], float]:
    """Where classes of one closed chain meet without a product form, and how far times are apart.

    Returns
    -------
    Shape (stations,), and the largest ratio of mean times at such a station.
    """
    come = comers(network)
    ratio = np.ones(network.servers.shape)
    for chain in map(list, parts.rounds.chains):
        if not parts.classes[chain[0]].is_open:
            longest = np.where(come[chain], parts.times[chain], 0.0).max(axis=0)
            shortest = np.where(come[chain], parts.times[chain], np.inf).min(axis=0)
            ratio = np.maximum(ratio, longest / shortest)
    ratio = np.where(without_form(network), ratio, 1.0)
    return np.asarray((ratio > 1).any(axis=1)), float(ratio.max())
