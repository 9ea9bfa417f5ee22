"""The common part of stations whose speed depends on the number of requests present.

With n requests present such a station serves at rate_n: p_n = p_0 lambda**n / (rate_1 ... rate_n).
All else follows from the rates: alone, in networks, and with limited places.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, Quantity, apply, is_symbolic, plain
from headway.queueing.erlang.birth_death import symbolic_chances, weights
from headway.queueing.flows.laws import check_arrivals
from headway.queueing.numbers.laws import NumberLaw, moving
from headway.queueing.stations.abilities import Abilities, ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.processor_sharing.birth_death import BirthDeathSharing

MOST_STATES = 1_000_000
"""Most numbers of requests with a rate of their own; each is a term of a sum: for memory."""

WRITTEN = 64
"""Numbers of requests up to which closed forms write their sums out: for reading only."""

MOST_OTHERS = 20_000
"""Most requests among which a tagged one is followed if they share the rate: for speed."""

_FOLLOWED = 1 - 1e-13  # share of arrivals whose numbers found are followed: digits only

ALL = np.inf

ALONE = 1
"""The crew of a station of one server."""

Rates: TypeAlias = Amount
"""Rates with 1, 2... requests: a list of numbers or symbols, or an array along its first axis."""


class Varying(Station):
    """A station with a service rate for each number of requests present.

    A kind defines its rates; the rest follows from them.
    """

    can: ClassVar[Abilities] = Abilities(ServiceKind.VARYING, shared=True)
    lawless: ClassVar[str] = "rates do not determine which job is served, and in what order"

    @abstractmethod
    def rates_to(self, most: float = ALL) -> Rates:
        """Service rates with 1, 2... requests, at most so many [1/s]; then the last holds."""

    @property
    def service_time(self) -> Amount:  # type: ignore[override]
        """Service time of a request without others: 1 / rate_1 [s]."""
        return plain(1 / self.rates_to(1)[0])

    @property
    def capacity(self) -> Amount:
        """Largest arrival rate it can serve: the last rate [1/s]."""
        return plain(self.rates_to()[-1])

    def speeds(self) -> list[Amount]:
        """Rates with 1, 2... requests over that of a single one; then the last holds."""
        rates = self.rates_to()
        return [plain(np.asarray(rate, float) / rates[0]) for rate in rates]

    def fastest(self, population: Quantity) -> Amount:
        """Largest rate with at most N jobs [1/s]."""
        return self._over_numbers(np.maximum, population, lambda _, rate: rate)

    @property
    def speedup(self) -> Amount:
        """The last rate over the first; for a pool, the number of its servers."""
        return self.capacity * self.service_time

    @property
    def crew(self) -> Amount:
        """Servers m of which min(n, m) work with n requests present: 1, unless it is a pool."""
        return ALONE

    @property
    def hastens(self) -> bool:
        """Whether the rates never decrease."""
        return bool(np.all(np.diff(_table(self.rates_to()), axis=0) >= 0))

    def stay(self, population: Amount) -> tuple[Amount, Amount]:
        """Smallest and largest n / rate_n for the numbers n from 1 to N [s]."""
        rates = self.rates_to()
        beyond = np.maximum(population, 1) / rates[-1]  # as the last rate holds from there on
        longest = self._over_numbers(np.maximum, population, lambda n, rate: n / rate)
        occurs = np.asarray(population) >= len(rates)
        worst = np.where(occurs, np.maximum(longest, beyond), longest)
        return self._over_numbers(np.minimum, population, lambda n, rate: n / rate), plain(worst)

    def _over_numbers(
        self,
        pick: np.ufunc,
        population: Amount,
        value: Callable[[FloatArray, FloatArray], FloatArray],
    ) -> Amount:
        """Reduce a value of each n and its rate over the numbers from 1 to N."""
        jobs = np.asarray(population)
        rates = _table(self.rates_to(float(jobs.max(initial=1))))
        width = max(rates.ndim - 1, jobs.ndim)
        number = np.arange(1.0, len(rates) + 1).reshape(-1, *[1] * width)
        laid = rates.reshape(len(rates), *[1] * (width + 1 - rates.ndim), *rates.shape[1:])
        each = value(number, laid)
        occurs = (number <= jobs) | (number == 1)
        return plain(pick.reduce(np.where(occurs, each, each[:1]), axis=0))

    def offered(self, arrival_rate: Quantity) -> Amount:
        """Arrival rate over the last rate."""
        return arrival_rate / self.capacity

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that works: mean of min(n, m) / m; 1 or more means overload.

        For one server that is 1 - p_0, with any rates.
        """
        return self._solved(arrival_rate)[2]

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """R - 1 / rate_1 [s]; negative if more requests make it more than twice as fast."""
        return self.response_time(arrival_rate) - self.service_time

    def queue_length(self, arrival_rate: Quantity) -> Amount:
        """Mean number present: Q = lambda R; infinite from saturation on."""
        length: Amount = arrival_rate * self.response_time(arrival_rate)
        return length

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean of n / rate_n over arrivals that make it n [s]; infinite from saturation on."""
        return self._solved(arrival_rate)[0]

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests: p_0."""
        return self._solved(arrival_rate)[1]

    def number_law(self, arrival_rate: float, again: float = 0.0) -> NumberLaw:  # noqa: ARG002
        """From the chain: probabilities while the rate changes, then a geometric tail."""
        ratios = np.ravel(ratios_of(arrival_rate, self.rates_to()))
        return moving(ratios, float(ratios[-1]))

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - none at any of them
        """Refused, with what would have a law: shared rates, or a known order of service."""
        msg = (
            f"the response time of {self.label} has no known distribution: {self.lawless}; say "
            'discipline = "ps" at it if all present share its rate, or use MM1 or MMm'
        )
        raise GraphError(msg)

    def shared_law(self, arrival_rate: float) -> TimeLaw:
        """The law of a job with an equal share of the rate, whose work takes an exponential time.

        Raises
        ------
        GraphError
            For more requests present than can be followed.
        """
        rates, law = np.ravel(_table(self.rates_to())), self.number_law(arrival_rate)
        most = law.covering(_FOLLOWED)
        if most > MOST_OTHERS:
            msg = (
                f"percentiles where requests share a rate support up to {MOST_OTHERS:,} others; "
                "reduce the load"
            )
            raise GraphError(msg)
        others = np.arange(most + 1)
        each = rates[np.minimum(others, len(rates) - 1)] / (others + 1)
        met = law.chances(most)
        births = np.full(most + 1, arrival_rate)
        return BirthDeathSharing(births, others * each, each, met / met.sum()).law()

    def _solved(self, arrival_rate: Quantity) -> tuple[Amount, Amount, Amount]:
        """Sum the states before the last rate one by one, the rest as a geometric series.

        Response time, probability of no request, and share of the servers that works, which stays
        below 1 as long as the last rate is above the arrival rate.
        """
        rates, crew = self.rates_to(), self.crew
        busy = arrival_rate / rates[-1]
        if is_symbolic(arrival_rate, *rates):
            check_written(len(rates))
            chances = symbolic_chances([arrival_rate / rate for rate in rates])
            return _summed(chances, rates, busy, crew)
        ratios = ratios_of(arrival_rate, rates)
        check_arrivals(busy)
        stable, full = np.asarray(busy) < 1, np.where(np.isnan(busy), np.nan, np.inf)
        chances = np.moveaxis(weights(np.where(stable[..., None], ratios, 0.5)), -1, 0)
        time, empty, used = _summed(chances, rates, np.where(stable, busy, 0.5), crew)
        none = np.where(np.isnan(busy), np.nan, 0.0)
        return (
            plain(np.where(stable, time, full)),
            plain(np.where(stable, empty, none)),
            plain(np.where(stable, np.minimum(used, _NEVER_FULL), busy)),
        )


