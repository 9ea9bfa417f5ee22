"""Servers of unequal speed at one queue: free ones are taken at random, or the fastest first."""

from collections.abc import Sequence
from dataclasses import field
from functools import reduce
from typing import ClassVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, FloatArray, Quantity, check_positive, is_symbolic, number, plain
from headway.queueing.flows.laws import check_arrivals
from headway.queueing.stations.abilities import Abilities, ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.speeds.varying import ALL, Rates, Varying
from headway.queueing.times.laws import TimeLaw, exponential, in_series, mixture
from headway.records import dataclass

MOST_UNEQUAL = 256
"""Most servers: sums over all sets of busy ones stay in the range of floating point."""

MOST_RANKED = 10
"""Most servers if each set of busy ones is a state: 1024 equations, for speed."""


def _check_times(times: Sequence[Quantity | str], most: int) -> None:
    if not 1 <= len(times) <= most:
        msg = f"service_times has {len(times)} entries; give one for each server, at most {most}"
        raise InvalidParameter(msg)
    for time in times:
        check_positive("service_times", time)


def _law(times: Sequence[float], chances: Sequence[float], waits: float, left: float) -> TimeLaw:
    """Response time in order of arrival.

    Parameters
    ----------
    times, chances
        Service time of each server, and the probability that it is taken at once.
    waits, left
        Probability to wait, and decay rate of the wait [1/s].
    """
    alone = [exponential(time) for time in times]
    wait = exponential(1 / left)
    behind = [in_series(wait, law) for law in alone]
    speeds = np.array([1 / time for time in times])
    queued = (waits * speeds / speeds.sum()).tolist()
    return mixture([*alone, *behind], [*chances, *queued])


