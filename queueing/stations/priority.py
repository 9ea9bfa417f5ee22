"""One server whose classes of requests overtake each other in the queue."""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_domain,
    check_not_negative,
    check_positive,
    is_symbolic,
)
from headway.queueing.stations.base import while_stable
from headway.queueing.times.feedback import STEADIEST
from headway.queueing.times.head_of_line import head_of_line_transform
from headway.queueing.times.laws import GAMMA, Piece, TimeLaw, gamma
from headway.records import dataclass


@dataclass(frozen=True)
class PriorityMG1:
    """One server, Poisson arrivals, any service; higher classes go first, nobody is interrupted.

    W_c = W_0 / ((1 - s_(c-1)) (1 - s_c)), with s_c the utilisation by classes up to c and
    W_0 = sum of lambda_i S_i**2 (1 + scv_i) / 2, the mean rest of the service found going on.

    Parameters
    ----------
    service_times
        Mean service time of each class [s], highest priority first, above 0.
    scvs
        Squared coefficient of variation of each class's service time, 0 or more.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain, or lists of different lengths.

    Examples
    --------
    >>> urgent, other = PriorityMG1((0.5, 0.5), (1.0, 1.0)).waiting_times((0.5, 0.5))
    >>> round(urgent, 4), round(other, 4)
    (0.3333, 0.6667)

    References
    ----------
    Cobham, "Priority assignment in waiting line problems", Operations Research 2, 1954;
    Kleinrock, *Queueing Systems* II, 1976, section 3.6.
    """

    service_times: Sequence[Quantity]
    scvs: Sequence[Quantity]

    def __post_init__(self) -> None:
        _check_lengths(self.service_times, self.scvs, "scvs")
        for service_time, scv in zip(self.service_times, self.scvs, strict=True):
            check_positive("service_time", service_time)
            check_not_negative("scv", scv)

    def utilisations(self, arrival_rates: Sequence[Quantity]) -> tuple[Amount, ...]:
        """Utilisation of the server by each class: U_c = lambda_c S_c."""
        _check_lengths(self.service_times, arrival_rates, "arrival_rates")
        return tuple(
            rate * time for rate, time in zip(arrival_rates, self.service_times, strict=True)
        )

    def waiting_times(self, arrival_rates: Sequence[Quantity]) -> tuple[Amount, ...]:
        """Mean time in the queue of each class [s]; infinite from the class's saturation on."""
        busy = self.utilisations(arrival_rates)
        until = [0, *accumulate(busy)]
        residual = sum(
            _utilisation(share, before) * time * (1 + scv) / 2
            for share, before, time, scv in zip(
                busy, until[:-1], self.service_times, self.scvs, strict=True
            )
        )
        return tuple(
            while_stable(after, _sharer(residual, before)) for before, after in pairwise(until)
        )

    def response_times(self, arrival_rates: Sequence[Quantity]) -> tuple[Amount, ...]:
        """Mean waiting and service time of each class [s]."""
        waits = self.waiting_times(arrival_rates)
        return tuple(wait + time for wait, time in zip(waits, self.service_times, strict=True))

    def time_laws(self, arrival_rates: Sequence[float]) -> tuple[TimeLaw, ...]:
        """How the response time of each class is distributed, below saturation of all.

        E[exp(-s W_c)] = ((1 - U) z + sum over lower classes of lambda_j (1 - B_j(z)))
        / (s - lambda_c + lambda_c B_c(z)), with z = s + L (1 - G(s)), L the rate of the higher
        classes and G the transform of their busy period. Service is taken as gamma-distributed,
        varying by 10% at least.

        Raises
        ------
        InvalidParameter
            For rates that saturate the server.

        Examples
        --------
        >>> urgent, other = PriorityMG1((0.5, 0.5), (1.0, 1.0)).time_laws((0.5, 0.5))
        >>> round(urgent.mean, 4), round(other.mean, 4)
        (0.8333, 1.1667)

        References
        ----------
        Takagi, *Queueing Analysis* I, 1991, section 3.2 (non-preemptive).
        """
        check_domain(
            "utilisation", sum(self.utilisations(arrival_rates)), lambda u: u < 1, "below 1"
        )
        means = self.response_times(arrival_rates)
        rates = [float(rate) for rate in arrival_rates]
        times = np.asarray(self.service_times, float).tolist()
        varying = np.maximum(np.asarray(self.scvs, float), STEADIEST).tolist()
        services = [(gamma(time, scv), time) for time, scv in zip(times, varying, strict=True)]
        notes = (GAMMA,) if any(scv != 1 for scv in self.scvs) else ()
        return tuple(
            TimeLaw((Piece(0.0, head_of_line_transform(rates, services, c)),), float(mean), notes)
            for c, mean in enumerate(means)
        )

    def empty_probability(self, arrival_rates: Sequence[Quantity]) -> Amount:
        """Share of time without any request: 1 - sum of the utilisations, at least 0."""
        total = sum(self.utilisations(arrival_rates))
        return 1 - total if is_symbolic(total) else apply("max", 1 - total, 0.0)


def _check_lengths(classes: Sequence[Quantity], values: Sequence[Quantity], name: str) -> None:
    if len(values) != len(classes) or not classes:
        msg = f"{name} has {len(values)} entries for {len(classes)} classes; give one for each"
        raise InvalidParameter(msg)


def _sharer(residual: Amount, before: Amount) -> Callable[[Amount], Amount]:
    return lambda after: residual / ((1 - before) * (1 - after))


def _utilisation(share: Amount, before: Amount) -> Amount:
    """Utilisation by a class: at most what the classes before it leave."""
    if is_symbolic(share, before):
        return share
    return apply("max", 0.0, apply("min", share, 1 - before))
