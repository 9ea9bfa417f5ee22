"""What a model says of itself as a form: one of a family that is tried on a curve.

Of a server whose inside is unknown there is only a curve. Forms of a family are models that each
explain it another way; a model file's table ``[form]`` says which of its parameters are then free,
where they start, and what their values tell of the server.
"""

import re
from collections.abc import Mapping
from dataclasses import field

from headway.models.language.formula import Formula
from headway.models.language.frozen import Kept
from headway.models.language.units import Unit
from headway.models.structure.loads import Load
from headway.records import dataclass

CURVE = ("least_time", "most_time", "mean_time", "least_rate", "top_rate", "most_inside")
"""What start values may be made of: least, largest and mean response time [s] of the points
measured, their least and largest rate [1/s], and the most jobs inside, rate times response time."""

FACTS = (
    "processors",
    "memory",
    "nvram",
    "disks",
    "load_generators",
    "processes",
    "nfs_processes",
    "file_set",
)
"""Facts for forms: numbers that result pages disclose, amounts in bytes."""

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Variant:
    """One way to try a form.

    Parameters
    ----------
    load
        The loads for which it is tried.
    order
        Its place among the variants of the family, the simplest first.
    free
        Parameters to determine.
    without
        Parameters that are zero in it.
    equation
        Terms of the response time, where they are other than the form's own.
    disclosed
        Parameters fixed at the value that a result page discloses.
    """

    load: Load
    order: float
    free: tuple[str, ...]
    without: tuple[str, ...] = ()
    equation: tuple[str, ...] = ()
    disclosed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Derived:
    """A quantity of a server that follows from a form's parameters: name, formula and unit."""

    name: str
    formula: Formula
    unit: Unit


@dataclass(frozen=True, eq=False)
class FormTable(Kept):
    """A model as a form of a family.

    Parameters
    ----------
    family
        What the family is called.
    variants
        Ways to try it.
    start
        Formula in `CURVE` of the value that a parameter starts from.
    saturation
        Formula of the throughput at which it saturates; None where there is none.
    derived
        Quantities that follow from its parameters.
    equation
        Terms that add up to the response time, in words and names of parameters; x is the
        throughput.
    disclosed
        Formula in facts that a result page discloses of the value a parameter starts from, or has
        where a variant fixes it.
    least, most
        Formulas in `CURVE` of bounds beyond which no curve determines a parameter.
    """

    family: str
    variants: tuple[Variant, ...]
    start: Mapping[str, Formula]
    saturation: Formula | None = None
    derived: tuple[Derived, ...] = ()
    equation: tuple[str, ...] = ()
    disclosed: Mapping[str, Formula] = field(default_factory=dict)
    least: Mapping[str, Formula] = field(default_factory=dict)
    most: Mapping[str, Formula] = field(default_factory=dict)

    def terms(self, variant: Variant) -> tuple[str, ...]:
        """Terms of the response time in a variant, without those of omitted parameters."""
        lacks = {*variant.without}
        own = variant.equation or self.equation
        return tuple(term for term in own if not lacks & {*_NAME.findall(term)})
