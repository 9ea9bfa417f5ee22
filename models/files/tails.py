"""The table ``[tails]`` of a model file: ratios of measured percentiles to those of its law."""

from collections.abc import Mapping

from headway.models.files.building.places import KeyLines
from headway.numerals import digits, significant


def tails_of(entries: Mapping[str, float], place: KeyLines) -> dict[float, float]:
    """Read the table.

    Raises
    ------
    ModelFileError
        For keys that are not percentages between 0 and 100, and ratios that are not above 0.
    """
    return {_percent(key, place): _ratio(key, ratio, place) for key, ratio in entries.items()}


def _percent(key: str, place: KeyLines) -> float:
    try:
        percent = float(key)
    except ValueError:
        percent = -1.0
    if not 0 < percent < 100:
        msg = f"{key} is not a percentage between 0 and 100; write for example 99 = 1.1"
        raise place.error(msg, "tails", key)
    return percent


def _ratio(key: str, ratio: float, place: KeyLines) -> float:
    if not 0 < ratio < float("inf"):
        msg = f"{key} is {digits(ratio)}; a ratio of percentiles is above 0"
        raise place.error(msg, "tails", key)
    return float(ratio)


def tail_table(tails: Mapping[float, float]) -> dict[str, float]:
    """Write the table, with four digits of each ratio."""
    return {digits(percent): float(significant(ratio, 4)) for percent, ratio in tails.items()}
