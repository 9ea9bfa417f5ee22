"""Options of a load that follows time: the day, its periods, the target, the start."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headway.cli.options import twins
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.over.timeline import Timeline
    from headway.models.structure.model import Model

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
            For ``--every`` or ``--target`` without ``--over``.
        """
        for option, text in (("--every", self.every), ("--target", self.target)):
            if text and not (self.over or self.start):
                msg = f"{option} needs --over"
                raise InvalidParameter(msg)
        return bool(self.over or self.start)


_OVER, _EVERY = twins("--over DAY, --every TIME", "Load over time: a CSV, or 24h; its periods.")
_TARGET, _START = twins("--target TIME, --start HOW", "Share over a target; empty, backlog=N.")


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
