"""Percentiles of closed networks against whole Markov chains, closed forms and simulation."""

import re

import numpy as np
import pytest
from scipy.stats import gamma as gamma_law

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.queueing import MM1, Delay, MMm, Parallel, WakeUp
from headway.queueing.passages.laws import APART, after_start, passage_law
from headway.queueing.passages.overtake_free import OvertakeFree
from headway.queueing.passages.passage import Passage, PassageStation
from headway.queueing.passages.tagged_job import AggregatedTaggedJobChain, TaggedJobChain
from headway.queueing.times.inversion import percentile_of
from headway.queueing.times.laws import Piece, TimeLaw
from headway.queueing.times.uniformisation import AbsorbingChain
from tests.campaigns.percentile_errors import CLOSED, SHARES, chain_errors, circle_of, closed_errors
from tests.oracles.passage_chain import Small, exceedances, percentiles
from tests.support.pages import DOCS, accuracy

LINE = ((0, 1, 0), (0, 0, 1), (0, 0, 0))


def stated():
    """Largest errors that the document states, in percent, by kind."""
    lines = [line.split(" | ") for line in accuracy().splitlines()]
    rows = {cells[0].strip("| "): cells[2:] for cells in lines if len(cells) == 6}
    return {
        kind: [float(cell.strip(" %|")) for cell in cells]
        for kind, cells in rows.items()
        if "%" in cells[0]
    }


def percentiles_of(graph, population, think_time, *percents, **values):
    solution = graph.at(**values).closed(population, think_time).solve()
    for percent in percents:
        solution = solution.with_percentile(percent)
    return solution


@pytest.mark.parametrize(
    "net",
    [
        Small((1.0, 0.7), (1, 1), (1, 0), ((0, 1), (0, 0)), 5, 1.5),
        Small((1.0, 0.7, 0.3), (1, 1, 1), (1, 0, 0), LINE, 5, 0.2),
        Small((1.0, 0.7, 0.5), (1, 1, 1), (1, 0, 0), ((0, 0.5, 0.5), (0, 0, 0), (0, 0, 0)), 5, 0.5),
        Small((1.0, 0.7), (2, 1), (1, 0), ((0, 1), (0, 0)), 6, 0.5),  # a pool at either end
        Small((1.0, 0.7), (1, 2), (1, 0), ((0, 1), (0, 0)), 6, 0.5),
        Small((1.0, 0.7), (1, 1), (0.5, 0.5), ((0, 1), (0, 0)), 5, 0.5),  # entries at both
        Small((1.0,), (3,), (1,), ((0,),), 6, 0.5),
    ],
)
def test_where_nobody_can_overtake_the_law_is_exact(net):
    """The chain is cut where 1e-13 of the chance is left, and inverted to 1e-11."""
    law = passage_law(circle_of(net))
    times = percentiles(net, SHARES)

    assert law.notes == ()
    for time, chance in zip(times, exceedances(net, times), strict=True):
        assert percentile_of(law, 1 - chance) == pytest.approx(time, rel=1e-8)


@pytest.mark.parametrize(
    "net",
    [
        Small((1.0,), (1,), (1,), ((0.9,),), 6, 3.0),
        Small((1.0,), (2,), (1,), ((0.8,),), 6, 3.0),
        Small((1.0, 2.0), (1, 1), (1, 0), ((0, 0.8), (1, 0)), 8, 5.0),
        Small((1.0, 1.0), (2, 1), (0.3, 0.7), ((0.2, 0.5), (0.5, 0)), 8, 20.0),
    ],
)
def test_returns_to_two_queues_are_followed_exactly(net):
    errors, notes = chain_errors(net)

    assert notes == ()
    assert np.abs(errors).max() < 1e-5  # the last millionth of jobs goes on geometrically


