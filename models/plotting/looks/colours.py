"""Two palettes, for light and dark pages; a figure is drawn in the first and then converted."""

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap, to_hex, to_rgba
from matplotlib.figure import Figure

from headway.records import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours of figures on one kind of page.

    Parameters
    ----------
    series
        Colours of series in the order of use.
    ink, paper
        Colour of letters and measurements, and of the background.
    """

    series: tuple[str, ...]
    ink: str
    paper: str


LIGHT = Palette(
    ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
    "#000000",
    "#ffffff",
)
"""Okabe and Ito's colours: distinct for the colour-blind."""

DARK = Palette(
    ("#4aa8e0", "#ff8a45", "#35c99b", "#e3a1c6", "#f2bd3f", "#a5dcf8", "#e4e6e9"),
    "#e4e6e9",
    "#16191d",
)
"""The same colours, lighter, on nearly black; none is a neutral grey, so none is converted twice.
"""

_SHADES = 256  # of a colour map

_PARTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def on_dark(colour: Any) -> Any:
    """Convert a colour of a light page to a dark page; a grey keeps its distance from the ink.

    Examples
    --------
    >>> on_dark("white"), on_dark("black"), on_dark("#0072b2")
    ('#16191d', '#e4e6e9', '#4aa8e0')
    """
    red, green, blue, alpha = to_rgba(colour)
    text = to_hex((red, green, blue))
    if text in LIGHT.series:
        changed = DARK.series[LIGHT.series.index(text)]
    elif red == green == blue:
        ink, paper = np.array(to_rgba(DARK.ink)), np.array(to_rgba(DARK.paper))
        changed = to_hex((ink + (paper - ink) * red).tolist())
    else:
        return colour
    return changed if alpha == 1 else to_rgba(changed, alpha)


def darken(figure: Figure) -> None:
    """Convert every colour of a figure for a dark page."""
    for axes in figure.axes:  # for ticks that are created later
        axes.tick_params(which="both", colors=DARK.ink, grid_color=on_dark("0.9"))
    done: set[int] = set()
    for artist in figure.findobj():
        if id(artist) not in done:
            done.add(id(artist))
            _change(artist)


def _change(artist: Any) -> None:
    """Convert the colours of an artist, and those of the box or arrow of a text."""
    beside = getattr(artist, "get_bbox_patch", lambda: None)(), getattr(artist, "arrow_patch", None)
    for patch in filter(None, beside):
        _change(patch)
    for part in _PARTS:
        get, change = getattr(artist, f"get_{part}", None), getattr(artist, f"set_{part}", None)
        if get is None or change is None:
            continue
        change(_changed(get()))
    if getattr(artist, "get_array", lambda: None)() is not None:
        shades = artist.get_cmap()(np.linspace(0, 1, _SHADES))
        artist.set_cmap(ListedColormap([on_dark(shade) for shade in shades]))


def _changed(colours: Any) -> Any:
    """One colour converted, or each of several."""
    if isinstance(colours, str):
        return colours if colours in ("none", "auto") else on_dark(colours)
    is_one = len(colours) in (3, 4) and not hasattr(colours[0], "__len__")
    return on_dark(colours) if is_one else [on_dark(one) for one in colours]
