"""Caches: hit ratios by policy, size and popularity, alone and in models."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter, ModelFileError
from headway.models import ModelGraph, parse_model, read_model
from headway.queueing.caches.curves import MonotoneCubic
from headway.queueing.caches.policies import (
    POLICIES,
    CurveCache,
    FIFOCache,
    LRUCache,
    RandomCache,
    RenewedTTLCache,
    TTLCache,
)
from headway.queueing.caches.popularity import zipf
from tests.campaigns import cache_errors
from tests.oracles import cache_oracles as oracles
from tests.support.command import headway, refusal
from tests.support.pages import accuracy

SIZED = [LRUCache, FIFOCache, RandomCache]


def exact(kind, shares, size):
    value = oracles.lru_hit_ratio if kind is LRUCache else oracles.random_hit_ratio
    return value(shares, size)


@pytest.mark.parametrize("kind", SIZED)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_product_forms_are_those_of_the_whole_chain(kind, size):
    shares = np.array([0.4, 0.25, 0.2, 0.1, 0.05])

    # Tolerance: the oracle's integral, 1e-9 of which lies below its first node.
    assert exact(kind, shares, size) == pytest.approx(
        oracles.chain_hit_ratio(kind.policy, shares, size), abs=3e-7
    )


@pytest.mark.slow
def test_errors_of_che_are_as_large_as_documents_and_answers_say():
    documented = accuracy().partition("## Caches")[2]

    for policy, errors in cache_errors.rows():
        line = next(row for row in documented.splitlines() if row.startswith(f"| `{policy}`"))
        assert line.split("|")[2:-1] == [f" {error} " for error in errors]


@pytest.mark.slow
@pytest.mark.slow
def test_labels_of_caches_are_of_the_popularity_that_is_hardest_to_tell():
    """As many objects as find room are asked for much, the others alike; and Zipf's laws below."""
    documented = accuracy().partition("## Caches")[2]
    common = dict(cache_errors.rows())
    for policy, errors in cache_errors.hot_rows():
        assert f"| `{policy}`, few hot ones | {' | '.join(errors)} |" in documented.replace(
            "`fifo`, `random`, few", "`fifo`, few"
        )
        said = list(map(float, re.findall(r"0\.\d+", POLICIES[policy].approximation)))[::-1]
        for most, error, zipfs in zip(said, errors[:4], common[policy][:4], strict=True):
            assert most / 1.25 < float(error) < most
            assert float(zipfs) < most


@pytest.mark.parametrize("kind", SIZED)
@pytest.mark.parametrize(("size", "exponent"), [(20, 0.7), (100, 1.0), (500, 1.2)])
def test_simulated_requests_hit_as_often(kind, size, exponent):
    shares = zipf(1000.0, exponent).share
    simulated = oracles.simulated_hit_ratio(kind.policy, shares, size, 60_000, seed=5)

    # The 1%; the simulation's own standard error is 0.002.
    assert kind(size, 1000, exponent).hit_ratio == pytest.approx(simulated, abs=0.01)
    assert kind(size, popularity=list(shares)).hit_ratio == pytest.approx(
        kind(size, 1000, exponent).hit_ratio, rel=1e-12
    )


LAWS = {
    **{f"zipf {a}": np.arange(1, 1001.0) ** -a for a in (0.6, 0.8, 1.0, 1.2)},
    "uniform": np.ones(1000),
    "geometric 0.99": 0.99 ** np.arange(1000),
    "geometric 0.9": 0.9 ** np.arange(300),
}


@pytest.mark.parametrize("kind", SIZED)
@pytest.mark.parametrize("law", LAWS)
def test_every_law_of_popularity_hits_as_often_as_simulated(kind, law):
    shares = LAWS[law] / LAWS[law].sum()
    for size in (8, 200):
        simulated = oracles.simulated_hit_ratio(kind.policy, shares, size, 40_000, seed=size)
        # The 1%, and twice the simulation's own standard error of 0.0026 at most.
        hits = kind(size, popularity=list(shares)).hit_ratio
        assert hits == pytest.approx(simulated, abs=0.01 + 0.0052)


