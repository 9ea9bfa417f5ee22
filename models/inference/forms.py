"""Forms: models with a table ``[form]``, of the catalogue or the user's own, in each variant."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field

import numpy as np

from headway.errors import InvalidParameter, PackageError, UnknownModel, nearest
from headway.kinds import FloatArray
from headway.models.files.shipped import catalogue_model, may_be_form, model_names
from headway.models.importing.finding import find_model
from headway.models.measured.facts import Fact
from headway.models.structure.forms import Variant
from headway.models.structure.loads import Load
from headway.models.structure.model import Model
from headway.records import dataclass

ALL_FORMS = "all"
"""The word for every form of the catalogue in a list of forms."""

SPARE = 2
"""How many more different loads than free parameters a form needs in order to be chosen among
others."""

KNOWN_SPARE = 1
"""The same if a single model is named: it is not chosen, but known to be right."""


@dataclass(frozen=True)
class Form:
    """A model in one of its variants.

    Parameters
    ----------
    model, family
        Names of the model and its family.
    variant
        The variant that is tried.
    made
        The model itself.
    """

    model: str
    family: str
    variant: Variant
    made: Model = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """Its name in tables."""
        lacks, stated = self.variant.without, self.variant.disclosed
        notes = [f"no {', '.join(lacks)}"] * bool(lacks) + [f"{', '.join(stated)} given"] * bool(
            stated
        )
        return f"{self.model} ({'; '.join(notes)})" if notes else self.model

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters to determine."""
        return self.variant.free

    @property
    def equation(self) -> tuple[str, ...]:
        """The terms that add up to its response time."""
        return self.made.form.terms(self.variant) if self.made.form else ()

    @property
    def closed(self) -> bool:
        """Whether a population is its load."""
        return self.variant.load is not Load.OPEN


def catalogue_forms(*loads: Load, family: str | None = None) -> tuple[Form, ...]:
    """The forms that are tried for some loads, simplest first.

    Parameters
    ----------
    loads
        The loads that the curve has.
    family
        The family of the forms; by default all.

    Raises
    ------
    UnknownModel
        For a family without forms.

    Examples
    --------
    >>> [form.name for form in catalogue_forms(Load.POPULATION)][:3]
    ['server-single', 'server-pool (no delay)', 'server-wakeup (no delay)']
    """
    every = _every_form()
    if family is not None and family not in (known := {form.family for form in every}):
        msg = f"unknown family {family!r}{nearest(family, known)}"
        raise UnknownModel(msg)
    return of_loads([form for form in every if family in (None, form.family)], *loads)


def of_loads(forms: Sequence[Form], *loads: Load) -> tuple[Form, ...]:
    """Select the forms for given loads, simplest first."""
    chosen = (form for form in forms if form.variant.load in loads)
    return tuple(sorted(chosen, key=lambda form: form.variant.order))


def listed_forms(
    models: Sequence[str | Model] | None = None, family: str | None = None
) -> tuple[Form, ...]:
    """The forms of listed models, each once; by default those of the whole catalogue.

    Parameters
    ----------
    models
        Names of catalogue models, paths of model files, models, and `ALL_FORMS` for all of the
        catalogue.
    family
        The family to which `ALL_FORMS` refers; by default all families.

    Raises
    ------
    UnknownModel, ModelFileError
        For a name that is not a model's, or a file that cannot be read.
    InvalidParameter
        For a model that does not say how it is tried, or two models of one name.

    Examples
    --------
    >>> [form.name for form in listed_forms(["server", "server-single"], "server")][:2]
    ['server (no delay)', 'server']
    """
    by_model: dict[str, Model] = {}
    forms: list[Form] = []
    for given in [ALL_FORMS] if models is None else models:
        tried = catalogue_forms(*Load, family=family) if given == ALL_FORMS else _forms_of(given)
        for form in tried:
            if by_model.setdefault(form.model, form.made) != form.made:
                msg = f"two forms are called {form.model!r}; rename one of their files"
                raise InvalidParameter(msg)
        forms += [form for form in tried if form not in forms]
    if not forms:
        raise InvalidParameter("no form is listed; name models, or write all")
    return tuple(forms)


