"""First come, first served: jobs start in the order in which they come.

With T the mean rest of a service in progress and C(m, a) the probability to wait, open classes wait

    W = C(m, a) T / (m (1 - U)),

the Pollaczek-Khinchine formula at one server. In a closed network a job of class c that meets A_j
jobs of class j takes

    R_c = S_c + sum of A_j S_j.

Source: Kleinrock, *Queueing Systems* I, 1975, section 5.6; Reiser, IEEE Trans. Comm. 27(8), 1979.
"""

from typing import TYPE_CHECKING

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.disciplines.discipline import Discipline, ProductForm, SojournLaw
from headway.queueing.markov.orders import in_order

if TYPE_CHECKING:
    from headway.queueing.disciplines.arrivals import ArrivalView, Classes
    from headway.queueing.disciplines.offered import Offered


def waits(offered: "Offered") -> FloatArray:
    """Mean wait of open classes, the same for all of them, shape (classes, points) [s].

    Examples
    --------
    >>> from headway.queueing.disciplines.offered import Offered
    >>> half = np.full((2, 1), 0.25)
    >>> waits(Offered(half, 2 * half, np.ones(1), (1, 1))).ravel().tolist()
    [0.5, 0.5]
    """
    from headway.queueing.disciplines.offered import while_stable

    busy = offered.load.sum(axis=0) / offered.servers
    wait = while_stable(offered.in_service, 1 - busy, busy < 1)
    return np.tile(wait, (len(offered.load), 1))


def stay(network: "Classes", k: int, arrival: "ArrivalView") -> FloatArray:
    """Time of a visit, R_c as above, shape (classes, points) [s]."""
    from headway.queueing.disciplines.arrivals import everybody, pool_factor

    times, every = network.times[:, k], everybody(network)
    fast = (arrival.present * times[:, None]).sum(axis=0) / network.servers[k]
    waits = times + fast * pool_factor(network, k, arrival, arrival.present, every)
    return np.where(times > 0, waits, 0.0)


FCFS = Discipline(
    "fcfs",
    "jobs in order of arrival",
    words="first come first served",
    how="in order of arrival",
    form=ProductForm.ALIKE,
    pool_form=ProductForm.ALIKE,
    measured=True,
    in_turn=True,
    scv=True,
    waits=waits,
    stay=stay,
    states=in_order,
    times=SojournLaw.IN_ORDER,
    jmt="TailStrategy",
    pmif="FCFS",
)
