"""How long a job of a closed network takes: the law that fits its ways.

Where jobs go forward only, it is that of what a job finds on arrival
(`headway.queueing.passages.overtake_free`). Where they come back, the chain of a tagged job is
followed (`headway.queueing.passages.tagged_job`), for many jobs a smaller one
(`headway.queueing.passages.reduced_chain`); otherwise visits are taken as independent.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.passages.aggregation import Comers
from headway.queueing.passages.class_numbers import Kind
from headway.queueing.passages.overtake_free import FollowedJob, cannot_overtake
from headway.queueing.passages.passage import Circle, in_order
from headway.queueing.passages.processor_sharing import AWAY, sharing_law
from headway.queueing.passages.reduced_chain import Returning
from headway.queueing.passages.tagged_job import Followed
from headway.queueing.sojourn.percentiles import of_visits
from headway.queueing.sojourn.routed_network import GIVEN
from headway.queueing.times.absorption import Journey, straight_on
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, constant, in_series, merged
from headway.queueing.times.processor_sharing.birth_death import Sharing

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
    "within 12% where measured"
)
SHARED = (
    "percentiles assume independent visits of a job, some of them to shared servers: up to "
    "the 99th within 6%, the 99.9th within 9% where measured"
)
SMOOTHED = "constant times that only some jobs spend are approximated as varying"

_NEAR = 1e-4  # of a mean time: steps of a slope
_MOST_JOBS = 1_000_000


@lru_cache(maxsize=64)  # as several percentiles are asked for, one after the other
def circle_law(circle: Circle) -> TimeLaw:
    """How long a job takes between request and answer.

    Parameters
    ----------
    circle
        The network.

    Returns
    -------
    Its law, with what is not exact about it; of no time at all without jobs.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> two = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> circle_law(two).mean, circle_law(two).notes
    (2.0, ())
    """
    if circle.population < 1:
        return constant(0.0)
    _check_jobs(circle)
    shared = _sharing(circle)
    if shared is not None:
        return shared
    circle = circle.settled()
    if not circle.entries.any():
        return constant(0.0)
    circle = _straight(circle)
    always = np.flatnonzero(circle.spent_by_all)
    shift = float(sum(circle.places[k].own_time for k in always))
    rest = circle.without(always)
    if not rest.entries.any():
        return constant(shift)
    law = _random(rest)
    returns = len(always) > 0 and circle.others > 0 and in_order(rest.onward) is None
    notes = (AWAY,) if returns and not law.notes else ()
    return replace(in_series(constant(shift), law), notes=merged(notes, law.notes))


def _sharing(circle: Circle) -> TimeLaw | None:
    """Where all share the servers, and those who do are of one kind."""
    if circle.outside is not None or not circle.others or circle.throughput == 0:
        return None
    times = tuple(place.time for place in circle.places)
    comers = (Comers(circle.others, circle.think_time),)
    visits = tuple(circle.others_visits.tolist())
    return sharing_law(circle, (Kind(times, visits, circle.throughput, comers),), circle.mean)


def _check_jobs(circle: Circle) -> None:
    """Refuse crowds that no table of the numbers at a station holds."""
    if circle.population > _MOST_JOBS:
        msg = (
            f"percentiles of {four_digits(circle.population)} circulating jobs are not supported; "
            f"reduce the population to at most {_MOST_JOBS:,}"
        )
        raise GraphError(msg)


def _straight(circle: Circle) -> Circle:
    """With visits that follow each other at one queue of shared servers as one longer visit."""
    at = np.array([place.shares and place.lanes == 1 for place in circle.places])
    if not (at & (np.diag(circle.onward) > 0)).any():
        return circle
    many, onward, leaving = straight_on(circle.onward, circle.leaving, at)
    places = tuple(
        replace(place, time=place.time * m, own=place.own_time * m)
        for place, m in zip(circle.places, many.tolist(), strict=True)
    )
    stays, visits = circle.stays * many, circle.others_visits / many
    return replace(
        circle, places=places, onward=onward, leaving=leaving, stays=stays, visits=visits
    )


def given_law(circle: Circle, own: FloatArray | None = None) -> TimeLaw:
    """How long a job takes that visits stations so often, of 2.4 two times and perhaps a third.

    Parameters
    ----------
    circle
        Of the others' visits; the ways of the job are not used.
    own
        Visits of the job; None where they are as the others'.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> twice = Circle(
    ...     (Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 2, 0.0, 0.5, 2 * one, 2 * one
    ... )
    >>> round(given_law(twice).mean, 12)
    4.0
    """
    if circle.population < 1:
        return constant(0.0)
    _check_jobs(circle)
    visits = circle.others_visits if own is None else own
    if (visits <= 1).all() and not any(place.shares for place in circle.places):
        entries, onward, leaving = _perhaps(visits)
        law = circle_law(replace(circle, entries=entries, onward=onward, leaving=leaving))
        return replace(law, notes=() if (visits > 0).sum() == 1 else merged((GIVEN,), law.notes))
    each = (of_visits(visits_law(circle, int(k)), visits[k]) for k in np.flatnonzero(visits))
    return replace(in_series(*each), notes=(GIVEN,))


def stretched(law: TimeLaw, mean: float, notes: tuple[str, ...]) -> TimeLaw:
    """The same shape with another mean, beyond the constant time that everybody spends.

    Parameters
    ----------
    law
        A law of several constant times is left as it is.
    mean
        What E[T] is known to be [s].
    notes
        More of what is taken for granted.

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
    steps = np.array([1.0, 2.0]) * _NEAR / beyond
    near, far = piece.transform(steps.astype(np.complex128)).real
    variance = (far - 4 * near + 3) * beyond / (2 * _NEAR)
    ratio = beyond / float(variance) if variance > 0 else 1.0
    transform = lambda s: piece.transform(s * ratio)  # noqa: E731
    return TimeLaw((Piece(piece.shift, transform),), mean, joined)


