"""Reductions of a sweep: the same answers however its points are cut, within the stated errors."""

import io
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import HeadwayError
from headway.models.language.units import unit
from headway.models.sweeping.reductions.grammar import REDUCTIONS, reductions_of
from headway.models.sweeping.reductions.quantiles import Quantiles, rank_of
from headway.models.sweeping.reductions.sketch import ERROR

UNITS = {"time": unit("s"), "load": unit(""), "rate": unit("op/s")}
ALL = (
    "moments",
    "quantiles=p1,p50,p99.9",
    "exceeds=1",
    "below=-0.5",
    "least",
    "most",
    "top=3",
    "bottom=5",
    "histogram=-1,0,2",
    "histogram",
    "points",
)
EXACT = ALL[1:]

ANY = st.floats(width=64, allow_nan=True, allow_infinity=True)
PLAIN = st.floats(-1e6, 1e6)
SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -0.5, math.inf, -math.inf, math.nan, 5e-324, 1.7e308])
COLUMNS = st.lists(ANY | SPECIAL | st.integers(-3, 3).map(float), min_size=1, max_size=60)


def made(text):
    (result,) = reductions_of([text], ["time"], UNITS)
    return result


def states(reduction, values, size):
    """States of blocks of so many values."""
    column = np.array(values, float)
    return [
        reduction.of({"time": column[start : start + size]}, start)
        for start in range(0, column.size, size)
    ]


def in_order(reduction, parts):
    """Merged one after the other."""
    whole = parts[0]
    for part in parts[1:]:
        whole = reduction.merge(whole, part)
    return whole


def in_pairs(reduction, parts):
    """Merged in a binary tree over the blocks' numbers."""
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [reduction.merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype, name
        np.testing.assert_array_equal(one[name], other[name], strict=True)


def values_of(reduction, state):
    return {row["statistic"]: row["value"] for row in reduction.rows(state)}


@pytest.mark.parametrize("text", EXACT)
@settings(max_examples=40)
@given(values=COLUMNS, size=st.integers(1, 17))
def test_any_cut_gives_the_same_state(text, values, size):
    reduction = made(text)
    (whole,) = states(reduction, values, len(values))
    parts = states(reduction, values, size)
    same(in_order(reduction, parts), whole)
    same(in_pairs(reduction, parts), whole)


@given(values=st.lists(PLAIN, min_size=1, max_size=200), size=st.integers(1, 50))
def test_moments_are_those_of_exact_sums(values, size):
    """To 1e-12 of the largest value (of the deviation: of the root, as its square is summed)."""
    reduction = made("moments")
    state = in_pairs(reduction, states(reduction, values, size))
    result = values_of(reduction, state)
    count = len(values)
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / count)
    largest = max(map(abs, values))
    assert result["finite points"] == count
    assert result["mean"] == pytest.approx(mean, rel=1e-12, abs=1e-12 * largest)
    assert result["sd"] == pytest.approx(deviation, rel=1e-12, abs=1e-12 * largest)
    assert (result["least"], result["most"]) == (min(values), max(values))


def test_moments_merged_in_one_tree_have_the_same_bits_for_any_chunks():
    """Chunks are runs of blocks aligned at powers of two, merged by themselves first."""
    reduction = made("moments")
    values = np.random.default_rng(5).lognormal(0, 2, 64 * 37 + 11)
    blocks = states(reduction, values, 64)
    whole = in_pairs(reduction, blocks)
    for length in (2, 4, 16):
        chunks = [blocks[k : k + length] for k in range(0, len(blocks), length)]
        same(in_pairs(reduction, [in_pairs(reduction, chunk) for chunk in chunks]), whole)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e150, 1e300])
def test_moments_of_what_squares_do_not_hold(scale):
    reduction = made("moments")
    state = in_pairs(reduction, states(reduction, scale * np.array([1.0, 2, 3, 6]), 2))
    result = values_of(reduction, state)
    assert result["mean"] == pytest.approx(3 * scale, rel=1e-12)
    assert result["sd"] == pytest.approx(math.sqrt(3.5) * scale, rel=1e-12)


