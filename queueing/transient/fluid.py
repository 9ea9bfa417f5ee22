"""A network over time by means and covariances, with normally distributed numbers of jobs.

With m servers, z = (m - q) / sigma, and phi and Phi of the normal law,

    E[min(Q, m)] = q - sigma (phi(z) - z (1 - Phi(z))),   Cov(Q, min(Q, m)) = V Phi(z),
    q' = entry lambda + (P^T - 1) mu E[min(Q, m)],
    V' = A V + V A^T + B,   A = (P^T - 1) diag(mu Phi(z)),

where B is the noise of Poisson flows into, out of and between stations.

Source: Massey and Pender, *Gaussian skewness approximation for dynamic rate multi-server queues
with abandonment*, Queueing Systems 75, 2013, 243-277.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.transient.forward import steady
from headway.queueing.transient.means import TimedMeans
from headway.queueing.transient.network import TimedNetwork

LEAST = 1e-12
"""Variance below which a number counts as constant."""

_SURE = 40.0
"""z of stations where nobody ever waits."""


def by_fluid(network: TimedNetwork) -> TimedMeans:
    """Solve a network by means and covariances, part by part of the time."""
    from scipy.integrate import solve_ivp

    state, rows = _start(network), []
    for part, (rate, length) in enumerate(
        zip(network.rates.tolist(), network.lengths.tolist(), strict=True)
    ):
        flows = _Flows.of(network, part)
        begin = np.concatenate([state, np.zeros(4)])
        change = flows.slope(rate)
        solved = solve_ivp(change, (0.0, length), begin, "LSODA", rtol=1e-6, atol=1e-8)
        state = solved.y[:-4, -1]
        number, served, busy, spent = solved.y[-4:, -1].tolist()
        rows.append(
            (
                rate * length,
                served,
                0.0,
                number / length,
                busy / length,
                rate * (spent + length * network.beyond),
            )
        )
    return TimedMeans.of(rows)


def _start(network: TimedNetwork) -> FloatArray:
    """Means and covariances at the start as one vector: of a steady state, or of a given number."""
    count = len(network.stations)
    means = np.zeros(count)
    if network.start is not None:
        means[int(np.argmax([station.entry for station in network.stations]))] = network.start
        return np.concatenate([means, np.zeros(count**2)])
    flows = (network.rates[0] * network.visits).tolist()
    for k, (station, rate) in enumerate(zip(network.stations, flows, strict=True)):
        service = network.service(station, 0)
        found = None if station.is_delay else steady(rate, service)
        means[k] = rate * service.time if found is None else found.mean
    return np.concatenate([means, np.diag(means).ravel()])


@dataclass(frozen=True)
class _Flows:
    """The flows of a network in a part of the time.

    Parameters
    ----------
    servers, speed
        Servers of each station, and jobs that one server serves per second.
    entry, onward, visits
        Shares of arrivals, routing probabilities, and visits, as in the network.
    """

    servers: FloatArray
    speed: FloatArray
    entry: FloatArray
    onward: FloatArray
    visits: FloatArray

    @classmethod
    def of(cls, network: TimedNetwork, part: int) -> "_Flows":
        """The flows of a network in this part."""
        services = [network.service(station, part) for station in network.stations]
        return cls(
            np.array([service.servers for service in services]),
            np.array([1 / service.time for service in services]),
            np.array([station.entry for station in network.stations]),
            network.onward,
            network.visits,
        )

    @property
    def limited(self) -> NDArray[np.bool_]:
        """Which stations have a limited number of servers."""
        return np.isfinite(self.servers)

    def _above(self, mean: FloatArray, sigma: FloatArray, level: FloatArray) -> FloatArray:
        """E[(Q - level)+] for normal Q; 0 if the level is infinite."""
        from scipy.special import ndtr

        z = np.where(np.isfinite(level), (level - mean) / sigma, _SURE)
        return np.asarray(sigma * (np.exp(-z * z / 2) / np.sqrt(2 * np.pi) - z * ndtr(-z)))

    def slope(self, rate: float) -> Callable[[float, FloatArray], FloatArray]:
        """The derivatives of means, covariances and sums over time."""
        from scipy.special import ndtr

        count = len(self.servers)
        flow, leaving = self.onward.T - np.eye(count), 1 - self.onward.sum(axis=1)
        finite = np.where(self.limited, self.servers, 1.0)

        def change(_time: float, state: FloatArray) -> FloatArray:
            q, v = state[:count], state[count : count + count**2].reshape(count, count)
            sigma = np.sqrt(np.maximum(np.diag(v), LEAST))
            inside = np.maximum(q - self._above(q, sigma, self.servers), 0.0)
            below = np.where(self.limited, ndtr((finite - q) / sigma), 1.0)
            out = self.speed * inside
            tilt, moved = flow * (self.speed * below), self.onward * out[:, None]
            came = self.entry * rate + self.onward.T @ out
            spread = tilt @ v + v @ tilt.T + np.diag(came + out) - moved - moved.T
            waits = self._above(q, sigma, self.servers - 1) / finite
            spent = float(self.visits @ ((1 + np.where(self.limited, waits, 0.0)) / self.speed))
            busy = float(np.max(np.where(self.limited, inside / finite, 0.0)))
            sums = (float(q.sum()), float(leaving @ out), busy, spent)
            return np.concatenate([self.entry * rate + flow @ out, spread.ravel(), sums])

        return change
