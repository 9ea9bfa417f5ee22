"""Errors of taking interarrival times as gamma-distributed, where they have another law.

``python -m tests.campaigns.renewal_errors`` prints the largest error of the mean response time of
GI/M/m, by law: a constant plus an exponential time, and one of two equally likely times. It prints
the same for GI/M/m/K, by places beyond the servers, compared with whole Markov chains of what
arrivals find. The waits of those laws are computed from their own transforms, by the equations in
`headway.queueing.renewals.waits` written out for one number at a time in mpmath.
"""

from collections.abc import Callable, Iterator

import mpmath
import numpy as np
from scipy.linalg import expm

from headway.queueing.renewals.room import renewal_room
from headway.queueing.renewals.waits import renewal_wait

Transform = Callable[[mpmath.mpf], mpmath.mpf]

SCVS = (0.1, 0.25, 0.5, 0.75, 0.9)
SERVERS = (1, 2, 4, 16)
LOADS = (0.2, 0.5, 0.7, 0.8, 0.9, 0.95)


def delayed_exponential(mean: float, scv: float) -> Transform:
    """A constant and an exponential time, in series."""
    varies = mean * mpmath.sqrt(scv)
    return lambda s: mpmath.exp(-s * (mean - varies)) / (1 + s * varies)


def one_of_two(mean: float, scv: float) -> Transform:
    """One of two times, equally likely."""
    away = mean * mpmath.sqrt(scv)
    return lambda s: (mpmath.exp(-s * (mean - away)) + mpmath.exp(-s * (mean + away))) / 2


LAWS = {"a constant and an exponential": delayed_exponential, "one of two": one_of_two}


def mean_wait(transform: Transform, servers: int) -> float:
    """Mean wait in GI/M/m with services of mean 1 [s]: Takács's sum, by mpmath."""
    y = mpmath.findroot(
        lambda y: (1 - transform(servers * y) - y) / y, (1e-6, 1), solver="illinois"
    )
    total, product = 1 / y, mpmath.mpf(1)
    for k in range(1, servers + 1):
        left = transform(mpmath.mpf(k))
        product *= left / (1 - left)
        odd = (servers * (1 - left) - k) / (servers * y - k)
        total += mpmath.binomial(servers, k) / (product * (1 - left)) * odd
    return float(1 / total / y / (servers * y))


def errors(law: Callable[[float, float], Transform]) -> Iterator[float]:
    """Relative errors of the mean response time."""
    for servers in SERVERS:
        for load in LOADS:
            for scv in SCVS:
                rate = servers * load
                true = 1 + mean_wait(law(1 / rate, scv), servers)
                gamma = 1 + float(renewal_wait(rate, 1.0, servers, scv).mean)
                yield gamma / true - 1


QUEUES = (0, 1, 2, 3, 10, 30)
OVERLOADS = (0.3, 0.6, 0.8, 0.9, 1.0, 1.1, 1.5, 2.5)


def room_chain(load: float, servers: int, places: int, phases: int) -> tuple[float, float]:
    """Probability of finding a place, and mean time of admitted jobs in services: a whole chain.

    Interarrival times are Erlang, or constant with 0 phases.
    """
    found = found_by_arrivals(load, servers, places, phases)
    admitted = float(found[:-1].sum())
    ahead = np.maximum(np.arange(places) - servers + 1, 0) / servers
    return admitted, 1 + float(found[:-1] @ ahead) / admitted


def found_by_arrivals(load: float, servers: int, places: int, phases: int) -> np.ndarray:
    """Probabilities of 0, 1, ..., K jobs just before an arrival, with services of mean 1."""
    count = places + 1
    deaths = np.diag([-float(min(n, servers)) for n in range(count)])
    deaths += np.diag([float(min(n, servers)) for n in range(1, count)], -1)
    if phases == 0:
        between = expm(deaths / load)
    else:  # the resolvent of an exponential time, once per phase
        once = np.linalg.inv(np.eye(count) - deaths / (load * phases))
        between = np.linalg.matrix_power(once, phases)
    moves = between[np.minimum(np.arange(count) + 1, places)]
    system = np.vstack([moves.T - np.eye(count), np.ones(count)])
    return np.linalg.lstsq(system, np.append(np.zeros(count), 1.0), rcond=None)[0]


def room_errors(queue: int, phases: int) -> tuple[float, float]:
    """Largest relative errors of throughput and response time, by places beyond the servers."""
    worst = [0.0, 0.0]
    for servers in (1, 2, 3, 4, 8):
        for busy in OVERLOADS:
            given = busy * servers, servers, servers + queue
            admitted, time = room_chain(*given, phases)
            scv = 0.0 if phases == 0 else 1 / phases
            solved = renewal_room(servers, given[2], given[0], scv)
            errors = float(solved.admitted) / admitted - 1, (1 + float(solved.wait)) / time - 1
            worst = [max(old, abs(new)) for old, new in zip(worst, errors, strict=True)]
    return worst[0], worst[1]


def main() -> None:
    """Print the tables."""
    for queue in QUEUES:
        rows = [room_errors(queue, phases) for phases in (0, 2)]
        rate, time = (100 * max(each) for each in zip(*rows, strict=True))
        print(f"{queue} places more: throughput {rate:.2g}%, response time {time:.2g}%")
    for name, law in LAWS.items():
        print(f"{name}: largest error {100 * max(map(abs, errors(law))):.1f}%")


if __name__ == "__main__":
    main()