def test_a_measured_curve_is_between_its_points_as_simulated():
    shares = zipf(1000.0, 0.9).share
    sizes = [10, 30, 100, 300]
    traced = [1 - oracles.simulated_hit_ratio("lru", shares, s, 60_000, seed=s) for s in sizes]
    for size in (17, 55, 170):
        simulated = oracles.simulated_hit_ratio("lru", shares, size, 60_000, seed=size)
        # Points three times as large as each other: 2%, of which 0.004 is chance.
        assert CurveCache(size, sizes, traced).hit_ratio == pytest.approx(simulated, abs=0.02)


@pytest.mark.parametrize(("kind", "renewed"), [(TTLCache, False), (RenewedTTLCache, True)])
def test_lifetimes_against_simulated_requests(kind, renewed):
    shares = zipf(300.0, 0.9).share
    simulated = oracles.simulated_ttl(shares, 150.0, 60_000, seed=6, renewed=renewed)

    cache = kind(lifetime=0.3, rate=500.0, objects=300, exponent=0.9)

    assert cache.hit_ratio == pytest.approx(simulated, abs=0.01)
    assert not cache.approximation


@given(st.sampled_from(SIZED), st.floats(1, 1e9), st.floats(0, 3), st.floats(1e-6, 1.2))
@settings(max_examples=30, deadline=None)
def test_laws_of_hit_ratios(kind, objects, exponent, part):
    size = part * objects
    cache = kind(size, objects, exponent)
    step = 1e-5 * size
    around = kind(np.array([size - step, size + step]), objects, exponent).hit_ratio

    # The best that any cache can do is to hold the most popular, at best all of them.
    assert 0 <= cache.hit_ratio <= min(1, size * zipf(objects, exponent).share[0]) + 1e-12
    # A cache hits at least as often as one that holds any objects.
    assert cache.hit_ratio >= min(1, part) - 1e-9
    assert cache.resident == pytest.approx(min(size, objects), rel=1e-6)
    if abs(part - 1) > 1e-4:
        slope = (around[1] - around[0]) / (2 * step)
        # Tolerance: differences over 1e-5 of the size, of digits of 1e-14.
        assert cache.marginal_hit_ratio * size == pytest.approx(slope * size, rel=1e-3, abs=1e-6)


def test_all_alike_hit_by_the_share_that_is_held():
    for kind in SIZED:
        assert kind(25, 100, 0.0).hit_ratio == pytest.approx(0.25, rel=1e-12)
        assert kind(0, 100, 0.8).hit_ratio == 0
        assert kind(np.array([100, 200]), 100, 0.8).hit_ratio.tolist() == [1, 1]


def test_spans_of_ranks_are_as_good_as_all_of_them():
    shares = np.arange(1, 20_001.0) ** -0.8
    size = np.array([10.0, 1000.0, 15_000.0])
    for kind in (LRUCache, FIFOCache):
        one_by_one = kind(size, popularity=list(shares)).hit_ratio
        assert kind(size, 20_000, 0.8).hit_ratio == pytest.approx(one_by_one, abs=1e-8)


def test_points_are_solved_as_one_by_one():
    sizes, objects = np.array([[10.0], [50.0]]), np.array([100, 1000, 30])
    together = LRUCache(sizes, objects, 0.9).hit_ratio

    alone = [[LRUCache(s, m, 0.9).hit_ratio for m in objects] for s in sizes.ravel()]
    # Tolerance: points end their search together, alone each at its own 1e-13 of log t.
    np.testing.assert_allclose(together, alone, rtol=1e-9)


