"""Response time of a job at an M/G/1 processor-sharing server.

Jobs arrive at the rate lambda, with service times of transform b and the utilisation rho. The
response time V(x) of a job of service time x has

    E[exp(-s V(x))] = (1 - rho) / (1 - rho + s D(x)),
    D(x) = int_0^x (1 + s int_0^y W(u) du) dy,  int_0^oo exp(-z u) W(u) du = 1 / (f(z) - s),

with f(z) = z - lambda (1 - b(z)). If the others have phase-type times, 1 / (f - s) is rational, so
with the roots z_j of f(z) = s

    E[exp(-s V(x))] = 1 / sum of a_j exp(z_j x),  a_j = s**2 / ((1 - rho) z_j**2 f'(z_j)).

For a gamma-distributed x, Gauss-Laguerre quadrature integrates this along the ray on which exp(z_j
x) does not oscillate for the root with the largest real part. For a constant x it is evaluated at
x. If all service times are the same constant (M/D/1), D is elementary.

Source: Yashkov, "Processor-sharing queues: some progress in analysis", Queueing Systems 2(1),
1987; Ott, "The sojourn-time distribution in the M/G/1 queue with processor sharing", J. Appl.
Prob. 21(2), 1984; Zwart and Boxma, "Sojourn time asymptotics in the M/G/1 processor sharing
queue", Queueing Systems 35, 2000, theorem 2.1, of which the formula above is another form.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.laws import GAMMA, ComplexArray, Piece, TimeLaw, constant, gamma
from headway.queueing.times.phase_type import Phases, in_phases, mixture_of
from headway.records import dataclass

IN_PHASES = (
    "the other jobs at a shared server are taken to be served in phases: percentiles within 1% "
    "where measured"
)
"""Measured by ``python -m tests.campaigns.sharing_errors``, at scvs from 0 to 8 and loads from
0.5 to 0.9.
"""

_NODES = 48  # of the quadrature: transforms within 1e-7 for scvs up to 8
_POLISHED = 3  # Aberth's steps, from relative errors of 1e-11 to rounding
_NEAR = 1e-12  # relative distance from a pole at which a root cancels it


class SharingClasses(NamedTuple):
    """Classes of jobs at a server: arrival rates [1/s], mean service times [s] and their scvs."""

    rates: tuple[float, ...]
    times: tuple[float, ...]
    scvs: tuple[float, ...]

    def alike(self) -> "SharingClasses":
        """Merge classes of the same mean and scv; leave out those without arrivals or service."""
        rates: dict[tuple[float, float], float] = {}
        for rate, time, scv in zip(*self, strict=True):
            if rate > 0 and time > 0:
                rates[time, scv] = rates.get((time, scv), 0.0) + rate
        times, scvs = zip(*rates, strict=True) if rates else ((), ())
        return SharingClasses(tuple(rates.values()), times, scvs)

    @property
    def busy(self) -> float:
        """Utilisation rho of the server."""
        return sum(rate * time for rate, time in zip(self.rates, self.times, strict=True))


def general_sharing_law(others: SharingClasses, own: float, scv: float) -> TimeLaw:
    """Response time of a job at a server that all jobs present share.

    Parameters
    ----------
    others
        Classes of Poisson arrivals, together below saturation.
    own, scv
        Mean service time of the job [s], above 0, and its scv; gamma-distributed, or constant at 0.

    Examples
    --------
    >>> from headway.queueing.times.inversion import percentile_of
    >>> law = general_sharing_law(SharingClasses((0.7,), (1.0,), (0.0,)), 1.0, 0.0)  # M/D/1
    >>> round(law.mean, 6), round(percentile_of(law, 0.95), 3)
    (3.333333, 8.563)
    """
    others = others.alike()
    if not others.rates:
        return alone_law(own, scv)
    if scv == 0 and others.times == (own,) and others.scvs == (0.0,):
        return _of_constants(others.rates[0], own)
    meeting = _TaggedJob(others, own, scv)
    mean = own / (1 - others.busy)
    notes: tuple[str, ...] = () if {scv, *others.scvs} <= {0.0, 1.0} else (GAMMA,)
    notes += () if set(others.scvs) == {1.0} else (IN_PHASES,)
    if scv > 0:
        return TimeLaw((Piece(0.0, meeting.over_gamma),), mean, notes)
    undisturbed = Piece(own, lambda s: np.full_like(s, meeting.undisturbed))
    return TimeLaw((undisturbed, Piece(own, meeting.disturbed)), mean, notes)


def alone_law(own: float, scv: float) -> TimeLaw:
    """Law of the service time, which is the response time without other jobs."""
    if scv == 0:
        return constant(own)
    return TimeLaw((Piece(0.0, gamma(own, scv)),), own, () if scv == 1 else (GAMMA,))


def _of_constants(rate: float, time: float) -> TimeLaw:
    """M/D/1: D(x) = lambda x / (lambda + s) + s (exp((lambda + s) x) - 1) / (lambda + s)**2.

    With u = lambda / (lambda + s) that makes E[exp(-s V)] exp(s x) = (1 - rho) / (A exp(-s x) + B),
    A = (2 - rho) u - u**2, B = (1 - u)**2 exp(rho). The law of V < 2 S is split
    off, as density jumps there.
    """
    busy = rate * time
    soon = (1 - busy) * np.exp(-busy)

    def first(s: ComplexArray) -> ComplexArray:
        return np.asarray(soon * (1 + rate / s) ** 2)

    def later(s: ComplexArray) -> ComplexArray:
        share = rate / (rate + s)
        ahead = (2 - busy) * share - share**2
        own = (1 - share) ** 2 * np.exp(busy)
        return np.asarray(-(1 - busy) * ahead / own / (ahead * np.exp(-s * time) + own))

    return TimeLaw((Piece(time, first), Piece(2 * time, later)), time / (1 - busy))


@dataclass(frozen=True)
class _TaggedJob:
    """A tagged job among jobs of phase-type service times."""

    others: SharingClasses
    own: float
    scv: float

    def over_gamma(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s V)] over gamma-distributed services: sum of w_i (m / (m + z))**k / (...)."""
        shape = 1 / self.scv
        speed = shape / self.own
        roots, amounts, largest = self._roots(s)
        at, weights = _laguerre(shape - 1)
        times = at / (speed + largest)[:, None]
        rest = np.exp((roots - largest[:, None])[..., None] * times[:, None, :])
        stay = (weights / (amounts[..., None] * rest).sum(axis=1)).sum(axis=1)
        return np.asarray((speed / (speed + largest)) ** shape * stay)

    @property
    def undisturbed(self) -> float:
        """(1 - rho) exp(-lambda x): probability of a constant service x without another job."""
        return float((1 - self.others.busy) * np.exp(-sum(self.others.rates) * self.own))

    def disturbed(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s (V - x))] of a constant service x, less the probability of `undisturbed`."""
        roots, amounts, largest = self._roots(s)
        rest = np.exp((roots - largest[:, None]) * self.own)
        ahead = np.exp(-self._work(largest)[0] * self.own)  # s - z, as f(z) = s
        return np.asarray(ahead / (amounts * rest).sum(axis=1) - self.undisturbed)

    def _roots(self, s: ComplexArray) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        """The z_j and a_j, and the z_j with the largest real part, shapes (terms, roots), (terms,).

        They are the eigenvalues of [[s + lambda, -lambda start], [ends, moves]].
        """
        come, service = sum(self.others.rates), self._service
        size = len(service.start) + 1
        matrix = np.zeros((len(s), size, size), complex)
        matrix[:, 0, 0] = s + come
        matrix[:, 0, 1:] = -come * service.start
        matrix[:, 1:, 0] = service.ends
        matrix[:, 1:, 1:] = service.moves
        roots = np.asarray(np.linalg.eigvals(matrix), complex)
        for _ in range(_POLISHED):
            roots = roots - self._step(roots, s[:, None])
        slope = self._work(roots)[1]
        amounts = s[:, None] ** 2 / ((1 - self.others.busy) * roots**2 * (1 - slope))
        return roots, amounts, roots[np.arange(len(s)), roots.real.argmax(axis=1)]

    def _step(self, z: ComplexArray, s: ComplexArray) -> ComplexArray:
        """Aberth's step of all roots of (f(z) - s) q(z) together, q being the denominator of b."""
        work, slope, poles = self._work(z)
        off = z - work - s
        newton = off / (1 - slope + off * poles)
        apart = z[:, :, None] - z[:, None, :]
        apart = np.where(np.abs(apart) < _NEAR, np.inf, apart)
        return np.asarray(newton / (1 - newton * (1 / apart).sum(axis=2)))

    @cached_property
    def _service(self) -> Phases:
        """Phase-type service time of all classes together."""
        each = [in_phases(t, c) for t, c in zip(self.others.times, self.others.scvs, strict=True)]
        return mixture_of(each, self.others.rates)

    def _work(self, z: ComplexArray) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        """Lambda (1 - b(z)), its derivative, and q'(z) / q(z)."""
        left, slope, poles = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
        for rate, *service in zip(*self.others, strict=True):
            speeds: dict[float, int] = {}
            for share, stages, speed in _stages(*service):
                turn = speed + z
                turn = np.where(np.abs(turn) < _NEAR * speed, _NEAR * speed, turn)
                done = (speed / turn) ** stages
                left += rate * share * (1 - done)
                slope += rate * share * stages * done / turn
                speeds[speed] = max(stages, speeds.get(speed, 0))
            poles += sum(n / np.where(z == -v, _NEAR * v, v + z) for v, n in speeds.items())
        return left, slope, poles


def _stages(time: float, scv: float) -> list[tuple[float, int, float]]:
    """Probability, stages and rate of each Erlang term of a mixture of Erlang times."""
    service = in_phases(time, scv)
    speeds = (-np.diag(service.moves)).tolist()
    many = [1] * len(speeds) if scv > 1 else list(range(len(speeds), 0, -1))
    each = zip(service.start.tolist(), many, speeds, strict=True)
    return [one for one in each if one[0] > 0]


def _laguerre(power: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss' rule for t**power exp(-t), whose weights sum to 1."""
    from scipy.linalg import eigh_tridiagonal

    n = np.arange(_NODES)
    beside = np.sqrt(n[1:] * (n[1:] + power))
    at, vectors = eigh_tridiagonal(2 * n + 1 + power, beside)
    return np.asarray(at, float), np.asarray(vectors[0] ** 2, float)
