"""Solve a model over a load that follows time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.kinds import FloatArray, number_of
from headway.models.language.units import quantity, unit
from headway.models.over.autoscaled import (
    autoscaled,
    law_of,
    scaled_station,
    scaling_of,
    started,
)
from headway.models.over.capacity import TIME, check_followed, own_day, rates_over, timed_network
from headway.models.over.days import PERIODS, Day, day_of_file, merged, nice_step, shipped_day
from headway.models.over.timeline import Periods, Scaling, Timeline
from headway.numerals import digits
from headway.queueing.methods.choice import choose
from headway.queueing.methods.method import Error
from headway.queueing.methods.registry import AUTO, check_method, methods
from headway.queueing.transient.autoscaler import Autoscaler
from headway.queueing.transient.careful import MOST_STATES
from headway.queueing.transient.drain import Drain, drain
from headway.queueing.transient.forward import Piece, exactly
from headway.queueing.transient.means import TimedMeans
from headway.queueing.transient.measured import AUTOSCALED_ERROR
from headway.queueing.transient.network import TimedNetwork, lone, markov, unfollowed
from headway.queueing.transient.scaled import Course, Target, looks_of

if TYPE_CHECKING:
    from headway.models.structure.model import Model

MINUTE = 60.0
"""Length of the worst part of a day [s]; for a day below two hours, about one of `WORST` parts."""

WORST = 120
"""Parts of a short day, one of which is the worst."""

PERCENTILES = (95.0, 99.0)
"""Percentiles by default."""

STEADY, EMPTY, BACKLOG = "steady", "empty", "backlog="
_SECOND = unit("s")


def over_model(
    model: "Model",
    day: "Day | Path | str | float",
    target: float | str | None = None,
    start: str | int = STEADY,
    every: float | str | None = None,
    method: str = "auto",
    percentiles: Sequence[float] = PERCENTILES,
) -> Timeline:
    """Solve a model over a day.

    Parameters
    ----------
    model
        An open network of one class. Its arrivals are the parameter ``arrival_rate``, which the day
        sets, or have rates of their own. Formulas may use the parameter ``t``, the time [s].
    day
        A CSV file of times and rates or counts, or of requests; or how long the model's own rates
        and formulas are followed, in s or with a unit, as ``"24 h"``.
    target
        Response time to be kept [s].
    start
        Jobs present at the start: ``steady``, ``empty``, ``backlog=N``, or their number.
    every
        Length of the periods [s]; by default there are at most 24.
    method
        ``forward``, ``offered load``, ``fluid``, ``pointwise`` or ``simulation``; ``auto`` takes
        the best one, and simulation only if no other solves the model, or gives the share over a
        target, and the day is short.
    percentiles
        Percentiles of the response time.

    Raises
    ------
    MeasurementError
        For a day that goes backwards, leaves gaps, or has negative rates.
    GraphError, InvalidParameter
        For networks without a method, with the reason for the nearest one.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers"))
    >>> day = Day((0.0, 60.0, 120.0), (50.0, 300.0))
    >>> found = over_model(pool.at(servers=2), day, every=60)
    >>> [round(float(n), 1) for n in found["queue_length"]]
    [0.5, 3002.5]
    """
    check_followed(model)
    asked = _asked(model, day_of(model, day), start, every, target, tuple(percentiles))
    if method == "simulation" or (method == "auto" and asked.is_for_play()):
        return asked.played()
    check_method(method)
    found = asked.followed(method)
    if asked.target is None or found.means.met:
        return asked.answer(found)
    if method == "auto" and _is_short(asked.network):
        return asked.played()
    msg = (
        f"method {found.method} gives no share over a target here; use method simulation, or leave "
        "--target out"
    )
    raise InvalidParameter(msg)


def _asked(
    model: "Model",
    load: Day,
    start: str | int,
    every: float | str | None,
    target: float | str | None,
    percentiles: tuple[float, ...],
) -> "_Asked":
    """The request for a model over a day, checked."""
    begin, law = _start(start), law_of(model)
    edges, periods, fine = _edges(load, every)
    if law is not None:
        model = started(model, law)
        edges = merged(edges.tolist(), looks_of(law, load.edges[0], load.edges[-1]))
    network = timed_network(model, edges, _rates(model, load, edges), begin)
    _check_room(network)
    wanted = None if target is None else quantity(target, _SECOND, "target")
    if wanted is not None and not 0 < wanted < inf:
        msg = f"target is {target!r}; it must be a time above 0"
        raise InvalidParameter(msg)
    return _Asked(model, load, network, law, periods, fine, wanted, percentiles)


def _check_room(network: TimedNetwork) -> None:
    """Refuse more jobs at the start than find places at the station where they begin."""
    stations = network.stations
    entry = stations[int(np.argmax([station.entry for station in stations]))]
    station = network.queue if len(network.queues) == 1 else entry
    places = network.service(station, 0).places
    if network.start is not None and network.start > places:
        msg = (
            f"{station.name}: {network.start:,} jobs at the start, but it has places for "
            f"{int(places):,}; start with fewer, or let more jobs wait"
        )
        raise InvalidParameter(msg)


@dataclass(frozen=True, eq=False)
class _Followed:
    """The solution of a network over a day by a method.

    Parameters
    ----------
    means, drained
        Means of each part, and how long a backlog lasts, if there is one.
    method, error
        The method, and its error.
    course, scaling
        What an autoscaler does in each part, and overall; None without one.
    """

    means: TimedMeans
    drained: Drain | None
    method: str
    error: Error
    course: Course | None = None
    scaling: Scaling | None = None


@dataclass(frozen=True, eq=False)
class _Asked:
    """A request for a model over a day.

    Parameters
    ----------
    model, load
        The model, with the replicas at the start, and the day.
    network, law
        Its network in each part of the day, and its autoscaler, if any.
    periods, fine
        Edges of the periods, and of the shorter parts one of which is the worst [s].
    target, percentiles
        As for `over_model` [s].
    """

    model: "Model"
    load: Day
    network: TimedNetwork
    law: Autoscaler | None
    periods: FloatArray
    fine: FloatArray
    target: float | None
    percentiles: tuple[float, ...]

    def played(self) -> Timeline:
        """The answer by simulation, with what is said of the load."""
        found = self._simulated()
        return replace(found, notes=(*_said(self.load), *found.notes))

    def _simulated(self) -> Timeline:
        from headway.models.over.playing import played

        given = self.model, self.network, (self.periods, self.fine), self.target, self.percentiles
        if self.law is None:
            return played(*given)[0]
        scaled = scaled_station(self.model, self.network, self.law)
        timeline, course = played(*given, scaled)
        assert course is not None  # noqa: S101 - it is scaled
        scaling = scaling_of(self.model, self.network, self.law, course)
        cost = scaling.cost if self.law.price else None
        return replace(timeline, scaling=scaling, cost=cost)

    def is_for_play(self) -> bool:
        """Whether only simulated days give the answer, and these are short."""
        network = self.network
        if self.law is not None:
            unknown = bool(lone(network) or markov(network))
        else:
            unknown = any(station.lacking for station in network.stations)
        return unknown and _is_short(network)

    def followed(self, method: str) -> _Followed:
        """The solution by a method; under an autoscaler, by the forward equations."""
        if self.law is None:
            means, (name, error) = _solved(self.network, method)
            return _Followed(means, _drained(self.network), name, error)
        late = None if self.target is None else Target(self.target, self.fine)
        given = self.model, self.network, self.law, method, late
        means, course, scaling, drained = autoscaled(*given)
        return _Followed(means, drained, "forward", AUTOSCALED_ERROR, course, scaling)

    def answer(self, found: _Followed) -> Timeline:
        """The answer from a solution."""
        network, scaling = self.network, found.scaling
        sums = _Sums(network, found.means, self.target, self.percentiles, found.course)
        minutes = replace(sums, target=None, percents=()).between(self.fine)
        late = None if self.target is None else _time_over(minutes, self.target, found.course)
        return Timeline(
            self.model,
            sums.between(self.periods),
            sums.between(network.edges[[0, -1]]),
            _worst(sums, minutes, self.fine),
            found.method,
            _approximate(network, found.method, found.error, changes=scaling is not None),
            self.target,
            network.start,
            found.drained,
            late,
            scaling,
            scaling.cost if scaling is not None and scaling.law.price else None,
            _notes(network, self.load, found.means),
        )


def _is_short(network: TimedNetwork) -> bool:
    """Whether a day is quickly simulated, if no law gives everything asked for."""
    from headway.models.over.playing import events_of

    return events_of(network) <= SOON


SOON = 3e7
"""Most events of simulated days that are run without being asked for: half a minute. Chosen."""


def day_of(model: "Model", day: "Day | Path | str | float") -> Day:
    """The load of a day: from a file, or the model's own over a time."""
    if isinstance(day, Day):
        return day
    if isinstance(day, str) and (known := shipped_day(day)) is not None:
        return known
    if isinstance(day, str) and number_of(day.strip()[:1]) is not None and not Path(day).is_file():
        day = quantity(day, _SECOND, "--over")
    if isinstance(day, float | int):
        if not 0 < day < inf:
            raise InvalidParameter("a day must be longer than 0")
        return own_day(model, float(day))
    return day_of_file(Path(day))