def test_moments_count_what_is_not_finite_apart():
    reduction = made("moments")
    values = [1, math.inf, math.nan, 3, -math.inf, math.inf]
    state = in_pairs(reduction, states(reduction, values, 2))
    rows = {row["statistic"]: row for row in reduction.rows(state)}
    assert {name: row["value"] for name, row in rows.items()} == {
        "finite points": 2,
        "minus infinite points": 1,
        "infinite points": 2,
        "mean of the finite": 2.0,
        "sd of the finite": 1.0,
        "least of the finite": 1.0,
        "most of the finite": 3.0,
    }
    assert rows["mean of the finite"]["absent"] == 1


LAWS = {
    "lognormal": lambda rng, n: rng.lognormal(-5, 2, n),
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "tiny": lambda rng, n: rng.exponential(1e-290, n),
    "whole": lambda rng, n: rng.integers(-4, 5, n).astype(float),
    "saturating": lambda rng, n: np.where(rng.random(n) < 0.3, np.inf, rng.random(n)),
    "both ends": lambda rng, n: rng.choice([-np.inf, -1e300, -1e-300, 0, 1e-300, 1e300, np.inf], n),
}


@pytest.mark.parametrize("law", LAWS)
def test_quantiles_are_those_of_the_sorted_values(law):
    """By rank; where n p / 100 is exact in floats, as numpy has them."""
    values = LAWS[law](np.random.default_rng(3), 4000)
    percents = (0.01, 0.025, 1, 6.25, 25, 50, 75, 90, 99, 99.9, 99.99)
    reduction = Quantiles("time", unit("s"), percents)
    state = in_pairs(reduction, states(reduction, values, 512))
    ordered = np.sort(values)
    for percent, row in zip(percents, reduction.rows(state), strict=True):
        true = ordered[rank_of(percent, values.size) - 1]
        if percent in (6.25, 25, 50, 75):
            assert true == np.quantile(values, percent / 100, method="inverted_cdf")
        if np.isinf(true):
            assert row["value"] == true
        else:
            assert abs(row["value"] - true) <= row["error"] <= ERROR * abs(true)


@given(values=COLUMNS, percent=st.floats(0.01, 99.99))
def test_quantiles_keep_their_stated_error(values, percent):
    """Relative 1/1024 of normal floats, else 4.4e-311; each row's bound holds too."""
    reduction = Quantiles("time", unit("s"), (percent,))
    (row,) = reduction.rows(in_pairs(reduction, states(reduction, values, 7)))
    ordered = sorted(x for x in values if not math.isnan(x))
    assert (row["points"], row["absent"]) == (len(ordered), len(values) - len(ordered))
    if not ordered:
        assert math.isnan(row["value"])
        return
    true = ordered[rank_of(percent, len(ordered)) - 1]
    if math.isinf(true):
        assert row["value"] == true
    else:
        assert abs(row["value"] - true) <= row["error"] <= max(ERROR * abs(true), 4.4e-311)


def test_the_outermost_quantiles_are_the_ends():
    reduction = made("quantiles=p1,p99.9")
    values = np.random.default_rng(4).exponential(1.0, 50)
    low, high = reduction.rows(in_pairs(reduction, states(reduction, values, 8)))
    assert low["value"] - low["error"] <= values.min() <= low["value"] + low["error"]
    assert high["value"] + high["error"] == pytest.approx(values.max(), rel=1e-12)
    constant = reduction.rows(reduction.of({"time": np.full(9, 0.1)}, 0))
    assert [(row["value"], row["error"]) for row in constant] == [(0.1, 0.0)] * 2


@given(values=COLUMNS, limit=st.floats(-2, 2))
def test_points_beyond_a_limit_are_counted(values, limit):
    column = np.array(values)
    for kind, beyond in (("exceeds", column > limit), ("below", column < limit)):
        reduction = made(f"{kind}(time, {limit!r})")
        rows = reduction.rows(in_pairs(reduction, states(reduction, values, 5)))
        assert rows[0]["value"] == beyond.sum()
        assert rows[0]["absent"] == np.isnan(column).sum()
        if rows[0]["points"]:
            assert rows[1]["value"] == beyond.sum() / (~np.isnan(column)).sum()


