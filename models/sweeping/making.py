"""Make spaces: grids and samples from plain numbers, ranges and arrays."""

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
"""Values of one parameter in SI: a number, a list, an array, a range, or a tuple (low, high)."""


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
        For no values, values that are not finite, or a tuple (low, high), which has no steps.

    Examples
    --------
    >>> grid({"arrival_rate": range(100, 1001), "disks": [2, 4, 8]}).size
    2703
    """
    return Grid({name: _axis(name, given) for name, given in values.items()})


def sobol(values: Mapping[str, Values], count: int, seed: int = 1) -> Sample:
    """Points of a scrambled Sobol sequence, which fill a space most evenly.

    Parameters
    ----------
    values
        By parameter [SI]: a tuple (low, high) for a continuous range; ``Between(low, high,
        logarithmic=True)`` for a logarithmic one; otherwise equally likely values, as for `grid`.
    count
        Number of points; powers of two are the most even.
    seed
        A whole number of 0 or more; the same seed gives the same points, and a larger count
        continues them.

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
    """Latin hypercubes of up to 32,768 points, each with one point in every stratum of a parameter.

    Parameters and errors are those of `sobol`.

    Examples
    --------
    >>> points = latin({"arrival_rate": (0, 400)}, 4).points(0, 4)
    >>> sorted((points["arrival_rate"] // 100).tolist())
    [0.0, 1.0, 2.0, 3.0]
    """
    return Sample(_spreads(values), count, "latin", seed)


def random(values: Mapping[str, Values], count: int, seed: int = 1) -> Sample:
    """Independent random points, whose means have the usual standard errors.

    Parameters and errors are those of `sobol`.

    Examples
    --------
    >>> random({"arrival_rate": (100, 1000)}, 10**12).size
    1000000000000
    """
    return Sample(_spreads(values), count, "random", seed)


def listed(columns: Mapping[str, Sequence[float] | FloatArray]) -> Listed:
    """Listed points, with one value of each parameter for every point.

    Parameters
    ----------
    columns
        By parameter: values [SI], all of the same length.

    Raises
    ------
    InvalidParameter
        For no values, columns of unequal length, or values that are not finite.

    Examples
    --------
    >>> listed({"arrival_rate": [100, 300], "disks": [2, 3]}).size
    2
    """
    return Listed({name: _array(name, column) for name, column in columns.items()})


def drawn(model: Model, count: int, seed: int = 1) -> Drawn:
    """Draws of the uncertain parameters of a model, as from ``model.draws``.

    Parameters
    ----------
    model
        A model whose parameters have 95% intervals, such as a fitted one; correlations are used.
    count, seed
        Number of points, up to 2^30, and a whole number of 0 or more.

    Raises
    ------
    InvalidParameter
        If no parameter has an interval, or one has an unknown end.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> drawn(model.uncertain({"service_time": ("0.9 ms", "1.1 ms")}), 10**8).names
    ('service_time',)
    """
    return drawn_from(model, count, seed)


def space_of(space: Space | Mapping[str, Values]) -> Space:
    """Return a space unchanged, or the grid of values by parameter.

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
    """Adapt a space to a model: check names and bounds, and use whole numbers for counts.

    Raises
    ------
    UnknownParameter
        For an unknown parameter; suggests the nearest names.
    InvalidParameter
        For values outside the bounds of a parameter.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> space = sobol({"disks": (2, 4)}, 4)
    >>> suited(space, catalogue_model("nfs-server")).piece(0, 4).points(0, 4)["disks"].tolist()
    [3.0, 2.0, 3.0, 4.0]
    """
    exposed = model.exposing(*space.names)
    for name, ends in space.ends().items():
        exposed.parameters[name].at(ends)
    return space.counting(counts(exposed.graph))


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
        msg = f"{name}: a grid needs steps or values, not a range; use sobol or np.linspace"
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