def _perhaps(visits: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Entries, onward and leaving of ways that lead by each station in turn, or past it."""
    count = len(visits)
    skips = np.array(
        [[np.prod(1 - visits[k + 1 : j]) for j in range(count + 1)] for k in range(-1, count)]
    )
    later = np.arange(count + 1) > np.arange(-1, count)[:, None]
    to = np.where(later, skips * np.append(visits, 1.0), 0.0)
    return to[0, :-1], to[1:, :-1], to[1:, -1]


def visits_law(circle: Circle, k: int) -> TimeLaw:
    """How long one visit to a station takes.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> two = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> visits_law(two, 0).mean
    2.0
    """
    place = circle.places[k]
    if place.is_delay or place.time == 0:
        return constant(place.own_time)
    if place.shares and place.own_time > 0:
        return _shared_visit(circle, k)
    return _as_entered(circle.through(k), list(range(len(circle.places))))


def _shared_visit(circle: Circle, k: int) -> TimeLaw:
    """A visit to shared servers; others come from the rest of the network, as in equilibrium."""
    place, queue, count = circle.places[k], circle.queues[k], circle.population
    if queue is None:
        return constant(place.own_time)
    rest: ComplexArray | FloatArray = circle.at_delays(count)
    for j, other in enumerate(circle.queues):
        rest = rest if other is None else other.times(rest, other.place.lanes - (j == k))
    elsewhere = rest[::-1, 0].real
    come = np.append(elsewhere[1:], 0.0) / np.where(elsewhere > 0, elsewhere, 1.0)
    flow = circle.throughput * float(circle.others_visits[k]) / place.lanes
    n = np.arange(count)
    share = np.minimum(1.0, place.servers / (n + 1))
    start = queue.weights(count) * elsewhere
    ends = share / place.own_time
    return Sharing(flow * come, n * share / place.time, ends, start / start.sum()).law()


def _random(circle: Circle) -> TimeLaw:
    if any(place.shares for place in circle.places):
        once = circle.population == 1 or (len(circle.places) == 1 and not circle.onward.any())
        return apart_law(circle, () if once else (SHARED,))
    order = in_order(circle.onward)
    queues = sum(not place.is_delay for place in circle.places)
    alone = circle.population == 1 or queues == 0
    if alone or (order is not None and queues == 1):
        return apart_law(circle, ())
    if order is None:
        return _followed(circle)
    delays = (SMOOTHED,) if queues < len(circle.places) else ()
    notes = () if cannot_overtake(circle) else (STAYS_AS_ENTERED, *delays)
    return replace(_as_entered(circle, order), notes=notes)


def _as_entered(circle: Circle, order: list[int]) -> TimeLaw:
    return TimeLaw((Piece(0.0, FollowedJob(circle, order).transform),), circle.mean)


def _followed(circle: Circle) -> TimeLaw:
    delays = any(place.is_delay for place in circle.places)
    smoothed = (SMOOTHED,) if delays else ()
    lanes = sum(place.lanes for place in circle.places)
    fine, coarse = Followed(circle), Returning(circle)
    if fine.can_be_followed:
        exact = lanes <= 2 and not delays and fine.is_unhurried
        return replace(fine.law(), notes=() if exact else (FOLLOWED, *smoothed))
    if coarse.can_be_followed:
        return replace(coarse.law(), notes=(FEWER_STATES, *smoothed))
    return apart_law(circle, (APART,))


def apart_law(circle: Circle, notes: tuple[str, ...]) -> TimeLaw:
    """How long visits take that have nothing to do with each other.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> two = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> apart_law(two, ()).mean
    2.0
    """
    laws = tuple(visits_law(circle, k) for k in range(len(circle.places)))
    law = Journey(laws, circle.entries, circle.onward, circle.leaving).law()
    return replace(law, mean=circle.mean, notes=merged(notes, law.notes))
