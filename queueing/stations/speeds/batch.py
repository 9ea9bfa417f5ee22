"""Servers that take requests in batches: inference engines, group commits, coalesced interrupts."""

from collections.abc import Sequence
from dataclasses import field, fields
from typing import ClassVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    apply,
    check_count,
    check_not_negative,
    check_positive,
    is_symbolic,
    number,
    plain,
)
from headway.queueing.erlang.birth_death import symbolic_chances, weights
from headway.queueing.flows.laws import check_arrivals
from headway.queueing.numbers.laws import NumberLaw, moving
from headway.queueing.stations.abilities import Abilities, ServiceKind
from headway.queueing.stations.finite import LimitedRoom
from headway.queueing.stations.speeds.varying import MOST_STATES, ByLaw, check_written
from headway.records import dataclass


@dataclass(frozen=True)
class Batch(ByLaw):
    """A batch server; requests join as others leave: rate m / (a + b m) with m = min(n, B).

    Service is exponential, at that rate with n requests present.

    Parameters
    ----------
    batch_time
        Time a of a batch [s], 0 or more.
    request_time
        Time b by which each request in it lengthens it [s], 0 or more; not both are 0.
    largest_batch
        Most requests B in a batch, a whole number of 1 or more.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain.

    Examples
    --------
    >>> engine = Batch(batch_time=0.45, request_time=0.006, largest_batch=112)
    >>> round(engine.capacity, 1), round(engine.response_time(80.0), 3)
    (99.8, 0.877)

    References
    ----------
    A birth-death chain: Kleinrock, *Queueing Systems* I, 1975, section 3.1.
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.VARYING, shared=True, counts=frozenset({"largest_batch"})
    )

    batch_time: Quantity | str = field(metadata={"unit": "s"})
    request_time: Quantity | str = field(metadata={"unit": "s"})
    largest_batch: Quantity | str

    def __post_init__(self) -> None:
        _check_batch(self.batch_time, self.request_time, self.largest_batch)

    @property
    def steady(self) -> Amount:
        """The largest batch."""
        return number("largest_batch", self.largest_batch)

    def rate(self, present: Amount) -> Amount:
        """Requests of a batch over its time: n / (a + b n) [1/s]."""
        each = number("request_time", self.request_time) * present
        return present / (number("batch_time", self.batch_time) + each)


def _check_batch(batch_time: object, request_time: object, largest_batch: object) -> None:
    check_not_negative("batch_time", batch_time)
    check_not_negative("request_time", request_time)
    check_count("largest_batch", largest_batch)
    if not isinstance(batch_time, str) and not isinstance(request_time, str):
        check_positive("batch_time + request_time", batch_time + request_time)  # type: ignore[operator]


@dataclass(frozen=True)
class _Room:
    """Results for limited places: probabilities, and mean time of admitted requests [s].

    `used` is the probability that requests are present, exact even if it is small.
    """

    loss: Amount
    admitted: Amount
    response: Amount
    empty: Amount
    used: Amount


@dataclass(frozen=True)
class BatchK(LimitedRoom):
    """A batch server with room for K requests: `Batch`, but further requests are lost.

    Parameters
    ----------
    batch_time, request_time, largest_batch
        As for `Batch`.
    places
        Places K, those in the batch included, a whole number of 1 or more. What a load generator
        holds back while so many are inside counts as lost.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain.

    Examples
    --------
    >>> engine = BatchK(batch_time=0.45, request_time=0.006, largest_batch=112, places=414)
    >>> round(engine.throughput(120.0), 1), round(engine.response_time(120.0), 2)
    (99.8, 4.1)

    References
    ----------
    A birth-death chain: Kleinrock, *Queueing Systems* I, 1975, section 3.1.
    """

    can: ClassVar[Abilities] = Abilities(loses=True, counts=frozenset({"largest_batch", "places"}))
    lawless: ClassVar[str] = "a batch's rate does not determine which of its requests leaves"

    batch_time: Quantity | str = field(metadata={"unit": "s"})
    request_time: Quantity | str = field(metadata={"unit": "s"})
    largest_batch: Quantity | str
    places: Quantity | str

    def __post_init__(self) -> None:
        _check_batch(self.batch_time, self.request_time, self.largest_batch)
        check_count("places", self.places)

    @property
    def service_time(self) -> Amount:  # type: ignore[override]
        """Time of a batch of one: a + b [s]."""
        return self._endless.service_time

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of time that a batch is in service: 1 - p_0."""
        return self._solved(arrival_rate).used

    def loss_probability(self, arrival_rate: Quantity) -> Amount:
        """Probability that an arrival finds all K places occupied."""
        return self._solved(arrival_rate).loss

    def admitted(self, arrival_rate: Quantity) -> Amount:
        """Probability that an arrival finds a place, exact even if it is small."""
        return self._solved(arrival_rate).admitted

    def throughput(self, arrival_rate: Quantity) -> Amount:
        """Carried throughput X: arrivals that are not lost, at most the largest rate [1/s]."""
        carried = arrival_rate * self._solved(arrival_rate).admitted
        return carried if is_symbolic(carried) else apply("min", carried, self._fastest)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """R of admitted requests, less the time of a batch of one [s]."""
        return self.response_time(arrival_rate) - self.service_time

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time of an admitted request [s]."""
        return self._solved(arrival_rate).response

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests."""
        return self._solved(arrival_rate).empty

    def number_law(self, arrival_rate: float, again: float = 0.0) -> NumberLaw:  # noqa: ARG002
        """From the chain of K + 1 states."""
        places = int(np.asarray(self._room, float))
        rates = np.ravel(self._endless.rates_to(places))
        return moving(arrival_rate / rates[np.minimum(np.arange(places), len(rates) - 1)], 0.0)

    @property
    def _endless(self) -> Batch:
        return Batch(self.batch_time, self.request_time, self.largest_batch)

    @property
    def _room(self) -> Amount:
        return number("places", self.places)

    @property
    def _fastest(self) -> Amount:
        batch = apply("min", self._endless.steady, self._room)
        return self._endless.rate(batch)

    def _solved(self, arrival_rate: Quantity) -> "_Room":
        room = self._room
        if is_symbolic(room):
            raise InvalidParameter("places must be a number in a formula of its laws")
        return self._once(arrival_rate, self._chain)

    def _chain(self, arrival_rate: Amount) -> "_Room":
        most = int(np.max(np.asarray(self._room)))
        if most > MOST_STATES:
            msg = f"places is {most}; it must be at most {MOST_STATES:,}"
            raise InvalidParameter(msg)
        rates = self._endless.rates_to(most)
        if is_symbolic(arrival_rate, *rates):
            check_written(most)
            return _symbolic(arrival_rate, [*rates, *[rates[-1]] * (most - len(rates))])
        check_arrivals(arrival_rate)
        return _numeric(np.asarray(arrival_rate, float), rates, np.asarray(self._room, float))


