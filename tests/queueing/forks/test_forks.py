"""Requests that go to several unlike stations at once, and on when enough of them are done."""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, catalogue_model, parse_model
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    Batch,
    Delay,
    Fork,
    ForkJoin,
    MMm,
    Parallel,
    response_time_percentile,
)
from headway.queueing.forks.kth import kth
from headway.queueing.forks.sharing import kth_with_common_factor
from headway.queueing.order_statistics.branch_times import Wait
from tests.campaigns import fork_tails
from tests.campaigns.unlike_forks import (
    REQUESTS,
    case,
    errors,
    simulated,
    stored,
    summary_rows,
    table,
)
from tests.support.command import headway
from tests.support.pages import accuracy

loads = st.floats(0.01, 0.97)


def both_done(rate, first, second, most=60):
    """Mean time until both exponential branches are done, by their whole chain (truncated).

    An arrival that finds (i, j) is done after the longer of Erlang times of i + 1 and j + 1 steps.
    """
    states = list(product(range(most), repeat=2))
    place = {state: k for k, state in enumerate(states)}
    rows, columns, rates = [], [], []
    for i, j in states:
        moves = [((i + 1, j + 1), rate), ((i - 1, j), first), ((i, j - 1), second)]
        for target, speed in moves:
            if target in place:
                rows += [place[target], place[i, j]]
                columns += [place[i, j]] * 2
                rates += [speed, -speed]
    flow = coo_matrix((rates, (rows, columns)), shape=(len(states),) * 2).tolil()
    flow[0, :] = 1.0
    right = np.zeros(len(states))
    right[0] = 1.0
    chances = spsolve(flow.tocsr(), right)
    total = first + second

    @cache
    def longer(i, j):
        if i == 0 or j == 0:
            return i / first + j / second
        return (1 + first * longer(i - 1, j) + second * longer(i, j - 1)) / total

    return sum(chances[place[i, j]] * longer(i + 1, j + 1) for i, j in states)


def test_the_chain_itself_finds_what_nelson_and_tantawi_do():
    assert both_done(0.5, 1.0, 1.0) == pytest.approx((12 - 0.5) / 8 / 0.5, rel=1e-6)


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.7])
@pytest.mark.parametrize("speed", [1.1, 1.6, 3.0])
def test_two_unlike_exponential_branches_are_near_their_whole_chain(rate, speed):
    """Within 1%: what is approximate is what they share."""
    time = Fork((MM1(1.0), MM1(1 / speed)), 2).response_time(rate)
    assert time == pytest.approx(both_done(rate, 1.0, speed), rel=0.01)


@settings(max_examples=20)
@given(loads, st.integers(1, 12), st.floats(0.1, 3))
def test_branches_that_are_alike_are_a_fork_join(busy, branches, scv):
    for needed in {1, -(-branches // 2), branches}:
        unlike = Fork((MG1(1.0, scv),) * branches, needed).response_time(busy)
        alike = ForkJoin(1.0, branches, needed, scv).response_time(busy)
        assert unlike == pytest.approx(alike, rel=1e-5)


@settings(max_examples=20)
@given(st.lists(st.floats(0.1, 1), min_size=1, max_size=6), st.floats(0.01, 0.99))
def test_constant_services_go_in_step(times, busy):
    """Who is slower has the longer queue at any time, so the k-th done is the k-th fastest."""
    branches = tuple(map(MD1, times))
    rate = busy / max(times)
    each = sorted(branch.response_time(rate) for branch in branches)
    for k, alone in enumerate(each, 1):
        assert Fork(branches, k).response_time(rate) == pytest.approx(alone, rel=1e-9)


def test_branches_next_to_nothing_of_which_forks_are_independent():
    """1/a + 1/b - 1/(a + b) of two exponential times."""
    branches = MM1(1.0), MM1(0.5)
    time = Fork(branches, 2, (1e9, 1e9)).response_time(0.8e-9)
    slow, fast = 1 / 5.0, 1 / (0.5 / 0.6)
    assert time == pytest.approx(1 / slow + 1 / fast - 1 / (slow + fast), rel=1e-7)


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.floats(0.05, 5), st.floats(0.05, 3)), min_size=1, max_size=8),
)
def test_the_kth_adds_up_to_all_of_them(times):
    """The sum over k of E[T_k] is that of the means, as is that of the second moments."""
    means, scvs = (np.array(part)[:, None] for part in zip(*times, strict=True))
    values = np.array([kth(means, scvs, np.array([k])) for k in range(1, len(times) + 1)])
    np.testing.assert_allclose(values[:, 0].sum(), means.sum(), rtol=1e-6)
    np.testing.assert_allclose(values[:, 1].sum(), (means**2 * (1 + scvs)).sum(), rtol=1e-6)
    assert (np.diff(values[:, 0, 0]) >= -1e-9).all()


