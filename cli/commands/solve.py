"""``headway solve``: solve a model at its operating points."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headway.cli.crews import CrewContext, crew_options, names_workers
from headway.cli.main import INTERRUPTED, used
from headway.cli.methods import MethodName
from headway.cli.numbers import Whole, percentile_option
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    format_options,
    model_argument,
    names_of,
    preset_option,
    set_option,
    twins,
)
from headway.cli.output import Presentable, present, progress
from headway.cli.pictures import Drawing, plot_option
from headway.cli.simulated import Wish, simulation_options
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.over.timeline import Timeline
    from headway.models.solving.solutions.solution import Solution
    from headway.models.structure.model import Model

SIMULATION = "simulation"
DRAWS = 1000
_UNCERTAIN, _DRAWS = twins("--uncertain, --draws N", "Add 95% bands from ci95; N draws (1000).")
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class DayWish:
    """A day that is asked for; empty texts are left out."""

    over: str = ""
    every: str = ""
    target: str = ""
    start: str = ""

    @property
    def is_asked(self) -> bool:
        """Whether one is; refuses options of a day without one.

        Raises
        ------
        InvalidParameter
            For the other options of a day without ``--over``.
        """
        others = {"--every": self.every, "--target": self.target, "--start": self.start}
        for option, text in others.items():
            if text and not self.over:
                msg = f"{option} needs --over"
                raise InvalidParameter(msg)
        return bool(self.over)


_OVER, _EVERY = twins("--over DAY, --every TIME", "Load over time: a CSV, or 24h; its periods.")
_TARGET, _START = twins("--target TIME, --start HOW", "Time limit; start empty, or with backlog=N.")


def over_options(function: Function) -> Function:
    """Add the options of a day, passed to the function as a `DayWish`."""

    @wraps(function)
    def _wished(
        *arguments: Any,
        over: str | None,
        every: str | None,
        target: str | None,
        start: str | None,
        **named: Any,
    ) -> Any:
        texts = (text or "" for text in (over, every, target, start))
        return function(*arguments, day=DayWish(*texts), **named)

    options = (
        click.option(
            "--over", cls=_OVER, metavar="DAY", help="A CSV of times and rates or requests; or 24h."
        ),
        click.option("--every", cls=_EVERY, metavar="TIME", help="Length of its periods."),
        click.option(
            "--target", cls=_TARGET, metavar="TIME", help="Show the share of requests over it."
        ),
        click.option(
            "--start", cls=_START, metavar="HOW", help="steady, empty, or backlog=N at the start."
        ),
    )
    for option in reversed(options):
        _wished = option(_wished)
    return _wished  # type: ignore[return-value]


def over_day(model: "Model", wish: DayWish, method: str, percents: tuple[float, ...]) -> "Timeline":
    """Solve a model over the day that is asked for."""
    from headway.models.over.over import PERCENTILES, STEADY, over_model

    return over_model(
        model,
        wish.over,
        wish.target or None,
        wish.start or STEADY,
        wish.every or None,
        method,
        percents or PERCENTILES,
    )


FORMS = (
    "headway solve nfs-server --preset raid --set arrival_rate=500",
    "headway solve nfs-server --preset raid --closed 45 --percentile 95",
)


@used("solve", *FORMS)
@model_argument
@preset_option
@set_option
@closed_options
@click.option(
    "--population", metavar="RANGE", help="Closed loop: each of 1:200 or 10,20,50 clients."
)
@click.option(
    "--method",
    metavar="NAME",
    type=MethodName(),
    default="auto",
    help="auto, exact, qna... or any of 'headway methods'.",
)
@percentile_option("Add percentiles of the response time: 50,95,99.")
@click.option(
    "--show", "quantities", metavar="A,B", help="Add quantities such as cpu.waiting_time_p95."
)
@click.option(
    "--queue-lengths",
    metavar="STATIONS",
    help="Probabilities of 0, 1, 2... jobs at stations.",
)
@click.option("--uncertain", cls=_UNCERTAIN, is_flag=True, help="Add 95% bands from ci95.")
@click.option("--draws", cls=_DRAWS, type=Whole(), metavar="N", help="Number of draws (1000).")
@over_options
@simulation_options
@crew_options
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    population: str | None,
    think: str | None,
    method: str,
    percents: tuple[float, ...],
    quantities: str | None,
    queue_lengths: str | None,
    uncertain: bool,  # noqa: FBT001 - a flag
    draws: int | None,
    day: DayWish,
    wish: Wish,
    hands: CrewContext,
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Solve a model."""
    from headway.models.structure.alternatives import able_to

    chosen = chosen_model(model, preset, settings, closed_settings(closed, population, think))
    laws = {"--show": quantities is not None, "--queue-lengths": queue_lengths is not None}
    if day.is_asked:
        others = {"--show": quantities is not None, "--queue-lengths": queue_lengths is not None}
        _refuse(others | {"--uncertain": uncertain}, "one point in time; leave out --over")
        present(over_day(chosen, day, method, percents), output_format, plot)
        return 0
    if method == SIMULATION or uncertain:
        _refuse(laws, "fixed parameters and an analytic method")
    by_precision = bool(wish.given) or names_workers(hands)
    if method == SIMULATION and not uncertain and (by_precision or not chosen.graph.layers):
        _refuse({"--draws": draws is not None}, "--uncertain")
        return _simulated(chosen, percents, wish, hands, output_format, plot)
    _refuse({"--workers or --cluster": names_workers(hands)}, f"--method {SIMULATION}")
    alone = method == SIMULATION and not chosen.graph.layers
    _refuse({"--method simulation": alone}, "fixed parameters, not --uncertain")
    others = {name: True for name in wish.given if name != "--seed" or not uncertain}
    _refuse(others, "--uncertain or " * ("--seed" in others) + f"--method {SIMULATION}")
    if uncertain:
        count = DRAWS if draws is None else draws
        answer: Presentable = chosen.propagate(count, wish.seed, method, percents)
    else:
        _refuse({"--draws": draws is not None}, "--uncertain")
        if queue_lengths is None:
            names = names_of(quantities)
            able = able_to(chosen, lambda one: _answered(one, method, percents, names))
            answer = _answered(able, method, percents, names)
        else:
            solution = chosen.solve(method=method)
            others = {"--show": quantities is not None, "--percentile": bool(percents)}
            _refuse(others, "a table without --queue-lengths")
            answer = solution.queue_lengths(*_stations(queue_lengths))
    present(answer, output_format, plot)
    return 0


