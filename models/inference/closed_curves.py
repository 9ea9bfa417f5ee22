"""Open or closed: what a curve itself shows of the clients behind it."""

from typing import Any

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measured.bends import bends_back
from headway.models.measured.measurements import Measurements
from headway.models.signatures.sfs import Curve, curve
from headway.numerals import four_digits
from headway.queueing.flows.laws import littles_law
from headway.records import dataclass

BEHIND = 0.97
"""Share of the requested load below which a point has fallen behind."""


@dataclass(frozen=True)
class Clients:
    """Signs in a curve of a closed population.

    Parameters
    ----------
    bends_back, behind
        Points on a branch that bends back, and points below their requested load.
    population
        Number of circulating requests, by Little's law at those points; None without such points.
    spread
        Relative standard deviation of that number over the points.
    """

    bends_back: Any
    behind: Any
    population: float | None
    spread: float

    @property
    def closed(self) -> bool:
        """Whether anything shows that the load came from a finite population."""
        return self.population is not None


def clients(curve: Curve, requested: FloatArray | None = None) -> Clients:
    r"""Look for signs of a closed population: a branch that bends back, loads not reached.

    Parameters
    ----------
    curve
        A curve.
    requested
        Requested loads where they were recorded [1/s].

    Examples
    --------
    >>> text = "throughput_ops_s,response_ms\n100,5\n200,6\n310,100\n300,103\n"
    >>> round(clients(curve(Measurements.parse(text, "curve"))).population)
    31
    """
    rate, time = curve.throughput.values, curve.response_time.values
    back = bends_back(rate, time)
    behind = np.zeros(rate.shape, bool) if requested is None else rate < BEHIND * requested
    full = back | behind
    if not full.any():
        return Clients(back, behind, None, 0.0)
    inside = np.asarray(littles_law(rate[full], time[full]), float)
    return Clients(back, behind, float(inside.mean()), float(inside.std() / inside.mean()))


def clients_of(
    measurements: Measurements, x: str | None = None, y: str | None = None
) -> Clients | None:
    """Look for a closed population in a table; None if it is not a curve of response times."""
    try:
        measured = curve(measurements, x, y)
    except MeasurementError:
        return None
    requested = measurements.find(["requested", "offered", "offered_rate"])
    same = requested is not None and requested.values.shape == measured.throughput.values.shape
    return clients(measured, requested.values if requested is not None and same else None)


def closed_signs(measurements: Measurements) -> list[str]:
    """Explain in a sentence why an open model is unsuitable; an empty list if it is suitable."""
    circulating = clients_of(measurements)
    if circulating is None or circulating.population is None:
        return []
    signs = []
    if circulating.bends_back.any():
        signs.append("the curve bends back")
    if circulating.behind.any():
        signs.append(f"{int(circulating.behind.sum())} points fell behind their requested load")
    what = " and ".join(signs)
    many = four_digits(circulating.population)
    return [
        f"{what}: about {many} requests circulate there (Little's law), so the load is closed and "
        "an open model cannot follow it; give the model a population"
    ]
