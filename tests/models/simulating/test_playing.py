"""The event loop: kernel and twin leave the same state, and samples, lines and limits hold."""

import math

import numpy as np
import pytest
from scipy import stats

from headway.errors import GraphError
from headway.models import ModelGraph, parse_model
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.loop import play
from headway.models.simulating.playing.rows import Choice, Reason
from headway.models.simulating.playing.run import Counts, Run, arguments
from headway.models.simulating.playing.state import COUNTED, opening
from headway.models.simulating.scoring import score_of
from headway.queueing import MM1, Discipline, MGm, Parallel
from headway.queueing.compiled.library import LIBRARY, TWINS
from headway.queueing.playing.rows import Family
from headway.queueing.playing.times import NONE, WIDTH, Times
from tests.brute.kinds import KINDS, drawn
from tests.support.cases import mostly_slow
from tests.support.played import BREAKS, PLAYED

built = pytest.mark.skipif(LIBRARY is None, reason="needs the kernels, which were not built")


def score(model):
    return score_of(blueprint(model))


def one(station, rate=0.5, **message):
    return ModelGraph("one").station("node", station, **message).at(arrival_rate=rate)


def played(what, by, slices=4, events=500):
    """The state after some slices; its arrays grow where they are full."""
    state = opening(what, 7, 3, kept=True)
    for _ in range(slices):
        by(*arguments(what, state), 1e9, events)
        if state.clock["reason"][0] == Reason.CROWDED:
            state.grow(len(state.jobs))
    return state


def unlike(what):
    """Names of the arrays of a state that differ between the kernel and its twin."""
    one, other = (vars(played(what, by)) for by in (play, TWINS["play"]))
    return [name for name in one if not (one[name] == other[name]).all()]


@built
@pytest.mark.parametrize("name", PLAYED)
def test_kernel_and_twin_leave_the_same_state(name):
    """Each kind, discipline, family of laws, and way to arrive."""
    assert unlike(PLAYED[name]()) == []


