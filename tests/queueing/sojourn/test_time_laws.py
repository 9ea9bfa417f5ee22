"""Percentiles by routes, in loops, with jumps, of classes: against closed laws and whole chains."""

import json

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.stats import gamma as gamma_law

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.models.solving.response_times.open_classes import served_in_turn
from headway.models.solving.response_times.percentiles import law_of
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    Delay,
    GGm,
    LoadDependent,
    MMm,
    MMmK,
    StationVisits,
    WakeUp,
    path_exceedance,
    path_percentile,
    response_time_percentile,
)
from headway.queueing.times.feedback import Feedback
from headway.queueing.times.inversion import exceedance, percentile_of
from headway.queueing.times.laws import gamma
from headway.queueing.times.laws import pooled as pooled_law
from headway.queueing.times.phase_type import in_phases
from headway.queueing.times.tagged_job.kinds import FcfsQueue
from headway.queueing.times.tagged_job.laws import loop_laws
from headway.queueing.times.tagged_job.station import StationLoop
from tests.oracles.time_oracles import crommelin, hypoexponential, loop_exceedance, pooled

TAIL = 1e-6
"""Relative error of chances of being exceeded down to one in a thousand."""


def central():
    return (
        ModelGraph("central")
        .station("cpu", MM1(0.1))
        .station("disk", MM1(0.2))
        .route("cpu", "disk", 0.8)
        .route("disk", "cpu")
    )


def again(station, chance):
    return ModelGraph("again").station("s", station).route("s", "s", chance)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_closed_laws_hold_far_into_the_tail(share):
    tail = 1 - share
    for busy in (0.05, 0.3, 0.6, 0.85):
        time = response_time_percentile(MD1(2.0), busy / 2, share)
        if time > 2.0 * (1 + 1e-9):  # else the jump of those who find nobody holds the percentile
            assert crommelin(busy / 2, 2.0, time) == pytest.approx(tail, rel=TAIL)
    time = path_percentile([StationVisits(1, MM1(m), 0.0) for m in (0.1, 0.7, 1.0, 3.0)], share)
    assert hypoexponential([0.1, 0.7, 1.0, 3.0], time) == pytest.approx(tail, rel=TAIL)
    for servers, load in ((2, 1.7), (8, 4.0), (30, 28.2)):
        time = response_time_percentile(MMm(1.0, servers), load, share)
        assert pooled(servers, load, time) == pytest.approx(tail, rel=TAIL)
    time = response_time_percentile(MM1(0.5), 1.0, share)
    assert np.exp(-time) == pytest.approx(tail, rel=TAIL)


def test_crommelins_tail():
    """Table of the issue: today 2.1372 and 3.25e-5."""
    assert response_time_percentile(MD1(1.0), 0.05, 0.999) == pytest.approx(2.1277, abs=5e-5)
    assert path_exceedance([StationVisits(1, MD1(1.0), 0.05)], 3.0) == pytest.approx(
        crommelin(0.05, 1.0, 3.0), rel=1e-5
    )


def test_many_visits():
    """A sum of 5,000 exponential times is gamma-distributed."""
    for share in (0.01, 0.5, 0.99, 0.999):
        time = path_percentile([StationVisits(5000, MM1(1.0), 0.5)], share)
        assert gamma_law.cdf(time / 2, 5000) == pytest.approx(share, rel=1e-9)


def test_times_jump_where_a_constant_is_visited_by_some():
    graph = ModelGraph("some").station("cpu", MM1(0.01)).station("wan", Delay(10.0))
    routed = graph.route("cpu", "wan", 0.3).at().solve(arrival_rate=50.0)
    given = [StationVisits(1, MM1(0.01), 50.0), StationVisits(0.3, Delay(10.0), 15.0)]

    # P(T > t) = 0.7 exp(-50 t) + 0.3 exp(-50 (t - 10)) from 10 on; before it, 0.7 exp(-50 t) + 0.3
    for percent, time in ((99, 10.068024), (99.9, 10.114076), (70.5, 10.000336), (60, 0.038918)):
        name = f"response_time_p{percent:g}"
        assert routed.with_percentile(percent)[name] == pytest.approx(time, abs=1e-6)
        assert path_percentile(given, percent / 100) == pytest.approx(time, abs=1e-6)


def test_constants_in_a_loop_jump_at_each_round():
    """An M/M/1 next to idle and a delay of 10: after k rounds the time is 10 k and Erlang."""
    graph = (
        ModelGraph("rounds")
        .station("cpu", MM1(0.01))
        .station("wan", Delay(10.0))
        .route("cpu", "wan", 0.3)
        .route("wan", "cpu")
    )
    solved = graph.at().solve(arrival_rate=0.0).with_percentile(99.5)

    # 0.3**4 = 0.81% make four rounds or more, 0.243% five: it is of those with four
    result = brent(lambda t: 0.3**5 + 0.7 * 0.3**4 * gamma_law.sf((t - 40) / 0.01, 5) - 0.005)
    assert solved["response_time_p99.5"] == pytest.approx(result, rel=1e-9)


