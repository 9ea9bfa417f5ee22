"""Loads at which stations are always busy, for many values of other parameters at once."""

from collections.abc import Mapping

import numpy as np

from headway.kinds import FloatArray
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import station_at

_ROUNDS = 12  # of the secant method, which needs one where the load is proportional to that
_CLOSE = 1e-9  # of what a station is offered, over what it can serve, to one
_BESIDE = 1e-6  # relative distance from a limit at which both sides of it are tried


def full_loads(model: Model, load: str, others: Mapping[str, FloatArray]) -> FloatArray:
    """Find the load at which each station is always busy, whatever the other stations do.

    Parameters
    ----------
    model
        Open, at an operating point that it sustains.
    load
        The parameter that is the load.
    others
        Values of other parameters, all of one shape [SI].

    Returns
    -------
    Loads, shape (stations, points); infinite where a station is never full. No stations where
    nothing saturates.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=2)
    >>> full_loads(one, "arrival_rate", {"s": np.array([0.1, 0.2])}).round(9).tolist()
    [[10.0, 5.0]]
    """
    shape = np.broadcast_shapes(*(np.shape(each) for each in others.values()))
    own = float(np.ravel(model.inputs[load])[0])
    names = list(model.network.graph.stations)
    if not names:
        return np.empty((0, *shape))
    full = np.stack([_full(model, load, others, name, own, shape) for name in names])
    least = np.min(full, axis=0, initial=np.inf)
    if not np.isfinite(least).all():
        return np.empty((0, *shape))
    below, above = (
        np.ravel(model.at({load: least * (1 + side), **others}).solve()["response_time"])
        for side in (-_BESIDE, _BESIDE)
    )
    is_limit = np.isfinite(below).all() and not np.isfinite(above).any()
    return full if is_limit else np.empty((0, *shape))


def _full(
    model: Model,
    load: str,
    others: Mapping[str, FloatArray],
    station: str,
    own: float,
    shape: tuple[int, ...],
) -> FloatArray:
    """The load at which one station is always busy, by the secant method."""

    def spare(loads: FloatArray) -> FloatArray:
        solution = model.at({load: loads, **others}).solve()
        if solution.shared:  # of classes the arrivals are not told apart
            return np.broadcast_to(np.asarray(solution[f"{station}.utilisation"]), shape) - 1
        law = station_at(station).of(solution.values)
        busy = np.asarray(law.offered(solution[f"{station}.arrival_rate"]), float)
        return np.broadcast_to(busy, shape) - 1

    before, here = np.full(shape, own / 2), np.full(shape, own)
    was, now = spare(before), spare(here)
    for _ in range(_ROUNDS):
        with np.errstate(all="ignore"):
            ahead = here - now * (here - before) / (now - was)
        ahead = np.where(np.abs(now) < _CLOSE, here, ahead)
        ahead = np.where(np.isfinite(ahead) & (ahead > 0), ahead, here)
        before, was, here = here, now, ahead
        now = spare(here)
        if (np.abs(now) < _CLOSE).all():
            break
    return np.where(np.abs(now) < 1e3 * _CLOSE, here, np.inf)
