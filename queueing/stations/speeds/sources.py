"""A station whose requests come from a limited number of sources."""

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, Quantity, check_count, check_positive, is_symbolic, number, plain
from headway.queueing.erlang.birth_death import symbolic_chances, weights
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class FiniteSource(Station):
    """N sources that each send a request, wait for the reply, and pause: M/M/m//N (machine repair).

    Its arrival rate is that of *one source while it pauses*, 1 / (mean pause).

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], above 0.
    servers, sources
        Numbers of servers m and of sources N, whole numbers of 1 or more.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain.

    Examples
    --------
    >>> machines = FiniteSource(service_time=1.0, servers=1, sources=2)
    >>> round(machines.throughput(1.0), 12), round(machines.response_time(1.0), 12)
    (0.8, 1.5)

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 3.8 and following.
    """

    service_time: Quantity | str
    servers: Quantity | str
    sources: Quantity | str

    def __post_init__(self) -> None:
        check_positive("service_time", self.service_time)
        check_count("servers", self.servers)
        check_count("sources", self.sources)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return number("servers", self.servers)

    @property
    def capacity(self) -> Amount:
        """Infinite: waiting sources send nothing, so it never saturates."""
        return np.inf

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that is busy: U = X S / m."""
        service_time = number("service_time", self.service_time)
        return self.throughput(arrival_rate) * service_time / self.count

    def throughput(self, arrival_rate: Quantity) -> Amount:
        """Rate of requests served X = (mean number in service) / S [1/s]."""
        chances = self._chances(arrival_rate)
        busy = sum(min(n, int(self._servers())) * chance for n, chance in enumerate(chances))
        return plain(busy / number("service_time", self.service_time))

    def queue_length(self, arrival_rate: Quantity) -> Amount:
        """Mean number waiting and in service: Q = sum of n p_n."""
        return plain(sum(n * chance for n, chance in enumerate(self._chances(arrival_rate))))

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """R = Q / X [s]; S without requests."""
        length, throughput = self.queue_length(arrival_rate), self.throughput(arrival_rate)
        if is_symbolic(length, throughput):
            return length / throughput
        some = np.asarray(throughput) != 0
        alone: Amount = number("service_time", self.service_time)
        return plain(np.where(some, length / np.where(some, throughput, 1.0), alone))

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = R - S [s]."""
        return self.response_time(arrival_rate) - number("service_time", self.service_time)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests: p_0."""
        return plain(self._chances(arrival_rate)[0])

    def _servers(self) -> Amount:
        servers: Amount = self.count
        sources: Amount = number("sources", self.sources)
        if np.ndim(servers) or np.ndim(sources) or is_symbolic(servers, sources):
            raise InvalidParameter("servers and sources must be single numbers in M/M/m//N")
        return servers

    def _sources(self) -> int:
        sources: Amount = self.sources
        return int(sources)

    def _chances(self, arrival_rate: Quantity) -> list[Amount]:
        """Probabilities of 0..N requests at the station."""
        servers, sources = int(self._servers()), self._sources()
        load = arrival_rate * number("service_time", self.service_time)
        factors = [(sources - n + 1) / min(n, servers) for n in range(1, sources + 1)]
        if is_symbolic(load):
            return symbolic_chances([load * factor for factor in factors])
        relative = weights(np.asarray(load, float)[..., None] * factors)
        return list(np.moveaxis(relative / relative.sum(axis=-1, keepdims=True), -1, 0))
