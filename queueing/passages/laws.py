"""The law of the time a job of a closed network takes from request to answer: choice of method.

In this order:

* all queues are processor sharing: `headway.queueing.passages.processor_sharing`
* delays that every job visits once are added as constants, and left out below
* no station is visited twice: `headway.queueing.passages.overtake_free`
* jobs return to stations: the chain of `headway.queueing.passages.tagged_job`, with all states or
  fewer, if it is small enough
* otherwise visits are taken as independent: `headway.queueing.times.absorption`
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.passages.aggregation import ArrivingClass
from headway.queueing.passages.class_numbers import SharingClass
from headway.queueing.passages.grouped_jobs import (
    FEW_TERMS,
    MOST_TERMS,
    GroupedJobs,
    overtake_free,
)
from headway.queueing.passages.overtake_free import cannot_overtake
from headway.queueing.passages.passage import Passage, topological_order
from headway.queueing.passages.processor_sharing import AWAY, sharing_law
from headway.queueing.passages.tagged_job import AggregatedTaggedJobChain, TaggedJobChain
from headway.queueing.sojourn.routed_network import GIVEN
from headway.queueing.times.absorption import Journey, merge_returns
from headway.queueing.times.laws import (
    ComplexArray,
    Piece,
    TimeLaw,
    constant,
    in_series,
    independent_visits,
    merged,
)
from headway.queueing.times.processor_sharing.birth_death import BirthDeathSharing

STAYS_AS_ENTERED = (
    "percentiles assume that each station stays as a job finds it on entry: "
    "within 2% where measured"
)
FOLLOWED = (
    "percentiles assume that the other jobs are in equilibrium: up to the 99th within 2%, "
    "the 99.9th within 3% where measured"
)
FEWER_STATES = (
    "percentiles assume that the other jobs, also those behind, are in "
    "equilibrium: up to the 99th within 6%, the 99.9th within 10% where measured"
)
APART = (
    "percentiles assume independent visits of a job: up to the 99th within 8%, the 99.9th "
    "within 12% where measured; between equally busy queues of very many jobs times come in "
    "steps, and percentiles below the 95th may be 55% off"
)
SHARED = (
    "percentiles assume independent visits of a job, some of them to shared servers: up to "
    "the 99th within 6%, the 99.9th within 9% where measured"
)
"""Measured, like the four above, by ``python -m tests.campaigns.percentile_errors``."""

GROUPED = "percentiles follow very many jobs in groups: within 0.05% where measured"
"""Measured by ``python -m tests.campaigns.grouped_jobs``."""

SMOOTHED = "constant times that only some jobs spend are approximated as varying"

_ROUGH = 1e-6  # tolerance of probabilities if visits are taken as independent: for speed
_NEAR = 1e-4  # step of numerical derivatives over 1 / mean: rounding errors of 1e-8
_DEVIATIONS, _NOBODY = 10.0, 1e-13  # as described in `after_start`
_SHARPEST = 0.06  # least time after the start over the mean: exp(s c) stays below exp(130)
_HUGE = 600.0  # s c at which a transform counts as 0, as s T is far larger for every job
_MOST_JOBS = 1_000_000  # largest population, for the memory of an array


@lru_cache(maxsize=64)  # several percentiles are asked for, one after the other
def passage_law(passage: Passage) -> TimeLaw:
    """Law of the time from request to answer.

    Parameters
    ----------
    passage
        The network and the routes of the tagged job.

    Returns
    -------
    The law, whose notes say what is approximate. Without jobs, the law of a time of 0.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> two = Passage((cpu,), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> passage_law(two).mean, passage_law(two).notes
    (2.0, ())
    """
    if passage.population < 1:
        return constant(0.0)
    _check_jobs(passage)
    if passage.outside is None and passage.others and passage.throughput != 0:
        others = SharingClass(
            tuple(station.time for station in passage.stations),
            tuple(passage.others_visits.tolist()),
            passage.throughput,
            (ArrivingClass(passage.others, passage.think_time),),
        )
        shared = sharing_law(passage, (others,), passage.mean)
        if shared is not None:
            return shared
    passage = passage.settled()
    if not passage.entries.any():
        return constant(0.0)
    passage = _without_shared_returns(passage)
    always = np.flatnonzero(passage.spent_by_all)
    shift = float(sum(passage.stations[k].own_time for k in always))
    rest = passage.without(always)
    if not rest.entries.any():
        return constant(shift)
    law = _random_law(rest)
    returns = len(always) > 0 and passage.others > 0 and topological_order(rest.onward) is None
    notes = (AWAY,) if returns and not law.notes else ()
    return replace(in_series(constant(shift), law), notes=merged(notes, law.notes))


def _check_jobs(passage: Passage) -> None:
    """Refuse a population above `_MOST_JOBS`."""
    if passage.population > _MOST_JOBS:
        msg = (
            f"percentiles of {four_digits(passage.population)} circulating jobs are not supported; "
            f"reduce the population to at most {_MOST_JOBS:,}"
        )
        raise GraphError(msg)


def _without_shared_returns(passage: Passage) -> Passage:
    """Merge direct feedback at a single queue with shared servers into one longer visit."""
    at = np.array([station.shares and station.lanes == 1 for station in passage.stations])
    if not (at & (np.diag(passage.onward) > 0)).any():
        return passage
    many, onward, leaving = merge_returns(passage.onward, passage.leaving, at)
    stations = tuple(
        replace(station, time=station.time * m, own=station.own_time * m)
        for station, m in zip(passage.stations, many.tolist(), strict=True)
    )
    stays, visits = passage.stays * many, passage.others_visits / many
    return replace(
        passage, stations=stations, onward=onward, leaving=leaving, stays=stays, visits=visits
    )


def given_visits_law(passage: Passage, own: FloatArray | None = None) -> TimeLaw:
    """Law of the time of a mean number of visits: of 2.4, two, and with probability 0.4 a third.

    Parameters
    ----------
    passage
        The network, with the visits of the other jobs; the tagged job's routes are ignored.
    own
        Mean visits of the tagged job; None if they are those of the others.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> twice = Passage((cpu,), one, 0 * one[None], one, 2, 0.0, 0.5, 2 * one, 2 * one)
    >>> round(given_visits_law(twice).mean, 12)
    4.0
    """
    if passage.population < 1:
        return constant(0.0)
    _check_jobs(passage)
    visits = passage.others_visits if own is None else own
    if (visits <= 1).all() and not any(station.shares for station in passage.stations):
        entries, onward, leaving = _routes_past(visits)
        law = passage_law(replace(passage, entries=entries, onward=onward, leaving=leaving))
        return replace(law, notes=() if (visits > 0).sum() == 1 else merged((GIVEN,), law.notes))
    each = (
        independent_visits(visit_law(passage, int(k)), visits[k]) for k in np.flatnonzero(visits)
    )
    return replace(in_series(*each), notes=(GIVEN,))


def _routes_past(visits: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Routes that pass the stations in order, and visit station k with probability V_k.

    From station i to a later j with probability V_j times the product of 1 - V_k between them.
    """
    count = len(visits)
    skips = np.array(
        [[np.prod(1 - visits[k + 1 : j]) for j in range(count + 1)] for k in range(-1, count)]
    )
    later = np.arange(count + 1) > np.arange(-1, count)[:, None]
    to = np.where(later, skips * np.append(visits, 1.0), 0.0)
    return to[0, :-1], to[1:, :-1], to[1:, -1]


def stretched(law: TimeLaw, mean: float, notes: tuple[str, ...]) -> TimeLaw:
    """Scale the time beyond the constant that every job spends, so that E[T] has a given value.

    Parameters
    ----------
    law
        The law; one with several constant times is returned as it is.
    mean
        E[T] [s].
    notes
        Further approximations of the law, in words.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> law = stretched(exponential(1.0), 2.0, ())
    >>> law.transform(np.array([0.5 + 0j])).real.round(6).tolist()  # of an exponential of mean 2
    [0.5]
    """
    joined = merged(notes, law.notes)
    if len(law.pieces) > 1 or mean <= law.pieces[0].shift:
        return replace(law, notes=joined)
    piece, beyond = law.pieces[0], mean - law.pieces[0].shift
    # (f(2 x) - 4 f(x) + 3 f(0)) / (2 x) is -f'(0), to terms in x**2.
    steps = np.array([1.0, 2.0]) * _NEAR / beyond
    near, far = piece.transform(steps.astype(np.complex128)).real
    own_mean = (far - 4 * near + 3) * beyond / (2 * _NEAR)
    ratio = beyond / float(own_mean) if own_mean > 0 else 1.0
    return TimeLaw((piece.stretched(ratio),), mean, joined, law.rough)


def visit_law(passage: Passage, k: int, most: int = MOST_TERMS) -> TimeLaw:
    """Law of the time of one visit to station k, by at most so many terms of series.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> two = Passage((cpu,), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> visit_law(two, 0).mean
    2.0
    """
    station = passage.stations[k]
    if station.is_delay or station.time == 0:
        return constant(station.own_time)
    if station.shares and station.own_time > 0:
        return _shared_visit(passage, k)
    return _as_entered(passage.through(k), list(range(len(passage.stations))), most)


def _shared_visit(passage: Passage, k: int) -> TimeLaw:
    """A visit to shared servers, where the number of other jobs is a birth-death process.

    With n others present, another arrives at the rate lambda G(N - 2 - n) / G(N - 1 - n), with G
    the normalising constants of the rest of the network; others leave at the rate n phi(n) / S and
    the tagged job at phi(n) / S', phi(n) = min(1, m / (n + 1)). On arrival, P(n) ~ f(n) G(N - 1 -
    n).
    """
    station, queue, count = passage.stations[k], passage.queues[k], passage.population
    if queue is None:
        return constant(station.own_time)
    rest = passage.at_delays(count)
    for j, other in enumerate(passage.queues):
        rest = rest if other is None else other.times(rest, other.station.lanes - (j == k))
    elsewhere = rest[::-1, 0]
    come = np.append(elsewhere[1:], 0.0) / np.where(elsewhere > 0, elsewhere, 1.0)
    flow = passage.throughput * float(passage.others_visits[k]) / station.lanes
    n = np.arange(count)
    share = np.minimum(1.0, station.servers / (n + 1))
    start = queue.weights(count) * elsewhere
    ends = share / station.own_time
    return BirthDeathSharing(flow * come, n * share / station.time, ends, start / start.sum()).law()


def _random_law(passage: Passage) -> TimeLaw:
    """Law of the time beyond the constants of all jobs, by the first applicable method."""
    if any(station.shares for station in passage.stations):
        return _shared_law(passage)
    order = topological_order(passage.onward)
    queues = sum(not station.is_delay for station in passage.stations)
    one_by_one = order is not None and queues == 1
    if passage.population == 1 or queues == 0 or one_by_one:
        return after_start(independent_visits_law(passage, ()))
    smoothed = (SMOOTHED,) if queues < len(passage.stations) else ()
    if order is None:
        return _followed_law(passage, smoothed)
    notes = () if cannot_overtake(passage) else (STAYS_AS_ENTERED, *smoothed)
    law = _as_entered(passage, order)
    return after_start(replace(law, notes=merged(notes, law.notes)))


def _shared_law(passage: Passage) -> TimeLaw:
    """The law at shared servers, with visits taken as independent; exact for a single visit."""
    once = len(passage.stations) == 1 and not passage.onward.any()
    notes = () if passage.population == 1 or once else (SHARED,)
    return independent_visits_law(passage, notes)


def _followed_law(passage: Passage, smoothed: tuple[str, ...]) -> TimeLaw:
    """The law if jobs return, by the finest chain of a tagged job that is small enough."""
    fine, coarse = TaggedJobChain(passage), AggregatedTaggedJobChain(passage)
    if fine.is_small_enough:
        lanes = sum(station.lanes for station in passage.stations)
        exact = lanes <= 2 and not smoothed and fine.sees_all_thinking
        return replace(fine.law(), notes=() if exact else (FOLLOWED, *smoothed))
    if coarse.is_small_enough:
        return replace(coarse.law(), notes=(FEWER_STATES, *smoothed))
    return replace(independent_visits_law(passage, (APART,), FEW_TERMS), rough=_ROUGH)


def after_start(law: TimeLaw) -> TimeLaw:
    """The same law with the time shifted by a start before which no job ends, if there is one.

    The time of a job among many varies little relative to its mean, which inversion would need ever
    more terms for. By Chernoff's inequality P(T < c) <= exp(theta c) E[exp(-theta T)]: c is a start
    if that is below `_NOBODY` at theta = 10 / sigma (600 / E[T] at most), ten sigma below the mean.

    Parameters
    ----------
    law
        A law of one piece; others are returned as they are.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential, repeated
    >>> after_start(repeated(exponential(0.001), 1000)).pieces[0].shift > 0.6
    True
    """
    spread = float(np.sqrt(law.variance))
    before = max(_DEVIATIONS * spread, _SHARPEST * law.mean)
    start, piece = law.mean - before, law.pieces[0]
    if len(law.pieces) > 1 or piece.shift > 0 or start < law.mean / 2:
        return law
    rate = min(_DEVIATIONS / max(spread, 1e-9 * law.mean), _HUGE / law.mean)
    below = np.exp(rate * start) * piece.transform(np.array([rate + 0j]))[0].real
    if not below < _NOBODY:
        return law

    def after(s: ComplexArray) -> ComplexArray:
        known = s.real * start < _HUGE
        near = np.where(known, s, 0)
        return np.asarray(np.where(known, np.exp(near * start) * piece.transform(near), 0))

    return replace(law, pieces=(Piece(start, after),))


def _as_entered(passage: Passage, order: list[int], most: int = MOST_TERMS) -> TimeLaw:
    found = overtake_free(passage, order, most)
    notes = (GROUPED,) if isinstance(found, GroupedJobs) else ()
    return TimeLaw((Piece(0.0, found.transform),), passage.mean, notes)


def independent_visits_law(
    passage: Passage, notes: tuple[str, ...], most: int = MOST_TERMS
) -> TimeLaw:
    """Law of the passage time, with the visits of the tagged job taken as independent.

    Parameters
    ----------
    passage
        The network.
    notes
        What is approximate about that, in words.
    most
        Most terms of the series of each visit.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> two = Passage((cpu,), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> independent_visits_law(two, ()).mean
    2.0
    """
    laws = tuple(visit_law(passage, k, most) for k in range(len(passage.stations)))
    law = Journey(laws, passage.entries, passage.onward, passage.leaving).law()
    return replace(law, mean=passage.mean, notes=merged(notes, law.notes))
