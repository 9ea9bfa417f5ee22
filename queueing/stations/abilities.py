"""The abilities of a kind of station, declared with the kind and read wherever kinds differ."""

from dataclasses import replace
from enum import StrEnum
from typing import ClassVar, Self

from headway.queueing.disciplines.discipline import Discipline
from headway.records import dataclass


class ServiceKind(StrEnum):
    """How a station of a product-form network serves.

    All jobs at once, from one queue, from a queue for each server, or at a speed that depends on
    the number of jobs present.
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
"""The fields that count and ease a kind, for kinds where that is the number of servers only."""


@dataclass(frozen=True)
class Abilities:
    """What a kind of station can do.

    Parameters
    ----------
    product_form
        How it serves in networks with a product form, in which flows stay Poisson; None for a kind
        without a product form.
    shared
        Whether jobs of several classes can share it.
    counts
        Its fields that are whole numbers.
    loses
        Whether it rejects jobs that find no place.
    returns
        Whether it has a law of its own (`Station.returning`) for jobs that return at once.
    mixed
        Whether closed networks take it, approximately, as a mixture of two stations with a product
        form (`Mixed`).
    spread
        Whether its service times have any scv, which may differ by class (`mixed_to`).
    unequal
        Whether its servers differ, so that each has its own utilisation (`server_utilisation`).
    smooth
        Whether its `time_law` is a single piece, and takes arrays of operating points.
    exponential
        Whether the response time of a visit is exponential, so that its mean determines it; first
        come, first served.
    chained
        Whether it serves in order of arrival with exponential times (a delay: any times), so that
        the number of jobs describes its state, and networks with blocking can have it in their
        Markov chain.
    eased_by
        Fields of which larger values never make a visit longer or servers busier, for any arrivals:
        neither on average nor, if its time law is known, at any percentile.
    scv
        Squared coefficient of variation of service times, or the field that has it; None if it does
        not determine how response times vary (such a kind cannot be a branch of a fork).
    forks
        Whether a job is in several queues at once; closed networks hold it approximately.
    general
        Scv of service times, or its field, for a kind of which only a mean by two moments is known.
    joins
        Whether jobs are not served there, but wait for their parts from other stations.
    shares
        Whether its servers can be shared, though it has no product form.
    orders
        Whether it takes disciplines whose waits at a single server follow from two moments of
        service.
    insensitive
        Whether its service times have any scv and its servers are shared: numbers of jobs and mean
        times then depend on mean service times only, but the distribution of times does not.

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
        """Whether it can serve by a discipline; the laws of a kind under others are not known.

        Every kind can serve in order of arrival, and queues with a product form by any discipline;
        a delay has no waiting, and speeds that depend on the number present are shared.

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
        """Abilities left if the discipline depends on service times: means of open jobs."""
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
        """Scv of service times, or its field; None if two moments do not describe service."""
        return self.general if self.scv is None else self.scv

    @property
    def limits(self) -> bool:
        """Whether it can be a bottleneck: any kind except delays."""
        return self.product_form is not ServiceKind.DELAY

    @property
    def saturates(self) -> bool:
        """Whether some arrival rate overloads it: not if it loses jobs that find no place.

        Nor if jobs only wait for their parts, which other stations serve.
        """
        return self.limits and not self.loses and not self.joins


class InSearches:
    """What a search on a station's law requires, besides the abilities of its kind."""

    can: ClassVar[Abilities]

    @property
    def smooth(self) -> bool:
        """Whether its time law is a single piece, and takes arrays of operating points."""
        return self.can.smooth

    def spread(self) -> Self:
        """The station with service times that vary enough for a search; often unchanged."""
        return self
