"""What gamma-distributed times between arrivals miss, where they are distributed otherwise.

``python -m tests.campaigns.renewal_errors`` prints the largest error of the mean response time of
GI/M/m, by law: a constant and an exponential time, and one of two times that are equally likely.
The waits of those laws are computed from their own transforms, by the equations in
`headway.queueing.renewals.waits` written out for one number at a time in mpmath.
"""

from collections.abc import Callable, Iterator

import mpmath

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


def main() -> None:
    """Print the table."""
    for name, law in LAWS.items():
        print(f"{name}: largest error {100 * max(map(abs, errors(law))):.1f}%")


if __name__ == "__main__":
    main()
