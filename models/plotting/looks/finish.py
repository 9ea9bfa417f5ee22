"""The last touch of every figure: its scales, its ticks, room for legends, its colours."""

from matplotlib.figure import Figure

from headway.models.plotting.looks.axes import set_scales, write_ticks
from headway.models.plotting.looks.colours import darken
from headway.models.plotting.looks.legends import make_room


def finished(figure: Figure, log: str | None = None, dark: bool = False) -> Figure:  # noqa: FBT001, FBT002 - through the door
    """Give a figure its scales and ticks, and the colours of a dark page where asked.

    Parameters
    ----------
    figure
        As it was drawn, in the colours of a light page.
    log
        Axes that shall be logarithmic: x, y, xy or none; None leaves it to the values.
    dark
        Whether it shall stand on a dark page.

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
