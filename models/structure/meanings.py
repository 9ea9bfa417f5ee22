"""What a model's numbers are, for tables and targets: unit, meaning, and which way is better."""

from enum import StrEnum

from headway.models.language.units import ONE, Unit
from headway.records import dataclass


class Better(StrEnum):
    """Whether less or more of an output is better, which decides how a count meets a target."""

    LESS = "less"
    MORE = "more"


@dataclass(frozen=True)
class Meaning:
    """What a derived number or an output is, for tables and targets.

    Parameters
    ----------
    unit
        The unit it is shown in.
    doc, source
        Meaning, and where it is published.
    better
        Whether less or more of it is better; None where that is not said.
    """

    unit: Unit = ONE
    doc: str = ""
    source: str = ""
    better: Better | None = None
