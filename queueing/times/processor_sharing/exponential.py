"""Response time of a job at M/M/m processor sharing with jobs of one class or several.

The tagged job is absorbed from the chain of the numbers n = (n_1, n_2, ...) of other jobs by class,
at the rate phi(n) / S with phi(n) = min(1, m / (n_1 + n_2 + ... + 1)). Let A be the matrix of its
transient part, generator -A. It is reversible: with a measure mu, diag(mu)**(1/2) A
diag(mu)**(-1/2) = A' is symmetric. On arrival, n has the probability pi(n) = mu(n) phi(n) (PASTA),
so the density of T is v exp(-A' t) v with v(n)**2 = pi(n) phi(n) / S: a mixture of exponentials
with positive weights. Lanczos' steps give Gauss' quadrature of that form, with far fewer terms
than states. The result is exact for Poisson arrivals and exponential services, up to the
truncation of n.

Source: Coffman, Muntz and Trotter, JACM 17(1), 1970 (one class); Golub and Meurant, *Matrices,
Moments and Quadrature*, 2010, chapters 4 and 7 (Lanczos). The chain of several classes is
reversible by detailed balance.
"""

from functools import cached_property
from math import comb, log
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, exponential
from headway.records import dataclass

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LEFT_OUT = (1e-14, 1e-9)  # truncated probability of n: of one class (rounding), of several
_MOST = 20_000  # largest n of one class: for memory and speed
_STATES = 60_000  # states of several classes, above which classes are merged: for speed
_WHOLE = 800  # states up to which all eigenvalues are computed: for speed
_STEPS = 1600  # largest number of Lanczos' steps: for speed
_AGREED = 1e-8  # relative difference of two values of E[T] at which Lanczos' steps end

NEAREST = "classes with the closest service times are merged: percentiles within 1% where measured"
AS_ONE = (
    "classes with different service times are merged: up to the 99th percentile within 9%, the "
    "99.9th within 17% where measured"
)


def exponential_sharing_law(rate: Amount, time: Amount, own: float, servers: int) -> TimeLaw:
    """Response time at servers shared by all present jobs, at most one server each.

    Parameters
    ----------
    rate
        Poisson arrival rate [1/s], below saturation; an array for several classes.
    time
        Mean service time of each class [s].
    own
        Mean service time S of the tagged job [s].
    servers
        Number of servers m: each of n jobs is served at the rate min(1, m / n).

    Returns
    -------
    The law; if there are too many states, classes of the nearest service times are merged into one
    with their mean, and a note says so.

    Examples
    --------
    >>> round(exponential_sharing_law(0.5, 1.0, 1.0, 1).mean, 9)  # S / (1 - U)
    2.0
    """
    rates, times = _by_service_time(
        np.atleast_1d(rate).astype(float), np.atleast_1d(time).astype(float)
    )
    notes: tuple[str, ...] = ()
    while len(rates) > 1 and _size(rates, times, servers) > _STATES:
        (rates, times), notes = _nearest_merged(rates, times), (NEAREST,)
    if not len(rates):
        return exponential(own)
    if notes and len(rates) == 1:
        notes = (AS_ONE,)
    room = _room(rates, times, servers)
    if room > _MOST:
        msg = (
            f"percentiles at a shared server support up to {_MOST:,} other jobs, and it "
            "is nearly saturated; reduce the load"
        )
        raise GraphError(msg)
    return _ReversibleChain(rates, times, own, servers, room).law(notes)


