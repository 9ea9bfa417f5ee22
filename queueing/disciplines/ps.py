"""Processor sharing: all jobs present share the servers, with at most one server each.

Such a queue has a product form for any service times, and depends on their means only. A job of
class c that meets A_j jobs of class j takes

    R_c = S_c (1 + sum of A_j).

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975; Kelly, *Reversibility and Stochastic
Networks*, 1979, section 3.3.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.disciplines import fcfs
from headway.queueing.disciplines.arrivals import ArrivalView, Classes, everybody, pool_factor
from headway.queueing.disciplines.discipline import Discipline, ProductForm, SojournLaw
from headway.queueing.disciplines.offered import Offered
from headway.queueing.markov.orders import sharing


def waits(offered: Offered) -> FloatArray:
    """Times of open classes less their service, in proportion to it: R_c / S_c is the same for all.

    Shape (classes, points) [s].

    Examples
    --------
    >>> load, times = np.full((2, 1), 0.25), np.array([[0.5], [1.0]])
    >>> waits(Offered(load, times, np.ones(1), (1, 1))).ravel().tolist()
    [0.5, 1.0]
    """
    load, times = offered.load, offered.times
    work = np.maximum((load * times).sum(axis=0), 1e-300)
    waits = fcfs.waits(offered) * times * load.sum(axis=0) / work
    return np.where(load.sum(axis=0) == 0, 0.0, waits)


def stay(network: Classes, k: int, arrival: ArrivalView) -> FloatArray:
    """Time of a visit, R_c as above, shape (classes, points) [s]."""
    times, every = network.times[:, k], everybody(network)
    fast = times * arrival.present.sum(axis=0) / network.servers[k]
    return np.asarray(times + fast * pool_factor(network, k, arrival, arrival.present, every))


SHARING = Discipline(
    "ps",
    "all jobs present share the servers",
    words="processor sharing",
    how="with shared servers",
    form=ProductForm.ANY,
    pool_form=ProductForm.ANY,
    shares=True,
    measured=True,
    waits=waits,
    stay=stay,
    states=sharing,
    times=SojournLaw.SHARED,
    pmif="PS",
)