@pytest.mark.parametrize("servers", [1, 2])
def test_one_shared_station_is_exact(servers):
    net = Small((1.0,), (servers,), (1,), ((0,),), 8, 3.0, (True,))
    errors, notes = chain_errors(net)

    assert notes == ()
    assert np.abs(errors).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("first", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_the_document_states_the_largest_errors(first):
    """The first networks of each row are within what its row says of all of them."""
    result = stated()
    for row in CLOSED:
        worst = 100 * np.abs(closed_errors(row, first)).max(axis=0)
        assert (worst <= np.array(result[row.kind]) + 0.005).all(), row.kind


def test_the_repairman_of_few_machines():
    """M/M/1//N: who breaks down meets k with the chance of N - 1, and takes k + 1 services."""
    graph = ModelGraph("shop").station("repair", MM1(2.0))
    solution = percentiles_of(graph, 4, 5.0, 95, 99.9)
    chances = np.array([1.0, 3 * 0.4, 3 * 2 * 0.4**2, 3 * 2 * 0.4**3])
    chances /= chances.sum()
    for percent in (95, 99.9):
        time = solution[f"response_time_p{percent:g}"]
        late = sum(p * gamma_law.sf(time, k + 1, scale=2.0) for k, p in enumerate(chances))
        assert late == pytest.approx(1 - percent / 100, rel=1e-8)
    assert solution.approximation == ""


def test_one_job_alone_waits_for_nobody():
    graph = ModelGraph("two").station("a", MM1(1.0)).station("b", MM1(2.0)).route("a", "b")
    time = percentiles_of(graph, 1, 3.0, 99)["response_time_p99"]
    assert 2 * np.exp(-time / 2) - np.exp(-time) == pytest.approx(0.01, rel=1e-9)


def test_nobody_takes_no_time():
    assert (
        percentiles_of(ModelGraph("one").station("a", MM1(1.0)), 0, 3.0, 99)["response_time_p99"]
        == 0
    )


def test_constants_that_all_spend_shift_it():
    graph = ModelGraph("far").station("net", Delay(7.0)).station("cpu", MM1(1.0))
    near = percentiles_of(ModelGraph("near").station("cpu", MM1(1.0)), 5, 9.0, 95)[
        "response_time_p95"
    ]
    far = percentiles_of(graph.route("net", "cpu"), 5, 2.0, 95)
    assert far["response_time_p95"] == pytest.approx(7 + near, rel=1e-9)
    assert far.approximation == ""


def test_constants_by_chance_jump():
    graph = ModelGraph("c").station("cpu", MM1(1e-3)).station("disk", Delay(1.0))
    result = percentiles_of(graph.route("cpu", "disk", 0.1), 2, 1.0, 89, 91)
    assert result["response_time_p89"] < 0.02
    assert result["response_time_p91"] > 1


def test_a_sweep_grows_with_the_population():
    graph = ModelGraph("web").station("cpu", MMm(0.02, 2)).station("disks", Parallel(0.02, 3))
    solution = percentiles_of(graph.route("cpu", "disks"), np.arange(1, 30, 4), 0.2, 50, 99)
    half, most = solution["response_time_p50"], solution["response_time_p99"]
    assert (np.diff(half) > 0).all()
    assert (most > half).all()


def test_visits_are_taken_as_given():
    graph = ModelGraph("v").station("cpu", MM1(0.01), visits=2.4)
    assert "exactly the given number of them" in percentiles_of(graph, 5, 0.1, 95).approximation
    once = ModelGraph("once").station("cpu", MM1(0.01), visits=1)
    routed = ModelGraph("routed").station("cpu", MM1(0.01))
    assert percentiles_of(once, 5, 0.1, 95)["response_time_p95"] == pytest.approx(
        percentiles_of(routed, 5, 0.1, 95)["response_time_p95"], rel=1e-9
    )


def test_visits_by_chance_are_routes_by_chance():
    given = ModelGraph("v").station("a", MM1(1.0), visits=1).station("b", MM1(2.0), visits=0.25)
    routed = ModelGraph("r").station("a", MM1(1.0)).station("b", MM1(2.0)).route("a", "b", 0.25)
    assert percentiles_of(given, 5, 4.0, 99)["response_time_p99"] == pytest.approx(
        percentiles_of(routed, 5, 4.0, 99)["response_time_p99"], rel=1e-9
    )


def test_stations_whose_order_is_not_known_are_refused():
    with pytest.raises(
        GraphError, match="w: its response time distribution is unknown: rates do not"
    ):
        percentiles_of(ModelGraph("g").station("w", WakeUp(1.0, 1.0)), 3, 1.0, 95)


def crowd(population):
    """Two queues that jobs come back to, the second the busier."""
    onward = np.array([[0.0, 0.8], [1.0, 0.0]])
    places = PassageStation("cpu", 1.0, 1, 1), PassageStation("disk", 2.0, 1, 1)
    stays = np.array([2.5, 2.0 * population])
    ends = np.array([1.0, 0.0]), onward, np.array([0.2, 0.0])
    return Passage(places, *ends, population, 10.0, 1 / 8, stays)


def test_larger_crowds_are_followed_with_less_detail():
    """Shapes agree within what each law may miss, and what is too much is not tried."""
    assert TaggedJobChain(crowd(30)).is_small_enough
    assert AggregatedTaggedJobChain(crowd(60)).is_small_enough
    assert not AggregatedTaggedJobChain(crowd(1500)).is_small_enough
    most = passage_law(crowd(1500))
    assert most.notes == (APART,)
    fine, coarse = TaggedJobChain(crowd(20)).law(), AggregatedTaggedJobChain(crowd(20)).law()
    for share in SHARES:
        near = percentile_of(fine, share)
        assert percentile_of(coarse, share) == pytest.approx(near, rel=0.02)


def test_a_crowd_beyond_any_table_is_refused():
    station = ModelGraph("g").station("s", MM1(1.0)).station("d", Delay(2.0)).route("s", "d")
    model = station.at().closed(10**17, 5.0)
    with pytest.raises(GraphError, match=r"1e\+17 circulating jobs .* at most 1,000,000"):
        model.solve().with_percentile(95)


DERIVED = Small(
    (1.0, 1.5, 2.0), (1, 2, 1), (1, 0, 0), ((0, 0.4, 0.4), (1, 0, 0), (1, 0, 0)), 5, think_time=2.0
)
"""The network of docs/explanation/tagged-job.md."""


def test_the_errors_on_the_page_that_derives_the_chain_are_its_own():
    page = (DOCS / "explanation/tagged-job.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([a-z ]+) \| (-?[\d.]+)% \| (-?[\d.]+)% \| (-?[\d.]+)% \|$", page, re.MULTILINE
    )
    stated = {name: [float(cell) for cell in cells] for name, *cells in rows}
    shares = (0.5, 0.95, 0.99)
    exact = np.array(percentiles(DERIVED, shares))
    passage = circle_of(DERIVED)
    for name, chain in (
        ("conditional equilibrium", TaggedJobChain(passage)),
        ("fewer states", AggregatedTaggedJobChain(passage)),
    ):
        law = chain.law()
        errors = np.array([percentile_of(law, share) for share in shares]) / exact - 1
        assert stated.pop(name) == pytest.approx(100 * errors, abs=0.0051)
    assert not stated


@pytest.mark.parametrize("chain", [TaggedJobChain, AggregatedTaggedJobChain])
def test_the_mean_of_the_aggregated_chain_is_exact(monkeypatch, chain):
    """By Little's law: averaging what is not kept leaves the equilibrium of what is kept."""
    found = []
    scaled = AbsorbingChain.law

    def own(self, mean, inside):
        found.append(scaled(self, None, 1e-10).mean / mean)
        return scaled(self, mean, inside)

    monkeypatch.setattr(AbsorbingChain, "law", own)
    onward = ((0.1, 0.4, 0.3), (0.8, 0, 0.2), (1, 0, 0))
    chain(circle_of(Small((1.0, 0.7, 0.4), (1, 1, 1), (1, 0, 0), onward, 6, 5.0))).law()
    assert found == [pytest.approx(1.0, rel=1e-8)]


@pytest.mark.parametrize(
    ("times", "servers", "population", "think"),
    [
        ((1.0, 1.0), (1, 1), 300, 0.0),  # equal bottlenecks: hardly a window
        ((1.0, 0.8, 0.3), (1, 1, 1), 400, 0.0),
        ((1.0, 0.9), (1, 3), 200, 150.0),
        ((1.0, 0.6, 0.95), (2, 1, 1), 300, 400.0),
    ],
)
def test_numbers_outside_the_windows_change_no_percentile_that_inversion_tells(
    times, servers, population, think
):
    """As much as `_LEFT_OUT` says: 3e-12 at most in forty random networks."""
    count = len(times)
    rate = min(m / s for m, s in zip(servers, times, strict=True))  # of the bottleneck
    places = [PassageStation(str(k), s, servers[k], 1) for k, s in enumerate(times)]
    each = np.eye(count)
    ends = each[0], np.roll(each, 1, axis=1) * (np.arange(count) < count - 1)[:, None], each[-1]
    stays = np.full(count, (population / rate - think) / count)
    passage = Passage(tuple(places), *ends, population, think, rate, stays)
    windowed, whole = (OvertakeFree(passage, list(range(count))) for _ in range(2))
    vars(whole)["windows"] = [(0, population)] * count + [(population - 1, population)]
    laws = [
        after_start(TimeLaw((Piece(0.0, one.transform),), passage.mean))
        for one in (windowed, whole)
    ]
    ours, all_of_them = ([percentile_of(law, share) for share in SHARES] for law in laws)

    assert windowed.windows != whole.windows or think == 0
    np.testing.assert_allclose(ours, all_of_them, rtol=1e-11)
