"""What tables and documents show of a model's alternatives: which of them answer, and the range."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from headway.models.language.digits import ends, with_unit
from headway.models.language.scales import Scale
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.alternatives import weighted
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.tables.table import Column
from headway.numerals import four_digits

ALL = "all models"
"""The title of a column with the least and largest answer of a model and its alternatives."""

OF_ALL, OF_ALL_ENDS = "all_models", ("all_models_low", "all_models_high")
"""The range in JSON, and its columns in CSV."""

_SAME = 1e-9  # relative difference below which all answers count as equal


def shares_of(model: Model) -> dict[str, float]:
    """Weights of a model and its alternatives by name; those of one name are added."""
    shares: dict[str, float] = {}
    for one in weighted(model):
        shares[one.model.name] = shares.get(one.model.name, 0.0) + one.weight
    return shares


def shares_text(shares: Mapping[str, float]) -> str:
    """Weights by name as text, the largest first.

    Examples
    --------
    >>> shares_text({"one": 0.25, "two": 0.75})
    'two 75%, one 25%'
    """
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.0%}" for name, share in ordered)


def alone_note(model: Model) -> list[str]:
    """Say that an answer is of one model alone, and that other models would also fit."""
    if not model.alternatives:
        return aside_note(model)
    own, *_ = weighted(model)
    text = f"by {model.name} alone, which has {own.weight:.0%} of the weight of the models that fit"
    return [text, *aside_note(model)]


def mixed_note(model: Model) -> list[str]:
    """Name the models that an answer mixes, with their weights."""
    if not model.alternatives:
        return aside_note(model)
    shares = shares_of(model)
    several = [f"models, by weight: {shares_text(shares)}"] if len(shares) > 1 else []
    return [*several, *aside_note(model)]


def aside_note(model: Model) -> list[str]:
    """Name the models that cannot answer what is asked."""
    if not model.set_aside:
        return []
    return [f"set aside, as they cannot answer this: {shares_text(model.set_aside)} of the weight"]


def beyond_note(model: Model, values: Mapping[str, float] | None = None) -> list[str]:
    """Say that a load is beyond the highest measured one, and what to measure.

    Parameters
    ----------
    model
        A model with operating points.
    values
        Values given to parameters in addition [SI].
    """
    if not model.measured_to:
        return []
    from headway.models.uncertain.beyond import share_of_measured

    own, *_ = weighted(model)
    columns = {name: np.array(value) for name, value in (values or {}).items()}
    share = float(np.max(share_of_measured(own.model, columns)))
    if share <= 1 + _SAME:
        return []
    load = model.parameters[ARRIVAL_RATE]
    highest, needed = (
        with_unit(four_digits(model.measured_to[ARRIVAL_RATE] * each / load.unit.scale), load.unit)
        for each in (1.0, share)
    )
    return [f"measured only up to {highest}, but this needs {needed}: measure up to {needed} first"]


def all_models(solution: Solution, scale: Scale) -> Iterator[Column]:
    """The range of the outputs at a single point, if there are alternatives."""
    if not solution.alternatives:
        return
    texts = []
    for name in solution.outputs:
        values = [float(np.ravel(each[name])[0]) for each in _having(solution, name)]
        unit = Column.of(name, solution[name], solution.model.meaning(name).unit, scale).unit
        low, high = min(values), max(values)
        alike = np.isnan(high) or high - low <= _SAME * abs(high) or low == high
        texts.append("-" if alike else with_unit(ends(low, high, unit), unit))
    yield Column(ALL, (*texts, *("-" for _ in solution.station_requests)))


def times_of_all(solution: Solution, name: str, scale: Scale) -> Iterator[Column]:
    """The range of a time, by operating point, if there are alternatives."""
    if not solution.alternatives:
        return
    unit = Column.of(name, solution[name], solution.model.meaning(name).unit, scale).unit
    each = np.stack([np.ravel(np.asarray(one[name], float)) for one in _having(solution, name)])
    yield Column("from", tuple(each.min(axis=0).tolist()), unit)
    yield Column("to", tuple(each.max(axis=0).tolist()), unit)


def _having(solution: Solution, name: str) -> Iterator[Solution]:
    """The solution and its alternatives, as far as they have an output."""
    yield solution
    yield from (each for each in solution.alternatives if name in each.outputs)


def models_document(model: Model) -> dict[str, Any]:
    """What JSON has of a model's alternatives; empty if there are none."""
    document: dict[str, Any] = {}
    if model.alternatives:
        each = weighted(model)
        document["models"] = [{"model": m.model.name, "weight": m.weight} for m in each]
    if model.set_aside:
        document["set_aside"] = dict(model.set_aside)
    if model.measured_to:
        document["measured_to"] = dict(model.measured_to)
    return document
