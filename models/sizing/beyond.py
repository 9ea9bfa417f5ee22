"""Too many configurations to examine: differential evolution, then all that are near the result.

The result meets all goals, and nothing near it is cheaper; whether anything else is cheaper is not
proven.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.sizing.choices import ChoiceGrid
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Judge
from headway.models.sizing.search import Explored, in_order, search
from headway.numerals import four_digits

_SEED = 1
_GENERATIONS = 150
_MOST_AROUND = 50_000
_MOST_MOVES = 20
_SAMPLE = 1000
# a configuration that misses goals is assigned this multiple of the largest cost in a sample
_DEAR = 1e6
_FARTHEST = 1e6  # stands for an infinite miss of a goal


def evolved(grid: ChoiceGrid, cost: Cost, judge: Judge) -> Explored:
    """Search for a cheap configuration that meets all goals, among too many to examine.

    Parameters
    ----------
    grid
        The values to choose from.
    cost, judge
        The cost of a configuration, and the judge that says which meet all goals.

    Raises
    ------
    InvalidParameter
        If no such configuration is found.
    """
    place = _evolved_place(grid, cost, judge)
    for _ in range(_MOST_MOVES):
        near = around(grid, place)
        explored = search(near, in_order(near, cost), judge, near.size)
        if explored.best is None:
            break
        values = near.at(explored.places[[explored.best]])
        moved = grid.places_of({name: float(value[0]) for name, value in values.items()})
        if moved == place:
            return explored
        place = moved
    if explored.best is not None:
        return explored
    msg = (
        "found no configuration that meets all targets, but could not check all "
        f"{four_digits(grid.size)}; offer fewer choices, or change a target"
    )
    raise InvalidParameter(msg)


def _evolved_place(grid: ChoiceGrid, cost: Cost, judge: Judge) -> list[int]:
    """Index of the value of each choice, from the variables that evolve."""
    from scipy.optimize import Bounds, differential_evolution

    rng = np.random.default_rng(_SEED)
    dear = _DEAR * float(cost.of(_at(grid, rng.random((len(grid.shape), _SAMPLE)))).max())

    def price(places: FloatArray) -> FloatArray:
        columns = grid.of(list(np.atleast_2d(places.T).T.round().astype(np.int64)))
        verdict = judge(columns)
        failing = dear * (1 + np.clip(verdict.misses, 0, _FARTHEST))
        return np.asarray(np.where(verdict.met, cost.of(columns), failing))

    evolved = differential_evolution(
        price,  # type: ignore[arg-type]  # vectorized: a price for each column
        Bounds(np.zeros(len(grid.shape)), np.array(grid.shape) - 1.0),
        integrality=np.ones(len(grid.shape), bool),
        vectorized=True,
        updating="deferred",
        polish=False,
        maxiter=_GENERATIONS,
        popsize=20,
        tol=0,
        seed=_SEED,
    )
    return [round(place) for place in evolved.x]


def _at(grid: ChoiceGrid, shares: FloatArray) -> dict[str, FloatArray]:
    counts = np.array(grid.shape)[:, None]
    return grid.of(list((shares * counts).astype(np.int64)))


def around(grid: ChoiceGrid, place: Sequence[int]) -> ChoiceGrid:
    """All configurations with neighbouring values, as far out as can be examined."""
    reach = int((_MOST_AROUND ** (1 / len(place)) - 1) // 2)
    near = {
        name: values[max(here - reach, 0) : here + reach + 1]
        for (name, values), here in zip(grid.values.items(), place, strict=True)
    }
    return replace(grid, values=near)
