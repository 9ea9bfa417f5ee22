"""The behaviour of clients: how long they wait, when they give up, and how they retry."""

from dataclasses import fields, replace
from math import ceil, inf
from typing import Any

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, check_domain, check_not_negative
from headway.records import dataclass

PURSE = 100.0
"""Largest number of tokens in a retry budget, unless given."""

FIRST = 10.0
"""Tokens in a retry budget at the start, if its largest number allows."""


OUTCOMES, PROBES = 100.0, 10.0
"""Outcomes that a circuit breaker keeps, and its probes, unless given: those of resilience4j."""

MOST_OUTCOMES = 1_000_000
"""Most outcomes that a circuit breaker may keep, and most probes: chosen, for memory."""


@dataclass(frozen=True)
class Clients:
    """How the clients of a class behave; numbers, or arrays over operating points.

    Parameters
    ----------
    patience
        Mean time that a job waits in the first queue where it has to wait, before it leaves [s],
        above 0; infinite if it stays.
    patience_scv
        Squared coefficient of variation of that time: 1 for an exponential one.
    timeout
        Time after which a client stops waiting for the answer to an attempt [s], above 0; infinite
        if it never does.
    server_notices
        Whether servers then stop working for it; otherwise its job goes on through the network.
    retries
        Most retries of a request, a whole number from 0, or infinite.
    persistence
        Probability of a retry after each failed attempt, 0 to 1.
    backoff
        Mean time before the first retry [s], 0 or more.
    backoff_scv
        Squared coefficient of variation of the backoff: 0 for constant times.
    backoff_factor
        Factor of each further backoff over the one before, 0 or more.
    jitter
        Largest share by which a backoff is lengthened or shortened, uniformly distributed, 0 to 1.
    retry_budget
        Retries allowed per first attempt in the long run, 0 to 1; infinite without a budget. Each
        first attempt adds so many tokens, and a retry takes one.
    retry_tokens
        Largest number of tokens, 1 or more; 10 of them are there at the start.
    circuit_breaker_failures
        Share of failures, above 0 and up to 1, at which the circuit breaker opens that all clients
        of the class share; infinite without one. Then it refuses their attempts, before any server
        sees them.
    circuit_breaker_of
        Number of attempts, the last ones that it let through and that have ended, of which that
        share is taken; with fewer since it closed it stays closed.
    circuit_breaker_open_for
        Time for which it is open [s], 0 or more; then it is half-open.
    circuit_breaker_probes
        Attempts that it lets through then, until all of them have ended: with that share of
        failures or more among them it opens again, otherwise it closes.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> Clients(timeout=0.1, retries=3, backoff=0.05).attempts
    4.0
    >>> Clients(patience=-1.0)
    Traceback (most recent call last):
    headway.errors.InvalidParameter: patience is -1; it must be above 0
    """

    patience: Amount = inf
    patience_scv: Amount = 1.0
    timeout: Amount = inf
    server_notices: bool = False
    retries: Amount = 0.0
    persistence: Amount = 1.0
    backoff: Amount = 0.0
    backoff_scv: Amount = 0.0
    backoff_factor: Amount = 1.0
    jitter: Amount = 0.0
    retry_budget: Amount = inf
    retry_tokens: Amount = PURSE
    circuit_breaker_failures: Amount = inf
    circuit_breaker_of: Amount = OUTCOMES
    circuit_breaker_open_for: Amount = 0.0
    circuit_breaker_probes: Amount = PROBES

    def __post_init__(self) -> None:
        for name in ("patience", "timeout"):
            check_domain(name, getattr(self, name), lambda t: t > 0, "above 0")
        for name in ("patience_scv", "backoff", "backoff_scv", "backoff_factor"):
            check_not_negative(name, getattr(self, name))
        for name in ("persistence", "jitter"):
            check_domain(name, getattr(self, name), lambda s: (s >= 0) & (s <= 1), "from 0 to 1")
        check_domain("retries", self.retries, _is_count, "a whole number of 0 or more")
        check_domain("retry_tokens", self.retry_tokens, lambda n: n >= 1, "1 or more")
        check_domain(
            "retry_budget",
            self.retry_budget,
            lambda s: (s >= 0) & ((s <= 1) | np.isinf(s)),
            "from 0 to 100%",
        )
        self._check_breaker()

    def _check_breaker(self) -> None:
        check_domain(
            "circuit_breaker: failures",
            self.circuit_breaker_failures,
            lambda s: (s > 0) & ((s <= 1) | np.isinf(s)),
            "above 0 and up to 100%",
        )
        check_not_negative("circuit_breaker: open_for", self.circuit_breaker_open_for)
        for part in ("of", "probes"):
            check_domain(
                f"circuit_breaker: {part}",
                getattr(self, f"circuit_breaker_{part}"),
                lambda n: (n >= 1) & (n <= MOST_OUTCOMES) & (n == np.floor(n)),
                f"a whole number from 1 to {MOST_OUTCOMES:,}",
            )

    @property
    def attempts(self) -> Amount:
        """The largest number of attempts of a request."""
        return 1.0 + self.retries

    @property
    def leaves(self) -> bool:
        """Whether jobs leave queues when their patience ends."""
        return bool(np.any(np.isfinite(self.patience)))

    @property
    def gives_up(self) -> bool:
        """Whether clients stop waiting after a timeout."""
        return bool(np.any(np.isfinite(self.timeout)))

    @property
    def returns(self) -> bool:
        """Whether clients retry."""
        return bool(np.any(np.asarray(self.retries) > 0))

    @property
    def breaks(self) -> bool:
        """Whether they share a circuit breaker."""
        return bool(np.any(np.isfinite(self.circuit_breaker_failures)))

    def failures_of(self, attempts: float) -> int:
        """Failures among so many attempts at which the circuit breaker opens, at one point.

        Examples
        --------
        >>> Clients(circuit_breaker_failures=0.07).failures_of(100.0)
        7
        """
        return max(ceil(float(self.circuit_breaker_failures) * attempts * (1 - _ROUNDED)), 1)

    def spread(self, shape: tuple[int, ...]) -> "Clients":
        """The same with every number as a flat array over operating points."""
        numbers: dict[str, Any] = {
            each.name: np.broadcast_to(np.asarray(getattr(self, each.name), float), shape).ravel()
            for each in fields(self)
            if each.name != "server_notices"
        }
        return replace(self, **numbers)

    def point(self, index: Any) -> "Clients":
        """The clients at one operating point, by its index in arrays of one shape."""
        numbers: dict[str, Any] = {
            each.name: float(np.asarray(value)[index])
            for each in fields(self)
            if np.ndim(value := getattr(self, each.name))
        }
        return replace(self, **numbers)


_ROUNDED = 1e-12  # by which a product of a share and a number may exceed the whole number meant


def _is_count(count: Any) -> Any:
    return (count >= 0) & ((count == np.floor(count)) | np.isinf(count))


def check_returns(clients: Clients, *, loses: bool) -> None:
    """Refuse retries and circuit breakers if no attempt can fail.

    Parameters
    ----------
    clients
        The clients of a class.
    loses
        Whether stations refuse jobs.

    Raises
    ------
    InvalidParameter
        In one line.
    """
    fails = clients.leaves or clients.gives_up or loses
    if clients.returns and not fails:
        raise InvalidParameter(
            "retries need a timeout, so that there is something to ask again for; give timeout or "
            "delete retries"
        )
    if clients.breaks and not fails:
        raise InvalidParameter(
            "a circuit_breaker needs attempts that can fail; give timeout or delete circuit_breaker"
        )
    endless = np.isinf(clients.retries) & (np.asarray(clients.backoff) == 0)
    if (loses or clients.breaks) and np.any(endless):
        raise InvalidParameter(
            "retries without end need a backoff where jobs are refused, or no time passes between "
            "them; give backoff"
        )
