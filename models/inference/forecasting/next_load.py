"""Which load to measure next in order to know a quantity better: what it gains, and when to stop.

Source: Pukelsheim, *Optimal Design of Experiments*, 1993, section 2, for c-optimal designs; here
the covariances are those of all plausible values, so that the choice of form counts as well.
"""

from collections.abc import Sequence

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.forecasting.elsewhere import RESPONSE_TIME, Elsewhere
from headway.models.language.units import Unit
from headway.models.tables.shown import Answer
from headway.numerals import first_largest
from headway.records import dataclass

MOST_RUNS = 12
"""Most further runs that are planned."""

PAYS = 0.05
"""Share by which a run must narrow an interval to be worthwhile."""

_LIKELY = 0.8  # share of plausible curves that must sustain a load for it to be advised
_LOADS = 40
_LEAST = 0.05  # lowest load that is advised, as a share of the highest measured one
_MOST = 4.0  # highest load that is advised, in multiples of the highest measured one
_NORMAL = 1.96


@dataclass(frozen=True)
class NextLoads(Answer):
    """Loads to measure, each the one that narrows a quantity's interval most after those before it.

    Parameters
    ----------
    quantity
        The quantity to be known.
    load, unit
        Name of the load, and its unit in tables.
    loads
        Loads to measure, in this order [SI]; none if no run is worthwhile.
    factors
        Factor by which the 95% interval reaches above (and below) the quantity, now and as expected
        after each of these runs.
    """

    quantity: str
    load: str
    unit: Unit
    loads: FloatArray
    factors: FloatArray

    def __repr__(self) -> str:
        return f"NextLoads({self.quantity}: {self.loads.size} runs pay)"


def next_loads(
    quantity: str,
    values: FloatArray,
    draws: Sequence[Draws],
    load: str,
    unit: Unit,
    top: float,
    output: str = RESPONSE_TIME,
    within: tuple[float, float] = (0.0, np.inf),
) -> NextLoads:
    """Find the loads whose measurement narrows a quantity most.

    Parameters
    ----------
    quantity, values
        The quantity to be known, and its value at each draw of each model, in order.
    draws
        Plausible values of the models.
    load, unit, top
        Name of the load, its unit, and the highest measured one [SI].
    output
        Output that is measured: ``response_time``, or one of its percentiles.
    within
        Lowest and highest load that may be advised [SI].

    Raises
    ------
    InvalidParameter
        For a quantity that no plausible value determines.
    """
    loads = loads_about(load, top, within)
    times = [Elsewhere(each.problem, loads).times(each.free, output) for each in draws]
    drawn = np.concatenate(times)
    error = np.concatenate([each.scatter for each in draws])
    sustained = np.isfinite(drawn)
    usable = sustained.mean(axis=0) >= _LIKELY
    usable_draws = np.isfinite(values) & (values > 0) & sustained[:, usable].all(axis=1)
    if not usable.any() or usable_draws.sum() < 2:
        msg = (
            f"no plausible fit determines {quantity}, so headway cannot suggest a "
            "load; name another quantity"
        )
        raise InvalidParameter(msg)
    logs = np.column_stack([np.log(values[usable_draws]), np.log(drawn[usable_draws][:, usable])])
    places, spreads = _greedy(np.cov(logs.T), float(np.mean(error[usable_draws] ** 2)))
    worth = _worth(spreads)
    factors = np.exp(_NORMAL * spreads[: worth + 1])
    return NextLoads(quantity, load, unit, loads[usable][places[:worth]], factors)


def loads_about(load: str, top: float, within: tuple[float, float] = (0.0, np.inf)) -> FloatArray:
    """Loads from a twentieth of the highest measured one to four times it [SI].

    Parameters
    ----------
    load, top
        Name of the load, and the highest measured one [SI].
    within
        Lowest and highest load that counts [SI].

    Examples
    --------
    >>> loads_about("population", 8.0, (6.0, 9.0)).tolist()
    [6.0, 7.0, 8.0, 9.0]
    """
    low, high = (min(max(share, within[0] / top), within[1] / top) for share in (_LEAST, _MOST))
    loads = np.linspace(low, high, _LOADS) * top
    return np.unique(np.maximum(np.round(loads), 1.0)) if load == "population" else loads


def _greedy(together: FloatArray, noise: float) -> tuple[list[int], FloatArray]:
    """Measure where the first variable's variance falls most, again and again.

    Returns
    -------
    Indices of the measured variables, and the first variable's standard error before and after
    each.
    """
    places, spreads = [], [together[0, 0]]
    for _ in range(MOST_RUNS):
        gains = together[0, 1:] ** 2 / (np.diag(together)[1:] + noise)
        place = int(first_largest(gains))
        row = together[1 + place]
        together = together - np.outer(row, row) / (row[1 + place] + noise)
        places.append(place)
        spreads.append(max(together[0, 0], 0.0))
    return places, np.sqrt(np.array(spreads))


def _worth(spreads: FloatArray) -> int:
    """Number of runs after which another gains too little."""
    gains = 1 - spreads[1:] / np.maximum(spreads[:-1], 1e-300)
    return int(np.argmax(gains < PAYS)) if (gains < PAYS).any() else gains.size