def test_a_limit_itself_is_neither_above_nor_below():
    values = [0.3, 0.3, 0.4]
    for text, count in (("exceeds=300ms", 1), ("below=300ms", 0), ("exceeds=0.1 s", 3)):
        reduction = made(text)
        assert reduction.rows(*states(reduction, values, 3))[0]["value"] == count


RANKED = {"least": (1, False), "most": (1, True), "top=4": (4, True), "bottom=4": (4, False)}


@pytest.mark.parametrize("text", RANKED)
@settings(max_examples=40)
@given(values=COLUMNS, size=st.integers(1, 9))
def test_the_first_points_are_those_of_a_stable_sort(text, values, size):
    count, largest = RANKED[text]
    reduction = made(text)
    rows = reduction.rows(in_pairs(reduction, states(reduction, values, size)))
    there = [(-x if largest else x, k) for k, x in enumerate(values) if not math.isnan(x)]
    points = [k for _, k in sorted(there)[:count]]
    if points:
        assert [row["point"] for row in rows] == points
        assert [row["value"] for row in rows] == [values[k] for k in points]
    else:
        assert [row["point"] for row in rows] == [None]
    assert rows[0]["absent"] == len(values) - len(there)


def test_points_are_counted_through_the_whole_space():
    result = made("most").of({"time": np.array([1.0, 2.0])}, 10**15)
    assert made("most").rows(result)[0]["point"] == 10**15 + 1


@given(values=COLUMNS)
def test_histograms_are_numpys(values):
    reduction = made("histogram=-1,0,2")
    rows = reduction.rows(in_pairs(reduction, states(reduction, values, 6)))
    column = np.array(values)
    there = column[~np.isnan(column)]
    edges = [-math.inf, -1.0, 0.0, 2.0, math.inf]
    assert [(row["from"], row["to"]) for row in rows] == list(itertools.pairwise(edges))
    counts = np.histogram(there, [-math.inf, -1.0, 0.0, 2.0, np.inf])[0]  # its last bin is closed
    assert [row["value"] for row in rows] == counts.tolist()


@given(values=COLUMNS)
def test_own_histograms_hold_every_value_once_in_few_bins(values):
    reduction = made("histogram")
    rows = reduction.rows(in_pairs(reduction, states(reduction, values, 6)))
    there = np.array([x for x in values if not math.isnan(x)])
    assert sum(row["value"] for row in rows) == there.size
    assert len(rows) <= 24 + 3
    for row in rows:
        low, high = row["from"], row["to"]
        if low == high:
            inside = there == low
        elif high <= 0:
            inside = (there > low) & (there <= high) & (there != 0)
        else:
            inside = (there >= low) & (there < high) & (there != 0)
        assert row["value"] == inside.sum(), row


@given(values=COLUMNS, size=st.integers(1, 9))
def test_points_come_back_in_their_order(values, size):
    reduction = made("points")
    rows = reduction.rows(in_pairs(reduction, states(reduction, values, size)))
    assert repr([row["value"] for row in rows]) == repr(values)
    assert [row["point"] for row in rows] == list(range(len(values)))


def test_too_many_points_are_not_gathered():
    made("moments").check(10**20)
    with pytest.raises(
        HeadwayError, match=r"points\(time\): 1e\+20 points exceed the limit of 10,000,000"
    ):
        made("points").check(10**20)


@pytest.mark.parametrize("text", ALL)
@settings(max_examples=15)
@given(values=COLUMNS)
def test_states_survive_a_file_and_a_pipe(text, values):
    reduction = made(text)
    (state,) = states(reduction, values, len(values))
    kept = io.BytesIO()
    np.savez(kept, **state)
    kept.seek(0)
    same(dict(np.load(kept)), dict(state))
    same(pickle.loads(pickle.dumps(state)), state)  # noqa: S301
    again = pickle.loads(pickle.dumps(reduction))  # noqa: S301
    assert again == reduction
    assert repr(again.rows(state)) == repr(reduction.rows(state))  # NaN is equal to itself here


