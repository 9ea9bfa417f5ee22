"""Whether M/M/m answers within a timeout, at each rate of attempts: served to the end, or dropped.

A visit lasts R = W + S, S exponential of rate mu = 1 / S. In M/M/m at rate x the wait is 0 with
chance 1 - C(m, a), and else exponential of rate w = m mu - x (Kleinrock I, 3.5). So

    P(R > T)    = (1 - C) e^(-mu T) + C (w e^(-mu T) - mu e^(-w T)) / (w - mu),
    E[S; R > T] = (1 - C) f(T) + C (integral over u from 0 to T of w e^(-w (T - u)) f(u) du
                  + e^(-w T) / mu),  f(u) = E[S; S > u] = e^(-mu u) (u + 1 / mu).

Where what waits longer than D is dropped when its turn comes, the servers see M/M/m+D.
The wait v that an arrival would have has the density

    g(v) = x p_(m-1) e^(-w v) up to D, g(v) = g(D) e^(-m mu (v - D)) beyond,

with p_0..p_(m-1) by Erlang; all sums to 1. It is stable at any x (Barrer, Operations Research 5,
1957; Zeltyn and Mandelbaum, Queueing Systems 51, 2005, section 3).
"""

from collections.abc import Callable
from functools import cached_property
from math import exp, expm1, inf

from scipy.integrate import quad

from headway.queueing.erlang.formulas import erlang_b
from headway.records import dataclass

_CLOSE, _SMALL = 1e-12, 1e-5  # of w D, below which the integrals are those of w = 0: 1e-5 at most


@dataclass(frozen=True)
class TimedQueue:
    """M/M/m, of whose clients each waits for a timeout.

    Parameters
    ----------
    service_time
        Mean service time S [s], above 0.
    servers
        Number of servers m, 1 or more.
    timeout
        Time T after which a client has gone [s], above 0.
    oldest
        Wait D beyond which an attempt is dropped when its turn comes [s]; infinite if none is.

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

    @property
    def saturation(self) -> float:
        """Rate of attempts above which the queue grows without limit [1/s]."""
        return self.servers / self.service_time if self.oldest == inf else inf

    def at(self, rate: float) -> "Timed":
        """The queue at a rate of attempts [1/s], 0 or more."""
        return Timed(self, rate)


@dataclass(frozen=True)
class Timed:
    """M/M/m with a timeout at one rate of attempts.

    Parameters
    ----------
    queue, rate
        Which, and attempts [1/s].
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
        """Logarithm by which the density is divided, so that it cannot overflow."""
        return max(0.0, -self._decay * self.queue.oldest) if self._decay < 0 else 0.0

    def _falls(self, wait: float) -> float:
        """How g falls, or grows above saturation, from wait to wait: e^(-w v), scaled."""
        return exp(-self._decay * wait - self._scale)

    def _integral(self, upto: float) -> float:
        """Of that from 0 to a wait [s]."""
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
        """Chances to be served at once and to be dropped, and the density over `_falls` [1/s]."""
        if self.rate == 0:
            return 1.0, 0.0, 0.0
        m, most = self.queue.servers, self.queue.oldest
        below = 1.0 if m == 1 else float(erlang_b(m - 1, self.rate * self.queue.service_time))
        if not below:  # so many servers that none waits, to all digits
            return 1.0, 0.0, 0.0
        # g(0+) = x p_(m-1), and p_0..p_(m-1) sum to p_(m-1) / below
        free = exp(-self._scale) / below / self.rate
        beyond = 0.0 if most == inf else self._falls(most) * self.queue.service_time / m
        density = 1 / (free + self._integral(most) + beyond)
        return density * free, density * beyond, density

    @property
    def dropped(self) -> float:
        """Chance that an attempt is dropped unserved."""
        return 0.0 if self.grows else self._chances[1]

    def _over(
        self, law: Callable[[float], float], inner: Callable[[float], float] | None = None
    ) -> float:
        """Mean over attempts that are served: of what is left of the timeout after the wait.

        `inner` is the integral of the law over waits up to one, where it is known.
        """
        limit, most = self.queue.timeout, self.queue.oldest
        if self.grows:
            return law(0.0)
        at_once, _, density = self._chances
        upto = min(limit, most)
        within = (inner or self._by_quadrature(law))(upto)
        gone = self._integral(most) - self._integral(upto)  # served after their clients left
        return float(at_once * law(limit) + density * (within + gone * law(0.0)))

    def _by_quadrature(self, law: Callable[[float], float]) -> Callable[[float], float]:
        def inner(upto: float) -> float:
            def each(wait: float) -> float:
                return self._falls(wait) * law(self.queue.timeout - wait)

            return float(quad(each, 0.0, upto, epsrel=1e-11, limit=200)[0])

        return inner

    def _served_late(self, upto: float) -> float:
        """Integral of e^(-w v) e^(-mu (T - v)) over waits v from 0 to one [s], scaled."""
        mu, limit = 1 / self.queue.service_time, self.queue.timeout
        apart = mu - self._decay
        first = exp(-mu * limit - self._scale)
        if apart * upto < 1:  # else e^(apart v) alone may overflow
            return first * (upto if apart == 0 else expm1(apart * upto) / apart)
        return (self._falls(upto) * exp(-mu * (limit - upto)) - first) / apart

    @cached_property
    def late(self) -> float:
        """Chance that an attempt is not answered in time: dropped, or served too late."""
        if self.grows:
            return 1.0
        mu = 1 / self.queue.service_time
        return min(1.0, self.dropped + self._over(lambda left: exp(-mu * left), self._served_late))

    @cached_property
    def late_work(self) -> float:
        """Work for attempts that are served too late, over that for all attempts offered."""
        mu = 1 / self.queue.service_time
        return self._over(lambda left: exp(-mu * left) * (mu * left + 1))

    @cached_property
    def time_in_time(self) -> float:
        """E[R; R <= T]: what attempts that are answered in time take [s]."""
        mu, limit = 1 / self.queue.service_time, self.queue.timeout
        if self.grows:
            return 0.0

        def served(left: float) -> float:  # E[wait + S; S <= left], wait = T - left
            wait, gone = limit - left, exp(-mu * left)
            return wait * (1 - gone) + (1 - gone * (1 + mu * left)) / mu

        return self._over(served)

    @cached_property
    def queue_length(self) -> float:
        """Mean jobs present, by Little's law: those that wait, dropped ones too, and in service."""
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
