"""The table ``[correlations]`` of a model file, read and written."""

from collections.abc import Mapping

from headway.models.files.building.places import KeyLines
from headway.models.language.parameters import Parameter
from headway.models.structure.correlations import Correlations, Pair, fault


def correlations_of(
    entries: Mapping[str, float], parameters: Mapping[str, Parameter], place: KeyLines
) -> Correlations:
    """Read ``"a, b" = -0.7`` and the like.

    Raises
    ------
    ModelFileError
        For keys that are not two names, unknown or certain parameters, and impossible correlations.
    """
    keys = {_pair(key, place): key for key in entries}
    correlations = {pair: entries[key] for pair, key in keys.items()}
    wrong_pair = fault(correlations, parameters)
    if wrong_pair is not None:
        pair, wrong = wrong_pair
        raise place.error(wrong, "correlations", *keys[pair].split("."))
    return correlations


def _pair(key: str, place: KeyLines) -> Pair:
    names = [name.strip() for name in key.split(",")]
    if len(names) != 2 or not all(names):
        msg = 'must name a pair of parameters, such as "delay, cpu_time" = -0.7'
        raise place.error(msg, "correlations", *key.split("."))
    return names[0], names[1]


def correlation_table(correlations: Correlations) -> dict[str, float]:
    """The table in the form in which it is read."""
    return {", ".join(pair): float(value) for pair, value in correlations.items()}