_NEVER_FULL = float(np.nextafter(1.0, 0.0))  # a stable utilisation that rounds to 1 stays below


def working(present: Amount, crew: Amount) -> Amount:
    """Share of m servers that works with n requests present: min(n, m) / m.

    Examples
    --------
    >>> working(3, 4), working(3, 1)
    (0.75, 1.0)
    """
    return apply("min", present, crew) / crew


def _summed(
    chances: Sequence[Amount], rates: Rates, busy: Amount, crew: Amount = ALONE
) -> tuple[Amount, Amount, Amount]:
    """Mean of n / rate_n over numbers met by arrivals, probability of 0, and mean of `working`.

    That is Little's law with lambda p_(n-1) = rate_n p_n inserted, so it holds at any load, even 0.
    After the last probability follow powers of `busy`, with all servers working.
    """
    last, count = chances[-1], len(rates)
    total = sum(chances[:-1]) + last / (1 - busy)
    pairs = zip(chances[:-1], rates, strict=True)
    below = sum(n * chance / rate for n, (chance, rate) in enumerate(pairs, start=1))
    beyond = last * (count + 1 + busy / (1 - busy)) / (1 - busy) / rates[-1]
    some = enumerate(chances[1:-1], start=1)
    few = sum(chance if crew is ALONE else working(n, crew) * chance for n, chance in some)
    used = few + last / (1 - busy)
    return (below + beyond) / total, chances[0] / total, used / total