@built
@pytest.mark.parametrize("number", mostly_slow(range(2 * len(KINDS)), len(KINDS) // 2))
def test_kernel_and_twin_play_random_networks_alike(number):
    assert unlike(score(parse_model(drawn(number).text))) == []


def test_all_that_a_score_says_is_played_here():
    scores = [make() for make in PLAYED.values()]
    assert {k for s in scores for k in s.stations["order"]} == set(range(6))
    assert {k for s in scores for k in s.stations["choice"]} == set(Choice)
    assert {k for s in scores for k in s.stations["blocking"]} == set(range(3))
    assert {k for s in scores for k in s.laws["kind"]} == set(Family)
    assert any(s.stations["interrupts"].any() for s in scores)
    assert any(s.classes["rounds"].any() for s in scores)
    assert any(s.limits for s in scores)


class Recorded(Run):
    """A run that keeps every time."""

    def play(self, until):
        super().play(until)
        self.counts  # noqa: B018 - takes the journeys that are left

    def take(self, journeys):
        self.every = [*getattr(self, "every", []), *journeys["time"].tolist()]
        super().take(journeys)


LAWS = {
    0.0: None,
    0.25: stats.gamma(4, scale=0.25),
    1.0: stats.expon(),
    3.0: stats.gamma(1 / 3, scale=3),
}


@pytest.mark.parametrize("scv", LAWS)
def test_samples_follow_their_laws(scv):
    """A delay's response times are samples; Kolmogorov and Smirnov, 1 in 1000 by chance."""
    run = Recorded(score(one(MGm(1.0, 10**6, scv), 5.0)), 1, 0, kept=True)
    run.play(4000.0)
    times = np.array(run.every)
    assert len(times) > 19_000
    if scv == 0:
        assert np.ptp(times) < 1e-9
    else:
        assert stats.kstest(times, LAWS[scv].cdf).pvalue > 0.001


def test_gaps_between_arrivals_have_their_law():
    """Above an scv of 1 hyperexponential, with as much time in short gaps as in long ones."""
    model = ModelGraph("g").station("node", MM1(0.1)).arrive("node", 1.0, scv=4.0).at()
    law = score(model).laws[-1]
    chances = np.array([law["first"], 1 - law["first"]])
    means = np.array([law["second"], law["third"]])
    assert law["kind"] == Family.HYPEREXPONENTIAL
    assert chances * means == pytest.approx([0.5, 0.5], rel=1e-12)
    assert 2 * chances @ means**2 == pytest.approx(5.0, rel=1e-12)
    run = Run(score(model), 1, 0, kept=False)
    run.play(50_000.0)
    assert run.state.crowds["started"][0] == pytest.approx(50_000, rel=0.03)


def test_a_change_elsewhere_leaves_arrivals_and_services_alone():
    """The k-th job has the same gap and the same work, in whatever order jobs are served."""
    totals = []
    for discipline in ("fcfs", "siro", "lcfs"):
        run = Run(score(one(MM1(1.0), discipline=discipline)), 1, 0, kept=False)
        run.play(5000.0)
        totals.append((run.state.crowds["started"][0], run.state.streams["next"][0]))
    assert len(set(totals)) == 1


def test_another_station_leaves_its_stream_alone():
    """Streams are found by what they are drawn for, wherever it stands."""
    graph = ModelGraph("two").station("first", MM1(0.1)).station("node", MM1(1.0))
    alone, second = score(one(MM1(1.0))), score(graph.route("first", "node").at(arrival_rate=0.5))
    assert alone.keys[0] == second.keys[1]
    assert len(set(second.keys.tolist())) == len(second.keys)


def two_queues(choice):
    """Mean time at two servers of 1 s with queues of their own, 90% busy, by how a job chooses."""
    what = score(ModelGraph("pair").station("cpu", Parallel(1.0, 2)).at(arrival_rate=1.8))
    what.stations["choice"] = choice
    run = Run(what, 1, 0, kept=False)
    run.play(1e4)
    run.begin()
    run.play(4e6 if LIBRARY else 1e5)
    return run.state.crowds["taken"][0] / run.state.crowds["ended"][0]


def in_turn():
    """E2/M/1, of 0.9 a second: 1 / (1 - x), x = (1.8 / (2.8 - x))**2 (Kleinrock I, 6.4)."""
    root = 0.5
    for _ in range(500):
        root = (1.8 / (2.8 - root)) ** 2
    return 1 / (1 - root)


@pytest.mark.parametrize(
    ("choice", "exact"),
    [
        (Choice.SHORTEST, 5.475),
        (Choice.ROUND_ROBIN, in_turn()),
        pytest.param(Choice.RANDOM, 10.0, marks=pytest.mark.slow),
        pytest.param(Choice.TWO_CHOICES, 5.475, marks=pytest.mark.slow),
    ],
)
def test_jobs_choose_among_two_queues(choice, exact):
    """Alone M/M/1; the shorter by its Markov chain, 5.475 s; either is the shorter of all two."""
    assert two_queues(choice) == pytest.approx(exact, rel=0.02 if LIBRARY else 0.2)


def test_a_queue_that_grows_has_room():
    """Twice as many jobs come as are served: memory grows with those who are there."""
    run = Run(score(one(MM1(1.0), 2.0)), 1, 0, kept=False)
    run.play(20_000.0)
    present = int(run.state.queues["present"][0])
    assert abs(present - 20_000) < 1000
    assert run.state.clock["jobs"][0] == present < len(run.state.jobs) <= 4 * present


def test_percentiles_are_those_of_the_sorted_times():
    run = Recorded(score(one(MGm(1.0, 3, 2.0), 2.0)), 1, 0, kept=True)
    run.play(20_000.0)
    times, kept = np.array(run.every), run.counts.times()
    assert kept.count == len(times) > 39_000
    assert kept.sums.sum() == pytest.approx(times.sum(), rel=1e-12)
    percents = [1, 25, 50, 95, 99, 99.9]
    found = [kept.percentile(percent) for percent in percents]
    assert found == pytest.approx(np.percentile(times, percents, method="lower"), rel=WIDTH)


def test_times_that_are_alike_have_exact_percentiles():
    times = Times.of(np.array([0.0, 0.0, 0.1, 0.1, 0.1]))
    assert [times.percentile(p) for p in (0, 20, 50, 100)] == pytest.approx([0, 0, 0.1, 0.1])
    assert math.isnan(NONE.percentile(50))


@built
def test_times_take_little_memory():
    run = Run(score(one(MM1(1.0), 0.9)), 1, 0, kept=True)
    run.play(2e5)
    before = run.counts.times().bins.size
    run.play(1e6)
    assert run.counts.times().count > 0.85e6
    assert run.counts.times().bins.size < 2 * before < 100_000


@built
def test_memory_stays_flat():
    run = Run(score(one(MM1(1.0), 0.9)), 1, 0, kept=False)
    run.play(2e5)
    before = run.state.jobs.nbytes
    run.play(2e6)
    assert run.events > 3.5e6
    assert run.state.jobs.nbytes <= 2 * before
    assert run.counts.times().count == 0


def test_slices_do_not_show():
    what = score(parse_model(drawn(3).text))
    one, other = played(what, play, 1, 600), played(what, play, 60, 10)
    for name, array in vars(one).items():
        if name != "clock":
            assert (array == vars(other)[name]).all(), name


@built
def test_a_loop_in_no_time_is_told():
    model = ModelGraph("ring").station("a", MM1(1.0)).station("b", MM1(1.0)).route("a", "b")
    what = score(model.at().closed(2, 0.0))
    what.laws["kind"], what.laws["first"] = Family.CONSTANT, 0.0
    with pytest.raises(GraphError, match="jobs circulate without end in no time"):
        Run(what, 1, 0, kept=False).play(1.0)


SPOILT = (
    *("fork, any of several", "region, two stations", "unequal servers, fastest first"),
    "breakers of classes",
)


def fields(array):
    return array.dtype.names or [...]


@built
@pytest.mark.parametrize("value", mostly_slow([-(2**40), -7, 10**6, 2**60], {10**6}))
def test_a_spoilt_score_touches_no_other_memory(value):
    """Each whole number of each row, one at a time: refused, or played to the end of a slice."""
    count = 0
    for name in SPOILT:
        whole = PLAYED[name]()
        for part, array in vars(whole).items():
            if not isinstance(array, np.ndarray) or part == "keys" or array.dtype == float:
                continue
            for field in fields(array):
                count += spoilt(name, part, field, value)
    assert count > 20


def spoilt(name, part, field, value):
    what = PLAYED[name]()
    array = vars(what)[part]
    if array[field].dtype == float:
        return False
    array[field].reshape(-1)[-1:] = value
    return refused(what, opening(what, 1, 0, kept=True))


def refused(what, state):
    """Whether a call says that something is wrong, rather than play."""
    try:
        play(*arguments(what, state), 1e3, 2000)
    except ValueError as error:
        return str(error).startswith("play: ")
    return False


@built
@pytest.mark.parametrize(
    "part", ["clock", "queues", "jobs", "servers", "places", "events", "gates"]
)
def test_a_spoilt_state_touches_no_other_memory(part):
    what = PLAYED["region, two stations"]()
    for value in (-(2**40), -9, 10**6, 2**60):
        for field in fields(vars(opening(what, 1, 0, kept=True))[part]):
            state = opening(what, 1, 0, kept=True)
            array = vars(state)[part]
            if array[field].dtype == float or not array.size:
                continue
            play(*arguments(what, state), 1e3, 100)
            array[field].reshape(-1)[:1] = value
            refused(what, state)


def test_a_rank_that_is_no_sum_is_refused_by_name():
    odd = Discipline("odd", by_size=True, rank=lambda job: (job.work**2,))
    with pytest.raises(GraphError, match="cannot simulate discipline odd, whose rank"):
        score(one(MM1(1.0), discipline=odd))


def test_the_shortest_job_first_waits_as_phipps_says():
    """M/M/1 by size: the mean over x of W0 / (1 - load of jobs up to x)**2 (Phipps 1956)."""
    short = Discipline("short", by_size=True, rank=lambda job: (job.work, job.number))
    run = Run(score(one(MM1(1.0), 0.7, discipline=short)), 1, 0, kept=False)
    run.play(1e3)
    run.begin()
    run.play(1e6)
    waits = stats.expon().expect(
        lambda x: 0.7 / (1 - 0.7 * (1 - math.exp(-x) * (1 + x))) ** 2, epsabs=1e-10
    )
    crowd = run.state.crowds[0]
    assert crowd["taken"] / crowd["ended"] == pytest.approx(1 + waits, rel=0.02)


def counted(cuts):
    """What a server with impatient clients counts between times, each begun anew [s]."""
    graph = (
        ModelGraph("one")
        .station("node", MGm(1.0, 2, 2.0))
        .impatient({"timeout": 3.0, "retries": 2, **BREAKS})
    )
    run, parts = Run(score(graph.at(arrival_rate=1.7)), 5, 0, kept=True), []
    for until in cuts:
        run.begin()
        run.play(until)
        parts.append(run.counts)
    return parts


def test_parts_of_a_run_add_up_to_the_whole():
    whole, together = counted([900.0])[0], Counts.of_all(counted([100.0, 350.0, 350.5, 900.0]))
    for name, fields in COUNTED.items():
        for field in fields:
            one, other = (getattr(each, name)[field] for each in (whole, together))
            assert other == pytest.approx(one, rel=1e-9), (name, field)
    one, other = whole.times(), together.times()
    assert other.bins.tolist() == one.bins.tolist()
    assert other.counts.tolist() == one.counts.tolist()
    assert other.sums == pytest.approx(one.sums, rel=1e-12)
