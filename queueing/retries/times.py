"""Whether M/M/m answers within a timeout, by the rate of attempts: all served, or some dropped.

A visit takes R = W + S, with S exponential of rate mu = 1 / S. In M/M/m at rate x the wait is 0
with probability 1 - C(m, a), otherwise exponential of rate w = m mu - x (Kleinrock I, 3.5). So

    P(R > T)    = (1 - C) e^(-mu T) + C (w e^(-mu T) - mu e^(-w T)) / (w - mu),
    E[S; R > T] = (1 - C) f(T) + C (integral over u from 0 to T of w e^(-w (T - u)) f(u) du
                  + e^(-w T) / mu),  f(u) = E[S; S > u] = e^(-mu u) (u + 1 / mu).

If jobs that have waited longer than D are dropped when their turn comes, the servers form an
M/M/m+D queue. The wait v that an arrival would have has the density

    g(v) = x p_(m-1) e^(-w v) up to D, g(v) = g(D) e^(-m mu (v - D)) beyond,

with p_0..p_(m-1) as for Erlang, and all probabilities summing to 1. It is stable at any x (Barrer,
Operations Research 5, 1957; Zeltyn and Mandelbaum, Queueing Systems 51, 2005, section 3).

With K places the numbers of jobs are those of M/M/m/K, p_0..p_K. An attempt that finds K is refused
at once; one that finds fewer has the law of `headway.queueing.retries.met`.
"""

from collections.abc import Callable
from functools import cached_property
from math import exp, expm1, inf

import numpy as np
from scipy.integrate import quad

from headway.kinds import FloatArray
from headway.queueing.erlang.birth_death import weights
from headway.queueing.erlang.formulas import erlang_b
from headway.queueing.retries.met import Met, met
from headway.records import dataclass

_CLOSE, _SMALL = 1e-12, 1e-5  # of w D: below these the integrals are those of w = 0, within 1e-5


@dataclass(frozen=True)
class TimedQueue:
    """M/M/m whose clients each wait for a timeout.

    Parameters
    ----------
    service_time
        Mean service time S [s], above 0.
    servers
        Number of servers m, 1 or more.
    timeout
        Time T after which a client gives up [s], above 0.
    oldest
        Wait D above which an attempt is dropped when its turn comes [s]; infinite for none.
    places
        Number of jobs K at which further attempts are refused at once, m or more; infinite for
        none, and where old ones are dropped.

    Examples
    --------
    >>> queue = TimedQueue(service_time=0.008, servers=4, timeout=0.1)
    >>> round(queue.saturation, 6), round(queue.at(400.0).late, 6)
    (500.0, 0.000128)
    """

    service_time: float
    servers: int
    timeout: float
    oldest: float = inf
    places: float = inf

    @property
    def saturation(self) -> float:
        """Rate of attempts above which the queue grows without limit [1/s]."""
        return self.servers / self.service_time if self.loses_none else inf

    @property
    def loses_none(self) -> bool:
        """Whether every attempt is served, however late."""
        return self.oldest == self.places == inf

    @cached_property
    def numbers(self) -> FloatArray:
        """The numbers of jobs 0..K, where places are limited."""
        return np.arange(self.places + 1)

    @cached_property
    def met(self) -> Met:
        """What becomes of the attempts that find 0..K-1 jobs."""
        found = np.arange(int(self.places))
        return met(self.service_time, self.servers, self.timeout, found)

    def at(self, rate: float) -> "Timed":
        """The queue at a rate of attempts [1/s], 0 or more."""
        return Timed(self, rate) if self.places == inf else TimedRoom(self, rate)