def test_constant_times_among_others_are_told_exactly():
    """max(1, exponential of mean 2) is 1 + 2 exp(-1/2)."""
    mean, _ = kth(np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]]), np.array([2]))
    assert mean[0] == pytest.approx(1 + 2 * np.exp(-0.5), rel=1e-5)


@settings(max_examples=8)
@given(st.integers(0, 119), loads)
def test_more_needed_takes_longer_and_more_load_too(number, share):
    fork, rate = case(number)
    for slower in (0.5 * share, share):
        all_of_them = [
            Fork(fork.branches, k, fork.others).response_time(slower * rate)
            for k in range(1, len(fork.branches) + 1)
        ]
        assert (np.diff(all_of_them) >= -1e-7).all()
    quiet = Fork(fork.branches, len(fork.branches), fork.others).response_time(0.25 * share * rate)
    assert quiet <= all_of_them[-1] * (1 + 1e-6)


def test_an_array_gives_what_each_of_its_points_does():
    rates = np.array([1.0, 30.0, 60.0, 90.0, 130.0])
    branches = MM1(0.008), MG1(np.array([0.002, 0.004, 0.004, 0.008, 0.004]), 0.5), MMm(0.01, 2)
    every = Fork(branches, 3, (0.0, 0.5, 0.0))
    time = every.response_time(rates)
    for k, rate in enumerate(rates):
        one = MM1(0.008), MG1(branches[1].service_time[k], 0.5), MMm(0.01, 2)
        alone = Fork(one, 3, (0.0, 0.5, 0.0)).response_time(rate)
        assert time[k] == pytest.approx(alone, rel=1e-6)
    assert np.isinf(time[3:]).all()


@pytest.mark.slow
def test_the_table_of_the_page_is_that_of_the_simulation():
    """Errors by case, and the labels that follow from them."""
    result = stored()
    rows = summary_rows(result)
    assert table(rows) in accuracy()
    every = [parts for needed, _, _, parts in rows if needed == "all"]
    some = [parts for needed, _, _, parts in rows if needed != "all"]
    mean = max(parts[0].max() for parts in every)
    part = max(parts[3].max() for parts in some)
    label = Fork.approximation
    assert f"mean response within {np.ceil(mean):.0f}% of simulations" in label
    assert f"within {np.ceil(part):.0f}% of the slowest's" in label
    most = max(parts[0].max() for parts in some)
    assert f"of some of the branches within {np.ceil(most):.0f}%" in label
    median, high = (max(np.nanmax(p[k]) for p in (*every, *some[:3])) for k in (1, 2))
    note = Fork((MM1(1.0), MM1(0.5)), 2).time_law(0.5).notes[-1]
    assert f"the 99th within {np.ceil(high):.0f}% of simulations" in note
    assert f"the median within {np.ceil(median):.0f}%" in note