@dataclass(frozen=True)
class UnequalServers(Varying):
    """Servers of unequal speed at one queue; a job that finds several free takes any of them.

    With n of the m busy, each set B of them has the chance p_0 lambda**n (m - n)! / m! times the
    product of its service times: the chain is reversible, so the station keeps a product form.

    Parameters
    ----------
    service_times
        Mean service time of each server [s], above 0, 256 of them at most.

    Raises
    ------
    InvalidParameter
        For no server, too many, or a time that is not above 0 and finite.

    Examples
    --------
    >>> pair = UnequalServers((0.1, 0.4))
    >>> round(pair.capacity, 6), round(pair.response_time(5.0), 6)
    (12.5, 0.225225)
    >>> [round(float(share), 6) for share in pair.server_utilisation(5.0)]
    [0.351351, 0.594595]

    References
    ----------
    Gumbel, "Waiting lines with heterogeneous servers", Operations Research 8(4), 1960.
    """

    can: ClassVar[Abilities] = Abilities(ServiceKind.VARYING, shared=True, unequal=True)
    lawless: ClassVar[str] = "the service time of a job depends on which server is free"

    service_times: Sequence[Quantity | str] = field(metadata={"unit": "s"})

    def __post_init__(self) -> None:
        _check_times(self.service_times, MOST_UNEQUAL)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return len(self.service_times)

    def rates_to(self, most: float = ALL) -> Rates:
        """Service rates with 1, 2... requests, at most so many [1/s]; then the last holds."""
        times = [number("service_times", time) for time in self.service_times]
        sums, servers = _sums(times), len(times)
        count = max(int(min(most, servers)), 1)
        return [sums[n - 1] / sums[n] * (servers - n + 1) for n in range(1, count + 1)]

    @property
    def crew(self) -> Amount:
        """Number of servers m, each of which works on one request."""
        return self.count

    def server_utilisation(self, arrival_rate: Quantity) -> list[Amount]:
        """Share of time that each server is busy; 1 from saturation on."""
        chances, _ = self._chances(arrival_rate)
        times = [np.asarray(time, float) for time in self.service_times]
        whole, shares = _sums(times), []
        for i, time in enumerate(times):
            others = _sums([*times[:i], *times[i + 1 :]])
            within = (time * others[n - 1] / whole[n] for n in range(1, len(times) + 1))
            busy = sum(c * share for c, share in zip(chances[1:], within, strict=True))
            shares.append(plain(np.where(self._is_stable(arrival_rate), busy, 1.0)))
        return shares

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Law of the server that is taken; if all are busy, after an exponential wait."""
        chances, left = self._chances(arrival_rate)
        times, servers = [float(np.asarray(t)) for t in self.service_times], len(self.service_times)
        whole = _sums(times)
        taken = []
        for i in range(servers):
            others = _sums([*times[:i], *times[i + 1 :]])
            free = (others[n] / whole[n] / (servers - n) for n in range(servers))
            taken.append(float(sum(c * f for c, f in zip(chances[:-1], free, strict=True))))
        return _law(times, taken, float(chances[-1]), float(left))

    def _is_stable(self, arrival_rate: Quantity) -> Amount:
        return np.asarray(arrival_rate, float) < np.asarray(self.capacity, float)

    def _chances(self, arrival_rate: Quantity) -> tuple[FloatArray, Amount]:
        """Probabilities of 0, 1... and of m or more jobs, and the decay rate of the latter."""
        check_arrivals(arrival_rate)
        stable = self._is_stable(arrival_rate)
        arriving, rates = np.asarray(arrival_rate, float), self.rates_to()
        safe = np.where(stable, arriving, 0.5 * np.asarray(rates[-1], float))
        weights = [np.ones_like(safe)]
        for rate in rates:
            weights.append(weights[-1] * safe / rate)
        weights[-1] = weights[-1] / (1 - safe / rates[-1])
        table = np.stack(np.broadcast_arrays(*weights))
        return table / table.sum(axis=0), plain(rates[-1] - safe)


def _sums(times: Sequence[Amount]) -> list[Amount]:
    """Sums over all sets of n times of their product, n = 0, 1... (elementary symmetric)."""

    def with_one(sums: list[Amount], time: Amount) -> list[Amount]:
        longer = zip([*sums, 0], [0, *sums], strict=True)
        return [without + time * within for without, within in longer]

    first: list[Amount] = [1]
    return reduce(with_one, times, first)


@dataclass(frozen=True)
class FastestFirst(Station):
    """Servers of unequal speed at one queue; a job that finds several free takes the fastest.

    Solved by its whole chain: a state for each set of busy servers, and a geometric tail beyond
    the last. What leaves it is not quite Poisson, so it has no product form.

    Parameters
    ----------
    service_times
        Mean service time of each server [s], above 0, 10 of them at most.

    Raises
    ------
    InvalidParameter
        For no server, too many, or a time that is not above 0 and finite.

    Examples
    --------
    >>> pair = FastestFirst((0.1, 0.4))
    >>> round(pair.response_time(5.0), 6)
    0.193798
    >>> [round(float(share), 6) for share in pair.server_utilisation(5.0)]
    [0.395349, 0.418605]

    References
    ----------
    A Markov chain: Kleinrock, *Queueing Systems* I, 1975, section 2.4; Singh, "Markovian queues
    with heterogeneous servers", AIIE Transactions 3(1), 1971.
    """

    can: ClassVar[Abilities] = Abilities(unequal=True)

    service_times: Sequence[Quantity | str] = field(metadata={"unit": "s"})

    def __post_init__(self) -> None:
        _check_times(self.service_times, MOST_RANKED)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return len(self.service_times)

    @property
    def service_time(self) -> Amount:  # type: ignore[override]
        """Service time of a job without others: that of the fastest server [s]."""
        return plain(np.min(np.stack(np.broadcast_arrays(*self._times)), axis=0))

    @property
    def capacity(self) -> Amount:
        """Largest arrival rate it can serve: that of all servers together [1/s]."""
        return sum(1 / number("service_times", time) for time in self.service_times)

    def offered(self, arrival_rate: Quantity) -> Amount:
        """Arrival rate over that of all servers."""
        return arrival_rate / self.capacity

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that is busy; 1 or more means overload."""
        offered, shares = self.offered(arrival_rate), self.server_utilisation(arrival_rate)
        used = np.minimum(sum(shares) / self.plain_count, np.nextafter(1.0, 0.0))
        return plain(np.where(np.asarray(offered) < 1, used, offered))

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in the queue before service [s]; infinite from saturation on."""
        waits, left = self._solved(arrival_rate).waits, self._left(arrival_rate)
        full = np.where(np.isnan(left), np.nan, np.inf)
        return plain(np.where(left > 0, waits / np.where(left > 0, left, 1.0), full))

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean wait, and service at the server taken [s]; infinite from saturation on."""
        state = self._solved(arrival_rate)
        own = sum(share * time for share, time in zip(state.taken, self._times, strict=True))
        late = len(self._times) / self.capacity
        return plain(self.waiting_time(arrival_rate) + own + state.waits * late)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests."""
        return plain(self._solved(arrival_rate).empty)

    def server_utilisation(self, arrival_rate: Quantity) -> list[Amount]:
        """Share of time that each server is busy; 1 from saturation on."""
        state, rate = self._solved(arrival_rate), np.asarray(arrival_rate, float)
        stable = self._left(arrival_rate) > 0
        return [
            plain(np.where(stable, rate * (time * share + state.waits / self.capacity), 1.0))
            for share, time in zip(state.taken, self._times, strict=True)
        ]

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Law of the server that is taken; if all are busy, after an exponential wait."""
        state, times = self._solved(arrival_rate), [float(time) for time in self._times]
        left = float(self._left(arrival_rate))
        return _law(times, [float(share) for share in state.taken], float(state.waits), left)

    @property
    def _times(self) -> list[FloatArray]:
        return [np.asarray(number("service_times", t), float) for t in self.service_times]

    def _left(self, arrival_rate: Quantity) -> FloatArray:
        return np.asarray(self.capacity - np.asarray(arrival_rate, float))

    def _solved(self, arrival_rate: Quantity) -> "_State":
        """What an arrival finds, at every operating point."""
        if is_symbolic(arrival_rate, *self.service_times):
            raise InvalidParameter("FastestFirst has no formula; solve it with numbers")
        check_arrivals(arrival_rate)
        laid = np.broadcast_arrays(np.asarray(arrival_rate, float), *self._times)
        flat = np.stack([each.ravel() for each in laid], axis=1)
        table = np.array([_ranked(float(row[0]), row[1:]) for row in flat]).reshape(len(flat), -1)
        parts = [part.reshape(laid[0].shape) for part in table.T]
        return _State(parts[0], parts[1], parts[2:])


