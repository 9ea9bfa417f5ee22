"""What a model says of itself as a form: one of a family that is tried on a curve.

Of a server of unknown inside there is only a curve. The forms of a family are models that each
explain it in another way. The table ``[form]`` of a model file says which of its parameters are
then free, where they start, and what their values say about the server.
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
"""What formulas of start values may use: least, largest and mean response time [s] of the measured
points, their least and largest rate [1/s], and the most jobs inside, rate times response time."""

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
"""Facts for forms: numbers that result pages disclose; amounts are in bytes."""

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Variant:
    """One way to try a form.

    Parameters
    ----------
    load
        The loads for which it is tried.
    order
        Its place among the variants of the family, simplest first.
    free
        Parameters to determine.
    without
        Parameters that are zero in it.
    equation
        Terms of the response time, if they differ from the form's own.
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
        Name of the family.
    variants
        The variants to try.
    start
        Formula of the value at which a parameter starts, in terms of `CURVE`.
    saturation
        Formula of the throughput at which it saturates; None if it has none.
    derived
        Quantities that follow from its parameters.
    equation
        Terms that add up to the response time, in words and names of parameters; x is the
        throughput.
    disclosed
        Formula, in terms of facts that a result page discloses, of the value at which a parameter
        starts, or that it has if a variant fixes it.
    least, most
        Formulas, in terms of `CURVE`, of bounds beyond which no curve determines a parameter.
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