def test_percentiles_at_a_jump_are_the_jump():
    shares = np.array([0.1, 0.5, 0.9, 0.99])

    assert response_time_percentile(Delay(0.006), 1.0, shares).tolist() == [0.006] * 4
    assert response_time_percentile(MD1(0.3), 1.0, 0.5) == 0.3


def brent(chance):
    return brentq(chance, 40.0, 41.0, xtol=1e-13)


def test_a_queue_that_jobs_come_back_to_is_followed_exactly():
    """Simulated 99th percentile of the issue: 123; independent visits gave 92.1."""
    solved = again(MM1(1.0), 0.9).at().solve(arrival_rate=0.05).with_percentile(99)

    assert solved["response_time_p99"] == pytest.approx(123, abs=0.5)
    assert solved.approximation == ""


def test_feedback_against_its_whole_chain():
    """One server of two is never visited: the chain is that of a single queue with feedback."""
    chance, rate = 0.5, 0.25
    ats = [2.0, 10.0, 20.0]
    exact = loop_exceedance((1.0, 1.0), ((chance, 0.0), (0.0, 0.0)), rate, 28, ats)

    solved = again(MM1(1.0), chance).at().solve(arrival_rate=rate)
    law = law_of(solved.point(0))

    # 28 places of each leave 1e-6 of the chance out
    assert [exceedance(law, t) for t in ats] == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize("busy", [0.2, 0.5])
def test_a_pool_that_jobs_come_back_to_is_followed_exactly(busy):
    """Two servers; states are how many wait before it (-1: it is served) and others. To 1e-5."""
    chance, most = 0.4, 32
    rate = 2 * busy * (1 - chance)
    place = {(-1, b): b for b in range(most)}
    place |= {
        s: most + k for k, s in enumerate((a, b) for a in range(most) for b in range(most - a))
    }
    moves, result = np.zeros((len(place),) * 2), np.zeros(len(place))
    for (ahead, others), k in place.items():
        for after, speed in pool_moves(ahead, others, rate, chance):
            if after is None or after in place:
                moves[k, k] -= speed
            if after in place:
                moves[k, place[after]] += speed
    for n in range(most):
        result[place[(-1, n) if n < 2 else (n - 2, 0)]] = (0.5 if n == 0 else 1.0) * busy**n

    solved = again(MMm(1.0, 2), chance).at().solve(arrival_rate=rate).with_percentile(99)

    left = result / result.sum() @ expm(moves * solved["response_time_p99"])
    assert left.sum() == pytest.approx(0.01, rel=1e-5)
    assert solved.approximation == ""


def pool_moves(ahead, others, rate, chance):
    """Of a job among others at two servers of pace 1, and where it is then; None once it leaves."""
    yield (ahead, others + 1), rate
    if ahead >= 0:
        for behind, share in ((others, 1 - chance), (others + 1, chance)):
            yield (ahead - 1, behind) if ahead else (-1, 1 + behind), 2 * share
        return
    if others:
        yield (-1, others - 1), 1 - chance
    yield None, 1 - chance
    if others >= 2:
        yield (others - 2, 0), chance


@pytest.mark.parametrize("scv", [1.0, 0.5, 3.0])
def test_mean_of_feedback_is_that_of_its_transform(scv):
    queue = Feedback(0.25, 0.5, gamma(1.0, scv), 1.0, scv)
    step = 1e-5

    # Tolerance: the second derivative times the step.
    slope = (1 - queue.transform(np.array([step + 0j]))[0].real) / step
    assert slope == pytest.approx(queue.mean_time, rel=2e-4)


def test_loops_lie_where_simulation_puts_them():
    """Table of the issue: p50 2.5, p99 33.4 to 35.6, p99.9 59 to 73; it was 11.12."""
    solved = central().at().solve(arrival_rate=1.0)

    assert solved.with_percentile(50)["response_time_p50"] == pytest.approx(2.5, abs=0.05)
    assert 33.4 < solved.with_percentile(99)["response_time_p99"] < 35.6
    assert 59 < solved.with_percentile(99.9)["response_time_p99.9"] < 73
    assert "loop of cpu, disk" in solved.with_percentile(95).approximation


