"""Stations that send a share of what they have served straight back to themselves."""

from headway.kinds import Amount, Quantity, number
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class Returning(Station):
    """A station whose jobs return for another visit, at once, with some probability.

    The number of jobs does not depend on who is served next, so a station whose service is all
    visits of a stay together has the same queue. Its laws are per visit, at an arrival rate of
    *stays*, that is of new jobs. A job that returns goes to the end of the queue, and always finds
    a place if they are limited.

    Parameters
    ----------
    stays
        The station that takes a stay as one visit, by `Station.returning`.
    service_time
        Mean service time S of a visit [s].
    share
        Probability p of returning, below 1.

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
        """As for the station of stays."""
        return self.stays.offered(arrival_rate)

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time of a visit: that of a stay over its 1 / (1 - p) visits [s]."""
        return self.stays.response_time(arrival_rate) * (1 - self.share)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in the queue before service, per visit [s]."""
        return self.response_time(arrival_rate) - number("service_time", self.service_time)

    def throughput(self, arrival_rate: Quantity) -> Amount:
        """Visits served: 1 / (1 - p) for each stay that is admitted [1/s]."""
        return self.stays.throughput(arrival_rate) / (1 - self.share)

    def loss_probability(self, arrival_rate: Quantity) -> Amount:
        """Probability that a new job is lost."""
        return self.stays.loss_probability(arrival_rate)

    def admitted(self, arrival_rate: Quantity) -> Amount:
        """Probability that a new job finds a place."""
        return self.stays.admitted(arrival_rate)
