"""Non-preemptive priority (head of the line): the waiting job of the highest priority is next.

For open classes, with s_c the share of the servers held by classes up to c, and W the mean wait of
all jobs in order of arrival, Cobham's formula

    W_c = W (1 - s) / ((1 - s_<c) (1 - s_c))

is exact at one server, and at several servers if service times are exponential with one mean
(Davis). In a closed network a job of class c that meets A_j jobs of class j, of which B_j are in
service, takes

    R_c = S_c + (sum up to c of A_j S_j w_j + sum beyond c of B_j S_j) / (1 - U_<c),

with w_j of `headway.queueing.disciplines.arrivals`. Jobs of one priority go in order of arrival.

Source: Cobham, Operations Research 2, 1954; Davis, Operations Research 14, 1966; Bryant,
Krzesinski, Lakshmi and Chandy, "The MVA priority approximation", ACM TOCS 2(4), 1984.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.disciplines.arrivals import (
    ArrivalView,
    Classes,
    everybody,
    fewer_later,
    found_again,
    free_share,
    pool_factor,
)
from headway.queueing.disciplines.discipline import Discipline, ProductForm, SojournLaw, Waiting
from headway.queueing.disciplines.offered import Offered, while_stable
from headway.queueing.markov.orders import next_by_rank


def head_of_line(offered: Offered) -> FloatArray:
    """Waits of each class without preemption, shape (classes, points) [s].

    Infinite for a class that the station cannot serve together with those before it; those before
    it then always find a job in service.

    Examples
    --------
    >>> half = np.full((2, 1), 0.25)
    >>> offered = Offered(half, 2 * half, np.ones(1), (1, 2))
    >>> head_of_line(offered).ravel().round(4).tolist()
    [0.3333, 0.6667]
    """
    in_service, shape = offered.in_service, offered.load.shape
    waits, before = np.zeros(shape), np.zeros(shape[1])
    for here in offered.levels:
        after = before + offered.share(here)
        waits[here] = while_stable(in_service, (1 - before) * (1 - after), after < 1)
        before = after
    return waits


def stay(network: Classes, k: int, arrival: ArrivalView) -> FloatArray:
    """Time of a visit, R_c as above, shape (classes, points) [s]."""
    times, servers = network.times[:, k], network.servers[k]
    first, later = network.before[..., None], network.before.T[..., None]
    matters = np.where(first, found_again(network, arrival, times), arrival.present)
    weight = np.where(first, fewer_later(network, arrival)[:, None], 1.0)
    matters = np.where(later, arrival.serving, matters)
    work = (matters * weight * times[:, None]).sum(axis=0) / servers
    fast = work / free_share(network, k, arrival)
    waits = times + fast * pool_factor(network, k, arrival, matters, everybody(network))
    return np.where(times > 0, waits, 0.0)


def rank(job: Waiting) -> tuple[float, ...]:
    """Priority first, then order of arrival."""
    return (job.priority, job.number)


PRIORITY = Discipline(
    "priority",
    "the highest priority is next",
    words="priority",
    how="with priorities",
    form=ProductForm.ALIKE,
    pool_form=ProductForm.ALIKE,
    measured=True,
    by_priority=True,
    among_equals="fcfs",
    scv=True,
    waits=head_of_line,
    stay=stay,
    states=next_by_rank,
    rank=rank,
    times=SojournLaw.HEAD_OF_LINE,
    jmt="TailStrategyPriority",
)