def test_a_stored_row_is_what_the_simulation_gives():
    """Case 8: a fifth of what comes to one branch forks; within 2% with a tenth of the jobs."""
    row = next(row for row in stored() if row[0] == 8)
    again = simulated(8, REQUESTS // 10)
    assert again.mean() == pytest.approx(row[2], rel=0.02)
    assert errors(row[None])[0, 3] == pytest.approx(0.0, abs=0.03)


def test_waits_share_what_two_exponential_branches_do():
    """What waits share is found from Nelson and Tantawi's mean of two, and has no other number."""
    busy = np.array([0.05, 0.2, 0.5, 0.85])
    rows = 1.0, 1.0, busy, 1 / (1 - busy), (1 - busy) ** -2, busy, 1.0
    waits = Wait(*(np.broadcast_to(row, (2, busy.size)) for row in rows))
    longer, shorter = (
        kth_with_common_factor(waits, np.full(busy.size, k)) * (1 - busy) for k in (2, 1)
    )
    np.testing.assert_allclose(longer, 1.5 - busy / 8, rtol=1e-4)
    np.testing.assert_allclose(shorter, 0.5 + busy / 8, rtol=1e-3)  # both add up to two of one


def test_branches_nearly_alike_take_what_those_alike_do():
    """The first of three: no jump where the one law hands over to the other."""
    values = [Fork((MM1(1.0), MM1(1.0), MM1(1 - x)), 1).response_time(0.7) for x in (0, 1e-6, 0.01)]
    assert values[1] == pytest.approx(values[0], rel=1e-4)
    assert values[2] == pytest.approx(values[0], rel=0.02)


FILE = """name = "write"
[parameters]
arrival_rate = "50 /s"
[stations.cpu]
kind = "MM1"
service_time = "1 ms"
[stations.disk]
kind = "MM1"
service_time = "8 ms"
[stations.log]
kind = "MG1"
service_time = "4 ms"
scv = 0.5
"""
ROUTE = '[[routes]]\nfrom = "cpu"\nparallel = ["disk", "log"]\n'
PAIR = (
    '[stations.split]\nkind = "Fork"\n[stations.both]\nkind = "Join"\nfork = "split"\n'
    '[[routes]]\nfrom = "cpu"\nto = "split"\n[[routes]]\nfrom = "split"\nto = "disk"\n'
    '[[routes]]\nfrom = "split"\nto = "log"\n[[routes]]\nfrom = "disk"\nto = "both"\n'
    '[[routes]]\nfrom = "log"\nto = "both"\n'
)
ONE = (
    '[stations.split]\nkind = "Fork"\nbranches = ["disk", "log"]\n'
    '[[routes]]\nfrom = "cpu"\nto = "split"\n'
)
EXPECTED = MM1(1e-3).response_time(50) + Fork((MM1(8e-3), MG1(4e-3, 0.5)), 2).response_time(50)


@pytest.mark.parametrize("forks", [ROUTE, PAIR, ONE])
def test_three_ways_to_say_it_are_one(forks):
    model = parse_model(FILE + forks)
    solution = model.solve()
    assert solution.response_time == pytest.approx(EXPECTED, rel=1e-12)
    assert parse_model(model.to_toml()).solve().response_time == solution.response_time
    assert solution["disk.visits"] == 1
    assert solution["disk.residence_time"] == 0
    assert solution.saturation_throughput == pytest.approx(125.0)


def test_what_comes_to_branches_otherwise_goes_its_own_way():
    """Arrivals of the disk's own leave it; requests that fork go on to the reply."""
    reply = '[stations.reply]\nkind = "Delay"\nservice_time = "2 ms"\n'
    comes = '[arrivals]\ncpu = "arrival_rate"\ndisk = 30\n'
    model = parse_model(FILE + reply + ROUTE + 'to = "reply"\n' + comes)
    solution = model.solve()
    fork = Fork((MM1(8e-3), MG1(4e-3, 0.5)), 2, (30 / 50, 0)).response_time(50.0)
    ways = MM1(1e-3).response_time(50) + fork + 2e-3, MM1(8e-3).response_time(80)
    assert solution.response_time == pytest.approx((50 * ways[0] + 30 * ways[1]) / 80, rel=1e-12)
    assert solution["disk.arrival_rate"] == pytest.approx(80)
    both = [
        r * solution["throughput"] for r in (solution["disk.visits"], solution["cpu_fork.visits"])
    ]
    assert both == pytest.approx([80, 50])


def test_some_of_them_and_a_branch_of_two_forks():
    """30% write to disk and log, the rest reads the first of disk and mirror."""
    graph = ModelGraph("raid").station("cpu", MM1(1e-3)).station("disk", MM1(6e-3))
    graph = graph.station("log", MM1(2e-3)).station("mirror", MM1(6e-3))
    graph = graph.fork("write", ["disk", "log"]).fork("read", ["disk", "mirror"], needed=1)
    model = graph.route("cpu", "write", 0.3).route("cpu", "read", 0.7).at()
    solution = model.solve(arrival_rate=100)
    write = Fork((MM1(6e-3), MM1(2e-3)), 2, (7 / 3, 0.0)).response_time(30.0)
    read = Fork((MM1(6e-3), MM1(6e-3)), 1, (3 / 7, 0.0)).response_time(70.0)
    assert solution["disk.utilisation"] == pytest.approx(0.6)
    assert solution["write.residence_time"] == pytest.approx(0.3 * write)
    assert solution["read.residence_time"] == pytest.approx(0.7 * read)


def test_visits_in_place_of_routes():
    """Two of 28 disks at once, in 15% of the requests: a branch may be named twice there."""
    graph = ModelGraph("raid").station("disks", Parallel(0.012, 28), visits=0.5)
    graph = graph.fork("parity", ["disks", "disks"], visits=0.15)
    solution = graph.at().solve(arrival_rate=1000)
    assert solution["disks.visits"] == pytest.approx(0.8)
    one = Parallel(0.012, 28).response_time(800)
    both = solution["parity.response_time"]
    assert solution.response_time == pytest.approx(0.5 * one + 0.15 * both)
    assert both == pytest.approx(1.5 * one, rel=0.005)  # as good as independent
    assert solution.with_percentile(99)["response_time_p99"] > one


def test_the_raid_of_the_catalogue_writes_in_two_steps():
    """Two parts read, then two written, each to different ones of 28 disks as busy as both make."""
    model = catalogue_model("nfs-server-raid5")
    solution, quiet = model.solve(arrival_rate=400), model.at(written=0.0).solve(arrival_rate=400)
    disks = Parallel(0.012, 28)
    assert solution["disks.visits"] == pytest.approx(4 * 0.07)
    step = Fork((disks, disks), 2, (3.0, 3.0)).response_time(0.07 * 400)
    assert solution.response_time - quiet.response_time == pytest.approx(2 * 0.07 * step)
    assert quiet.response_time == pytest.approx(3.4e-3 + MM1(650e-6).response_time(400))


def test_percentiles_join_those_of_other_stations():
    rates = np.array([10.0, 50.0, 110.0])
    solution = parse_model(FILE + ROUTE).at(arrival_rate=rates).solve().with_percentile(99)
    fork = response_time_percentile(Fork((MM1(8e-3), MG1(4e-3, 0.5)), 2), rates, 0.99)
    more = fork + response_time_percentile(MM1(1e-3), rates, 0.99)
    assert ((solution["response_time_p99"] > fork) & (solution["response_time_p99"] < more)).all()
    assert "percentiles of a fork with unlike branches" in solution.approximation


def test_the_label_goes_with_every_answer():
    solution = parse_model(FILE + ROUTE).solve()
    for shown in (str(solution), solution.to_json(), solution.to_csv()):
        assert "of simulations" in " ".join(shown.split())


def test_percentiles_that_two_moments_do_not_tell_are_refused():
    with pytest.raises(GraphError, match="half of them or fewer are needed"):
        response_time_percentile(Fork((MM1(1.0), MM1(0.5)), 1), 0.5, 0.99)
    with pytest.raises(GraphError, match="service at one is constant"):
        response_time_percentile(Fork((MM1(1.0), Delay(0.5)), 2), 0.5, 0.99)


def test_numbers_out_of_their_domain_are_refused():
    with pytest.raises(InvalidParameter, match="needed is 3, more than the number of branches, 2"):
        Fork((MM1(1.0), MM1(0.5)), 3)
    graph = ModelGraph("raid").station("disks", Parallel(0.012, 2))
    with pytest.raises(InvalidParameter, match="disks is named 3 times, but has 2 servers"):
        graph.fork("parity", ["disks"] * 3).arrive("parity").at().solve(arrival_rate=1.0)
    with pytest.raises(GraphError, match="a fork has no branch"):
        Fork((), 1)
    with pytest.raises(GraphError, match="branch 2 is MM1K, which cannot be a branch"):
        Fork((MM1(1.0), MM1K(0.5, 3)), 1)


BAD = {
    "needed": (ROUTE + "needed = 3\n", "needed is 3, more than the number of branches, 2"),
    "none": (ROUTE.replace('["disk", "log"]', "[]"), "parallel is empty"),
    "unknown": (ROUTE.replace('"log"', '"lot"'), "there is no station 'lot'; did you mean log"),
    "twice": (ROUTE.replace('"log"', '"disk"'), "disk is named twice"),
    "alone": (
        '[[routes]]\nfrom = "cpu"\nto = "disk"\nneeded = 1\n',
        "needed is missing its list of stations",
    ),
    "nested": (
        ROUTE.replace('"log"', '"split"')
        + '[stations.split]\nkind = "Fork"\nbranches = ["disk", "log"]\n',
        "its branch split is a fork too; nested forks are not supported",
    ),
    "no join": (PAIR.replace('kind = "Join"\nfork = "split"', 'kind = "MM1"\nservice_time = 0'),
                "split is a Fork without a Join"),
    "nobody": (PAIR.replace('fork = "split"', ""),
               "both is a Join without a Fork: its key fork is missing"),
    "no fork": (PAIR.replace('fork = "split"', 'fork = "cpu"'),
                "'cpu' is not a station of kind Fork"),
    "leaves": (PAIR[: PAIR.rindex("[[routes]]")], "log is a branch of split, so it must lead to"),
    "share": (
        PAIR.replace('to = "disk"\n', 'to = "disk"\nprobability = 0.5\n'),
        "a fork sends to every branch; delete the probability",
    ),
    "stranger": (
        PAIR + '[[routes]]\nfrom = "cpu"\nto = "both"\n',
        "both waits for cpu, but split sends nothing there",
    ),
    "two joins": (PAIR + '[stations.again]\nkind = "Join"\nfork = "split"\n',
                  "again is not needed: split lists its branches"),
    "key": (ONE.replace("branches", "servers = 2\nbranches"), "is a Fork and has no key 'servers'"),
    "list": (ONE.replace('["disk", "log"]', '"disk"'), "branches must be a list of station names"),
    "loses": (
        ROUTE.replace('"log"', '"room"')
        + '[stations.room]\nkind = "MM1K"\nservice_time = 1\ncapacity = 3\n',
        "its branch room (MM1K) can lose a part",
    ),
    "spread": (
        ROUTE.replace('"log"', '"gpu"')
        + '[stations.gpu]\nkind = "Batch"\nbatch_time = 1\nrequest_time = 1\nlargest_batch = 4\n',
        "whose response time variance is unknown",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    added, message = BAD[name]
    Path("write.toml").write_text(FILE + added, "utf-8")
    result = headway("solve", "write.toml")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_what_is_not_known_of_forks_is_refused_by_name():
    graph = ModelGraph("write").station("disk", MM1(8e-3)).station("log", MM1(4e-3))
    forked = graph.fork("both", ["disk", "log"]).arrive("both")
    with pytest.raises(GraphError, match="no closed form"):
        forked.closed_form("response_time")
    with pytest.raises(GraphError, match="supports one class of jobs only"):
        forked.job_class("web", 1.0).at().solve()
    batch = graph.station("gpu", Batch(1.0, 1.0, 4))
    with pytest.raises(GraphError, match="whose response time variance is unknown"):
        batch.fork("all", ["disk", "gpu"])
    loop = graph.station("cpu", MG1(1e-3, 0.5)).route("cpu", "cpu", 0.5)
    with pytest.raises(GraphError, match="jobs return directly to cpu"):
        loop.fork("all", ["disk", "cpu"]).at().solve(arrival_rate=1.0)


def test_the_far_tail_of_unlike_branches_is_labelled_with_what_it_misses():
    """24 simulated cases; the page has both ends, and answers the larger one rounded up."""
    found = 100 * fork_tails.errors()
    assert len(found) == fork_tails.CASES
    ends = f"from {-found.min():.1f}% too low to {found.max():.1f}% too high"
    assert ends in accuracy()
    fork, rate = case(int(fork_tails.campaigns.stored_rows(fork_tails.PAGE)[0]["case"]))
    (note,) = fork.time_law(rate).notes
    assert f"the 99.9th within {np.ceil(np.abs(found).max()):g}%" in note