def _by_service_time(rates: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Merge classes of equal service time, and leave out those without arrivals."""
    several, place = np.unique(times, return_inverse=True)
    summed = np.bincount(place, rates, len(several))
    comes = (summed > 0) & (several > 0)
    return np.asarray(summed[comes], float), np.asarray(several[comes], float)


def _nearest_merged(rates: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Merge the two neighbours of the smallest ratio; service times are in ascending order."""
    k = int(np.argmin(times[1:] / times[:-1]))
    total = rates[k] + rates[k + 1]
    mean = rates[k : k + 2] @ times[k : k + 2] / total
    return (
        np.concatenate([rates[:k], [total], rates[k + 2 :]]),
        np.concatenate([times[:k], [mean], times[k + 2 :]]),
    )


def _room(rates: FloatArray, times: FloatArray, servers: int) -> int:
    busy = max(float(rates @ times) / servers, 1e-3)
    return servers + int(log(_LEFT_OUT[len(rates) > 1]) / log(busy)) + 1


def _size(rates: FloatArray, times: FloatArray, servers: int) -> int:
    return comb(_room(rates, times, servers) + len(rates), len(rates))


@dataclass(frozen=True)
class _ReversibleChain:
    """The chain of a tagged job among n_1 + n_2 + ... <= `room` other jobs."""

    rates: FloatArray
    times: FloatArray
    own: float
    servers: int
    room: int

    def law(self, notes: tuple[str, ...]) -> TimeLaw:
        """Return E[exp(-s T)] = sum over i of w_i / (s + r_i), normalised."""
        speeds, weights = self._spectrum()
        heavy = weights > 1e-17 * speeds
        speeds, weights = speeds[heavy], weights[heavy]
        weights = weights / (weights / speeds).sum()

        def transform(s: ComplexArray) -> ComplexArray:
            return np.asarray((weights / np.add.outer(s, speeds)).sum(axis=-1))

        return TimeLaw((Piece(0.0, transform),), float((weights / speeds**2).sum()), notes)

    @cached_property
    def numbers(self) -> FloatArray:
        """(n_1, n_2, ...) of each state, shape (states, classes)."""
        box = np.indices((self.room + 1,) * len(self.rates)).reshape(len(self.rates), -1).T
        return np.asarray(box[box.sum(axis=1) <= self.room])

    @cached_property
    def share(self) -> FloatArray:
        """phi(n) of n = 0, 1... `room` other jobs."""
        return np.minimum(1.0, self.servers / np.arange(1.0, self.room + 2))

    @property
    def initial(self) -> FloatArray:
        """pi(n), probability of each state on arrival."""
        from scipy.special import gammaln

        present = np.arange(1.0, self.room + 1)
        more = np.append(0.0, np.cumsum(np.log(np.maximum(present / self.servers, 1.0))))
        n = self.numbers
        # pi(n) ~ prod of a_j**n_j / n_j! * prod over i = 1..n of max(1, i / m)
        logs = n @ np.log(self.rates * self.times) - gammaln(n + 1.0).sum(axis=1)
        logs += more[n.sum(axis=1)]
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    def _matrix(self) -> "csr_array":
        """The symmetric matrix: total rates on the diagonal, and -sqrt(q_ij q_ji) off it."""
        from scipy.sparse import coo_array, csr_array, diags_array

        n, total = self.numbers, self.numbers.sum(axis=1)
        share, size = self.share[total], len(self.numbers)
        place = np.zeros((self.room + 2,) * len(self.rates), int)
        place[tuple(n.T)] = np.arange(size)
        left = share / self.own + share * (n @ (1 / self.times))
        left = left + np.where(total < self.room, self.rates.sum(), 0.0)
        whole = diags_array(left).tocsr()
        inner = np.flatnonzero(total < self.room)
        for kind, (rate, time) in enumerate(zip(self.rates, self.times, strict=True)):
            more = n[inner] + (np.arange(len(self.rates)) == kind)
            served = more[:, kind] * self.share[total[inner] + 1] / time
            ends = place[tuple(more.T)]
            up = coo_array((-np.sqrt(rate * served), (inner, ends)), (size, size)).tocsr()
            whole = whole + up + up.T
        return csr_array(whole)

    def _spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues r_i and the weights w_i of the density sum over i of w_i exp(-r_i t)."""
        from scipy.linalg import eigh_tridiagonal

        matrix = self._matrix()
        start = np.sqrt(self.initial * self.share[self.numbers.sum(axis=1)] / self.own)
        if len(self.rates) == 1 and len(start) <= _WHOLE:
            speeds, vectors = eigh_tridiagonal(matrix.diagonal(), matrix.diagonal(1))
            return np.asarray(speeds, float), np.asarray((start @ vectors) ** 2, float)
        return _quadrature(matrix, start)


def _quadrature(matrix: "csr_array", start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss' nodes and weights for v f(A) v by Lanczos' steps, until two values of E[T] agree."""
    from scipy.linalg import eigh_tridiagonal

    whole, mean, count = float(start @ start), 0.0, 64
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    before, here = np.zeros_like(start), start / whole**0.5
    while True:
        while len(diagonal) < count:
            ahead = matrix @ here - (off_diagonal[-1] * before if off_diagonal else 0.0)
            diagonal.append(float(ahead @ here))
            ahead -= diagonal[-1] * here
            off_diagonal.append(float(ahead @ ahead) ** 0.5)
            before, here = here, ahead / off_diagonal[-1]
        speeds, vectors = eigh_tridiagonal(diagonal, off_diagonal[:-1])
        weights = whole * vectors[0] ** 2
        last, mean = mean, float((weights / speeds**2).sum())
        if abs(mean - last) <= _AGREED * mean or count >= min(_STEPS, len(start)):
            return np.asarray(speeds, float), np.asarray(weights, float)
        count = min(count * 3 // 2, len(start))
