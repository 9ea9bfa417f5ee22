"""Sobol indices of a sweep: known functions, scipy's estimators, intervals that hold the truth."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import sobol_indices

from headway.errors import InvalidParameter
from headway.models.sweeping.axes import Between
from headway.models.sweeping.crossing.crossed import Crossed, Independent, Uncertain
from headway.models.sweeping.reductions.crossing import REPLICATES, Crossing
from headway.models.sweeping.reductions.indices import Indices
from headway.models.uncertain.sampling import Joint, SplitNormal

ISHIGAMI = Independent({name: Between(-math.pi, math.pi) for name in "abc"})
NORMAL = {name: SplitNormal(0.0, -1.0, 1.0) for name in "abc"}


def ishigami(at):
    """Ishigami and Homma, 1990, with the usual 7 and 0.1."""
    return np.sin(at["a"]) + 7 * np.sin(at["b"]) ** 2 + 0.1 * at["c"] ** 4 * np.sin(at["a"])


def ishigami_shares():
    """First and total indices by parameter, in closed form."""
    variance = 0.5 + 49 / 8 + 0.1 * math.pi**4 / 5 + 0.01 * math.pi**8 / 18
    alone = 0.5 * (1 + 0.1 * math.pi**4 / 5) ** 2 / variance, 49 / 8 / variance
    with_c = 0.01 * math.pi**8 * 8 / 225 / variance
    return [(alone[0], alone[0] + with_c), (alone[1], alone[1]), (0.0, with_c)]


def crossed(law, samples, block, seed=1):
    crossing = Crossing(len(law.names), together=law.together, samples=samples, block=block)
    return Crossed(law, crossing, seed), Indices("y", names=law.names, crossing=crossing)


def states(function, space, indices):
    block = space.crossing.block
    return [
        indices.of({"y": function(space.points(first, first + block))}, first)
        for first in range(0, space.size, block)
    ]


def in_pairs(indices, parts):
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [indices.merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def indices_of(function, law, samples, block=1024, seed=1):
    space, indices = crossed(law, samples, block, seed)
    rows = indices.rows(in_pairs(indices, states(function, space, indices)))
    return {(row["parameter"], row["index"]): row for row in rows}


def test_indices_of_a_known_function():
    """Ishigami's, to 0.01 from 16 times 4096 samples."""
    result = indices_of(ishigami, ISHIGAMI, 4096)
    for name, (first, total) in zip("abc", ishigami_shares(), strict=True):
        assert result[name, "first"]["value"] == pytest.approx(first, abs=0.01)
        assert result[name, "total"]["value"] == pytest.approx(total, abs=0.01)
        assert result[name, "total"]["points"] == REPLICATES * 4096


def test_indices_of_parameters_that_go_together():
    """Of a sum of two that correlate by r: (1 + r) / 2 first, (1 - r) / 2 total; to 0.01."""
    matrix = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    result = indices_of(lambda at: at["a"] + at["b"], Uncertain(Joint(NORMAL, matrix)), 1024)
    for name, first, total in (("a", 0.8, 0.2), ("b", 0.8, 0.2), ("c", 0.0, 0.0)):
        assert result[name, "first"]["value"] == pytest.approx(first, abs=0.01)
        assert result[name, "total"]["value"] == pytest.approx(total, abs=0.01)


def test_replicates_have_the_indices_that_scipy_finds():
    """On the same points, to 1e-9."""
    space, indices = crossed(ISHIGAMI, 128, 256)
    parts = states(ishigami, space, indices)
    first, total = indices._shares(in_pairs(indices, parts))
    values = [[] for _ in range(5)]
    for block in range(space.crossing.blocks):  # of the first replicate
        _, start, stop = space.crossing.samples_in(block)
        answers = ishigami(space.points(256 * block, 256 * block + 5 * (stop - start)))
        for row, part in zip(values, np.split(answers, 5), strict=True):
            row.extend(part)
    own = np.array(values)[:, None, :]
    want = sobol_indices(func={"f_A": own[0], "f_B": own[1], "f_AB": own[2:]}, n=128)
    np.testing.assert_allclose(first[0], want.first_order.ravel(), atol=1e-9)
    np.testing.assert_allclose(total[0], want.total_order.ravel(), atol=1e-9)


def test_chunks_merged_in_one_tree_have_the_same_bits():
    space, indices = crossed(ISHIGAMI, 300, 128)
    blocks = states(ishigami, space, indices)
    whole = in_pairs(indices, blocks)
    for length in (2, 16):
        chunks = [blocks[k : k + length] for k in range(0, len(blocks), length)]
        again = in_pairs(indices, [in_pairs(indices, chunk) for chunk in chunks])
        assert all(np.array_equal(again[name], whole[name]) for name in whole)


@pytest.mark.parametrize(
    ("seeds", "least"), [(10, 8), pytest.param(30, 26, marks=pytest.mark.slow)]
)
def test_intervals_hold_the_truth(seeds, least):
    """Of 30 seeds, 95% intervals of each index that is not 0 hold it in 26 or more."""
    truth = ishigami_shares()
    value = dict.fromkeys([("a", "first"), ("a", "total"), ("b", "first"), ("c", "total")], 0)
    for seed in range(seeds):
        result = indices_of(ishigami, ISHIGAMI, 64, 512, seed)
        for name, index in value:
            low, high = result[name, index]["interval"]
            value[name, index] += low <= truth["abc".index(name)][index == "total"] <= high
    assert all(count >= least for count in value.values()), value


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_no_index_where_some_point_has_no_finite_number(value):
    result = indices_of(lambda at: np.where(at["a"] > 3.0, value, at["a"]), ISHIGAMI, 64, 512)
    assert all(math.isnan(row["value"]) and row["interval"] is None for row in result.values())
    assert result["a", "first"]["absent"] > 0


def test_no_index_of_what_does_not_vary():
    result = indices_of(lambda at: np.full_like(at["a"], 0.1), ISHIGAMI, 64, 512)
    assert all(math.isnan(row["value"]) for row in result.values())


def test_points_are_the_same_in_any_piece():
    space, indices = crossed(Uncertain(Joint(NORMAL, np.eye(3))), 100, 128)
    whole = space.points(0, space.size)
    again = pickle.loads(pickle.dumps(space))  # noqa: S301
    assert again == space
    assert pickle.loads(pickle.dumps(indices)) == indices  # noqa: S301
    for start, stop in ((0, 128), (100, 300), (1000, 1001)):
        part = again.points(start, stop)
        for name in space.names:
            np.testing.assert_array_equal(part[name], whole[name][start:stop])


def test_blocks_that_hold_no_sample_are_refused():
    with pytest.raises(InvalidParameter, match="31 parameters from 100 samples"):
        Crossing(31, together=False, samples=100, block=32)
    _, indices = crossed(ISHIGAMI, 100, 128)
    with pytest.raises(InvalidParameter, match="whole blocks of 128 points"):
        indices.of({"y": np.zeros(64)}, 0)


def test_several_blocks_at_once_are_their_merger():
    space, indices = crossed(ISHIGAMI, 64, 128)
    one, other = states(ishigami, space, indices)[:2]
    both = indices.of({"y": ishigami(space.points(0, 256))}, 0)
    whole = indices.merge(one, other)
    assert all(np.array_equal(both[name], whole[name]) for name in whole)