def _stations(text: str) -> list[str]:
    names = names_of(text)
    if not names:
        raise InvalidParameter("--queue-lengths names no station; give one, or several as A,B")
    return names


def _answered(
    model: "Model", method: str, percents: tuple[float, ...], names: list[str]
) -> "Solution":
    """Solve a model, with percentiles and quantities by name."""
    from headway.models.solving.solutions.on_demand import named_outputs

    solution = model.solve(method=method).with_percentiles(percents)
    known = (*solution.outputs, *solution.class_outputs)
    named_outputs(names, known, solution.classes, "there is no number", solution.stations)
    return solution.answering(*names)


def _refuse(given: dict[str, bool], other: str) -> None:
    """Refuse options without those that they need."""
    for option in (name for name, is_given in given.items() if is_given):
        msg = f"{option} needs {other}"
        raise InvalidParameter(msg)


def _simulated(
    model: "Model",
    percents: tuple[float, ...],
    wish: Wish,
    hands: CrewContext,
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Simulate a model, at each of its operating points; Ctrl-C shows the results so far."""
    from headway.models.simulating.several import simulate_points
    from headway.models.structure.inputs import points_shape

    points = math.prod(points_shape(model.inputs))
    options = wish.half_width, wish.seed, percents, wish.at_most
    with hands as crew, progress("simulating", points) as advance:
        answer = simulate_points(model, *options, advance, crew)
    present(answer if points > 1 else answer.points[0], output_format, plot)
    return INTERRUPTED if answer.interrupted else 0
