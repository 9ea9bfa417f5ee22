"""Options of simulations: precision, seed, most events."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from headway.cli.numbers import Whole
from headway.cli.options import twins
from headway.records import dataclass

Function = TypeVar("Function", bound=Callable[..., Any])

HALF_WIDTH, SEED, AT_MOST = "2%", 1, "3e8"


@dataclass(frozen=True)
class Wish:
    """Precision of a simulation, seed, and most events."""

    half_width: float
    seed: int
    at_most: float
    given: tuple[str, ...] = ()


_WIDTH, _SEED = twins("--half-width W, --seed N", "Precision (2%, 95% confidence); random seed.")


def simulation_options(function: Function) -> Function:
    """Add ``--half-width``, ``--seed`` and ``--at-most``, passed to the function as a `Wish`."""

    @wraps(function)
    def _wished(
        *arguments: Any, half_width: str | None, seed: int | None, at_most: str | None, **named: Any
    ) -> Any:
        wish = _wish(half_width, seed, at_most)
        return function(*arguments, wish=wish, **named)

    width = click.option(
        "--half-width", cls=_WIDTH, metavar="W", help="Relative half-width of the interval."
    )
    seed = click.option("--seed", cls=_SEED, type=Whole(), metavar="N", help="Random seed.")
    most = click.option("--at-most", metavar="N", help="Refuse simulations of more events (3e8).")
    return width(seed(most(_wished)))  # type: ignore[return-value]


def _wish(half_width: str | None, seed: int | None, at_most: str | None) -> Wish:
    from headway.models.language.units import ONE, quantity

    given = {"--half-width": half_width, "--seed": seed, "--at-most": at_most}
    return Wish(
        quantity(half_width or HALF_WIDTH, ONE, "--half-width"),
        SEED if seed is None else seed,
        quantity(at_most or AT_MOST, ONE, "--at-most"),
        tuple(name for name, value in given.items() if value is not None),
    )
