"""Percentiles of the response time of an open network's jobs."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import GraphError
from headway.kinds import check_domain
from headway.queueing.percentiles import Phase, path_percentile

if TYPE_CHECKING:
    from headway.models.solution import Solution

INDEPENDENCE = "percentiles take the visits of a job as independent"


def percentile(solution: "Solution", percent: float) -> dict[str, Any]:
    """Time within which a share of the jobs has made all its visits, by operating point.

    Parameters
    ----------
    solution
        Of an open network without classes.
    percent
        Between 0 and 100.

    Returns
    -------
    The new value, and what is approximate about it, by name.
    """
    check_domain("percentile", percent, lambda p: (p > 0) & (p < 100), "between 0 and 100")
    if not solution.is_open or not solution.stations:
        msg = f"{solution.model.name}: percentiles are known for open networks of one class only"
        raise GraphError(msg)
    count = int(np.prod(solution.shape))
    times = [_at(solution.point(k), percent / 100) for k in range(count)]
    value = np.array(times).reshape(solution.shape)
    notes = [note for note in (solution.approximation, INDEPENDENCE) if note]
    return {f"response_time_p{percent:g}": value, "approximation": "; ".join(notes)}


def _at(point: "Solution", share: float) -> Any:
    values = point.values
    phases = [
        Phase(values["visits"][name], values[f"station {name}"], values[f"{name}.throughput"])
        for name in point.stations
        if values["visits"][name] > 0
    ]
    return path_percentile(phases, share)
