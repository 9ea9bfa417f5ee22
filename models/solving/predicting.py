"""An output at loads, or at rows of parameters, in the way that estimators predict y from X."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.structure.inputs import ARRIVAL_RATE, POPULATION
from headway.models.structure.model import Model


def predict(model: Model, loads: Any, output: str) -> FloatArray:
    """Predict an output; see `Model.predict`."""
    load = POPULATION.name if model.is_closed else ARRIVAL_RATE
    if isinstance(loads, str):
        loads = model.at({load: loads}).inputs[load]
    is_table = isinstance(loads, Mapping) or hasattr(loads, "columns")
    names = list(loads) if is_table else [load]
    columns = [np.asarray(loads[name] if is_table else loads, float).ravel() for name in names]
    solved = model.at(dict(zip(names, columns, strict=True))).solve()
    prefix, _, percent = output.rpartition("_p")
    if prefix == "response_time" and percent.replace(".", "").isdigit():
        solved = solved.with_percentiles([float(percent)])
    return np.broadcast_to(np.asarray(solved[output], float), columns[0].shape).copy()
