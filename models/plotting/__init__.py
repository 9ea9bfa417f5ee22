"""Answers drawn, as matplotlib Figures without global state.

An answer has ``plot()``. For figures of your own that look the same:

Begin and end
    sheet, finished
Axes
    light_grid, legend
Series
    style, draw_points, PALETTE, MODELLED
"""

from headway.lazy import public_names

__getattr__, __dir__ = public_names(__name__, __file__)
