"""Open a panel, if the package for widgets is installed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.lazy import needed
from headway.models.structure.model import Model

if TYPE_CHECKING:
    from headway.models.reports.live.widget import ModelPanel


def open_panel(
    model: Model, free: Sequence[str] | None, over: str | None, output: str | None
) -> "ModelPanel":
    """Make a panel of a model; see `ModelVerbs.panel`."""
    needed("a panel", "anywidget")
    from headway.models.reports.live.widget import ModelPanel

    return ModelPanel(model, free, over, output)
