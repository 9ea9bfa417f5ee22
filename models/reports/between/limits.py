"""Loads at which stations are always busy, for many values of other parameters at once."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import isinf

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import station_at
from headway.records import dataclass

# rounds of the secant method, which needs one if the utilisation is proportional to the load
_ROUNDS = 12
_CLOSE = 1e-9  # difference from 1 of the work offered to a station over what it can do
# distance of two loads, relative to them, whose secant tells where a pool would be full
_APART = 1e-4
_SHORTER = (0.0, 0.003, 0.03)  # shares of a step that are left out if layers do not settle
_BESIDE = 1e-6  # relative distance from a limit at which both sides of it are tried


def full_loads(model: Model, load: str, others: Mapping[str, FloatArray]) -> FloatArray:
    """Find the load at which each station is always busy, whatever the other stations do.

    In layered services, these are limited processors, and pools whose threads are all in use.

    Parameters
    ----------
    model
        An open model, at an operating point that it sustains.
    load
        The parameter that is the load.
    others
        Values of other parameters, all of one shape [SI].

    Returns
    -------
    Loads, shape (stations, points); infinite where a station is never full. If nothing saturates
    there are no stations.

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
    search = _Search(model, load, others, own, shape)
    found = (
        _layers_full(search) if model.graph.layers else search.each(model.network.graph.stations)
    )
    if not found:
        return np.empty((0, *shape))
    full = np.stack(found)
    least = np.min(full, axis=0, initial=np.inf)
    if not np.isfinite(least).all():
        return np.empty((0, *shape))
    below, above = (
        np.ravel(model.at({load: least * (1 + side), **others}).solve()["response_time"])
        for side in (-_BESIDE, _BESIDE)
    )
    is_limit = np.isfinite(below).all() and not np.isfinite(above).any()
    return full if is_limit else np.empty((0, *shape))


def _layers_full(search: "_Search") -> list[FloatArray]:
    """Loads at which limited processors and pools of threads of layered services are full.

    Without clients, the utilisation of processors is proportional to the load. Pools are solved
    together, up to where the first of them or a processor is full; those that would be full beyond
    are extrapolated.
    """
    from headway.models.solving.layered.layered_values import layered_system

    system, layers = layered_system(search.model), search.model.graph.layers
    assert layers is not None  # noqa: S101 - asked for layers alone
    endless = np.full(search.shape, np.inf)
    alone = not any(task.clients for task in system.tasks.values())
    found = [
        search.line(key) if alone else search.full(key, endless)
        for name, one in system.processors.items()
        if not isinf(one.servers)
        for key in (layers.key("processors", name),)
    ]
    pools = [
        layers.key("tasks", name)
        for name, task in system.tasks.items()
        if not (task.clients or isinf(task.threads))
    ]
    sustained = np.min([endless, *found], axis=0)
    return [*found, *(search.together(pools, sustained) if pools else [])]


@dataclass(frozen=True)
class _Search:
    """The search for loads at which some part of a model is always busy.

    Parameters
    ----------
    model, load, others
        As `full_loads` takes them.
    own
        The model's present load.
    shape
        Shape of the other parameters' values.
    """

    model: Model
    load: str
    others: Mapping[str, FloatArray]
    own: float
    shape: tuple[int, ...]

    def each(self, stations: Iterable[str]) -> list[FloatArray]:
        """Position of each station, by name."""
        return [self.full(name, np.full(self.shape, np.inf)) for name in stations]

    def line(self, name: str) -> FloatArray:
        """The load at which a station is full, if its utilisation is proportional to the load."""
        low, high = np.full(self.shape, self.own / 4), np.full(self.shape, self.own / 2)
        was, now = self._spare(name, low), self._spare(name, high)
        return np.where(now > was, _ahead(low, high, was, now), np.inf)

    def full(self, name: str, most: FloatArray) -> FloatArray:
        """The load at which a station is full, by secants; an estimate if others fill before."""
        before, here = np.full(self.shape, self.own / 2), np.full(self.shape, self.own)
        before, here = np.minimum(before, most / 2), np.minimum(here, most)
        was, now = self._spare(name, before), self._spare(name, here)
        far = np.full(self.shape, np.nan)
        for _ in range(_ROUNDS):
            ahead = np.where(np.abs(now) < _CLOSE, here, _ahead(before, here, was, now))
            far = np.where(np.isnan(far) & (here >= most) & (now < 0), ahead, far)
            ahead = np.where(np.isnan(far), np.minimum(ahead, most), here)
            if (ahead == here).all():
                break
            before, was, here = here, now, ahead
            now = self._spare(name, here)
        known = np.where(np.abs(now) < 1e3 * _CLOSE, here, np.inf)
        return np.where(np.isnan(far), known, far)

    def together(self, names: Sequence[str], most: FloatArray) -> FloatArray:
        """The loads at which pools are full, by secants of the one that is full first."""
        before, here = np.minimum(self.own / 2, most / 2), np.minimum(self.own, most)
        was, now = self._all_spare(names, before), self._all_spare(names, here)
        far = np.full(now.shape, np.inf)
        for _ in range(_ROUNDS):
            with np.errstate(all="ignore"):
                each = here - now * (here - before) / (now - was)
            each = np.where((each > 0) & ((now - was) * (here - before) > 0), each, np.inf)
            is_apart = np.abs(here - before) > _APART * here
            far = np.where(is_apart & (np.maximum(was, now).max(axis=0) < 0), each, far)
            fullest = now.max(axis=0)
            is_found = (np.abs(fullest) < _CLOSE) | ((here >= most) & (fullest < 0))
            ahead = np.where(is_found, here, np.minimum(each.min(axis=0), most))
            if (ahead == here).all():
                break
            before, was = here, now
            here, now = self._towards(names, here, ahead)
        return np.where(np.abs(now) < 1e3 * _CLOSE, here, far)

    def _towards(
        self, names: Sequence[str], here: FloatArray, ahead: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The loads ahead, or shortly before them if layers do not settle there."""
        for short in _SHORTER:
            loads = ahead - short * (ahead - here)
            with suppress(GraphError):
                return loads, self._all_spare(names, loads)
        return ahead, self._all_spare(names, ahead)

    def _all_spare(self, names: Sequence[str], loads: FloatArray) -> FloatArray:
        """The same of several pools, of which one solution knows all."""
        solution = self.model.at({self.load: loads, **self.others}).solve()
        each = (np.asarray(solution[f"{name}.utilisation"], float) for name in names)
        return np.stack([np.broadcast_to(busy, self.shape) for busy in each]) - 1

    def _spare(self, name: str, loads: FloatArray) -> FloatArray:
        """Work offered to each station over what it can do, less 1."""
        solution = self.model.at({self.load: loads, **self.others}).solve()
        # their arrivals are not known class by class
        if solution.shared or self.model.graph.layers:
            busy = np.asarray(solution[f"{name}.utilisation"], float)
        else:
            law = station_at(name).of(solution.values)
            busy = np.asarray(law.offered(solution[f"{name}.arrival_rate"]), float)
        return np.broadcast_to(busy, self.shape) - 1


def _ahead(before: FloatArray, here: FloatArray, was: FloatArray, now: FloatArray) -> FloatArray:
    """Where the line through two points crosses 0 beyond the second; otherwise the second."""
    with np.errstate(all="ignore"):
        ahead = here - now * (here - before) / (now - was)
    return np.where(np.isfinite(ahead) & (ahead > 0), ahead, here)
