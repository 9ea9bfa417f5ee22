"""Open classes of different priority at one station where they arrive as Poisson streams.

With s_c the servers that classes up to c hold, over m, head of the line is Cobham's

    W_c = W (1 - s) / ((1 - s_<c) (1 - s_c)),

W being the wait of all in order of arrival; and preemptive resume at one server

    R_c = S_c / (1 - s_<c) + (sum over classes up to c of U_j T_j) / ((1 - s_<c) (1 - s_c)),

with T_j = S_j (1 + scv_j) / 2 what is left on average of a service in progress, from which W
follows too. Both are exact at one server. At several, with exponential times, the first is exact
where all times are equal (Davis); for the second the numbers waiting up to each priority are those
of a fast server, times what pools of servers wait less than it (Bondi and Buzen): exact for equal
times too, as those up to a priority are then an M/M/m queue by themselves.

Source: Cobham, Operations Research 2, 1954; White and Christie, Operations Research 6, 1958;
Davis, Operations Research 14, 1966; Bondi and Buzen, "The response times of priority classes under
preemptive resume in M/G/m queues", SIGMETRICS 1984.
"""

from dataclasses import dataclass

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.erlang.formulas import erlang_c


@dataclass(frozen=True)
class Offered:
    """What open classes ask of a station, each of whose queues has m servers.

    Parameters
    ----------
    load
        Servers of a queue that each class would hold, shape (classes, points).
    times
        Mean service times, likewise [s].
    servers
        m, shape (points,).
    priority
        Of each class, 1 before 2; equal ones in order of arrival.
    scv
        Squared coefficients of variation of the times, as `load`; exponential if not given. Others
        are for one server.
    """

    load: FloatArray
    times: FloatArray
    servers: FloatArray
    priority: tuple[int, ...]
    scv: FloatArray | None = None

    @property
    def left(self) -> FloatArray:
        """Mean time that is left of a service in progress, S (1 + scv) / 2 [s]."""
        return self.times if self.scv is None else self.times * (1 + self.scv) / 2

    @property
    def levels(self) -> list[Amount]:
        """Which classes have each priority, the first first, shape (classes,)."""
        ranks = np.array(self.priority)
        return [ranks == rank for rank in np.unique(ranks)]


def head_of_line(offered: Offered) -> FloatArray:
    """Waits of each class without preemption, shape (classes, points) [s].

    Infinite for a class that, with those before it, the station cannot serve; those before it
    then always find a job in service.

    Examples
    --------
    >>> half = np.full((2, 1), 0.25)
    >>> offered = Offered(half, 2 * half, np.ones(1), (1, 2))
    >>> head_of_line(offered).ravel().round(4).tolist()
    [0.3333, 0.6667]
    """
    load = _given(offered)
    in_service = _in_service(offered, load)
    waits, before = np.zeros(load.shape), np.zeros(load.shape[1])
    for here in offered.levels:
        after = before + _share(offered, here)
        waits[here] = _over(in_service, (1 - before) * (1 - after), after < 1)
        before = after
    return waits


def preemptive(offered: Offered) -> FloatArray:
    """Times of each class but for its service, where higher ones interrupt; as `head_of_line`.

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
        after = before + _share(offered, here)
        holds = after < 1
        fast = offered.times[here] / offered.servers
        left = offered.left[here] / offered.servers
        work = work + (offered.load[here] * left).sum(axis=0) / offered.servers
        own = _over(fast * before, 1 - before, holds)
        own = own + _over(work, (1 - before) * (1 - after), holds)
        number = _number(offered, here, own)
        alone = alone + number
        there = np.where(holds, alone * _less(offered, after), 0.0)
        waits[here] = own * _part(there - pooled, number, offered.servers > 1)
        before, pooled = after, there
    return waits


def _part(wanted: FloatArray, number: FloatArray, pools: Amount) -> FloatArray:
    """By what the waits at a fast server become those at a pool."""
    shared = pools & (number > 0) & np.isfinite(number)
    return np.where(shared, np.maximum(wanted, 0.0) / np.where(shared, number, 1.0), 1.0)


def _share(offered: Offered, here: Amount) -> FloatArray:
    return np.asarray(offered.load[here].sum(axis=0) / offered.servers)


def _number(offered: Offered, here: Amount, waits: FloatArray) -> FloatArray:
    """Jobs of some classes that wait so long."""
    times = offered.times[here]
    come = offered.load[here] / np.where(times > 0, times, 1.0)
    return np.asarray(np.where(come > 0, come * waits, 0.0).sum(axis=0))


def _less(offered: Offered, share: FloatArray) -> FloatArray:
    """How much less a pool waits than one server as fast as all: C(m, a) / U."""
    some = (share > 0) & (share < 1) & (offered.servers > 1)
    busy = np.where(some, share, 0.5)
    return np.where(some, np.asarray(erlang_c(offered.servers, offered.servers * busy)) / busy, 1.0)


def _given(offered: Offered) -> FloatArray:
    """Servers that each class gets: no more than those before it leave."""
    given, left = np.zeros(offered.load.shape), offered.servers
    for here in offered.levels:
        load = offered.load[here].sum(axis=0)
        got = np.minimum(load, left)
        given[here] = offered.load[here] * np.where(load > 0, got / np.where(load > 0, load, 1), 0)
        left = left - got
    return given


def _in_service(offered: Offered, busy: FloatArray) -> FloatArray:
    """Wait of all in order of arrival times 1 - U, C(m, u) T / m with T the mean time left."""
    load = busy.sum(axis=0)
    some = load > 0
    mean = (busy * offered.left).sum(axis=0) / np.where(some, load, 1.0)
    full = load >= offered.servers
    inside = np.where(some & ~full, load, offered.servers / 2)
    chance = np.where(full, 1.0, np.asarray(erlang_c(offered.servers, inside)))
    return np.asarray(np.where(some, chance, 0.0) * mean / offered.servers)


def _over(top: FloatArray, bottom: FloatArray, holds: Amount) -> FloatArray:
    """A quotient where it holds, and no end where it does not."""
    return np.where(holds, top / np.where(holds, bottom, 1.0), np.inf)
