"""Samples: the same points however they are cut, as even as their kind says, bad ones refused."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, ks_1samp, qmc, uniform

from headway.errors import InvalidParameter, PackageError, UnknownParameter
from headway.models import catalogue_model
from headway.models.sweeping import making
from headway.models.sweeping.axes import Between, Steps
from headway.models.sweeping.making import drawn, grid, latin, listed, random, sobol, suited
from headway.models.sweeping.shares import BLOCK_OF_SAMPLES, SOBOL_BITS

SQUARE = {"a": (0, 1), "b": (0, 1)}


def uncertain():
    model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    return model.uncertain(
        {"service_time": ("0.9 ms", "1.3 ms"), "delay": ("0.8 ms", "1.1 ms")},
        correlations={("service_time", "delay"): 0.6},
    )


SPACES = {
    "sobol": sobol({"a": (2, 3), "b": [1, 5, 7], "c": range(4)}, 10**12, seed=5),
    "latin": latin(
        {"a": (2, 3), "b": [1, 5, 7], "c": range(4)}, 3 * BLOCK_OF_SAMPLES + 100, seed=5
    ),
    "random": random({"a": (2, 3), "b": Between(1, 9, logarithmic=True)}, 10**20 // 10**5, seed=5),
    "listed": listed({"a": np.sqrt(np.arange(100_000)), "b": np.arange(100_000)}),
    "drawn": drawn(uncertain(), 2**20 + 3, seed=4),
}


@pytest.mark.parametrize("name", SPACES)
@given(data=st.data())
def test_points_are_the_same_however_they_are_cut(name, data):
    space = SPACES[name]
    edges = st.integers(-3, 3).map(lambda off: min(space.size, 2 * BLOCK_OF_SAMPLES + off))
    far = st.integers(max(0, space.size - 3 * BLOCK_OF_SAMPLES), space.size)
    start = data.draw(edges | far)
    stop = min(space.size, start + data.draw(st.integers(0, 300)))
    cuts = sorted(
        {start, stop, data.draw(st.integers(start, stop)), data.draw(st.integers(start, stop))}
    )
    whole = space.piece(start, stop).points(start, stop)
    piece = pickle.loads(pickle.dumps(space.piece(start, stop)))  # noqa: S301
    parts = [piece.points(low, high) for low, high in pairwise(cuts)]
    for parameter, column in whole.items():
        assert column.shape == (stop - start,)
        assert column.tolist() == [x for part in parts for x in part[parameter].tolist()]


@pytest.mark.parametrize("name", SPACES)
def test_spaces_are_equal_by_value(name):
    space = SPACES[name]
    again = pickle.loads(pickle.dumps(space))  # noqa: S301
    assert (again, hash(again), again.describe()) == (space, hash(space), space.describe())
    assert all(space != other for key, other in SPACES.items() if key != name)
    assert space.describe()["size"] == space.size


def test_a_count_and_a_seed_may_be_floats_that_are_whole():
    assert sobol(SQUARE, 1e3, seed=2.0) == sobol(SQUARE, 1000, seed=2)
    assert repr(sobol(SQUARE, 1e3).size) == repr(drawn(uncertain(), 1e3).size) == "1000"
    assert (
        uncertain().draws(8.0, 2.0)["delay"].tolist() == uncertain().draws(8, 2)["delay"].tolist()
    )
    assert drawn(uncertain(), 1e3, 2.0).describe() == drawn(uncertain(), 1000, 2).describe()


def test_sobol_points_are_those_of_scipy_in_the_first_blocks_and_far_off():
    space = sobol({"a": (2, 5), "b": (-1, 0), "c": (0, 1)}, 2**40, seed=11)
    engine = qmc.Sobol(3, bits=SOBOL_BITS, seed=np.random.default_rng(11))
    expected = qmc.scale(engine.random(2**17), [2, -1, 0], [5, 0, 1])
    for start in range(0, 2**17, BLOCK_OF_SAMPLES):
        points = space.points(start, start + BLOCK_OF_SAMPLES)
        assert (expected[start:][:BLOCK_OF_SAMPLES] == np.array(list(points.values())).T).all()
    for _ in range(31):
        engine.random(2**17)
    far = space.points(2**22, 2**22 + 1000)
    assert (
        qmc.scale(engine.random(1000), [2, -1, 0], [5, 0, 1]) == np.array(list(far.values())).T
    ).all()


def test_sobol_points_of_fewer_digits_are_those_that_scipy_skips_to():
    from headway.models.sweeping.shares import sobol as points

    engine = qmc.Sobol(2, bits=30, seed=np.random.default_rng(3)).fast_forward(2**22 + 77)
    assert (engine.random(922) == np.array(points(2, 3, 2**22 + 77, 2**22 + 999, bits=30)).T).all()


def test_older_scipy_is_not_asked_for_points_that_it_never_finds(monkeypatch):
    from headway.models.sweeping.shares import sobol as points

    monkeypatch.setattr(scipy, "__version__", "1.16.3")

    assert np.shape(points(2, 1723, 2**32 - 9, 2**32)) == (2, 9)
    with pytest.raises(PackageError, match=r"from 2\^32 on need SciPy 1\.17, and this is 1\.16\.3"):
        points(2, 1723, 2**32, 2**32 + 9)


def test_sobol_fills_a_square_more_evenly_than_random_points():
    bumps = [
        qmc.discrepancy(np.array(list(make(SQUARE, 1024).points(0, 1024).values())).T)
        for make in (sobol, latin, random)
    ]
    assert bumps[0] < bumps[1] / 3 < bumps[2] / 9


@pytest.mark.parametrize("block", [0, 1, 2])
def test_each_latin_block_has_a_point_in_each_stratum(block):
    space = latin(SQUARE, 2 * BLOCK_OF_SAMPLES + 1000)
    start, stop = block * BLOCK_OF_SAMPLES, min(space.size, (block + 1) * BLOCK_OF_SAMPLES)
    for column in space.points(start, stop).values():
        assert sorted(np.floor(column * (stop - start)).tolist()) == list(range(stop - start))


def test_latin_orders_and_places_within_strata_are_random():
    space = latin(SQUARE, 2 * BLOCK_OF_SAMPLES)
    columns = [
        c
        for b in (0, 1)
        for c in space.points(b * BLOCK_OF_SAMPLES, (b + 1) * BLOCK_OF_SAMPLES).values()
    ]
    assert np.abs(np.corrcoef(columns) - np.eye(4)).max() < 4 / BLOCK_OF_SAMPLES**0.5
    for column in columns:
        assert ks_1samp(column * BLOCK_OF_SAMPLES % 1, uniform.cdf).pvalue > 0.001


def test_random_points_are_uniform_and_their_blocks_independent():
    space = random(SQUARE, 10**12, seed=8)
    blocks = [space.points(start, start + 10_000) for start in (0, 2**15, 10**11)]
    columns = [column for block in blocks for column in block.values()]
    assert np.abs(np.corrcoef(columns) - np.eye(6)).max() < 0.04  # four standard errors
    for column in columns:
        assert ks_1samp(column, uniform.cdf).pvalue > 0.001
    other = random(SQUARE, 10**12, seed=9).points(0, 10_000)["a"]
    assert abs(np.corrcoef(other, columns[0])[0, 1]) < 0.04


@pytest.mark.parametrize("make", [sobol, latin, random])
@pytest.mark.parametrize(
    ("given", "values"),
    [
        (Between(0.5, 7.5, whole=True), [1, 2, 3, 4, 5, 6, 7]),
        (Steps(2.0, 0.5, 5), [2, 2.5, 3, 3.5, 4]),
        ([3, 1, 2], [1, 2, 3]),
        (range(0, 30, 10), [0, 10, 20]),
    ],
)
def test_whole_numbers_steps_and_choices_are_equally_likely(make, given, values):
    result, times = np.unique(make({"a": given}, 2**15).points(0, 2**15)["a"], return_counts=True)
    assert result.tolist() == values
    assert chisquare(times).pvalue > 0.001


def test_a_range_by_ratios_is_even_by_its_logarithm():
    points = latin({"a": Between(1, 1000, logarithmic=True), "n": Between(1, 7, True, True)}, 2**15)
    columns = points.points(0, 2**15)
    assert ks_1samp(np.log10(columns["a"]) / 3, uniform.cdf).pvalue > 0.001
    _, times = np.unique(columns["n"], return_counts=True)
    expected = np.log2(1 + 1 / np.arange(1.0, 8.0)) / 3
    assert times / 2**15 == pytest.approx(expected, abs=1 / 2**15)


@pytest.mark.parametrize("count", [1000, 4096])
def test_draws_are_those_of_the_model(count):
    points = drawn(uncertain(), 2**25, seed=6).points(0, count)
    expected = uncertain().draws(count, seed=6)
    assert {name: points[name].tolist() for name in points} == {
        name: expected[name].tolist() for name in expected
    }


def test_a_space_of_a_model_draws_whole_numbers_of_what_is_counted():
    model = catalogue_model("nfs-server")
    points = suited(sobol({"disks": (1, 4), "arrival_rate": (100, 400)}, 64), model).piece(0, 64)
    columns = points.points(0, 64)
    assert np.unique(columns["disks"], return_counts=True)[1].tolist() == [16, 16, 16, 16]
    assert not (columns["arrival_rate"] % 1 == 0).any()
    assert suited(grid({"disks": [2, 4]}), model) == grid({"disks": [2, 4]})


NFS = catalogue_model("nfs-server")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: sobol(SQUARE, 0), r"^sample is 0; it must be a whole number between 1 and 45035"),
        (lambda: sobol(SQUARE, np.nan), r"^sample is nan; it must be a whole number between 1"),
        (lambda: latin(SQUARE, 2.5), r"^sample is 2.5; it must be a whole number"),
        (lambda: random(SQUARE, 10, seed=-1), r"^seed is -1; it must be a whole number between 0"),
        (lambda: sobol({}, 10), r"^a space needs parameters"),
        (lambda: sobol({"a": (2, 1)}, 10), r"^a: a range from 2 to 1: its low end must be below"),
        (lambda: sobol({"a": (1, np.inf)}, 10), r"^a: a range from 1 to inf: it must have finite"),
        (
            lambda: sobol({"a": (1, 2, 3)}, 10),
            r"^a is \(1, 2, 3\); write \(low, high\) for a range",
        ),
        (lambda: sobol({"a": "fast"}, 10), r"^a is 'fast'; give numbers in SI units"),
        (lambda: Between(0, 2, logarithmic=True), r"a logarithmic range must start above 0"),
        (lambda: Between(1.2, 1.8, whole=True), r"it contains no integer"),
        (lambda: making.Sample({"a": Between(0, 1)}, 4, "sobel"), r"'sobel'; did you mean sobol\?"),
        (
            lambda: sobol({f"p{i}": (0, 1) for i in range(21_202)}, 4),
            r"^21202 parameters; a sample has at most 21201",
        ),
        (lambda: grid({"a": (1, 2)}), r"^a: a grid needs steps or values, not a range"),
        (lambda: grid({"a": []}), r"^a: values of shape \(0,\); give a one-dimensional list"),
        (lambda: grid({"a": range(0)}), r"^a: values of shape \(0,\); give a one-dimensional list"),
        (lambda: grid({"a": [1, np.nan]}), r"^a: the values contain nan; they must be finite"),
        (
            lambda: listed({"a": [1, 2], "b": [1]}),
            r"^b has 1 values but a has 2",
        ),
        (lambda: listed({"a": []}), r"^a has values of shape \(0,\); give a one-dimensional list"),
        (lambda: listed({"a": [1, np.inf]}), r"^a is inf at point 1; it must be finite"),
        (lambda: drawn(NFS, 10), r"^nfs-server: no parameter is uncertain"),
        (lambda: drawn(uncertain(), 2**31), r"^sample is 2147483648; it must be a whole number"),
        (lambda: suited(grid({"disks": [2, -1]}), NFS), r"^disks is -1; it must be"),
        (
            lambda: suited(sobol({"delay": (-1, 1)}, 4), NFS),
            r"^delay is -1000 ms; it must be 0 ms or",
        ),
    ],
)
def test_what_is_no_space_is_refused_in_one_line(made, words):
    with pytest.raises(InvalidParameter, match=words) as error:
        made()
    assert "\n" not in str(error.value)


def test_an_unknown_parameter_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownParameter, match="'arival_rate'; did you mean arrival_rate?"):
        suited(grid({"arival_rate": [1]}), NFS)