@dataclass(frozen=True)
class Timed:
    """M/M/m with a timeout, at one rate of attempts.

    Parameters
    ----------
    queue, rate
        The queue, and the rate of attempts [1/s].
    """

    queue: TimedQueue
    rate: float

    @property
    def grows(self) -> bool:
        """Whether the queue grows without limit."""
        return self.rate >= self.queue.saturation

    @property
    def _decay(self) -> float:
        return self.queue.servers / self.queue.service_time - self.rate

    @property
    def _scale(self) -> float:
        """Logarithm that scales the density so that it cannot overflow."""
        return max(0.0, -self._decay * self.queue.oldest) if self._decay < 0 else 0.0

    def _falls(self, wait: float) -> float:
        """The scaled density e^(-w v), which falls with the wait v, or grows above saturation."""
        return exp(-self._decay * wait - self._scale)

    def _integral(self, upto: float) -> float:
        """Integral of the scaled density from 0 to a wait [s]."""
        if upto == inf:
            return 1 / self._decay
        if abs(self._decay) * upto < _CLOSE:
            return upto * exp(-self._scale)
        return (exp(-self._scale) - self._falls(upto)) / self._decay

    def _first_moment(self, upto: float) -> float:
        """Integral of v e^(-w v) from 0 to a wait [s^2], scaled."""
        decay = self._decay
        if abs(decay) * upto < _SMALL:
            return upto**2 / 2 * exp(-self._scale)
        return (exp(-self._scale) - (1 + decay * upto) * self._falls(upto)) / decay**2

    @cached_property
    def _chances(self) -> tuple[float, float, float]:
        """Probabilities of service at once and of a drop, and the factor of the density [1/s]."""
        if self.rate == 0:
            return 1.0, 0.0, 0.0
        m, most = self.queue.servers, self.queue.oldest
        below = 1.0 if m == 1 else float(erlang_b(m - 1, self.rate * self.queue.service_time))
        if not below:  # so many servers that the probability to wait is 0 to all digits
            return 1.0, 0.0, 0.0
        # g(0+) = x p_(m-1), and p_0..p_(m-1) sum to p_(m-1) / below
        free = exp(-self._scale) / below / self.rate
        beyond = 0.0 if most == inf else self._falls(most) * self.queue.service_time / m
        density = 1 / (free + self._integral(most) + beyond)
        return density * free, density * beyond, density

    @property
    def dropped(self) -> float:
        """Probability that an attempt is dropped without service."""
        return 0.0 if self.grows else self._chances[1]

    def _over(
        self, law: Callable[[float], float], inner: Callable[[float], float] | None = None
    ) -> float:
        """Mean over served attempts of a function of the timeout's rest after the wait.

        `inner` is the integral of that function over waits up to some wait, if it is known.
        """
        limit, most = self.queue.timeout, self.queue.oldest
        if self.grows:
            return law(0.0)
        at_once, _, density = self._chances
        upto = min(limit, most)
        within = (inner or self._by_quadrature(law))(upto)
        # served after their clients have given up
        gone = self._integral(most) - self._integral(upto)
        return float(at_once * law(limit) + density * (within + gone * law(0.0)))

    def _by_quadrature(self, law: Callable[[float], float]) -> Callable[[float], float]:
        def inner(upto: float) -> float:
            def each(wait: float) -> float:
                return self._falls(wait) * law(self.queue.timeout - wait)

            return float(quad(each, 0.0, upto, epsrel=1e-11, limit=200)[0])

        return inner

    def _served_late(self, upto: float) -> float:
        """Integral of e^(-w v) e^(-mu (T - v)) over waits v from 0 to a wait [s], scaled."""
        mu, limit = 1 / self.queue.service_time, self.queue.timeout
        apart = mu - self._decay
        first = exp(-mu * limit - self._scale)
        if apart * upto < 1:  # otherwise e^(apart v) alone may overflow
            return first * (upto if apart == 0 else expm1(apart * upto) / apart)
        return (self._falls(upto) * exp(-mu * (limit - upto)) - first) / apart

    @cached_property
    def late(self) -> float:
        """Probability that an attempt is not answered in time: dropped, or served too late."""
        if self.grows:
            return 1.0
        mu = 1 / self.queue.service_time
        return min(1.0, self.dropped + self._over(lambda left: exp(-mu * left), self._served_late))

    @cached_property
    def late_work(self) -> float:
        """Work for attempts served too late, relative to the work of all attempts offered."""
        mu = 1 / self.queue.service_time
        return self._over(lambda left: exp(-mu * left) * (mu * left + 1))

    @cached_property
    def time_in_time(self) -> float:
        """E[R; R <= T]: the mean time of attempts answered in time, 0 for others [s]."""
        mu, limit = 1 / self.queue.service_time, self.queue.timeout
        if self.grows:
            return 0.0

        def served(left: float) -> float:  # E[wait + S; S <= left], wait = T - left
            wait, gone = limit - left, exp(-mu * left)
            return wait * (1 - gone) + (1 - gone * (1 + mu * left)) / mu

        return self._over(served)

    @cached_property
    def queue_length(self) -> float:
        """Mean jobs present, by Little's law: waiting (also if dropped later) and in service."""
        if self.grows:
            return inf
        most = self.queue.oldest
        _, dropped, density = self._chances
        if most == inf:
            wait = density / self._decay**2 if self.rate else 0.0
        else:
            inner = self._first_moment(most)
            wait = density * inner + dropped * (most + self.queue.service_time / self.queue.servers)
        return self.rate * (wait + (1 - dropped) * self.queue.service_time)


@dataclass(frozen=True)
class TimedRoom(Timed):
    """M/M/m/K with a timeout, at one rate of attempts; others are refused at once.

    Examples
    --------
    >>> at = TimedQueue(1.0, 1, 2.0, places=2).at(1.0)  # 0, 1 and 2 jobs are equally likely
    >>> round(3 * at.dropped, 9), round(at.queue_length, 9)
    (1.0, 1.0)
    >>> round(3 * at.late, 6) == round(1 + exp(-2) + 3 * exp(-2), 6)  # of one and of two services
    True
    """

    @cached_property
    def _numbers(self) -> FloatArray:
        """Probabilities of 0..K jobs."""
        departs = np.minimum(self.queue.numbers[1:], self.queue.servers) / self.queue.service_time
        likely = np.asarray(weights(self.rate / departs))
        return np.asarray(likely / likely.sum())

    @property
    def dropped(self) -> float:
        """Probability that an attempt is refused."""
        return float(self._numbers[-1])

    @cached_property
    def late(self) -> float:
        """Probability that an attempt is not answered in time: refused, or served too late."""
        return min(1.0, float(self._numbers[:-1] @ self.queue.met.late) + self.dropped)

    @cached_property
    def late_work(self) -> float:
        """Work for attempts served too late, relative to the work of all attempts offered."""
        return float(self._numbers[:-1] @ self.queue.met.wasted) / self.queue.service_time

    @cached_property
    def time_in_time(self) -> float:
        """E[R; R <= T]: the mean time of attempts answered in time, 0 for others [s]."""
        return float(self._numbers[:-1] @ self.queue.met.in_time)

    @cached_property
    def queue_length(self) -> float:
        """Mean jobs present."""
        return float(self._numbers @ self.queue.numbers)