def _start(given: str | int) -> int | None:
    """Jobs present at the start; None for a steady state."""
    text = given if isinstance(given, str) else f"{BACKLOG}{given}"
    if text == STEADY:
        return None
    if text == EMPTY:
        return 0
    value = number_of(text.removeprefix(BACKLOG)) if text.startswith(BACKLOG) else None
    if value is None or value < 0 or value % 1:
        msg = f"start is {text!r}; it must be steady, empty, or backlog=N with a whole number"
        raise InvalidParameter(msg)
    if value > MOST_STATES:
        msg = f"start is {text!r}; headway follows {MOST_STATES:,} jobs at most; start with fewer"
        raise InvalidParameter(msg)
    return int(value)


def _edges(load: Day, every: float | str | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times at which something changes: edges of parts, of periods, and of minutes."""
    first, last = load.edges[0], load.edges[-1]
    own = nice_step(load.length, PERIODS) if every is None else quantity(every, _SECOND, "every")
    if not 0 < own <= load.length * (1 + 1e-9):
        msg = (
            f"every is {every!r}; periods must be longer than 0 and no longer than the day, "
            f"{digits(load.length)} s"
        )
        raise InvalidParameter(msg)
    short = min(MINUTE if load.length >= WORST * MINUTE else nice_step(load.length, WORST), own)
    periods, minutes = (_steps(first, last, step) for step in (own, short))
    fine = merged(periods.tolist(), minutes)
    return merged(fine.tolist(), np.array(load.edges)), periods, fine


def _steps(first: float, last: float, step: float) -> FloatArray:
    count = max(round((last - first) / step), 1)
    inner = first + step * np.arange(1, count + 1)
    inner = inner[inner < last - 1e-9 * (last - first)]
    return np.concatenate([[first], inner, [last]])


def _rates(model: "Model", load: Day, edges: FloatArray) -> FloatArray:
    """The rate in each part: the day's, or by the model's formulas."""
    middles = (edges[:-1] + edges[1:]) / 2
    at = np.clip(np.searchsorted(load.edges, middles, side="right") - 1, 0, len(load.rates) - 1)
    rates = np.array(load.rates)[at]
    if load.relative:
        rates = rates * _mean_rate(model)
    if model.graph.needs_arrival_rate:
        values = {**model.at(arrival_rate=1.0).inputs, "arrival_rate": rates}
        values |= {TIME: middles} if TIME in model.parameters else {}
        found = model.graph.plan.run(values, ["throughput"])["throughput"]
        return np.broadcast_to(np.asarray(found, float), rates.shape).copy()
    if TIME in model.parameters and not model.graph.arrival_courses:
        return rates_over(model, edges)
    if model.graph.arrival_courses:
        return rates
    msg = (
        f"{model.name}: its arrivals have a rate of their own, which a day does not change; "
        "make it arrival_rate"
    )
    raise GraphError(msg)


def _mean_rate(model: "Model") -> float:
    """The rate that a relative day multiplies [1/s]."""
    known = model.parameters.get("arrival_rate")
    value = None if known is None else known.value
    if value is None:
        msg = f"{model.name}: the day has multiples of a mean rate; set it, as arrival_rate=200"
        raise InvalidParameter(msg)
    return float(np.ravel(value)[0])


def _solved(network: TimedNetwork, method: str) -> tuple[TimedMeans, tuple[str, Error]]:
    """The solution by the first method that applies, or by the one asked for."""
    refused: HeadwayError | None = None
    if method == AUTO and lone(network) and not markov(network) and not _follows(network):
        raise GraphError(unfollowed(network))
    for row in choose(network, method):
        try:
            means: TimedMeans = row.solve(network)
        except InvalidParameter as error:
            refused = error
            continue
        return means, (row.name, row.error_of(network))
    raise refused or GraphError("no method follows this network over time")


def _follows(network: TimedNetwork) -> bool:
    """Whether any method follows a network over time."""
    rows = methods().values()
    return any(network.subject in row.subjects and not row.missing(network) for row in rows)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over parts, which give answers for longer times.

    Parameters
    ----------
    network, means
        The network, and its means in each part.
    target, percents
        Response time to be kept [s], and the percentiles asked for.
    course
        What an autoscaler did in each part; None without one.
    """

    network: TimedNetwork
    means: TimedMeans
    target: float | None
    percents: tuple[float, ...]
    course: Course | None = None

    def between(self, edges: FloatArray) -> Periods:
        """Answers for the times between some of the edges."""
        near = 1e-9 * (self.network.edges[-1] - self.network.edges[0])
        places = np.searchsorted(self.network.edges, edges - near)
        means, lengths = self.means, self.network.lengths

        def summed(values: FloatArray) -> FloatArray:
            return np.add.reduceat(values[: places[-1]], places[:-1])

        whole = summed(lengths)
        came, lost = summed(means.arrivals), summed(means.lost)
        with np.errstate(divide="ignore", invalid="ignore"):
            response = summed(means.times) / (came - lost)
            losses = lost / came
        course = self.course
        servers = course.servers if course else np.array([*map(self._servers, range(len(lengths)))])
        groups = [range(a, b) for a, b in pairwise(places.tolist())]
        percents = self.percents if means.met else ()
        kept = {p: np.array([means.percentile(p, g) for g in groups]) for p in percents}
        over = None
        if self.target is not None:
            each = [means.over(self.target, group) for group in groups]
            with np.errstate(divide="ignore", invalid="ignore"):
                over = np.array(each) / (came - lost)
        return Periods(
            edges[:-1],
            edges[1:],
            came / whole,
            summed(means.served) / whole,
            response,
            summed(means.number * lengths) / whole,
            summed(means.busy * lengths) / whole,
            losses,
            summed(servers * lengths) / whole,
            kept,
            over,
            None if course is None else summed(course.replicas * lengths) / whole,
        )

    def _servers(self, part: int) -> float:
        if len(self.network.queues) != 1:
            return float("nan")
        return float(self.network.service(self.network.queue, part).crowd)


def _worst(sums: _Sums, minutes: Periods, fine: FloatArray) -> Periods:
    """The part with the longest mean response time."""
    times = minutes.response_time
    where = int(np.nanargmax(np.where(np.isnan(times), -1.0, times)))
    return sums.between(fine[where : where + 2]) if len(fine) > 2 else sums.between(fine)


def _time_over(minutes: Periods, target: float, course: Course | None) -> float:
    """How long the mean response time exceeds a target [s]; on average under an autoscaler."""
    late = minutes.response_time > target if course is None else course.late
    return float((minutes.ends - minutes.starts) @ late)


def _approximate(network: TimedNetwork, name: str, error: Error, *, changes: bool) -> str:
    """What is approximate; empty if nothing is."""
    law = "what the autoscaler sees is taken as normally distributed" if changes else name
    found = [] if error.exact else [f"{law}: {error}"]
    if changes or any(len(station.services) > 1 for station in network.stations):
        found.append("response times assume that capacity does not change after an arrival")
    return "; ".join(found)


def _said(load: Day) -> tuple[str, ...]:
    return (load.note,) if load.note else ()


def _notes(network: TimedNetwork, load: Day, means: TimedMeans) -> tuple[str, ...]:
    notes = [*_said(load)]
    if not means.met:
        notes.append(
            "response times are means: jobs present over arrival rate, or summed over stations"
        )
    if network.start is None:
        notes.append("starts in the steady state at the first rate")
    return tuple(notes)


def _drained(network: TimedNetwork) -> Drain | None:
    """Law of how long the backlog lasts at the only queue; None if no job waits at the start."""
    begin = network.start
    if begin is None or len(network.queues) != 1 or network.queue.lacking:
        return None
    services = [network.service(network.queue, part) for part in range(len(network.rates))]
    servers = int(max(service.crowd for service in services))
    if begin <= servers:
        return None
    each = zip(network.lengths.tolist(), network.rates.tolist(), services, strict=True)
    return drain([Piece(*one) for one in each], exactly(begin), servers)
