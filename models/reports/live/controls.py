"""The sliders of a notebook's panel: a model's parameters, its load first."""

from collections.abc import Sequence

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, UnknownParameter, nearest
from headway.models.language.parameters import Parameter
from headway.models.language.scales import Scale, units_of
from headway.models.reports.controls import (
    Control,
    ControlRole,
    load_of,
    slider_ends,
    whole_numbers,
)
from headway.models.structure.model import Model
from headway.models.tables.table import scale_of

_WIDTH = 10.0  # ratio of a slider's upper end to the value, and of the value to its lower end
_BEYOND = 1.1  # largest load of a slider, in multiples of the load that saturates
_MOST_JOBS = 40.0  # fewest jobs at a slider's upper end


def live_controls(
    model: Model, free: Sequence[str] | None = None, scale: Scale | None = None
) -> tuple[Control, ...]:
    """A slider for each free parameter, with the load first.

    Parameters
    ----------
    model
        A model at one operating point.
    free
        Names of the parameters that get a slider; by default all.
    scale
        The units of the panel; by default those of the model's description.

    Raises
    ------
    InvalidParameter
        For a parameter without a value, or with several values.
    UnknownParameter
        For a name that is not a parameter of the model.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid")
    >>> [(c.parameter.name, c.is_log) for c in live_controls(raid, ["cpu_time", "disks"])]
    [('cpu_time', True), ('disks', True)]
    """
    for name, value in model.inputs.items():
        if np.ndim(value):
            msg = f"a panel is made at one operating point; give {name} one value"
            raise InvalidParameter(msg)
    names = list(model.parameters) if free is None else list(free)
    for name in names:
        if name not in model.parameters:
            msg = f"{model.name} has no parameter {name!r}{nearest(name, model.parameters)}"
            raise UnknownParameter(msg)
    if not names:
        msg = f"{model.name} has no parameter that a slider could move; give free=[NAME, ...]"
        raise InvalidParameter(msg)
    load, whole, units = load_of(model), whole_numbers(model), scale or units_of(model)
    return tuple(
        _control(model, model.parameters[name], name in whole, name == load, units)
        for name in sorted(names, key=lambda name: name != load)
    )


def _control(
    model: Model,
    parameter: Parameter,
    is_whole: bool,  # noqa: FBT001
    is_load: bool,  # noqa: FBT001
    scale: Scale,
) -> Control:
    low, high = slider_ends(parameter, is_whole, _WIDTH)
    if parameter.name == "arrival_rate":
        low, high = max(0.0, parameter.minimum), min(_most(model, high), parameter.maximum)
    if parameter.name == "population":
        low, high = max(1.0, parameter.minimum), min(max(high, _MOST_JOBS), parameter.maximum)
    unit = scale_of(np.array([parameter.value or high], float), parameter.unit, scale)
    role = ControlRole.LOAD if is_load else ControlRole.PARAMETER
    return Control(parameter, unit, low, high, is_whole, role)


def _most(model: Model, usual: float) -> float:
    """A load just beyond saturation, if the model saturates."""
    try:
        limit = float(np.ravel(model.solve().saturation_throughput)[0])
    except HeadwayError:
        return usual
    return _BEYOND * limit if np.isfinite(limit) else usual
