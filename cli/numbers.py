"""Numbers on the command line: decimal digits only, as in files."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from headway.errors import quoted
from headway.kinds import number_of

Function = TypeVar("Function", bound=Callable[..., Any])

_LARGEST = 1e15
"""Whole numbers below this are exact."""


class Real(click.ParamType):  # type: ignore[type-arg]
    """A finite number."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it, or say what it is not."""
        number = number_of(str(value))
        if number is None or not abs(number) < float("inf"):
            self.fail(f"{quoted(str(value))} is not a finite number in decimal digits", param, ctx)
        return number


class Reals(click.ParamType):  # type: ignore[type-arg]
    """Finite numbers with commas between."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Read them, or refuse the first that is not a number."""
        if isinstance(value, tuple):
            return value
        return tuple(Real().convert(part.strip(), param, ctx) for part in str(value).split(","))


def percentile_option(words: str) -> Callable[[Function], Function]:
    """Make ``--percentile``, passed to the function as `percents`."""
    return click.option(
        "--percentile", "percents", type=Reals(), default=(), metavar="P,Q", help=words
    )


class Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it, or say what it is not."""
        number = number_of(str(value))
        if number is None or not (abs(number) < _LARGEST and number == int(number)):
            self.fail(f"{quoted(str(value))} is not a whole number in decimal digits", param, ctx)
        return int(number)