def test_percentiles_of_loops_go_on_where_the_chain_is_extrapolated():
    """From 0.85 busy on shapes are extrapolated: no step there, and infinite from 1 on."""
    rates = np.array([0.84, 0.86, 0.99, 1.0]) * 1.25
    solved = central().at().solve(arrival_rate=rates).with_percentile(99)

    ratios = solved["response_time_p99"][:3] / solved["response_time"][:3]
    assert (np.diff(ratios) > 0).all()
    assert ratios[1] / ratios[0] < 1.02
    assert np.isinf(solved["response_time_p99"][3])


@pytest.mark.parametrize("back", [0.01, 0.2])
@pytest.mark.parametrize("queues", [1, 4])
def test_loops_of_few_steps(back, queues):
    """Hardly loaded, the time is of phases: b (sI - Q)^-1 exit, whichever way a job leaves."""
    times, on, rate = np.array([0.3, 0.3]), 0.25, 1e-9
    onward = np.array([[0, on], [back, 0]])
    flows = rate / (1 - on * back) * np.array([1, on])
    service = in_phases(0.3, 1.0)
    stops = (
        FcfsQueue(flows[0], service, service, 0.3),
        FcfsQueue(flows[1], service, service, 0.3, queues),
    )
    loop = StationLoop(stops, np.array([1.0, 0.0]), onward)

    [to_first, to_last], _ = loop_laws(loop)

    phases = (onward - np.eye(2)) / times[:, None]
    for station, law in enumerate((to_first, to_last)):
        exits = np.eye(2)[station] * loop.exit_probabilities / times
        through, squared = np.linalg.inv(-phases)[0] @ exits, np.linalg.inv(phases @ phases)[0]
        assert law.mean == pytest.approx(squared @ exits / through, rel=1e-8)
        for s in (0.1, 1.0, 10.0):
            expected = np.linalg.inv(s * np.eye(2) - phases)[0] @ exits / through
            assert law.transform(np.array([s + 0j]))[0] == pytest.approx(expected, rel=1e-8)


def test_a_fifo_of_several_classes():
    """Rates 0.4 and 0.4, times 0.2 and 2: means 13.7 and 15.5 s, and the law they belong to."""
    laws = [served_in_turn(np.array([0.4, 0.4]), np.array([0.2, 2.0]), own) for own in (0, 1)]

    assert [law.mean for law in laws] == pytest.approx([13.6667, 15.4667], abs=1e-4)
    # Equal times make it the exponential law of M/M/1.
    alike = served_in_turn(np.array([0.4, 0.4]), np.array([1.0, 1.0]), 0)
    assert percentile_of(alike, 0.95) == pytest.approx(-5 * np.log(0.05), rel=1e-9)


def shared(time="0.1", discipline="fcfs"):
    return (
        ModelGraph("shared")
        .station("cpu", MM1(0.1), visits={"web": 1, "batch": 1}, service_times={
            "web": 0.1, "batch": time}, discipline=discipline)
        .station("net", Delay(0.5), visits={"web": 1, "batch": 0})
        .job_class("web", arrival_rate=4.0)
        .job_class("batch", arrival_rate=3.0)
    )  # fmt: skip


def test_each_class_has_its_percentile_and_so_have_all():
    solved = shared("0.1").at().solve().with_percentile(95)
    one = -np.log(0.05) * 0.1 / 0.3

    assert solved["class batch.response_time_p95"] == pytest.approx(one, rel=1e-9)
    assert solved["class web.response_time_p95"] == pytest.approx(0.5 + one, rel=1e-9)
    time = solved["response_time_p95"]
    tail = (4 * np.exp(-(time - 0.5) * 3) + 3 * np.exp(-time * 3)) / 7
    assert tail == pytest.approx(0.05, rel=1e-8)
    point = json.loads(solved.to_json())["points"][0]
    assert point["classes"]["web"]["response_time_p95"] == pytest.approx(0.5 + one, rel=1e-9)
    assert "web_response_time_p95_s" in solved.to_csv()
    assert "response time p95" in str(solved)


def test_one_class_alone_has_its_percentile():
    graph = ModelGraph("alone").station("cpu", MM1(0.1)).job_class("web", arrival_rate=5.0)
    solved = graph.at().solve().with_percentile(95)

    expected = -np.log(0.05) * 0.2
    assert solved["class web.response_time_p95"] == pytest.approx(expected, rel=1e-9)
    assert solved["response_time_p95"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (again(MM1K(1.0, 4), 0.3), "return directly to s"),
    ],
)
def test_refused_where_no_law_exists(graph, why):
    values = {"arrival_rate": 0.5} if graph.needs_arrival_rate else {}
    with pytest.raises(GraphError, match=why):
        graph.at(**values).solve().with_percentile(95)


@pytest.mark.parametrize("station", [GGm(0.5, 1, 1.0, 1.0), LoadDependent((1.0, 2.0))])
def test_each_kind_says_why_it_has_no_law(station):
    with pytest.raises(GraphError, match=r"has no known distribution: \w+"):
        response_time_percentile(station, 0.5, 0.9)


