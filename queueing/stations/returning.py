"""Stations that send a share of what they have served straight back to themselves."""

from headway.kinds import Amount, Quantity, number
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class Returning(Station):
    """A station whose jobs come back for another visit, at once, with some chance.

    How many jobs are there does not depend on who is served next, so that one station whose
    service is all visits of a stay together has the same queue. Its laws give what a visit
    takes at an arrival rate of *stays*, jobs from elsewhere. A job that comes back goes to the end
    of the queue, and finds room where there is a limit to it.

    Parameters
    ----------
    stays
        Station at which a stay is one visit, by `Station.returning`.
    service_time
        Mean service time S of a visit [s].
    share
        Chance p to come back, below 1.

    Examples
    --------
    >>> from headway.queueing import MD1
    >>> loop = Returning(MD1(1.0).returning(0.5), 1.0, 0.5)
    >>> loop.response_time(0.25), loop.throughput(0.25)
    (1.75, 0.5)

    References
    ----------
    Takacs, "A single-server queue with feedback", Bell System Technical Journal 42, 1963.
    """

    stays: Station
    service_time: Quantity | str
    share: Amount

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return self.stays.count

    @property
    def capacity(self) -> Amount:
        """Largest rate of stays that it can serve [1/s]."""
        return self.stays.capacity

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that is busy, over all visits."""
        return self.stays.utilisation(arrival_rate)

    def offered(self, arrival_rate: Quantity) -> Amount:
        """As its station's."""
        return self.stays.offered(arrival_rate)

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time of a visit: that of a stay, which has 1 / (1 - p) of them [s]."""
        return self.stays.response_time(arrival_rate) * (1 - self.share)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in the queue before service, per visit [s]."""
        return self.response_time(arrival_rate) - number("service_time", self.service_time)

    def throughput(self, arrival_rate: Quantity) -> Amount:
        """Visits served: 1 / (1 - p) for each stay that finds a place [1/s]."""
        return self.stays.throughput(arrival_rate) / (1 - self.share)

    def loss_probability(self, arrival_rate: Quantity) -> Amount:
        """Chance that an arrival from elsewhere is turned away."""
        return self.stays.loss_probability(arrival_rate)

    def admitted(self, arrival_rate: Quantity) -> Amount:
        """Chance that an arrival from elsewhere finds a place."""
        return self.stays.admitted(arrival_rate)
