"""Independent replicas of a simulation, as many as the half width requires."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from math import ceil, inf

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import check_domain
from headway.models.running.crews import Crew, crew_of
from headway.models.running.spreading import spread
from headway.models.simulating.game import Game
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.plan import Blueprint
from headway.models.simulating.planning import AT_MOST, Schedule, check_stable, schedule
from headway.models.simulating.replica import Replica, measured_loads, replica
from headway.models.simulating.scoring import score_of
from headway.models.simulating.simulation import Simulation, SimulationEffort, is_judged
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import of_class
from headway.numerals import digits, significant
from headway.queueing.playing.estimates import Estimate, estimates, needed

FIRST = 10
"""Replicas before estimating how many are needed."""

FEW, ENOUGH, MANY = 20, 64, 100
"""If more than the last number of replicas is needed, windows are lengthened so that the second is
enough.

The first number is made before the need is judged again, as a few replicas may be alike by chance.
Each replica has a warm-up, and a short window's percentile is too small on average. How many are
made beyond those needed, and how often the interval holds the mean: ``python -m
tests.campaigns.replicas``.
"""

STEP = 0.5
"""Share of the replicas that still seem needed which is made before the need is judged again: few
replicas may seem unlike, so making all at once would be up to half too many. The same campaign
measures it."""

MOST_SEED = 2**64

MOST_JOBS = 10**6
"""The largest population; each job takes some 270 bytes, and events when the simulation starts."""

Progress = Callable[[str, float], None]


def simulate_model(
    model: Model,
    half_width: float = 0.02,
    seed: int = 1,
    percentiles: Sequence[float] = (),
    at_most: float = AT_MOST,
    progress: Progress | None = None,
    executor: Executor | Crew | None = None,
    settles: bool = False,  # noqa: FBT001, FBT002 - a flag
) -> Simulation:
    """Simulate a model at one operating point until its intervals are narrow enough.

    Parameters
    ----------
    model
        With one operating point.
    half_width
        Relative half width of the 95% intervals of throughput, response time and percentiles.
    seed
        Seed of all random numbers; the same seed gives the same answer.
    percentiles
        Between 0 and 100, e.g. 95.
    at_most
        Most events that it may take, estimated anew whenever more replicas are needed: the answer
        does not depend on how fast the machine is.
    progress
        Called with a message, and the share done since the last call.
    executor
        What plays the replicas, such as a pool of processes; the answer does not depend on it.
    settles
        Whether wider intervals than asked will do where events run out, instead of a refusal.

    Raises
    ------
    GraphError
        For models that cannot be simulated, with the reason.
    Saturated
        For a queue that grows without limit.
    InvalidParameter
        For a half width, seed or percentile out of range, and if it would take too long.
    """
    check_domain("half_width", half_width, lambda w: (w > 0) & (w < 1), "between 0 and 1")
    check_domain("seed", seed, lambda s: (s >= 0) & (s < MOST_SEED), "a whole number of 0 or more")
    check_domain("at_most", at_most, lambda events: events > 0, "positive")
    unique = tuple(dict.fromkeys(float(percent) for percent in percentiles))
    for percent in unique:
        check_domain("percentile", percent, lambda p: (p > 0) & (p < 100), "between 0 and 100")
    game = _game(model, unique)
    bar, crew = _Bar(progress), crew_of(executor)
    series = _Series(game, game.planned, int(seed), unique, bar, crew)
    interrupted = _until(series, Aim(half_width, at_most, settles))
    planned = series.planned
    effort = SimulationEffort(
        int(seed), half_width, len(series.made), planned.warm_up, planned.window, interrupted
    )
    return Simulation(model, _named(model, series.estimates), effort, game.notes)


def check_simulated(model: Model) -> None:
    """Refuse what cannot be simulated, without simulating anything."""
    if model.graph.layers:
        _game(model, ())
    else:
        _loads(model, _plan(model))


def _game(model: Model, percentiles: tuple[float, ...]) -> Game:
    if model.graph.layers:
        from headway.models.simulating.layered import layered_game

        return layered_game(model)
    plan = _plan(model)
    planned = schedule(plan, percentiles, _loads(model, plan))
    score = score_of(plan)
    return Game(partial(replica, plan, score), planned, plan.notes)


def _plan(model: Model) -> Blueprint:
    plan = blueprint(model)
    _check_population(plan)
    return plan


def _named(model: Model, estimates: dict[str, Estimate]) -> dict[str, Estimate]:
    """Copy the results of all jobs to a single class."""
    if len(model.graph.classes) != 1:
        return estimates
    (name,) = model.graph.classes
    own = {of_class(name, part): value for part, value in estimates.items() if "." not in part}
    return estimates | own


def _check_population(plan: Blueprint) -> None:
    """Refuse more jobs than memory has room for."""
    jobs = sum(jobs.population for jobs in plan.classes)
    if jobs > MOST_JOBS:
        msg = (
            f"{plan.name}: headway simulates up to {MOST_JOBS:,} jobs, not {jobs:,}, which would "
            f"take {_events(FIRST * schedule(plan).events)} or more; give it a smaller population, "
            "or solve it"
        )
        raise InvalidParameter(msg)


def _loads(model: Model, plan: Blueprint) -> dict[str, float]:
    """Loads of stations after losses, and utilisations of stations that block.

    They come from the solver, or from a first simulation where no law is known; no queue may grow
    without limit.
    """
    if plan.gives_up or any(place.oldest < inf for place in plan.places):
        return measured_loads(plan)
    if plan.is_closed or not (plan.loses or plan.blocks or plan.regions):
        check_stable(plan)
        return {}
    try:
        solved = model.solve().require_stable()
    except GraphError:
        return measured_loads(plan)
    parts = ("utilisation", "blocked") if plan.blocks else ("utilisation",)
    busy = {name: [f"{name}.{part}" for part in parts] for name in solved.stations}
    busy |= {region.name: [f"{region.name}.utilisation"] for region in plan.regions}
    return {n: sum(float(np.ravel(solved[part])[0]) for part in own) for n, own in busy.items()}


@dataclass
class _Bar:
    """Progress, reported as increments."""

    progress: Progress | None
    shown: float = 0.0

    def at(self, share: float) -> None:
        """Report progress relative to the present estimate of the total."""
        if self.progress is not None:
            self.progress("simulating", share - self.shown)
        self.shown = share


@dataclass
class _Series:
    """Replicas of one game."""

    game: Game
    planned: Schedule
    seed: int
    percentiles: tuple[float, ...]
    bar: _Bar
    crew: Crew | None = None
    made: list[Replica] = field(default_factory=list)
    shorter: tuple[Schedule, list[Replica]] | None = None

    def extend(self, count: int) -> None:
        """Make replicas up to a total number."""
        one = partial(self.game.replica, self.planned, self.percentiles, self.seed)
        for made in spread(one, range(len(self.made), count), self.crew):
            self.made.append(made)
            self.bar.at(len(self.made) / count)

    @property
    def each(self) -> float:
        """Mean events of a replica."""
        return sum(one.events for one in self.made) / len(self.made)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """What the replicas tell together."""
        return estimates([one.results for one in self.made])

    def lengthen(self, factor: float) -> None:
        """Start again with windows that are longer by a factor."""
        planned, self.shorter, self.made = self.planned, (self.planned, self.made), []
        share = (planned.warm_up + factor * planned.window) / planned.horizon
        self.planned = Schedule(planned.warm_up, factor * planned.window, share * planned.events)

    def interrupt(self) -> bool:
        """Keep the shorter windows unless two longer ones are done; whether it is interrupted."""
        if len(self.made) < 2 and self.shorter is not None:
            self.planned, self.made = self.shorter
        return len(self.made) >= 2

    def wanted(self, half_width: float) -> int:
        """Replicas needed for the half width, estimated from the existing ones."""
        estimated = self.estimates
        judged = [name for name in estimated if is_judged(name) and _has_jobs(name, estimated)]
        most = max(needed(estimated[name], half_width) for name in judged)
        return max(most, len(self.made))


def _has_jobs(name: str, estimated: Mapping[str, Estimate]) -> bool:
    """Whether some job of the class ended a journey in each replica; all may have changed class."""
    of, dot, _ = name.rpartition(".")
    return not dot or f"{of}.response_time" in estimated


_OVERRUN = 2.0  # a simulation expected to fit the events allowed may overrun them by this factor


@dataclass(frozen=True)
class Aim:
    """What a simulation goes on for.

    Parameters
    ----------
    half_width
        Relative half width of the 95% intervals.
    at_most
        Most events.
    settles
        Whether wider intervals will do where events run out, instead of a refusal.
    """

    half_width: float
    at_most: float
    settles: bool = False

    def allowed(self, replicas: int, each: float, made: int) -> int:
        """How many replicas of so many events are made, of those that are needed.

        Raises
        ------
        InvalidParameter
            If all of them have too many events.
        """
        overrun = _OVERRUN if made > FIRST else 1.0
        events = replicas * each
        if events <= overrun * self.at_most:
            return replicas
        if self.settles and made:
            return max(made, int(self.at_most / each))
        ways = [f"allow {_events(events)} (at_most, --at-most)"]
        if made:
            wider = self.half_width * (events / self.at_most) ** 0.5
            ways.append(f"accept a half width of {significant(100 * wider, 2)}% or more")
        msg = (
            f"half widths of {digits(100 * self.half_width)}% would take about {_events(events)}, "
            f"more than the {digits(self.at_most)} allowed; {', or '.join(ways)}"
        )
        raise InvalidParameter(msg)


def _until(series: _Series, aim: Aim) -> bool:
    """Make replicas until every half width is met; returns whether it was interrupted."""
    try:
        count = aim.allowed(FIRST, series.planned.events, 0)
        while count > len(series.made):
            series.extend(count)
            wanted = series.wanted(aim.half_width)
            if wanted > count:
                wanted = aim.allowed(wanted, series.each, count)
            if wanted > MANY:
                series.lengthen(wanted / ENOUGH)
                count = FEW
            else:
                count += ceil(STEP * (wanted - count))
    except KeyboardInterrupt:
        if not series.interrupt():
            raise
        return True
    return False


def _events(count: float) -> str:
    """A number of events to two digits.

    Examples
    --------
    >>> _events(45_400_000), _events(3.12e9)
    ('45,000,000 events', '3.1e+09 events')
    """
    return f"{significant(count, 2)} events"
