"""The last touches to every figure: scales, ticks, space for legends, colours."""

from matplotlib.figure import Figure

from headway.models.plotting.looks.axes import set_scales, write_ticks
from headway.models.plotting.looks.colours import darken
from headway.models.plotting.looks.legends import make_room


def finished(figure: Figure, log: str | None = None, dark: bool = False) -> Figure:  # noqa: FBT001, FBT002 - through the door
    """Give a figure its scales and ticks, and the colours of a dark page if asked.

    Parameters
    ----------
    figure
        A figure drawn in the colours of a light page.
    log
        Axes to make logarithmic: x, y, xy or none; None lets the values decide.
    dark
        Whether it is for a dark page.

    Raises
    ------
    InvalidParameter
        For axes that cannot be logarithmic.
    """
    set_scales(figure, log)
    write_ticks(figure)
    make_room(figure)
    if dark:
        darken(figure)
    return figure