def _forms_of(given: str | Model) -> list[Form]:
    """A listed model in each of its variants."""
    model = find_model(given) if isinstance(given, str) else given
    if model.form is None or not model.form.variants:
        msg = (
            f"{model.name} is not a form: its file needs a [[form.tried]] that names "
            "its free parameters"
        )
        raise InvalidParameter(msg)
    return _variants(model)


def _variants(model: Model) -> list[Form]:
    table = model.form
    return [Form(model.name, table.family, v, model) for v in table.variants] if table else []


def families() -> tuple[str, ...]:
    """Names of the families of forms in the catalogue.

    Examples
    --------
    >>> families()
    ('server',)
    """
    return tuple(sorted({form.family for form in _every_form()}))


def _every_form() -> list[Form]:
    forms = []
    for name in filter(may_be_form, model_names()):
        with suppress(PackageError):  # a user who asks for that model is told
            forms += _variants(catalogue_model(name))
    return forms


def forms_for(loads: int, forms: Sequence[Form], spare: int | None = None) -> list[Form]:
    """Every form that the number of different loads supports; repeats show no shape.

    ``spare`` is how many more loads than free parameters are needed; by default `spare_for`.

    Examples
    --------
    >>> [form.name for form in forms_for(4, catalogue_forms(Load.OPEN))]
    ['server-single', 'server (no delay)']
    >>> [form.name for form in forms_for(3, listed_forms(["server-single"]))][:1]
    ['server-single']
    """
    more = spare_for(forms) if spare is None else spare
    return [form for form in forms if len(form.free) + more <= loads]


def spare_for(forms: Sequence[Form]) -> int:
    """How many more different loads than free parameters forms need: fewer for one model."""
    return KNOWN_SPARE if len({form.model for form in forms}) == 1 else SPARE


def knowing(forms: Sequence[Form], facts: Mapping[str, Fact]) -> list[Form]:
    """Leave out forms that need facts which nothing states."""
    return [form for form in forms if {*form.variant.disclosed} <= _stated(form, facts).keys()]


def _stated(form: Form, facts: Mapping[str, Fact]) -> dict[str, float]:
    """Parameter values from stated facts, within their bounds; none for an unknown fact."""
    known = {name: fact.value for name, fact in facts.items() if fact.value is not None}
    values = {}
    for name, read in (form.made.form.disclosed if form.made.form else {}).items():
        value = float(read.evaluate(known)) if read.names <= known.keys() else math.nan
        if math.isfinite(value):
            parameter = form.made.parameters[name]
            values[name] = min(max(value, parameter.minimum), parameter.maximum)
    return values


def started(
    form: Form, rate: FloatArray, time: FloatArray, facts: Mapping[str, Fact] | None = None
) -> Model:
    """A form with initial values from the curve and from stated facts.

    Parameters
    ----------
    form
        The form, whose table says where it starts.
    rate, time
        Throughput [1/s] and response time [s] of each point.
    facts
        What is stated about the system.
    """
    model = form.made
    curve = _shown(rate, time)
    start = model.form.start if model.form else {}
    values = {name: float(read.evaluate(curve)) for name, read in start.items()}
    values |= _stated(form, facts or {})
    return model.at(values | dict.fromkeys(form.variant.without, 0.0))


def _shown(rate: FloatArray, time: FloatArray) -> dict[str, float]:
    """Numbers of a curve that formulas of a form may use."""
    return {
        "least_time": float(time.min()),
        "most_time": float(time.max()),
        "mean_time": float(time.mean()),
        "least_rate": float(rate.min()),
        "top_rate": float(rate.max()),
        "most_inside": float(np.max(rate * time)),
    }


def limits_from_curve(
    form: Form, rate: FloatArray, time: FloatArray
) -> dict[str, tuple[float, float]]:
    """Bounds of free parameters that follow from a curve.

    Parameters
    ----------
    form
        The form, whose table says what bounds it.
    rate, time
        As for `started`.
    """
    table, curve, limits = form.made.form, _shown(rate, time), {}
    if table is None:
        return {}
    for name in form.free:
        own = form.made.parameters[name]
        low, high = table.least.get(name), table.most.get(name)
        if low or high:
            least = float(low.evaluate(curve)) if low else own.minimum
            limits[name] = least, float(high.evaluate(curve)) if high else own.maximum
    return limits