def test_a_curve_goes_through_its_points_and_never_rises():
    sizes, misses = [1.0, 2.0, 4.0, 5.0, 9.0], [0.9, 0.4, 0.4, 0.3, 0.05]
    curve = MonotoneCubic.through(sizes, misses)
    fine = np.linspace(0, 10, 1001)
    values, slopes = curve.at(fine)

    np.testing.assert_allclose(curve.at(np.array(sizes))[0], misses, rtol=1e-12)
    assert (np.diff(values) <= 1e-12).all()
    assert values[0] == 1
    assert values[-1] == pytest.approx(0.05, rel=1e-12)
    # A cubic's derivative by differences over 0.01, away from where cubics meet.
    inside = (fine % 1 > 0.05) & (fine % 1 < 0.95) & (fine < 9)
    np.testing.assert_allclose(np.gradient(values, fine)[inside], slopes[inside], atol=1e-3)
    cache = CurveCache(3.0, sizes, misses)
    assert (cache.hit_ratio, cache.marginal_hit_ratio) == pytest.approx((0.6, 0.0))


@pytest.mark.parametrize(
    ("sizes", "misses", "why"),
    [
        ([1, 2], [0.5], "2 sizes and 1 miss ratios"),
        ([2, 1], [0.5, 0.4], "point 2 of the curve: size 1 comes after 2; sort by size"),
        ([1, 2], [0.4, 0.5], "point 2 of the curve: the miss ratio rises from 0.4 to 0.5"),
        ([-1, 2], [0.5, 0.4], "point 1 of the curve: size -1 is not a finite number"),
        ([1, float("inf")], [0.5, 0.4], "point 2 of the curve: size inf is not a finite number"),
        ([1], [0.5], "two sizes or more; there are 1 sizes"),
        ([1, 2], [1.4, 0.5], "miss ratio 1.4 is not between 0 and 1"),
        ([1, 2], [0.5, float("nan")], "miss ratio nan is not between 0 and 1"),
        ([], [], "a curve needs a miss ratio for each of two sizes or more"),
    ],
)
def test_what_is_no_curve_is_refused(sizes, misses, why):
    with pytest.raises(InvalidParameter, match=why):
        CurveCache(1.0, sizes, misses)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"size": -1, "objects": 10}, "size is -1; it must be zero or more"),
        ({"size": 1, "objects": 0}, "objects is 0; it must be from 1 to 1e15"),
        ({"size": 1, "objects": 10, "exponent": -1}, "exponent is -1; it must be from 0 to 20"),
        ({"size": 1}, "give either objects"),
        ({"size": 1, "objects": 3, "popularity": [1]}, "give either objects"),
        ({"size": 1, "popularity": [0, 0]}, "popularity must contain finite numbers of 0 or more"),
    ],
)
def test_numbers_out_of_domain_are_refused(given, why):
    with pytest.raises(InvalidParameter, match=why):
        _ = LRUCache(**given).hit_ratio


def test_each_policy_says_what_is_not_exact():
    by_name = {word: bool(kind.approximation) for word, kind in POLICIES.items()}

    assert by_name == {
        "lru": True,
        "fifo": True,
        "random": True,
        "ttl": False,
        "ttl-renewed": False,
        "curve": False,
    }


PROXY = """
name = "proxy"
[parameters]
arrival_rate = "100 /s"
memory = "64 MB"
[caches.buffer]
{cache}
[stations.cpu]
kind = "MM1"
service_time = "1 ms"
[stations.disk]
kind = "MM1"
service_time = "5 ms"
[[routes]]
from = "cpu"
to = "disk"
probability = "buffer.miss_ratio"
[outputs]
gain = "buffer.marginal_hit_ratio"
"""
LRU = 'policy = "lru"\nsize = "memory / 64000"\nobjects = 100000\nexponent = 0.9'
CURVE = 'curve = "misses.csv"\nsize = "memory"'


