"""Spaces as one writes them: grids and samples of plain numbers, ranges and arrays."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.sweeping.axes import Axis, Between, Choices, Spread, Steps
from headway.models.sweeping.listed import Drawn, Listed, drawn_from
from headway.models.sweeping.samples import Sample
from headway.models.sweeping.spaces import Grid, Space

Values: TypeAlias = float | Sequence[float] | FloatArray | range | Steps | Choices | Between
"""Of one parameter, SI: a number, a list or an array, a range, or a tuple (low, high)."""


def grid(values: Mapping[str, Values]) -> Grid:
    """Every combination of values; those of the last parameter vary fastest.

    Parameters
    ----------
    values
        By parameter [SI]: a number, a list, an array, or ``range(1, 10**9)``, which takes no
        memory.

    Raises
    ------
    InvalidParameter
        For no values, values that are not finite, and (low, high), which has no steps.

    Examples
    --------
    >>> grid({"arrival_rate": range(100, 1001), "disks": [2, 4, 8]}).size
    2703
    """
    return Grid({name: _axis(name, given) for name, given in values.items()})


def sobol(values: Mapping[str, Values], count: int, seed: int = 1) -> Sample:
    """Points of a scrambled Sobol sequence, which fill a space with the smallest gaps.

    Parameters
    ----------
    values
        By parameter [SI]: a tuple (low, high) for anything between;
        ``Between(low, high, logarithmic=True)`` for even by ratios;
        else values that are all equally likely, as for `grid`.
    count
        How many points; powers of two are the most even.
    seed
        A whole number of 0 or more; the same gives the same points, and more begin with them.

    Raises
    ------
    InvalidParameter
        For no values, a low end above the high one, a count below 1, a seed below 0.

    Examples
    --------
    >>> space = sobol({"arrival_rate": (100, 1000), "disks": [2, 4, 8]}, 2**30)
    >>> space.piece(0, 4).points(0, 4)["disks"].tolist()
    [4.0, 2.0, 8.0, 4.0]
    """
    return Sample(_spreads(values), count, "sobol", seed)


def latin(values: Mapping[str, Values], count: int, seed: int = 1) -> Sample:
    """Latin hypercubes: each of 32,768 points, or fewer, has one in each stratum of a parameter.

    Parameters and errors are those of `sobol`.

    Examples
    --------
    >>> points = latin({"arrival_rate": (0, 400)}, 4).points(0, 4)
    >>> sorted((points["arrival_rate"] // 100).tolist())
    [0.0, 1.0, 2.0, 3.0]
    """
    return Sample(_spreads(values), count, "latin", seed)


def random(values: Mapping[str, Values], count: int, seed: int = 1) -> Sample:
    """Independent random points; their means have errors that statistics knows.

    Parameters and errors are those of `sobol`.

    Examples
    --------
    >>> random({"arrival_rate": (100, 1000)}, 10**12).size
    1000000000000
    """
    return Sample(_spreads(values), count, "random", seed)


def listed(columns: Mapping[str, Sequence[float] | FloatArray]) -> Listed:
    """Points as they are listed, one value of each parameter a point.

    Parameters
    ----------
    columns
        By parameter: values [SI], as many of each.

    Raises
    ------
    InvalidParameter
        For no values, columns of unequal length, and values that are not finite.

    Examples
    --------
    >>> listed({"arrival_rate": [100, 300], "disks": [2, 3]}).size
    2
    """
    return Listed({name: _array(name, column) for name, column in columns.items()})


def drawn(model: Model, count: int, seed: int = 1) -> Drawn:
    """Values of the uncertain parameters of a model, drawn as ``model.draws`` draws them.

    Parameters
    ----------
    model
        Some of whose parameters have 95 % intervals, such as a fitted one; correlations count.
    count, seed
        How many points, up to 2^30; and a whole number of 0 or more.

    Raises
    ------
    InvalidParameter
        Where no parameter has an interval, or one has an end that is not known.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> drawn(model.uncertain({"service_time": ("0.9 ms", "1.1 ms")}), 10**8).names
    ('service_time',)
    """
    return drawn_from(model, count, seed)


def space_of(space: Space | Mapping[str, Values]) -> Space:
    """A space as it is; of values by parameter, their grid.

    Examples
    --------
    >>> space_of({"arrival_rate": np.linspace(100, 1000, 10)}) == grid(
    ...     {"arrival_rate": range(100, 1001, 100)}
    ... )
    False
    >>> space_of({"arrival_rate": np.linspace(100, 1000, 10)}).size
    10
    """
    return grid(space) if isinstance(space, Mapping) else space


def suited(space: Space, model: Model) -> Space:
    """The space for a model: names and bounds checked, whole numbers of what is counted.

    Raises
    ------
    UnknownParameter
        For a parameter that the model does not have, with the nearest names.
    InvalidParameter
        For values out of a parameter's bounds.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> space = sobol({"disks": (2, 4)}, 4)
    >>> suited(space, catalogue_model("nfs-server")).piece(0, 4).points(0, 4)["disks"].tolist()
    [3.0, 2.0, 3.0, 4.0]
    """
    parameters = model.exposing(*space.names).parameters
    for name, ends in space.ends().items():
        parameters[name].at(ends)
    return space.counting(counts(model.graph))


def _spreads(values: Mapping[str, Values]) -> dict[str, Spread]:
    return {name: _spread(name, given) for name, given in values.items()}


def _spread(name: str, given: Values) -> Spread:
    if isinstance(given, tuple):
        return _between(name, given)
    return given if isinstance(given, Between) else _axis(name, given)


def _between(name: str, given: tuple[float, ...]) -> Between:
    ends = _array(name, given)
    if ends.size != 2:
        msg = f"{name} is {given}; write (low, high) for a range and [...] for values"
        raise InvalidParameter(msg)
    try:
        return Between(float(ends[0]), float(ends[1]))
    except InvalidParameter as error:
        msg = f"{name}: {error}"
        raise InvalidParameter(msg) from None


def _axis(name: str, given: Values) -> Axis:
    if isinstance(given, Steps | Choices):
        return given
    if isinstance(given, tuple | Between):
        msg = f"{name}: a grid needs steps or values between two ends; take sobol or np.linspace"
        raise InvalidParameter(msg)
    if isinstance(given, range) and given:
        return Steps(float(given.start), float(given.step), len(given))
    values = np.atleast_1d(_array(name, given))
    try:
        return Choices(values)
    except InvalidParameter as error:
        msg = f"{name}: {error}"
        raise InvalidParameter(msg) from None


def _array(name: str, given: object) -> FloatArray:
    try:
        return np.array(given, dtype=float)
    except (TypeError, ValueError):
        msg = f"{name} is {given!r:.60}; give numbers in SI units"
        raise InvalidParameter(msg) from None
