"""Correlations between uncertain parameters: which are possible, and the matrix that they form."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray
from headway.models.language.parameters import Parameter
from headway.numerals import digits, significant

Pair: TypeAlias = tuple[str, str]
Correlations: TypeAlias = Mapping[Pair, float]
"""Correlations of the normal scores of two parameters, between -1 and 1, by pair of names."""

_ROUNDED = 0.005  # error of a correlation that is rounded to two decimals


def still_uncertain(
    correlations: Correlations, parameters: Mapping[str, Parameter]
) -> Correlations:
    """Those correlations both of whose parameters have an interval."""
    if not correlations:
        return correlations
    unsure = {name for name, parameter in parameters.items() if parameter.interval is not None}
    return {pair: value for pair, value in correlations.items() if unsure >= {*pair}}


def fault(
    correlations: Correlations, parameters: Mapping[str, Parameter]
) -> tuple[Pair, str] | None:
    """The first impossible correlation, and why; None if all are possible.

    Examples
    --------
    >>> delay = Parameter("delay", 1.0).within(0.9, 1.1)
    >>> fault({("delay", "speed"): 0.5}, {"delay": delay})
    (('delay', 'speed'), "there is no parameter 'speed'; there are delay")
    """
    pairs: set[frozenset[str]] = set()
    for pair, value in correlations.items():
        if wrong := _wrong(pair, value, parameters):
            return pair, wrong
        if frozenset(pair) in pairs:
            return pair, "is given twice; delete one"
        pairs.add(frozenset(pair))
    return _contradiction(correlations)


def _wrong(pair: Pair, value: float, parameters: Mapping[str, Parameter]) -> str:
    """What is wrong with one correlation on its own; empty if nothing is."""
    for name in pair:
        if name not in parameters:
            return f"there is no parameter {name!r}{nearest(name, parameters)}"
        if parameters[name].interval is None:
            return (
                f"{name} has no uncertainty; give it a 95% interval (ci95), or delete this "
                "correlation"
            )
    if pair[0] == pair[1]:
        return "names one parameter twice; name two"
    if not -1 <= value <= 1:
        return f"is {digits(value)}; a correlation must be between -1 and 1"
    return ""


def _contradiction(correlations: Correlations) -> tuple[Pair, str] | None:
    """The pair that fits worst with the others, if no random numbers can be so correlated."""
    names = list(dict.fromkeys(name for pair in correlations for name in pair))
    values, ways = np.linalg.eigh(correlation_matrix(names, correlations))
    if not names or values[0] >= -_ROUNDED * (len(names) - 1):
        return None
    way = dict(zip(names, ways[:, 0].tolist(), strict=True))
    pair = min(correlations, key=lambda pair: correlations[pair] * way[pair[0]] * way[pair[1]])
    others = f"the matrix has the eigenvalue {significant(values[0], 2)}, which must not be below 0"
    return (
        pair,
        f"is {digits(correlations[pair])}, which contradicts the other correlations: {others}",
    )


def check_correlations(correlations: Correlations, parameters: Mapping[str, Parameter]) -> None:
    """Refuse impossible correlations.

    Raises
    ------
    InvalidParameter
        Naming the pair.
    """
    wrong_pair = fault(correlations, parameters)
    if wrong_pair is not None:
        (one, other), wrong = wrong_pair
        msg = f"correlation of {one}, {other}: {wrong}"
        raise InvalidParameter(msg)


def correlation_matrix(names: Sequence[str], correlations: Correlations) -> FloatArray:
    """Correlations of these parameters as a matrix, 0 where none is given.

    Examples
    --------
    >>> correlation_matrix(["a", "b"], {("b", "a"): 0.5}).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    places = {name: place for place, name in enumerate(names)}
    matrix = np.eye(len(names))
    for (one, other), value in correlations.items():
        matrix[places[one], places[other]] = matrix[places[other], places[one]] = value
    return matrix
