"""Servers shared by jobs of any service times: what each kind does, and what it refuses."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.sparse import coo_array, eye_array
from scipy.sparse.linalg import spsolve

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    BatchK,
    Delay,
    FastestFirst,
    ForkJoin,
    GGm,
    LoadDependent,
    MGm,
    MMm,
    MMmK,
    Quota,
    UnequalServers,
)
from headway.queueing.sojourn.routed_network import APART_SHARED
from headway.queueing.times.inversion import percentile_of
from headway.queueing.times.processor_sharing import general
from headway.queueing.times.processor_sharing.general import SharingClasses, general_sharing_law
from tests.campaigns import sharing_errors
from tests.support.cases import mostly_slow

RATE = 0.7


def solved(station, rate=RATE, percents=()):
    """One shared station."""
    graph = ModelGraph("one").station("cpu", station, discipline="ps")
    return graph.at(arrival_rate=rate).solve().with_percentiles(percents)


@pytest.mark.parametrize("station", [MG1(1.0, 4.0), MG1(1.0, 0.0), MD1(1.0), MGm(1.0, 1, 4.0)])
def test_mean_of_one_shared_server_is_insensitive(station):
    one = solved(station)
    assert one.response_time == pytest.approx(1 / (1 - RATE), rel=1e-12)
    assert one["cpu.queue_length"] == pytest.approx(RATE / (1 - RATE), rel=1e-12)
    assert not one.approximation


def test_several_shared_servers_are_insensitive_in_the_mean():
    assert solved(MGm(1.0, 3, 4.0), 2.1).response_time == pytest.approx(
        solved(MMm(1.0, 3), 2.1).response_time, rel=1e-12
    )
    with pytest.raises(GraphError, match="cpu|several shared servers have a known distribution"):
        solved(MGm(1.0, 3, 4.0), 2.1, [95])


@pytest.mark.parametrize("scv", [0.0, 4.0])
def test_closed_networks_hold_shared_servers_of_any_times(scv):
    def closed(station):
        graph = ModelGraph("closed").station("cpu", station, discipline="ps")
        graph = graph.station("wan", Delay(2.0)).route("cpu", "wan", 1.0)
        return graph.at().closed(3, 1.0)

    general = closed(MG1(1.0, scv))
    exponential = closed(MM1(1.0)).solve()
    assert general.solve().throughput == pytest.approx(exponential.throughput, rel=1e-12)
    assert general.solve().method == exponential.method
    with pytest.raises(GraphError, match="cpu: response times at a shared MG1"):
        general.solve().with_percentiles([95])


@pytest.mark.parametrize(
    "station",
    [
        GGm(1.0, 1, 1.0, 4.0),
        Quota(0.5, 0.5, 1.0),
        ForkJoin(1.0, 2, 2, 1.0),
        FastestFirst((1.0, 2.0)),
        BatchK(0.5, 0.5, 4, 6),
    ],
)
def test_kinds_that_cannot_share_refuse_it(station):
    kind = type(station).__name__
    with pytest.raises(GraphError, match=f"cpu: a {kind} does not support the discipline ps; "):
        ModelGraph("one").station("cpu", station, discipline="ps")


def tagged(rate, speeds, room):
    """Mean and percentile of a job among others: densities of a chain, followed by expm."""
    n = np.arange(room)
    speed = np.array([speeds(k + 1) for k in n])
    present = np.concatenate([[1.0], np.cumprod([rate / speeds(k) for k in range(1, room)])])
    come = np.where(n < room - 1, rate, 0.0)
    moves = np.diag(come[:-1], 1) + np.diag((speed * n / (n + 1))[1:], -1)
    moves -= np.diag(come + speed)
    start = present / present.sum()
    mean = float(np.linalg.solve(-moves.T, start).sum())
    return mean, lambda time: 1 - float((start @ expm(moves * time)).sum())


@pytest.mark.parametrize(
    ("station", "speeds", "room"),
    [
        (MM1K(1.0, 5), lambda _: 1.0, 5),
        (MMmK(1.0, 2, 5), lambda n: min(n, 2.0), 5),
        (LoadDependent((1.0, 1.5)), lambda n: 1.0 if n == 1 else 1.5, 60),
        (UnequalServers((1.0, 2.0)), lambda n: 2 / 3 if n == 1 else 1.5, 60),
    ],
)
def test_rates_by_number_and_rooms_are_shared_by_the_chain(station, speeds, room):
    mean, within = tagged(RATE, speeds, room)
    shared = solved(station, percents=[50, 95, 99])
    assert shared.response_time == pytest.approx(mean, rel=1e-9)
    for percent in (50, 95, 99):
        time = float(shared[f"response_time_p{percent}"])
        assert within(time) == pytest.approx(percent / 100, abs=1e-9)


def erlang_transform(rate, speed, s, room):
    """E[exp(-s T)] of a job of two stages among jobs of two stages, of the whole chain."""
    pairs = [(i, j) for i in range(room) for j in range(room - i)]
    place = {pair: k for k, pair in enumerate(pairs)}
    size, busy = len(pairs), 2 * rate / speed
    rows, columns, speeds = [], [], []

    def go(before, after, much):
        rows.append(before), columns.append(after), speeds.append(much)

    ends = np.zeros(2 * size)
    for (i, j), k in place.items():
        each = speed / (i + j + 1)
        go(k, size + k, each)
        ends[size + k] = each
        for own in (0, size):
            if (i + 1, j) in place:
                go(own + k, own + place[i + 1, j], rate)
            if i:
                go(own + k, own + place[i - 1, j + 1], i * each)
            if j:
                go(own + k, own + place[i, j - 1], j * each)
    moves = coo_array((speeds, (rows, columns)), (2 * size, 2 * size)).tocsr()
    out = np.asarray(moves.sum(axis=1)).ravel() + ends
    value = spsolve(
        (eye_array(2 * size) * s + coo_array((out, (range(2 * size),) * 2)) - moves).tocsc(), ends
    )
    weights = np.array([binomial(i + j, i) * (busy / 2) ** (i + j) for i, j in pairs])
    return float(weights @ value[:size] / weights.sum())


def binomial(n, k):
    """n over k."""
    from math import comb

    return comb(n, k)


def test_two_stages_are_those_of_the_whole_chain():
    law = general_sharing_law(SharingClasses((0.5,), (1.0,), (0.5,)), 1.0, 0.5)
    for s in (0.1, 0.7, 3.0):
        exact = erlang_transform(0.5, 2.0, s, room=45)
        assert law.transform(np.array([s + 0j]))[0].real == pytest.approx(exact, abs=1e-9)


def test_exponential_kinds_are_those_of_the_reversible_chain():
    from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law

    ours = general_sharing_law(SharingClasses((0.3, 0.2), (1.0, 2.0), (1.0, 1.0)), 2.0, 1.0)
    theirs = exponential_sharing_law(np.array([0.3, 0.2]), np.array([1.0, 2.0]), 2.0, 1)
    for share in (0.1, 0.5, 0.99):
        assert percentile_of(ours, share) == pytest.approx(percentile_of(theirs, share), rel=1e-6)


def test_constant_services_alone_take_their_time():
    """A job that nobody else meets, with chance (1 - rho) exp(-rho), takes its service."""
    law = general_sharing_law(SharingClasses((0.3,), (1.0,), (0.0,)), 1.0, 0.0)
    assert percentile_of(law, 0.7 * np.exp(-0.3) - 1e-6) == 1.0
    assert percentile_of(law, 0.7 * np.exp(-0.3) + 1e-6) > 1.0
    mixed = general_sharing_law(SharingClasses((0.1, 0.2), (2.0, 0.5), (0.0, 2.0)), 2.0, 0.0)
    assert percentile_of(mixed, 0.7 * np.exp(-0.6) - 1e-6) == 2.0


def test_services_that_have_a_stage_in_common_keep_their_mean():
    law = general_sharing_law(SharingClasses((0.3, 0.4), (1.0, 0.5), (0.5, 1.0)), 1.0, 0.5)
    slope = (1 - law.transform(np.array([1e-5 + 0j]))[0].real) / 1e-5
    assert slope == pytest.approx(law.mean, rel=1e-3)


def classes(station, back=0.0, percents=(50, 95), **kinds):
    """Two classes at a station, of which a share comes straight back."""
    graph = ModelGraph("two").station("cpu", station, **kinds)
    graph = graph.job_class("a", arrival_rate=0.3).job_class("b", arrival_rate=0.4)
    graph = graph.route("cpu", "cpu", back) if back else graph
    return graph.at().solve().with_percentiles(percents)


def test_equal_classes_at_a_shared_server_are_one():
    one = solved(MG1(1.0, 4.0), percents=[95])
    two = classes(MG1(1.0, 4.0), percents=[95], discipline="ps")
    for percent in (95,):
        for name in ("", "class a.", "class b."):
            assert two[f"{name}response_time_p{percent}"] == pytest.approx(
                one[f"response_time_p{percent}"], rel=1e-9
            )
    assert general.IN_PHASES in two.approximation


def test_scvs_of_classes_tell_at_a_shared_server():
    own = {"a": 1.5, "b": 0.5}
    far = classes(MG1(1.0, 4.0), percents=[95], discipline="ps", service_times=own)
    near = classes(MG1(1.0, 0.5), percents=[95], discipline="ps", service_times=own)
    assert far["class a.response_time"] == near["class a.response_time"]
    assert far["class a.response_time_p95"] > 1.4 * near["class a.response_time_p95"]


def test_returning_to_a_shared_server_of_any_times_is_refused():
    with pytest.raises(GraphError, match="return to shared servers have a known distribution"):
        classes(MG1(1.0, 4.0), back=0.2, discipline="ps")
    classes(MG1(1.0, 1.0), back=0.2, discipline="ps")


QUICK = {6}  # of 70% busy, scv 4
CONSTANT = {12, 13, 16}  # rows whose laws are elementary


@pytest.mark.parametrize("number", mostly_slow(range(len(sharing_errors.LONE)), QUICK))
def test_percentiles_of_shared_servers_are_within_their_label(number):
    actual, solution = sharing_errors.law(number)
    assert sharing_errors.errors(number, actual).max() <= 0.01
    constant = sharing_errors.CASES[number][1][0][0] == 0
    assert (general.IN_PHASES in solution.approximation) is not constant


@pytest.mark.parametrize(
    "number", mostly_slow(range(len(sharing_errors.LONE), len(sharing_errors.CASES)), CONSTANT)
)
def test_percentiles_of_rows_of_shared_servers_are_within_their_label(number):
    actual, solution = sharing_errors.law(number)
    missed = sharing_errors.errors(number, actual)
    *before, _ = sharing_errors.CASES[number][1]
    exact = all(station == (1.0, "fcfs") for station in before)  # Poisson into the last one
    assert (APART_SHARED in solution.approximation) is not exact
    assert missed[:3].max() <= 0.20
    assert missed[3] <= 0.22


def test_label_of_rows_is_that_of_the_worst():
    missed = sharing_errors.errors(13, sharing_errors.law(13)[0])
    assert missed[:3].max() > 0.18
    assert missed[3] > 0.20
