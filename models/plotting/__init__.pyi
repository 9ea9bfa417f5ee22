"""The public names, each once: type checkers read this file, and so does `headway.lazy`."""

from .looks.finish import finished as finished
from .looks.legends import legend as legend
from .looks.page import sheet as sheet
from .pieces import MODELLED as MODELLED
from .pieces import PALETTE as PALETTE
from .pieces import draw_points as draw_points
from .pieces import light_grid as light_grid
from .pieces import style as style
