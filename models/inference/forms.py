"""Forms of the catalogue: every model with a table ``[form]``, in each of its variants."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from headway.errors import PackageError, UnknownModel, nearest
from headway.kinds import FloatArray
from headway.models.files.shipped import catalogue_model, model_names
from headway.models.structure.forms import Load, Variant
from headway.models.structure.model import Model

SPARE = 2
"""Points more than free parameters that a form needs."""


@dataclass(frozen=True)
class Form:
    """A model of the catalogue in one of its variants."""

    model: str
    family: str
    variant: Variant

    @property
    def name(self) -> str:
        """What tables call it."""
        lacks = self.variant.without
        return f"{self.model} (no {', '.join(lacks)})" if lacks else self.model

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that it determines."""
        return self.variant.free

    @property
    def equation(self) -> tuple[str, ...]:
        """Terms that add up to its response time."""
        table = catalogue_model(self.model).form
        return table.terms(self.variant) if table else ()

    @property
    def closed(self) -> bool:
        """Whether a population drives it."""
        return self.variant.load is not Load.OPEN


def catalogue_forms(*loads: Load, family: str | None = None) -> tuple[Form, ...]:
    """The forms that are tried for some loads, simplest first.

    Parameters
    ----------
    loads
        What a curve's load can be.
    family
        Only forms of this family; all where there is none.

    Raises
    ------
    UnknownModel
        For a family that has none.

    Examples
    --------
    >>> [form.name for form in catalogue_forms(Load.POPULATION)]
    ['server-single', 'server-closed', 'server-pool']
    """
    every = _every_form()
    if family is not None and family not in (known := {form.family for form in every}):
        msg = f"no model is of the family {family!r}{nearest(family, known)}"
        raise UnknownModel(msg)
    chosen = (f for f in every if f.variant.load in loads and family in (None, f.family))
    return tuple(sorted(chosen, key=lambda form: form.variant.order))


def families() -> tuple[str, ...]:
    """Names of the families that models of the catalogue are forms of.

    Examples
    --------
    >>> families()
    ('server',)
    """
    return tuple(sorted({form.family for form in _every_form()}))


def _every_form() -> list[Form]:
    found = []
    for name in model_names():
        with suppress(PackageError):  # who needs that model is told
            table = catalogue_model(name).form
            found += [Form(name, table.family, v) for v in table.variants] if table else []
    return found


def forms_for(points: int, forms: Sequence[Form]) -> list[Form]:
    """The forms that so many points can carry.

    Examples
    --------
    >>> [form.name for form in forms_for(4, catalogue_forms(Load.OPEN))]
    ['server-single', 'server (no delay)']
    """
    return [form for form in forms if len(form.free) + SPARE <= points]


def started(form: Form, rate: FloatArray, time: FloatArray) -> Model:
    """A form with values to start from, read off the curve.

    Parameters
    ----------
    form
        Whose table says where it starts.
    rate, time
        Throughput [1/s] and response time [s] of each point.
    """
    model = catalogue_model(form.model)
    curve = {
        "least_time": float(time.min()),
        "most_time": float(time.max()),
        "mean_time": float(time.mean()),
        "top_rate": float(rate.max()),
        "most_inside": float(np.max(rate * time)),
    }
    start = model.form.start if model.form else {}
    values = {name: float(read.evaluate(curve)) for name, read in start.items()}
    return model.at(values | dict.fromkeys(form.variant.without, 0.0))