def test_intervals_are_of_samples_alone_and_hold_the_truth():
    """Of 200 samples of 400 exponential draws, 95% intervals hold it in 180 to 199."""
    rng = np.random.default_rng(11)
    truth = {"mean": 1.0, "p50": math.log(2), "share above 1": math.exp(-1)}
    result = dict.fromkeys(truth, 0)
    reductions = [made("moments"), made("quantiles=p50"), made("exceeds(load, 1)")]
    for _ in range(200):
        column = rng.exponential(1.0, 400)
        for each in reductions:
            state = each.of({"time": column, "load": column}, 0)
            assert all(row["interval"] is None for row in each.rows(state))
            for row in each.rows(state, sampled=True):
                if row["statistic"] in truth:
                    low, high = row["interval"]
                    result[row["statistic"]] += low <= truth[row["statistic"]] <= high
    assert all(180 <= count <= 199 for count in result.values()), result


ARGUMENTS = {
    "quantiles": "=p50,p99.9",
    "exceeds": "=0.1234567891",
    "below": "=300ms",
    "top": "=10",
    "bottom": "=7",
    "histogram": "=0,1ms,0.3333333333333333",
}


@pytest.mark.parametrize("kind", REDUCTIONS)
def test_a_text_reads_back_to_the_same_reduction(kind):
    one = made(kind + ARGUMENTS.get(kind, ""))
    assert made(one.text) == one
    assert made(one.text).text == one.text
    assert reductions_of([one, one.text], [], UNITS) == (one,)


BAD = {
    "": "reduction '' has no name; write one such as moments(response_time)",
    "(time)": "reduction '(time)' has no name; write one such as moments(response_time)",
    "=p50": "reduction '=p50' has no name; write one such as moments(response_time)",
    "moment(time)": "there is no reduction 'moment'; did you mean moments, most?",
    "moments(tim)": "reduction 'moments(tim)': there is no output 'tim'; did you mean time?",
    "moments()": "reduction 'moments()': there is no output named; there are load, rate, time",
    "moments(time, 3)": "moments(time, 3): moments needs only an output; remove the rest",
    "quantiles(time)": "quantiles(time): give at least one, such as quantiles(time, p50, p99)",
    "quantiles(time, p0)": "percentile is 0; it must be between 0 and 100",
    "quantiles(time, p100)": "percentile is 100; it must be between 0 and 100",
    "quantiles=101": "percentile is 101; it must be between 0 and 100",
    "quantiles(time, q5)": "'q5' is not a quantile; write, for example, p50 or p99.9",
    "exceeds(time)": "exceeds(time): give one limit: exceeds(OUTPUT, LIMIT)",
    "exceeds(time, 3 MB)": "time is '3 MB', which is data (B); it needs time, such as s",
    "exceeds(time, x)": "time is 'x', not a finite number with a unit such as '650 us'",
    "top(time, 0)": "'top(time, 0)': give a number from 1 to 10000: top(OUTPUT, 10)",
    "top(time)": "'top(time)': give a number from 1 to 10000: top(OUTPUT, 10)",
    "bottom=x": "'bottom(time, x)': give a number from 1 to 10000: bottom(OUTPUT, 10)",
    "histogram=2 s,1 s": "histogram(time, 2 s, 1 s): limits must be finite and increasing",
    "least(time, 2)": "least(time, 2): least needs only an output; remove the rest",
    "below(rate, 3 ms)": "rate is '3 ms', which is time (s); it needs rate, such as op/s",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_reduction_is_refused_in_one_line(text):
    with pytest.raises(HeadwayError) as stated:
        reductions_of([text], ["time"], UNITS)
    assert str(stated.value) == BAD[text]


def test_no_reduction_at_all_is_refused():
    with pytest.raises(HeadwayError, match="no reduction is given"):
        reductions_of([], ["time"], UNITS)
