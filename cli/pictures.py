"""``--plot``, ``--log`` and ``--dark``: a picture of the answer."""

from functools import wraps
from pathlib import Path
from typing import Any, cast

import click

from headway.cli.options import Function, check_place, twins
from headway.records import dataclass


@dataclass(frozen=True)
class Drawing:
    """A requested picture.

    Parameters
    ----------
    path
        Where to write it; .svg, .png or .pdf.
    log
        Logarithmic axes; None chooses by the values.
    dark
        Whether it is for a dark page.
    """

    path: Path
    log: str | None = None
    dark: bool = False


_PLOT, _LOOK = twins("--plot, --log, --dark", "Draw into an .svg, .png or .pdf; --log x, y, xy.")


def plot_option(function: Function) -> Function:
    """Add ``--plot``, ``--log`` and ``--dark``, passed to the command as `plot`."""

    @wraps(function)
    def _drawn(*given: Any, plot: Path | None, log: str | None, dark: bool, **others: Any) -> Any:
        return function(*given, plot=_picture(plot, log, dark), **others)

    _drawn = click.option("--dark", cls=_LOOK, is_flag=True, help="Draw for a dark page.")(_drawn)
    axes = click.Choice(["x", "y", "xy", "none"])
    _drawn = click.option("--log", cls=_LOOK, type=axes, help="Logarithmic axes.")(_drawn)
    place = click.Path(path_type=Path)
    _drawn = click.option("--plot", cls=_PLOT, metavar="FILE", type=place, help="Draw into FILE.")(
        _drawn
    )
    return cast(Function, _drawn)


def _picture(path: Path | None, log: str | None, dark: bool) -> Drawing | None:  # noqa: FBT001
    """Refuse a picture that cannot be written, before doing any work."""
    if path is None:
        if log is not None or dark:
            from headway.errors import InvalidParameter

            msg = f"{'--dark' if log is None else '--log'} needs --plot FILE; add it"
            raise InvalidParameter(msg)
        return None
    from headway.models.plotting.figures import picture_format

    picture_format(path)
    check_place(path)
    return Drawing(path, log, dark)
