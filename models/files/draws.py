"""The table ``[draws]`` of a model file: values of parameters that are plausible together.

A line of names, then a line for each set of values in SI; all sets are equally plausible.
"""

from collections.abc import Mapping

import numpy as np

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.files.building.places import KeyLines
from headway.models.language.parameters import Parameter

_PLACE = ("draws", "sets")

_DIGITS = 6  # significant digits of a value: far more than are known


def draws_of(
    text: str, parameters: Mapping[str, Parameter], place: KeyLines
) -> dict[str, FloatArray]:
    """Read the table.

    Raises
    ------
    ModelFileError
        For names that are not uncertain parameters, lines of another length, and values that are
        not numbers or are out of bounds.
    """
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return {}
    names, rows = lines[0], lines[1:]
    for name in names:
        if name not in parameters or parameters[name].interval is None or names.count(name) > 1:
            msg = f"{name} in its first line is not a parameter with ci95, or is given twice"
            raise place.error(msg, *_PLACE)
    if not rows or any(len(row) != len(names) for row in rows):
        msg = f"each line after the first must hold {len(names)} numbers: {', '.join(names)}"
        raise place.error(msg, *_PLACE)
    try:
        values = np.array(rows, float).T
    except ValueError:
        msg = "each line after the first must hold numbers, in SI"
        raise place.error(msg, *_PLACE) from None
    for name, column in zip(names, values, strict=True):
        try:
            parameters[name].at(column)
        except HeadwayError as error:
            raise place.error(str(error), *_PLACE) from None
    return dict(zip(names, values, strict=True))


def draws_table(drawn: Mapping[str, FloatArray]) -> dict[str, str]:
    """Write the table, with six digits of each value.

    Examples
    --------
    >>> drawn = {"delay": np.array([0.001, 0.002]), "servers": np.array([4.0, 5.0])}
    >>> print(draws_table(drawn)["sets"])
    delay servers
    0.001 4
    0.002 5
    <BLANKLINE>
    """
    if not drawn:
        return {}
    columns = [[f"{value:.{_DIGITS}g}" for value in column] for column in drawn.values()]
    lines = [drawn, *zip(*columns, strict=True)]
    return {"sets": "".join(f"{' '.join(line)}\n" for line in lines)}