def test_who_has_no_law_in_order_says_what_has_one():
    """The same station, whose rate all share, has one: a refusal that mends itself."""
    graph = ModelGraph("web").station("cpu", WakeUp(0.1, 0.2, servers=3))
    with pytest.raises(GraphError, match='say discipline = "ps" at it if all present share'):
        graph.at().solve(arrival_rate=5.0).with_percentile(99)
    with pytest.raises(GraphError, match="use MM1, MMm, Parallel or Delay, or give the load as"):
        graph.at().closed(5).solve().with_percentile(99)
    shared = ModelGraph("web").station("cpu", WakeUp(0.1, 0.2, servers=3), discipline="ps")
    assert shared.at().solve(arrival_rate=5.0).with_percentile(99)["response_time_p99"] > 0.3


def test_what_is_taken_for_granted_is_said():
    def notes_of(graph):
        return graph.at().solve(arrival_rate=0.2).with_percentile(95).approximation

    assert "gamma" in notes_of(ModelGraph("g").station("s", MG1(1.0, 2.0)))
    assert notes_of(ModelGraph("d").station("s", MD1(1.0))) == ""
    assert "varying by 10%" in notes_of(again(MD1(1.0), 0.5))
    assert notes_of(again(MMm(1.0, 2), 0.5)) == ""  # followed exactly
    given = ModelGraph("v").station("a", MM1(1.0), visits=2.4)
    assert "exactly the given number of them" in notes_of(given)
    ways = ModelGraph("w").station("a", MM1(1.0)).station("b", MM1(1.0)).route("a", "b")
    assert notes_of(ways) == ""  # jobs cannot overtake
    short = ways.station("c", MM1(1.0)).route("b", "c")
    assert "independent" in notes_of(
        ModelGraph("o").station("a", MM1(1.0)).station("b", MM1(1.0)).station("c", MM1(1.0))
        .route("a", "b", 0.5).route("a", "c", 0.5).route("b", "c")
    )  # fmt: skip
    assert notes_of(short) == ""
    assert notes_of(ModelGraph("r").station("s", MM1K(1.0, 3))) == ""


@pytest.mark.parametrize("load", [0.3, 1.0, 2.5])
def test_rooms_of_those_let_in(load):
    """M/M/2/5: Erlang waits by the number found, in numbers of arrivals that find a place."""
    weights = np.array([1.0, load, load**2 / 2, load**3 / 4, load**4 / 8])
    weights /= weights.sum()
    time = response_time_percentile(MMmK(1.0, 2, 5), load, 0.99)
    x = np.linspace(0, time, 20_001)
    # service density times the chance that the wait takes what is left of the time
    tail = np.exp(-time)
    late = sum(w * gamma_law.sf(time - x, n, scale=0.5) for n, w in enumerate(weights[2:], start=1))
    tail += np.trapezoid(np.exp(-x) * late, x)
    assert tail == pytest.approx(0.01, rel=1e-6)
    assert response_time_percentile(MM1K(1.0, 1), load, 0.99) == pytest.approx(np.log(100))


def test_a_late_loss_leaves_its_time_out():
    """Answered jobs: those a full room turns away are not among them."""
    graph = (
        ModelGraph("late").station("a", MMmK(1.0, 5, 5)).station("b", MM1K(1.0, 1)).route("a", "b")
    )
    solved = graph.at().solve(arrival_rate=2.0)

    assert solved.response_time == pytest.approx(2.0)
    time = solved.with_percentile(99)["response_time_p99"]
    assert np.exp(-time) * (1 + time) == pytest.approx(0.01, rel=1e-6)  # Erlang of 2 stages


@pytest.mark.parametrize("wait", [0.02, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 40.0])
@pytest.mark.parametrize("time", [0.03, 1.0, 7.0])
def test_a_pool_s_law_in_closed_form_is_that_of_its_phases(wait: float, time: float) -> None:
    """A wait with chance 0.3, then a service of 1 s, in 40 digits."""
    chance, density = pooled_law(1.0, 0.3, wait).pieces[0].within(time)

    with mpmath.workdps(40):
        alone, longer, t = mpmath.exp(-time), mpmath.mpf(wait), mpmath.mpf(time)
        slow = mpmath.exp(-t / longer)
        both = (1 + t) * alone if wait == 1 else (longer * slow - alone) / (longer - 1)
        falls = t * alone if wait == 1 else (slow - alone) / (longer - 1)
    assert 1 - chance == pytest.approx(float(0.7 * alone + 0.3 * both), rel=1e-12)
    assert density == pytest.approx(float(0.7 * alone + 0.3 * falls), rel=1e-12)
