"""What a model's numbers mean, for tables and targets: unit, explanation, better direction."""

from enum import StrEnum

from headway.models.language.units import ONE, Unit
from headway.records import dataclass


class Better(StrEnum):
    """Whether less or more of an output is better, which decides how a count meets a target."""

    LESS = "less"
    MORE = "more"


@dataclass(frozen=True)
class Meaning:
    """The meaning of a derived number or an output, for tables and targets.

    Parameters
    ----------
    unit
        The unit in which it is shown.
    doc, source
        Its explanation, and where it is published.
    better
        Whether less or more of it is better; None if that is not stated.
    """

    unit: Unit = ONE
    doc: str = ""
    source: str = ""
    better: Better | None = None
