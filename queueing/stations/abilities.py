"""What a kind of station can do, declared beside the kind and asked wherever kinds differ."""

from dataclasses import replace
from enum import StrEnum
from typing import ClassVar, Self

from headway.queueing.disciplines.discipline import Discipline
from headway.records import dataclass


class ServiceKind(StrEnum):
    """How a station of a product-form network serves.

    Everybody at once, from one queue, from a queue for each server, or at a speed that depends
    on the number present.
    """

    DELAY = "delay"
    QUEUE = "queue"
    PARALLEL = "parallel"
    VARYING = "varying"


class QueueChoice(StrEnum):
    """How a job chooses among the queues of a station."""

    RANDOM = "random"
    ROUND_ROBIN = "round-robin"
    TWO_CHOICES = "two-choices"
    SHORTEST = "shortest"


SERVERS = frozenset({"servers"})
"""What a kind counts of which more eases it, where that is its servers alone."""


@dataclass(frozen=True)
class Abilities:
    """What a kind of station can do.

    Parameters
    ----------
    product_form
        How it serves in networks with a product form, which keep Poisson flows Poisson; None
        for a kind that has no place in them.
    shared
        Whether jobs of several classes can share it.
    counts
        Its fields that are whole numbers.
    loses
        Whether it turns away what finds no place.
    returns
        Whether it has a law of its own (`Station.returning`) for jobs that come straight back.
    mixed
        Whether closed networks hold it, approximately, as a mixture of two stations with a
        product form (`Mixed`).
    spread
        Whether its service times are of any scv, which may differ by class (`mixed_to`).
    unequal
        Whether its servers differ, so that each has a utilisation of its own
        (`server_utilisation`).
    smooth
        Whether its `time_law` is one piece, and takes arrays of operating points.
    exponential
        Whether the response time of a visit is exponential, so that its mean tells all; first come
        first served.
    chained
        Whether it serves in order of arrival with exponential times (a delay: any), so that the
        number there says all: networks with blocking hold it in their Markov chain.
    eased_by
        Its fields of which more never makes a visit longer nor its servers busier, whatever
        arrives: neither on average nor, where its time law is known, for any share of the visits.
    scv
        Squared coefficient of variation of service times, or its field that says it; None where
        that is not all there is to know of how response times vary (then it is no branch of a
        fork).
    forks
        Whether a job is in several queues at once; closed networks hold it approximately.
    general
        The same of a kind of which no law is known but what two moments tell of its mean.
    joins
        Whether jobs are not served there, but wait for their parts at other stations.
    shares
        Whether its servers can be shared, though it has no product form.
    orders
        Whether it takes disciplines whose waits follow from two moments of service at one server.
    insensitive
        Whether its times are of any scv, and its servers are shared: numbers of jobs and means of
        times depend on mean services alone, but how times are distributed does not.

    Examples
    --------
    >>> from headway.queueing import MM1K, MMm
    >>> MM1K.can.loses, sorted(MM1K.can.counts), MMm.can.product_form.value
    (True, ['places'], 'queue')
    """

    product_form: ServiceKind | None = None
    shared: bool = False
    counts: frozenset[str] = frozenset()
    loses: bool = False
    returns: bool = False
    mixed: bool = False
    spread: bool = False
    unequal: bool = False
    smooth: bool = False
    exponential: bool = False
    chained: bool = False
    eased_by: frozenset[str] = frozenset()
    scv: float | str | None = None
    forks: bool = False
    general: float | str | None = None
    joins: bool = False
    shares: bool = False
    orders: bool = False
    insensitive: bool = False

    def takes(self, discipline: Discipline) -> bool:
        """Whether it can serve by a discipline: what a kind does under others is not known.

        Every kind takes order of arrival; queues with a product form take any discipline; at a
        delay nobody waits, and speeds by number present are shared.

        Examples
        --------
        >>> from headway.queueing import MGm
        >>> [str(each) for each in Discipline if MGm.can.takes(each)]
        ['ps', 'fcfs']
        """
        if self.product_form in {ServiceKind.QUEUE, ServiceKind.PARALLEL} or discipline.in_turn:
            return True
        if discipline.shares:
            return self.shares or self.product_form is not None
        return self.orders and discipline.scv

    def sorted(self) -> Self:
        """What is left of it under a discipline that looks at service times: means of open jobs."""
        return replace(
            self,
            product_form=None,
            returns=False,
            mixed=False,
            smooth=False,
            exponential=False,
            chained=False,
            eased_by=frozenset(),
            insensitive=False,
        )

    @property
    def service_scv(self) -> float | str | None:
        """Scv of service times, or its field; None where two moments do not say how it serves."""
        return self.general if self.scv is None else self.scv

    @property
    def limits(self) -> bool:
        """Whether it can be a bottleneck: not where everybody is served at once."""
        return self.product_form is not ServiceKind.DELAY

    @property
    def saturates(self) -> bool:
        """Whether some arrival rate is too much for it: not where what finds no place is lost.

        Nor where jobs only wait for their parts, which other stations serve.
        """
        return self.limits and not self.loses and not self.joins


class InSearches:
    """Requirements of a search on a station's law, besides its kind's abilities."""

    can: ClassVar[Abilities]

    @property
    def smooth(self) -> bool:
        """Whether its time law is one piece, and takes arrays of operating points."""
        return self.can.smooth

    def spread(self) -> Self:
        """The station with times that vary enough for a search; itself for most kinds."""
        return self
