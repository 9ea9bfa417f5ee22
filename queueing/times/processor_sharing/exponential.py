"""How long a job takes that shares servers with jobs of one kind or of several.

The job is followed among the numbers of others of each kind. That chain is reversible, and what
the job finds is proportional to its measure times how fast the job is served: so the law is a
mixture of exponential ones with positive weights, which Lanczos' steps find from far fewer numbers
than there are states. Exact for Poisson arrivals and exponential services.

Source: Coffman, Muntz and Trotter, JACM 17(1), 1970 (one kind); Golub and Meurant, *Matrices,
Moments and Quadrature*, 2010, chapters 4 and 7 (Lanczos). That several kinds keep the chain
reversible follows from detailed balance.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb, log
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, exponential

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LEFT_OUT = (1e-14, 1e-9)  # chance of more others than there is room for: of one kind, of several
_MOST = 20_000  # others of one kind that are followed
_STATES = 60_000  # of several kinds
_WHOLE = 800  # states of which all exponentials are found
_STEPS = 1600
_AGREED = 1e-8

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
        Poisson arrivals [1/s], below what the servers can do; of several kinds of jobs an array.
    time
        Mean service of each kind [s], as many.
    own
        Mean of the service that the job itself needs [s].
    servers
        Number of servers m: of n jobs each has m / n of one, at most a whole one.

    Returns
    -------
    The law, with a note where there are more states than are followed, so that kinds whose
    times are the nearest count as one of their mean.

    Examples
    --------
    >>> round(exponential_sharing_law(0.5, 1.0, 1.0, 1).mean, 9)  # S / (1 - U)
    2.0
    """
    rates, times = _kinds(np.atleast_1d(rate).astype(float), np.atleast_1d(time).astype(float))
    notes: tuple[str, ...] = ()
    while len(rates) > 1 and _size(rates, times, servers) > _STATES:
        (rates, times), notes = _nearest_joined(rates, times), (NEAREST,)
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
    return _Meeting(rates, times, own, servers, room).law(notes)


def _kinds(rates: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Those who come, by their time."""
    several, place = np.unique(times, return_inverse=True)
    summed = np.bincount(place, rates, len(several))
    comes = (summed > 0) & (several > 0)
    return np.asarray(summed[comes], float), np.asarray(several[comes], float)


def _nearest_joined(rates: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Times in order; the two that are the nearest as one."""
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
class _Meeting:
    """A job among others of each kind, up to `room` of them."""

    rates: FloatArray
    times: FloatArray
    own: float
    servers: int
    room: int

    def law(self, notes: tuple[str, ...]) -> TimeLaw:
        """How long the job takes: exponentials that end at `rates`, with how much of each."""
        speeds, weights = self._spectrum()
        heavy = weights > 1e-17 * speeds
        speeds, weights = speeds[heavy], weights[heavy]
        weights = weights / (weights / speeds).sum()

        def transform(s: ComplexArray) -> ComplexArray:
            return np.asarray((weights / np.add.outer(s, speeds)).sum(axis=-1))

        return TimeLaw((Piece(0.0, transform),), float((weights / speeds**2).sum()), notes)

    @cached_property
    def numbers(self) -> FloatArray:
        """Others of each kind, shape (states, kinds)."""
        box = np.indices((self.room + 1,) * len(self.rates)).reshape(len(self.rates), -1).T
        return np.asarray(box[box.sum(axis=1) <= self.room])

    @cached_property
    def share(self) -> FloatArray:
        """Of a server that each has, with so many others, shape (room + 1,)."""
        return np.minimum(1.0, self.servers / np.arange(1.0, self.room + 2))

    @property
    def initial(self) -> FloatArray:
        """Chance of each state when the job comes."""
        from scipy.special import gammaln

        present = np.arange(1.0, self.room + 1)
        more = np.append(0.0, np.cumsum(np.log(np.maximum(present / self.servers, 1.0))))
        n = self.numbers
        # of n jobs n! / (n_1! n_2! ...) orders, and max(1, i / m) for the i-th in place of i
        logs = n @ np.log(self.rates * self.times) - gammaln(n + 1.0).sum(axis=1)
        logs += more[n.sum(axis=1)]
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    def _matrix(self) -> "csr_array":
        """How fast states are left, made symmetric by their measure."""
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
        """Speeds at which parts of the law decay, and their densities at 0."""
        from scipy.linalg import eigh_tridiagonal

        matrix = self._matrix()
        start = np.sqrt(self.initial * self.share[self.numbers.sum(axis=1)] / self.own)
        if len(self.rates) == 1 and len(start) <= _WHOLE:
            speeds, vectors = eigh_tridiagonal(matrix.diagonal(), matrix.diagonal(1))
            return np.asarray(speeds, float), np.asarray((start @ vectors) ** 2, float)
        return _quadrature(matrix, start)


def _quadrature(matrix: "csr_array", start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss' rule for start f(matrix) start, until two means agree."""
    from scipy.linalg import eigh_tridiagonal

    whole, mean, count = float(start @ start), 0.0, 64
    diagonal: list[float] = []
    beside: list[float] = []
    before, here = np.zeros_like(start), start / whole**0.5
    while True:
        while len(diagonal) < count:
            ahead = matrix @ here - (beside[-1] * before if beside else 0.0)
            diagonal.append(float(ahead @ here))
            ahead -= diagonal[-1] * here
            beside.append(float(ahead @ ahead) ** 0.5)
            before, here = here, ahead / beside[-1]
        speeds, vectors = eigh_tridiagonal(diagonal, beside[:-1])
        weights = whole * vectors[0] ** 2
        last, mean = mean, float((weights / speeds**2).sum())
        if abs(mean - last) <= _AGREED * mean or count >= min(_STEPS, len(start)):
            return np.asarray(speeds, float), np.asarray(weights, float)
        count = min(count * 3 // 2, len(start))
