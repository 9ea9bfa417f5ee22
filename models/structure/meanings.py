"""What a model's numbers are, for tables and targets: unit, meaning, and which way is better."""

from dataclasses import dataclass
from enum import StrEnum

from headway.models.language.units import ONE, Unit, unit


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


_LESS = ("loss_probability", "_loss", "_losses")
_MORE = ("throughput", "bandwidth", "_saturation")


def usual_meaning(name: str, rate: Unit) -> Meaning:
    """The meaning of a number by its name alone: a throughput or a time.

    Examples
    --------
    >>> str(usual_meaning("cpu.throughput", unit("op/s")).unit), str(usual_meaning("x", ONE).unit)
    ('op/s', '')
    """
    if name in ("throughput", "saturation_throughput") or name.endswith(".throughput"):
        return Meaning(rate)
    return Meaning(unit("s")) if _is_time(name) else Meaning()


def usual_better(output: str) -> Better | None:
    """Which direction of an output is better, by its name alone; None if unknown.

    Examples
    --------
    >>> str(usual_better("loss_probability")), str(usual_better("bandwidth"))
    ('less', 'more')
    """
    if _is_time(output) or output.endswith(_LESS) or "_time_over_" in output:
        return Better.LESS
    return Better.MORE if output.endswith(_MORE) else None


def _is_time(name: str) -> bool:
    begun = name.startswith("response_time") or ".response_time_p" in name  # of a class
    chance = "_time_over_" in name
    return (begun and not chance) or name.endswith("_time")