def test_a_cache_in_a_model_file():
    model = parse_model(PROXY.format(cache=LRU))
    solution = model.at(memory=np.array([16e6, 64e6])).solve()

    misses = LRUCache(np.array([250.0, 1000.0]), 100_000, 0.9).miss_ratio
    assert solution["buffer.miss_ratio"] == pytest.approx(misses, rel=1e-12)
    assert solution["disk.throughput"] == pytest.approx(100 * misses, rel=1e-12)
    assert solution.approximation.startswith("buffer: Che's approximation")
    assert "Che's approximation" in json.loads(solution.to_json())["approximation"]
    closed = model.closed(20, think_time="50 ms").solve()
    assert closed.approximation.startswith("buffer: Che's approximation")
    assert closed["disk.throughput"] == pytest.approx(closed.throughput * misses[1], rel=1e-9)


def test_how_much_more_memory_helps():
    model = parse_model(PROXY.format(cache=LRU))
    solution = model.solve()
    effect = model.sensitivity().effects["gain"]["memory"]
    slower = model.sensitivity().effects["response_time"]["memory"].derivative

    assert effect.derivative < 0
    # R = R_cpu + m S / (1 - x m S): by the chain rule, from the gain of an object of 64 kB
    misses, rate = solution["buffer.miss_ratio"], 100.0
    by_miss = 5e-3 / (1 - rate * misses * 5e-3) ** 2
    assert slower == pytest.approx(-by_miss * solution["gain"] / 64_000, rel=1e-5)


def test_a_model_with_a_cache_is_written_and_read_back(tmp_path):
    (tmp_path / "misses.csv").write_text("size_MB,miss_ratio\n16,0.8\n64,0.5\n256,0.1\n")
    for number, cache in enumerate((LRU, CURVE, 'size = 2\npopularity = [3, "memory / 1e8", 1]')):
        path = tmp_path / f"{number}.toml"
        path.write_text(PROXY.format(cache=cache))
        model = read_model(path)
        again = parse_model(model.to_toml())

        assert again.solve()["response_time"] == model.solve()["response_time"]
        assert again.graph == model.graph
    assert read_model(tmp_path / "1.toml").solve()["buffer.miss_ratio"] == 0.5