_MOST = 1e300  # largest load and ratios, against overflow: the limit is reached long before
_TOGETHER = 64  # numbers of places summed together, up to the largest of them: for speed


def _numeric(arrival_rate: FloatArray, rates: FloatArray, room: FloatArray) -> _Room:
    """Laws for each number of places; many are grouped by size, for speed."""
    if room.ndim != 2 or len(room) <= _TOGETHER:
        return _summed(arrival_rate, rates, room)
    order = np.argsort(room.max(axis=-1), kind="stable")
    each = []
    for rows in np.array_split(order, -(-len(order) // _TOGETHER)):
        arriving = (
            arrival_rate[rows] if arrival_rate.ndim == 2 and len(arrival_rate) > 1 else arrival_rate
        )
        own = rates[:, rows] if rates.ndim == 3 and rates.shape[1] > 1 else rates
        each.append(_summed(arriving, own, room[rows]))
    back = np.argsort(order)
    columns = ([getattr(one, f.name) for one in each] for f in fields(_Room))
    return _Room(*(np.concatenate(column)[back] for column in columns))


def _summed(arrival_rate: FloatArray, rates: FloatArray, room: FloatArray) -> _Room:
    """R = sum of q_n (n + 1) / rate_(n+1), with q_n the probability that admitted requests find n.

    That is Little's law with lambda p_(n-1) = rate_n p_n inserted; it also holds without arrivals.
    """
    number_there = np.arange(1, int(room.max()) + 1)
    table = np.moveaxis(rates[np.minimum(number_there, len(rates)) - 1], 0, -1)
    room, arriving = room[..., None], np.minimum(np.asarray(arrival_rate, float), _MOST)[..., None]
    with np.errstate(over="ignore"):
        ratios = np.minimum(arriving / table, _MOST)
    # as admitted requests find them
    met = weights(np.where(number_there < room, ratios, 0.0)[..., :-1])
    total = met.sum(axis=-1)
    full = np.where(number_there == room, met * ratios, 0.0).sum(axis=-1) / total
    response = (met * (number_there / table)).sum(axis=-1) / total
    some = met[..., 1:].sum(axis=-1) / total + full
    each = full / (1 + full), 1 / (1 + full), response, met[..., 0] / total / (1 + full)
    return _Room(*map(plain, (*each, some / (1 + full))))


def _symbolic(arrival_rate: Amount, rates: Sequence[Amount]) -> _Room:
    chances = symbolic_chances([arrival_rate / rate for rate in rates])
    admitted = sum(chances[:-1])
    stays = (p * n / rate for n, (p, rate) in enumerate(zip(chances, rates, strict=False), 1))
    return _Room(chances[-1], admitted, sum(stays) / admitted, chances[0], 1 - chances[0])
