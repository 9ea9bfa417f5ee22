"""Choices: values by parameter, and all configurations that they form."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.parameters import Parameter
from headway.models.structure.model import Model
from headway.records import dataclass

Places = NDArray[np.int64]
"""Indices of configurations; the last choice varies fastest."""

Columns = Mapping[str, FloatArray]
"""Values by parameter [SI]: arrays that broadcast together, to an entry for each configuration."""


@dataclass(frozen=True)
class ChoiceGrid:
    """All combinations of values of some parameters.

    Parameters
    ----------
    values
        Values to choose from by parameter, in ascending order [SI].

    Examples
    --------
    >>> grid = ChoiceGrid({"cores": (1.0, 2.0, 4.0), "disks": (2.0, 8.0)})
    >>> grid.size, grid.at([1, 4])["disks"].tolist()
    (6, [8.0, 2.0])
    """

    values: Mapping[str, tuple[float, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each parameter."""
        return tuple(map(len, self.values.values()))

    @property
    def size(self) -> int:
        """Number of configurations."""
        return math.prod(self.shape)

    def at(self, places: Sequence[int] | Places) -> dict[str, FloatArray]:
        """The values of configurations, from their indices."""
        return self.of(np.unravel_index(np.asarray(places, np.int64), self.shape))

    def of(self, digits: Sequence[Places]) -> dict[str, FloatArray]:
        """The values of configurations, from the index of each choice's value."""
        each = zip(self.values.items(), digits, strict=True)
        return {name: np.array(values)[place] for (name, values), place in each}

    def axes(self) -> dict[str, FloatArray]:
        """The values of all configurations, each choice along an axis of its own.

        A quantity that depends on some choices only is then computed once for each of their values.

        Examples
        --------
        >>> axes = ChoiceGrid({"cores": (1.0, 2.0, 4.0), "disks": (2.0, 8.0)}).axes()
        >>> axes["cores"].shape, axes["disks"].shape
        ((3, 1), (1, 2))
        """
        lines = np.ix_(*(np.array(values, float) for values in self.values.values()))
        return dict(zip(self.values, lines, strict=True))

    def places_of(self, values: Mapping[str, float]) -> list[int]:
        """Index of each choice's value in a configuration."""
        return [own.index(values[name]) for name, own in self.values.items()]

    def ends(self, place: int = -1) -> dict[str, float]:
        """The largest value of every choice, or the value at another index."""
        return {name: values[place] for name, values in self.values.items()}


def grid_of(model: Model, choose: Mapping[str, Sequence[float] | FloatArray]) -> ChoiceGrid:
    """Check choices against the parameters of a model.

    Raises
    ------
    InvalidParameter, UnknownParameter
        For no choices, a choice without values, an unknown parameter, or values outside its bounds.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> grid_of(catalogue_model("nfs-server"), {"disks": [4, 2, 4]}).values
    {'disks': (2.0, 4.0)}
    """
    if not choose:
        msg = "there is nothing to choose; give a parameter and its values, such as cores=1:32"
        raise InvalidParameter(msg)
    known = model.exposing(*choose).parameters
    return ChoiceGrid({name: _values(known[name], given) for name, given in choose.items()})


def _values(parameter: Parameter, given: Sequence[float] | FloatArray) -> tuple[float, ...]:
    values = sorted({float(value) for value in given})
    if not values:
        msg = (
            f"choice {parameter.name} has no values; give some, such as {parameter.name}=1:32 "
            "or 2,4,8"
        )
        raise InvalidParameter(msg)
    parameter.at(values)
    return tuple(values)