def growth_at(speeds: FloatArray, load: FloatArray) -> FloatArray:
    """Response over service time for Poisson arrivals: mean of (n + 1) / a(n + 1).

    Parameters
    ----------
    speeds
        a(1), a(2)... over the speed that the service time refers to, shape (numbers, points).
    load
        Offered work, arrival rate times service time, below the last speed, shape (points,).

    Examples
    --------
    >>> growth_at(np.array([[1.0], [2.0]]), np.array([1.0])).round(12).tolist()
    [1.333333333333]
    """
    return _standing(speeds, load)[0]


def work_at(speeds: FloatArray, load: FloatArray, crew: Amount) -> FloatArray:
    """Share of m servers that works, for `growth_at`, over the offered work.

    Examples
    --------
    >>> work_at(np.array([[1.0], [0.5]]), np.array([0.25]), 1).round(12).tolist()
    [1.333333333333]
    """
    some = np.where(load > 0, load, 1.0)
    first = 1 / (speeds[0] * crew)  # for a request without others
    return np.where(load > 0, np.asarray(_standing(speeds, load, crew)[2]) / some, first)


def _standing(
    speeds: FloatArray, load: FloatArray, crew: Amount = ALONE
) -> tuple[FloatArray, FloatArray, FloatArray]:
    chances = np.moveaxis(weights(ratios_of(load, speeds)), -1, 0)
    growth, empty, used = _summed(chances, speeds, load / speeds[-1], crew)
    return np.asarray(growth), np.asarray(empty), np.asarray(used)


def _table(rates: Rates) -> FloatArray:
    """Rates as an array, shape (numbers, *operating points)."""
    if isinstance(rates, np.ndarray):
        return rates
    return np.stack(np.broadcast_arrays(*(np.asarray(rate, float) for rate in rates)))


def ratios_of(arrival_rate: Amount, rates: Rates) -> FloatArray:
    """Arrival rate over each service rate, shape (operating points..., numbers)."""
    table = np.moveaxis(_table(rates), 0, -1)
    return np.asarray(np.asarray(arrival_rate, float)[..., None] / table)


class ByLaw(Varying):
    """A station whose rates are a function of the number of requests present."""

    @property
    @abstractmethod
    def steady(self) -> Amount:
        """Number of requests from which on the rate is constant."""

    @abstractmethod
    def rate(self, present: Amount) -> Amount:
        """Service rate with this number of requests, from 1 to `steady` [1/s]."""

    @property
    def capacity(self) -> Amount:
        """Largest arrival rate it can serve: the rate from `steady` requests on [1/s]."""
        return plain(self.rate(self.steady))

    def rates_to(self, most: float = ALL) -> Rates:
        """Service rates with 1, 2... requests, at most so many [1/s]; then the last holds."""
        steady = self.steady
        if is_symbolic(steady):
            msg = f"{_named(self)} must be a number in a formula of its laws"
            raise InvalidParameter(msg)
        count = max(int(min(most, np.max(steady))), 1)
        if count > MOST_STATES:
            msg = f"{_named(self)} is {count}; it must be at most {MOST_STATES:,}"
            raise InvalidParameter(msg)
        alone = self.rate(1)
        if is_symbolic(alone):
            check_written(count)
            return [self.rate(n) for n in range(1, count + 1)]
        width = max(np.ndim(steady), np.ndim(alone))
        present = np.arange(1.0, count + 1).reshape(-1, *[1] * width)
        return np.asarray(self.rate(np.minimum(present, steady)))


def _named(station: ByLaw) -> str:
    """The fields of a kind that determine from which number on its rate is constant."""
    return " or ".join(sorted(station.can.counts)) or "the number with a rate of its own"


def check_written(count: int) -> None:
    """Refuse closed forms with too many terms.

    Examples
    --------
    >>> check_written(112)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: formulas write out sums up to 64 requests, not 112; use numbers
    """
    if count > WRITTEN:
        msg = f"formulas write out sums up to {WRITTEN} requests, not {count}; use numbers"
        raise InvalidParameter(msg)