@pytest.mark.parametrize(
    "head", ["Size [MB],Miss_Ratio", "size (MB),miss_ratio", "hit_ratio_%,size_MB"]
)
def test_columns_of_a_curve_say_their_unit(tmp_path, head):
    hits = head.startswith("hit")
    rows = ["20,16", "50,64"] if hits else ["16,0.8", "64,0.5"]
    (tmp_path / "misses.csv").write_text("\n".join(["# traced", head, *rows]))
    (tmp_path / "m.toml").write_text(PROXY.format(cache=CURVE))

    assert read_model(tmp_path / "m.toml").solve()["buffer.miss_ratio"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("cache", "why"),
    [
        (
            'policy = "lur"\nsize = 1\nobjects = 9',
            r"\[caches.buffer.policy\]: there is no policy 'lur'; did you mean lru",
        ),
        ("policy = 3\nsize = 1", "policy.: must be one of lru, fifo"),
        ('policy = "lru"\nobjects = 9', "buffer needs size, a number"),
        ("size = 1", "buffer: give either objects"),
        ("size = 1\nobjects = 9\nlifetime = 3", "buffer has no 'lifetime'"),
        ("size = 1\nstages = 3\nobjects = 9", "buffer has no 'stages'"),
        ("size = 1\nobjects = [9]", "buffer needs objects, a number"),
        ('policy = "ttl"\nlifetime = "1 MB"\nrate = 3\nobjects = 9', "lifetime"),
        ('curve = "nowhere.csv"\nsize = 1', "nowhere.csv: there is no such file"),
        ("curve = 3\nsize = 1", "must be the name of a CSV file"),
        ('curve = "/dev/zero"\nsize = 1', "a device or named pipe"),
        ('curve = "words.csv"\nsize = 1', "words.csv:2: 'many' is not a number"),
        (
            'curve = "empty.csv"\nsize = 1',
            "empty.csv: the file is empty; it needs columns size and miss_ratio",
        ),
        ('curve = "unnamed.csv"\nsize = 1', "there is no column size"),
        ('curve = "both.csv"\nsize = 1', "one column miss_ratio or hit_ratio"),
        (
            'curve = "rising.csv"\nsize = 1',
            "rising.csv:3: the miss ratio rises from 0.1 to 0.2; remove the point",
        ),
        ('policy = "lru"\ncurve = "rising.csv"\nsize = 1\nobjects = 9', "buffer has no 'curve'"),
    ],
)
def test_bad_caches_are_refused_in_one_line_with_their_place(tmp_path, cache, why):
    files = {
        "words": "size,miss_ratio\nmany,0.3",
        "empty": "\n",
        "unnamed": "1,0.5\n2,0.4",
        "both": "size,miss_ratio,hit_ratio\n1,0.5,0.5",
        "rising": "size,miss_ratio\n1,0.1\n2,0.2",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "m.toml").write_text(PROXY.format(cache=cache))

    with pytest.raises((ModelFileError, InvalidParameter), match=why) as caught:
        read_model(tmp_path / "m.toml").solve()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (["1,0.5", "2,0.6"], ":3: the miss ratio rises from 0.5 to 0.6; remove the point, or "),
        (["1,1.5", "2,0.6"], ":2: miss ratio 1.5 is not between 0 and 1; give shares"),
        (["1,0.5", "2,-0.1"], ":3: miss ratio -0.1 is not between 0 and 1"),
        (["1,nan", "2,0.6"], ":2: 'nan' is not a finite number"),
        (["inf,0.5"], ":2: 'inf' is not a finite number"),
        ([], ": a curve needs two rows or more below its header; it has 0"),
        (["1,0.5"], ": a curve needs two rows or more below its header; it has 1"),
        (["2,0.5", "1,0.6"], ":3: size 1 comes after 2; sort by size, and give each size once"),
        (["1,0.5", "1,0.4"], ":3: size 1 comes after 1; sort by size"),
        (["-1,0.7", "2,0.6"], ":2: size -1 is not a finite number of 0 or more"),
        (["1,0.5", "2"], ":3: '' is not a number"),
    ],
)
def test_a_bad_curve_is_refused_in_one_line_with_its_line(tmp_path, rows, why):
    (tmp_path / "misses.csv").write_text("\n".join(["size_GB,miss_ratio", *rows]))
    (tmp_path / "m.toml").write_text(PROXY.format(cache=CURVE))

    message = refusal("solve", tmp_path / "m.toml")

    assert f"[caches.buffer.curve]: misses.csv{why}" in message


def test_caches_in_python():
    graph = (
        ModelGraph("g")
        .declare("n")
        .algorithm("caches", "c", {"size": "n", "objects": 50}, word="fifo")
    )

    assert graph.output("hits", "c.hit_ratio").at(n=5).solve()["hits"] == FIFOCache(5, 50).hit_ratio
    with pytest.raises(GraphError, match="d needs size"):
        graph.algorithm("caches", "d", {"objects": 3})
    with pytest.raises(GraphError, match="d has no 'lifetime'"):
        graph.algorithm("caches", "d", {"size": 3, "lifetime": 3})
    with pytest.raises(InvalidParameter, match="there is no policy 'mru'"):
        graph.algorithm("caches", "d", {"size": 3}, word="mru")
    with pytest.raises(InvalidParameter, match="no closed form"):
        graph.output("hits", "c.hit_ratio").closed_form("hits")


def test_a_program_with_a_cache_says_what_is_not_exact_where_it_is_shown(tmp_path):
    path = tmp_path / "program.toml"
    path.write_text(
        'name = "p"\n[caches.c]\nsize = 8\nobjects = 99\n[outputs]\nh = "c.hit_ratio"\n'
    )

    for verb in ("show", "solve"):
        assert "approximate: c: Che's approximation" in headway(verb, str(path)).out
    for form in ("--json", "--csv"):
        assert "c: Che's approximation" in headway("solve", str(path), form).out
