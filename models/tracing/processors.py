"""Processor time of a request, from metrics of several loads: U = X D.

With X_l requests per second of a service in load l, and U_l processors that it kept busy,

    U_l = b + D X_l + noise,   variance of noise proportional to X_l,

fitted by weighted least squares: D is the processor time of a request, and b the processors kept
busy without any request. The fit includes b if it exceeds 0 by two standard errors, which takes at
least three loads. From one load the interval of D reaches from 0, if all of U were b, to U / X.

The rest of a request's own time, w - D, is waiting for things that write no spans: disks, sleeps,
locks.
"""

from collections.abc import Mapping
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.tracing.keys import Key, Keyed
from headway.models.tracing.measured import Measured
from headway.models.tracing.metrics import Metrics
from headway.records import dataclass

_SURE = 0.975  # both ends of a 95% interval
_CLEAR = 2.0  # standard errors above 0 from which the base b counts


class _Line(NamedTuple):
    slope: float
    error: float
    base: float
    freedom: int


@dataclass(frozen=True)
class ProcessorTime:
    """Processor time of a service's requests.

    Parameters
    ----------
    demand, low, high
        Mean processor time of a request, and its 95% interval [s].
    base
        Processors kept busy without any request, b.
    own, own_error
        Mean own time of the service's requests in the spans, and its standard error [s].
    loads
        Number of loads that were measured.
    processors
        Number of processors of the service; None where it is not known.
    """

    demand: float
    low: float
    high: float
    base: float
    own: float
    own_error: float
    loads: int
    processors: int | None

    @property
    def share(self) -> tuple[float, float, float]:
        """Share of the own time that is spent at processors, and its 95% interval, from 0 to 1."""
        if not self.own > 0:
            return 1.0, 0.0, 1.0
        relative = 1.96 * self.own_error / self.own
        below = sqrt((1 - self.low / self.demand) ** 2 + relative**2) if self.demand else 0.0
        above = sqrt((self.high / self.demand - 1) ** 2 + relative**2) if self.demand else 0.0
        ratio = self.demand / self.own
        ends = (ratio, ratio * (1 - below), ratio * (1 + above))
        return tuple(min(max(end, 0.0), 1.0) for end in ends)  # type: ignore[return-value]


def processor_times(
    requests: Keyed, entries: Mapping[Key, Measured], metrics: Metrics
) -> dict[str, ProcessorTime]:
    """Processor times of the services that have metrics.

    Parameters
    ----------
    requests, entries
        The requests and entries found in the spans.
    metrics
        The metrics read.
    """
    services = np.array([requests.service_of(key) for key in requests.keys])[requests.key]
    found = {}
    for service, busy in metrics.busy.items():
        rates, used = [], []
        for k, load in enumerate(requests.loads):
            count = int(((services == service) & (requests.load == k)).sum())
            if load.load in busy and count > 1:
                rates.append(count / (load.window or inf) / requests.shares[k])
                used.append(busy[load.load])
        mine = [each for each in entries.values() if each.service == service and not each.peer]
        if rates and mine:
            low, line, high = _demand(np.array(rates), np.array(used))
            whole = sum(each.requests for each in mine)
            own = sum(each.requests * each.work for each in mine) / whole
            error = sqrt(sum((each.requests * each.error) ** 2 for each in mine)) / whole
            has = metrics.processors.get(service)
            found[service] = ProcessorTime(
                line.slope, low, high, line.base, own, error, len(rates), has
            )
    return found


def _demand(rates: FloatArray, used: FloatArray) -> tuple[float, _Line, float]:
    """The processor time of a request, and the ends of its interval."""
    from scipy.special import stdtrit

    line = _through_origin(rates, used)
    if len(rates) > 2:
        based = _with_base(rates, used)
        line = line if based is None else based
    if not line.freedom:
        return 0.0, line, line.slope
    reach = float(stdtrit(line.freedom, _SURE)) * line.error
    return max(line.slope - reach, 0.0), line, line.slope + reach


def _through_origin(rates: FloatArray, used: FloatArray) -> _Line:
    slope, freedom = float(used.sum() / rates.sum()), len(rates) - 1
    left = float(((used - slope * rates) ** 2 / rates).sum())
    return _Line(slope, sqrt(left / max(freedom, 1) / float(rates.sum())), 0.0, freedom)


def _with_base(rates: FloatArray, used: FloatArray) -> _Line | None:
    """The fit with a base b, if b is clearly above 0; None otherwise."""
    design = np.stack([np.ones(len(rates)), rates], axis=1) / np.sqrt(rates)[:, None]
    if np.linalg.matrix_rank(design) < 2:
        return None
    inverse = np.linalg.inv(design.T @ design)
    base, slope = (inverse @ design.T @ (used / np.sqrt(rates))).tolist()
    freedom = len(rates) - 2
    left = float(((used - base - slope * rates) ** 2 / rates).sum()) / freedom
    if base <= _CLEAR * sqrt(left * float(inverse[0, 0])) or slope <= 0:
        return None
    return _Line(slope, sqrt(left * float(inverse[1, 1])), base, freedom)
