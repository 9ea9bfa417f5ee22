"""Spaces: the same points however they are cut, of any size, and bad ones refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models.sweeping.axes import Choices, Steps
from headway.models.sweeping.spaces import Grid


def choices(*values: float) -> Choices:
    return Choices(np.array(values, dtype=float))


AXES = st.one_of(
    st.builds(Steps, st.just(3.0), st.just(0.1), st.integers(1, 40)),
    st.integers(1, 40).map(lambda count: Choices(np.sqrt(np.arange(1.0, count + 1)))),
)


@given(st.lists(AXES, min_size=1, max_size=4), st.data())
def test_a_grid_gives_every_combination_however_it_is_cut(axes, data):
    grid = Grid({f"p{i}": axis for i, axis in enumerate(axes)})
    start = data.draw(st.integers(0, grid.size))
    stop = data.draw(st.integers(start, min(grid.size, start + 500)))
    cut = data.draw(st.integers(start, stop))
    piece = pickle.loads(pickle.dumps(grid.piece(start, stop)))  # noqa: S301
    for low, high in ((start, stop), (start, cut), (cut, stop)):
        places = np.unravel_index(np.arange(low, high), [axis.count for axis in axes])
        points = piece.points(low, high)
        for axis, place, column in zip(axes, places, points.values(), strict=True):
            assert column.tolist() == axis.values(0, axis.count)[place].tolist()


def test_a_grid_of_a_hundred_million_million_million_points_has_a_last_one():
    grid = Grid(
        {"a": Steps(1.0, 1.0, 10**9), "b": Steps(0.0, 2.0, 10**9), "c": choices(*range(100))}
    )
    assert grid.size == 10**20
    piece = grid.piece(10**20 - 40_000, 10**20)
    points = piece.points(10**20 - 150, 10**20)
    assert points["a"].tolist() == [1e9] * 150
    assert points["b"].tolist() == [2.0 * (10**9 - 2)] * 50 + [2.0 * (10**9 - 1)] * 100
    assert points["c"].tolist() == [*range(50, 100), *range(100)]
    assert len(pickle.dumps(piece)) < 2_000


def test_a_piece_carries_of_a_long_list_only_what_it_needs():
    grid = Grid({"a": Choices(np.arange(1e5)), "b": choices(1, 2, 3)})
    piece = grid.piece(3 * 99_990, 300_000)
    assert len(pickle.dumps(piece)) < 2_000
    assert piece.points(299_995, 300_000)["a"].tolist() == [99_998] * 2 + [99_999] * 3


def test_a_grid_of_one_axis_is_the_axis():
    grid = Grid({"a": choices(4, 2, 9)})
    assert grid.piece(0, 3).points(1, 3)["a"].tolist() == [2, 9]


def test_grids_are_equal_by_value():
    one, same = (Grid({"a": Steps(1.0, 1.0, 3), "b": choices(1, 2)}) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert one != Grid({"a": Steps(1.0, 1.0, 3), "b": choices(1, 3)})
    assert one != Grid({"b": choices(1, 2), "a": Steps(1.0, 1.0, 3)})
    assert one.describe() == {
        "kind": "grid",
        "size": 6,
        "parameters": {"a": {"start": 1.0, "step": 1.0, "count": 3}, "b": [1.0, 2.0]},
    }


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Grid({}), "a space needs parameters; give at least one with its values"),
        (lambda: choices(), r"values of shape \(0,\); give a one-dimensional list"),
        (lambda: choices(1, np.nan), "the values contain nan; they must be finite"),
        (lambda: Steps(0.0, 1.0, 0), "a range needs finite ends and 1 to 2\\^53 values"),
        (lambda: Steps(0.0, 1e300, 2**53), "a range needs finite ends"),
        (
            lambda: Grid({"a": choices(1)}).piece(0, 2),
            "points 0 to 2 are outside a space of 1 points",
        ),
    ],
)
def test_what_is_no_grid_is_refused(made, words):
    with pytest.raises(InvalidParameter, match=words):
        made()