@dataclass(frozen=True)
class _State:
    """Probabilities that an arrival waits, finds no job, and takes each server at once."""

    waits: FloatArray
    empty: FloatArray
    taken: list[FloatArray]


def _ranked(rate: float, times: FloatArray) -> FloatArray:
    """Probabilities to wait, to find no job, and to take each server, from the whole chain.

    The states are the sets of busy servers, as bits in order of speed. With more jobs than servers,
    probabilities are powers of the load; from there the chain returns to the full set only, so the
    other sets have the shares of time that they would have if nobody waited.
    """
    speeds, servers = 1 / times, len(times)
    if not rate < speeds.sum():
        return np.array([1.0, 0.0, *[0.0] * servers]) * (1.0 if rate == rate else np.nan)
    order, count = np.argsort(times, kind="stable"), 2**servers
    sets = np.arange(count)
    flow = np.zeros((count, count))
    free = np.array([next(i for i in range(servers + 1) if not s >> i & 1) for s in sets])
    flow[sets[:-1] | 1 << free[:-1], sets[:-1]] += rate
    for place, server in enumerate(order):
        busy = sets[sets >> place & 1 == 1]
        flow[busy ^ 1 << place, busy] += speeds[server]
    flow[sets, sets] -= flow.sum(axis=0)
    flow[0] = 1.0
    chances = np.linalg.solve(flow, np.eye(count)[0])
    chances[-1] /= 1 - rate / speeds.sum()
    chances /= chances.sum()
    taken = np.zeros(servers)
    np.add.at(taken, order[free[:-1]], chances[:-1])
    return np.array([chances[-1], chances[0], *taken])
