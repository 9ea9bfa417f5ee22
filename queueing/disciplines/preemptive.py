"""Preemptive resume priority: a job interrupts those of a lower priority, which resume later.

For open classes at one server, with s_c the share of the server held by classes up to c and T_j the
mean rest of a service in progress,

    R_c = S_c / (1 - s_<c) + (sum over classes up to c of U_j T_j) / ((1 - s_<c) (1 - s_c))

is exact. At several servers with exponential times, the numbers waiting up to each priority are
those of one fast server, times the ratio by which a pool waits less than one (Bondi and Buzen):
exact for equal means, as classes up to a priority then form an M/M/m queue. In a closed network a
job of class c that meets A_j jobs of class j takes

    R_c = (S_c + sum up to c of A_j S_j w_j) / (1 - U_<c),

with w_j of `headway.queueing.disciplines.arrivals`. Jobs of one priority go in order of arrival.

Source: White and Christie, Operations Research 6, 1958; Bondi and Buzen, "The response times of
priority classes under preemptive resume in M/G/m queues", SIGMETRICS 1984; Bryant, Krzesinski,
Lakshmi and Chandy, "The MVA priority approximation", ACM TOCS 2(4), 1984.
"""

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.disciplines.arrivals import (
    ArrivalView,
    Classes,
    fewer_later,
    found_again,
    free_share,
    pool_factor,
)
from headway.queueing.disciplines.discipline import Discipline, ProductForm
from headway.queueing.disciplines.offered import Offered, while_stable
from headway.queueing.disciplines.priority import rank
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.markov.orders import by_rank


def preemptive(offered: Offered) -> FloatArray:
    """Times of each class less its service, with interruptions by higher ones; as `head_of_line`.

    Examples
    --------
    >>> half = np.full((2, 1), 0.25)
    >>> offered = Offered(half, 2 * half, np.ones(1), (1, 2))
    >>> preemptive(offered).ravel().round(4).tolist()  # 0.5 / 0.75 + 0.25 / (0.75 * 0.5) - 0.5
    [0.1667, 0.8333]
    """
    waits, before = np.zeros(offered.load.shape), np.zeros(offered.load.shape[1])
    work: FloatArray = before
    alone, pooled = before, before
    for here in offered.levels:
        after = before + offered.share(here)
        holds = after < 1
        fast = offered.times[here] / offered.servers
        left = offered.left[here] / offered.servers
        work = work + (offered.load[here] * left).sum(axis=0) / offered.servers
        own = while_stable(fast * before, 1 - before, holds)
        own = own + while_stable(work, (1 - before) * (1 - after), holds)
        number = _number(offered, here, own)
        alone = alone + number
        there = np.where(holds, alone * _pool_to_server(offered, after), 0.0)
        waits[here] = own * _pool_factor(there - pooled, number, offered.servers > 1)
        before, pooled = after, there
    return waits


def _pool_factor(wanted: FloatArray, number: FloatArray, pools: Amount) -> FloatArray:
    """Factor from waits at one fast server to waits at a pool."""
    shared = pools & (number > 0) & np.isfinite(number)
    return np.where(shared, np.maximum(wanted, 0.0) / np.where(shared, number, 1.0), 1.0)


def _number(offered: Offered, here: Amount, waits: FloatArray) -> FloatArray:
    """Mean number of waiting jobs of some classes, from their waits."""
    times = offered.times[here]
    come = offered.load[here] / np.where(times > 0, times, 1.0)
    return np.asarray(np.where(come > 0, come * waits, 0.0).sum(axis=0))


def _pool_to_server(offered: Offered, share: FloatArray) -> FloatArray:
    """Ratio of the wait at a pool to that at one server as fast as all: C(m, a) / U."""
    some = (share > 0) & (share < 1) & (offered.servers > 1)
    busy = np.where(some, share, 0.5)
    return np.where(some, np.asarray(erlang_c(offered.servers, offered.servers * busy)) / busy, 1.0)


def stay(network: Classes, k: int, arrival: ArrivalView) -> FloatArray:
    """Time of a visit, R_c as above, shape (classes, points) [s]."""
    times, servers = network.times[:, k], network.servers[k]
    first, later = network.before[..., None], network.before.T[..., None]
    matters = np.where(first, found_again(network, arrival, None), arrival.present)
    matters = np.where(later, 0.0, matters)
    weight = np.where(first, fewer_later(network, arrival)[:, None], 1.0)
    work = (matters * weight * times[:, None]).sum(axis=0) / servers
    fast = (times / servers + work) / free_share(network, k, arrival) - times / servers
    waits = times + fast * pool_factor(network, k, arrival, matters, ~network.before.T)
    return np.where(times > 0, waits, 0.0)


PREEMPTIVE = Discipline(
    "preemptive",
    "the highest priority interrupts the others",
    words="preemptive priority",
    how="with preemptive priorities",
    form=ProductForm.ALIKE,
    pool_form=ProductForm.ALIKE,
    measured=True,
    by_priority=True,
    among_equals="fcfs",
    interrupts=True,
    scv=True,
    waits=preemptive,
    stay=stay,
    states=by_rank,
    rank=rank,
    jmt="FCFSPRStrategyPriority",
)
