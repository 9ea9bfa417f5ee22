"""Interpolation of what a table gives besides the load, if clients think equally long at all."""

import numpy as np

from headway.kinds import FloatArray, Number
from headway.models.structure.inputs import THINK_TIME
from headway.models.structure.model import Model

_OF_CLIENTS = {THINK_TIME.name}
"""Inputs that belong to the load itself; any other input distinguishes several curves."""


def beside(model: Model, load: str | None) -> list[str]:
    """Inputs other than the load that have a value for each row.

    Parameters
    ----------
    model
        A model at the measured points.
    load
        The parameter that is the load.
    """
    return [name for name, value in model.inputs.items() if np.ndim(value) and name != load]


def between_rows(model: Model, load: str | None, loads: FloatArray) -> dict[str, Number] | None:
    """Values of other inputs at loads between the measured ones; None if there is no single curve.

    Parameters
    ----------
    model
        A model at the measured points.
    load
        The parameter that is the load.
    loads
        Loads at which the curve is wanted [SI].

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> rows = {"population": np.array([10.0, 20.0]), "think_time": np.array([1.0, 1.2])}
    >>> model = catalogue_model("server-single").at(delay=0, service_time=0.1).closed(1).at(rows)
    >>> between_rows(model, "population", np.array([15.0]))["think_time"].round(9).tolist()
    [1.1]
    """
    others = beside(model, load)
    if (
        load is None
        or not np.ndim(model.inputs.get(load, 0.0))
        or not _OF_CLIENTS.issuperset(others)
    ):
        return None
    measured, rows = np.unique(np.ravel(model.inputs[load]), return_inverse=True)
    counts = np.bincount(rows)
    return {
        name: np.interp(loads, measured, np.bincount(rows, np.ravel(model.inputs[name])) / counts)
        for name in others
    }
