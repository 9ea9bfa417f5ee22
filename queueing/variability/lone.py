"""The only queue of an open network: GI/M/m if its service is exponential."""

from dataclasses import replace

import numpy as np

from headway.kinds import Amount, FloatArray, Quantity, is_symbolic, plain
from headway.queueing.renewals.waits import RenewalWait, renewal_wait
from headway.queueing.times.laws import TimeLaw, exponential, pooled
from headway.queueing.times.tagged_job.station import TaggedStation
from headway.queueing.variability.two_moments import MetStation
from headway.queueing.variability.waiting import general_wait
from headway.records import dataclass

GAMMA_ARRIVALS = (
    "times between arrivals are assumed gamma-distributed: mean response time within 5% where they "
    "are a constant and an exponential time, within 32% where they are one of two"
)
"""The assumption for an scv between 0 and 1: ``python -m tests.campaigns.renewal_errors``."""


def lone_wait(servers: Quantity, load: Quantity, arrival_scv: Quantity, share: Quantity) -> Amount:
    """Mean wait at m exponential servers with a single arrival flow, in service times.

    As GI/M/m up to an scv of 1; for larger ones by two moments (`general_wait`).

    Parameters
    ----------
    servers, load
        m, and a = lambda S.
    arrival_scv, share
        As for `renewal_wait`.

    Returns
    -------
    A number or array, infinite from saturation on; for symbols, a function of them with
    derivatives.

    Examples
    --------
    >>> round(float(lone_wait(1, 0.5, 0.0, 1.0)), 6)
    0.255001
    """
    if is_symbolic(servers, load, arrival_scv, share):
        from headway.queueing.variability.symbols import LoneWait

        return LoneWait(servers, load, arrival_scv, share)
    given = (servers, load, arrival_scv, share)
    count, offered, scv, part = (np.asarray(value, float) for value in given)
    steady = renewal_wait(offered, 1.0, count, np.minimum(scv, 1.0), part).mean
    if not (scv > 1).any():
        return plain(steady)
    bursty = general_wait(offered, 1.0, count, 1 + part * (scv - 1), 1.0)
    return plain(np.where(scv > 1, bursty, steady))


def lone_wait_slope(
    argument: int, servers: Amount, load: Amount, arrival_scv: Amount, share: Amount
) -> FloatArray:
    """Derivative of `lone_wait` by its load (1), the scv (2) or the share (3), by differences.

    Examples
    --------
    >>> round(float(lone_wait_slope(1, 1, 0.5, 1.0, 1.0)), 6)  # of a / (1 - a)
    4.0
    """
    asked = (servers, load, arrival_scv, share)
    given = np.broadcast_arrays(*(np.asarray(v, float) for v in asked))
    centre = given[argument]
    least = (0.0, 0.0, 0.0, 0.0)[argument]
    most = (0.0, given[0], np.inf, 1.0)[argument]
    step = _STEP * np.where(centre > 0, centre, 1.0)
    step = np.minimum(step, _STEP * np.where(centre < most, most - centre, 1.0))
    low, high = np.maximum(centre - step, least), np.minimum(centre + step, most)
    both = [np.stack([low, high]) if k == argument else v for k, v in enumerate(given)]
    ends = np.asarray(lone_wait(*both), float)  # side by side: a single search for all roots
    return np.asarray((ends[1] - ends[0]) / (high - low))


_STEP = 1e-5  # relative: the error of a central difference is its square, rounding 1e-11


@dataclass(frozen=True)
class RenewalStation(MetStation):
    """A station with renewal arrivals and exponential service.

    Parameters
    ----------
    station
        Its kind, with numbers.
    wait
        The law of the wait there, with numbers for one operating point.
    assumed
        Whether the times between arrivals had to be taken as gamma-distributed.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = RenewalStation(MM1(1.0), renewal_wait(0.5, 1.0, 1, 0.0))
    >>> round(one.time_law(0.5).mean, 6)  # D/M/1: S / (1 - s)
    1.255001
    """

    wait: RenewalWait
    assumed: bool = False

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Law of a visit: an exponential wait with some probability, and a service."""
        law = pooled(self.mean_service, float(self.wait.chance), float(self.wait.behind))
        return replace(law, notes=self._notes)

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """As `time_law`."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """All visits of a job that returns at once are one exponential service."""
        if self.plain_count > 1:
            return None
        stay = self.time_law(arrival_rate).mean / (1 - chance)
        return replace(exponential(stay), notes=self._notes)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:  # noqa: ARG002 - unknown
        """None: what a job in a loop finds is not known."""
        return None

    @property
    def _notes(self) -> tuple[str, ...]:
        return (GAMMA_ARRIVALS,) if self.assumed else ()
