"""Arrivals in batches, by a trace and by rates that change, as they are played.

What is simulated lies within the 99.9% interval of ten replicas, from a fixed seed, around a law or
a Markov chain that is solved here by itself.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import expm

from headway.errors import InvalidParameter
from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.planning import Schedule, schedule
from headway.models.simulating.playing.run import Run
from headway.models.simulating.replica import replica
from headway.models.simulating.scoring import score_of
from headway.models.simulating.streams import Stream
from headway.queueing import MM1, MMm
from headway.queueing.compiled.library import LIBRARY
from headway.queueing.flows.batch_sizes import BatchSizes
from headway.queueing.flows.courses import RateTable

JOBS = 50_000 if LIBRARY else 2_000  # of a replica; the interval is wider where there are fewer
REPLICAS, SURE = 10, 0.9995

SIZES = {
    "constant": BatchSizes(constant=4.0),
    "geometric": BatchSizes(geometric=3.0),
    "table": BatchSizes(((1, 0.25), (2, 0.5), (7, 0.25))),
}


def fed(station, stream):
    """The plan of one station with arrivals of its own."""
    graph = ModelGraph("fed").station("node", station)
    plan = blueprint(graph.at(arrival_rate=stream.rate))
    (jobs,) = plan.classes
    return replace(plan, classes=(replace(jobs, streams=(stream,)),))


def interval(plan, part="response_time", jobs=JOBS):
    """Mean and half width at 99.9%, of replicas whose windows are whole cycles of the arrivals."""
    (own,) = plan.classes
    window = jobs / own.arrival_rate
    window = plan.cycle * np.ceil(window / plan.cycle) if plan.cycle else window
    made = [
        replica(plan, score_of(plan), Schedule(window / 5, window, 1.0), (), 7, r)
        for r in range(REPLICAS)
    ]
    found = np.array([one.results[part] for one in made])
    half = stats.t.ppf(SURE, REPLICAS - 1) * found.std(ddof=1) / np.sqrt(REPLICAS)
    return found.mean(), half


def chances(sizes, most):
    """Probability of each size up to the most."""
    if sizes.geometric is not None:
        q = 1 - 1 / sizes.geometric
        return np.r_[0, (1 - q) * q ** np.arange(most)]
    found = np.zeros(most + 1)
    for size, chance in sizes.table or ((int(sizes.constant), 1.0),):
        found[size] = chance
    return found


def stationary(generator):
    """Probabilities of the states of a Markov chain."""
    count = len(generator)
    equations = np.vstack([generator.T, np.ones(count)])
    return np.linalg.lstsq(equations, np.r_[np.zeros(count), 1.0], rcond=None)[0]


def bulk_queue(sizes, rate, servers, most=300):
    """Mean number in M^X/M/m with services of 1 s, by its Markov chain cut at so many jobs."""
    size = chances(sizes, most)
    batches = rate / (size @ np.arange(most + 1))
    generator = np.zeros((most + 1, most + 1))
    for n in range(most + 1):
        generator[n, n + 1 :] += batches * size[1 : most + 1 - n]
        if n:
            generator[n, n - 1] = min(n, servers)
    np.fill_diagonal(generator, -generator.sum(axis=1))
    return stationary(generator) @ np.arange(most + 1)


@pytest.mark.parametrize("name", SIZES)
def test_batches_at_one_server_wait_by_their_law(name):
    """M^X/M/1: L = rho (1 + E[X**2] / E[X]) / (2 (1 - rho)) (Chaudhry and Templeton 1983, 3.2)."""
    sizes, load = SIZES[name], 0.6
    law = load * (1 + sizes.second / sizes.mean) / (2 * (1 - load)) / load
    mean, half = interval(fed(MM1(1.0), Stream(0, load, 1.0, sizes)))
    assert half < 0.1 * law or not LIBRARY
    assert abs(mean - law) < half


@pytest.mark.parametrize("name", SIZES)
def test_batches_at_several_servers_wait_as_their_chain_does(name):
    sizes, rate = SIZES[name], 1.8
    exact = bulk_queue(sizes, rate, 3) / rate
    mean, half = interval(fed(MMm(1.0, 3), Stream(0, rate, 1.0, sizes)))
    assert half < 0.1 * exact or not LIBRARY
    assert abs(mean - exact) < half


@pytest.mark.parametrize("name", SIZES)
def test_sizes_have_their_chances(name):
    """The k-th size by its chance, of jobs that come to be served at once; chi-squared, 1/1000."""
    sizes = SIZES[name]
    what = score_of(fed(MMm(1e-9, 10**6), Stream(0, sizes.mean, 1.0, sizes)))
    run, seen = Run(what, 1, 0, kept=False), []
    run.play(0.5)
    for _ in range(2000):
        before = int(run.state.crowds["started"][0])
        run.play(float(run.state.events["time"][run.state.places[0]]))
        seen.append(int(run.state.crowds["started"][0]) - before)
    expected = chances(sizes, 200)[1:]
    common = expected * 2000 > 5
    found = np.bincount(np.array(seen), minlength=201)[1:201]
    assert found[~common].sum() <= 60
    if common.sum() > 1:
        expected = expected[common] / expected[common].sum() * found[common].sum()
        assert stats.chisquare(found[common], expected).pvalue > 0.001


def regular(gap, servers, most=80):
    """Mean time in D/M/m with services of 1 s, by the chain of what each arrival finds."""
    deaths = np.diag(-np.minimum(np.arange(most + 1), servers).astype(float))
    deaths += np.diag(np.minimum(np.arange(1, most + 1), servers).astype(float), -1)
    after = np.vstack([np.eye(most + 1)[1:], np.eye(most + 1)[-1:]])
    found = stationary(after @ expm(gap * deaths) - np.eye(most + 1))
    return 1 + found @ np.maximum(np.arange(most + 1) + 1 - servers, 0) / servers


@pytest.mark.parametrize("servers", [1, 2])
def test_a_trace_of_equal_gaps_waits_as_regular_arrivals_do(servers):
    gap = 1 / (0.8 * servers)
    exact = regular(gap, servers)
    stream = Stream(0, 1 / gap, 0.0, gaps=(gap,) * 3)
    mean, half = interval(fed(MMm(1.0, servers), stream))
    assert half < 0.1 * exact or not LIBRARY
    assert abs(mean - exact) < half


def test_the_oracle_of_regular_arrivals_has_the_root_of_its_law():
    """D/M/1: R = 1 / (1 - s), s = exp(-(1 - s) T) (Kleinrock I, 6.4)."""
    root = 0.5
    for _ in range(500):
        root = np.exp(-(1 - root) / 0.8)
    assert regular(1 / 0.8, 1, 200) == pytest.approx(1 / (1 - root), rel=1e-6)


def test_a_trace_is_played_in_order_and_again():
    gaps = (0.5, 0.0, 2.0, 1.0)
    run = Run(score_of(fed(MMm(1e-9, 10**6), Stream(0, 4 / 3.5, 1.0, gaps=gaps))), 1, 0, kept=False)
    times = np.cumsum([0.0, *gaps * 3])
    for at in (0.25, 0.75, 2.25, 3.25, 3.75, 4.25, 7.25):
        run.play(at)
        assert run.state.crowds["started"][0] == (times <= at).sum()


def changing_queue(table, most=150):
    """Mean number in M(t)/M/1 with services of 1 s over a period, by its forward equations."""
    served = np.diag(np.ones(most), -1)
    through, pieces = np.eye(most + 1), []
    for rate, length in zip(table.rates, np.diff([*table.starts, table.period]), strict=True):
        generator = served + rate * np.diag(np.ones(most), 1)
        np.fill_diagonal(generator, -(generator.sum(axis=1)))
        block = np.block([[generator, np.eye(most + 1)], [np.zeros((most + 1, 2 * most + 2))]])
        moved = expm(length * block)
        pieces.append((through, moved[: most + 1, most + 1 :]))
        through = through @ moved[: most + 1, : most + 1]
    start = stationary(through - np.eye(most + 1))
    spent = sum(start @ before @ inside for before, inside in pieces)
    return spent @ np.arange(most + 1) / table.period


@pytest.mark.parametrize(
    "table",
    [
        RateTable((0.0, 10.0), (0.2, 0.9), 20.0),
        RateTable((0.0, 3.0), (1.6, 0.0), 8.0),
        RateTable((0.0, 0.1, 0.3), (0.0, 1.5, 0.2), 0.5),
    ],
    ids=["slow", "overloaded, then nobody", "fast"],
)
def test_rates_that_change_fill_a_queue_as_its_forward_equations_say(table):
    exact = changing_queue(table)
    plan = fed(MM1(1.0), Stream(0, table.mean, 1.0, changing=table))
    mean, half = interval(plan, "node.queue_length")
    assert half < 0.15 * exact or not LIBRARY
    assert abs(mean - exact) < half


def test_a_rate_that_does_not_change_is_a_poisson_flow():
    table = RateTable((0.0, 1.0), (0.5, 0.5), 3.0)
    assert changing_queue(table) == pytest.approx(1.0, rel=1e-6)
    mean, half = interval(fed(MM1(1.0), Stream(0, 0.5, 1.0, changing=table)))
    assert abs(mean - 2.0) < half


def test_each_piece_has_as_many_arrivals_as_its_rate_says():
    table = RateTable((0.0, 1.0, 4.0), (8.0, 0.0, 2.0), 5.0)
    run = Run(
        score_of(fed(MMm(1e-9, 10**6), Stream(0, 2.0, 1.0, changing=table))), 3, 0, kept=False
    )
    counts, before = np.zeros(3), 0
    for cycle in range(1, 1001):
        for k, end in enumerate((1.0, 4.0, 5.0)):
            run.play(5.0 * cycle + end)
            now = int(run.state.crowds["started"][0])
            counts[k] += now - before if cycle > 1 or k else 0
            before = now
    assert counts[1] == 0
    expected = np.array([8 * 999, 2 * 1000])
    assert (np.abs(counts[[0, 2]] - expected) < 3.3 * np.sqrt(expected)).all()


def test_windows_are_whole_cycles():
    table = RateTable((0.0, 10.0), (0.2, 0.9), 70.0)
    window = schedule(fed(MM1(1.0), Stream(0, table.mean, 1.0, changing=table))).window
    assert window / 70.0 == pytest.approx(round(window / 70.0), rel=1e-12)


def test_batches_make_a_replica_longer():
    """The number in the queue forgets more slowly, as more jobs come together."""
    single, many = (
        schedule(fed(MM1(1.0), Stream(0, 0.5, 1.0, BatchSizes(constant=size)))).warm_up
        for size in (1.0, 100.0)
    )
    assert many > 20 * single


@pytest.mark.parametrize(
    ("starts", "rates", "period", "why"),
    [
        ((0.0,), (1.0, 2.0), 3.0, "2 rates of arrivals for 1 times"),
        ((), (), 3.0, "0 rates"),
        ((1.0, 2.0), (1.0, 2.0), 3.0, "must begin with 0"),
        ((0.0, 2.0, 1.0), (1.0, 2.0, 1.0), 3.0, "and only grow"),
        ((0.0, 2.0), (1.0, 2.0), 2.0, "longer than the last"),
        ((0.0, 2.0), (1.0, 2.0), float("inf"), "must be finite"),
        ((0.0, 2.0), (1.0, -2.0), 3.0, "rate of arrivals is -2"),
        ((0.0, 2.0), (1.0, float("nan")), 3.0, "rate of arrivals is nan"),
        ((0.0, 2.0), (0.0, 0.0), 3.0, "all zero"),
    ],
)
def test_rates_that_make_no_sense_are_refused(starts, rates, period, why):
    with pytest.raises(InvalidParameter, match=why):
        RateTable(starts, rates, period)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"constant": 0.0}, "batch is 0; it must be a whole number from 1"),
        ({"constant": -3.0}, "batch is -3"),
        ({"constant": 2.5}, "batch is 2.5"),
        ({"constant": 2e6}, "batch is 2,000,000"),
        ({"geometric": 0.5}, "mean of a batch is 0.5; it must be from 1"),
        ({"table": ((0, 1.0),)}, "size of a batch is 0"),
        ({"table": ((1, 0.5), (2, 0.4))}, "sum to 0.9; make them sum to 1"),
        ({"table": ((1, 1.5), (2, -0.5))}, "probability of 1 is 1.5"),
        ({}, "sum to 0"),
    ],
)
def test_batches_that_make_no_sense_are_refused(given, why):
    with pytest.raises(InvalidParameter, match=why):
        BatchSizes(**given)
