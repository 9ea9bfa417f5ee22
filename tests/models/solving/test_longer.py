"""Probabilities of longer times, of waits and responses, at stations and in networks."""

import json

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter, UnknownParameter
from headway.models import ModelGraph, catalogue_model
from headway.models.solving.solutions.on_demand import named_outputs
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, MGm, MMm
from tests.support.command import headway, refusal

RAID = catalogue_model("nfs-server").with_preset("raid")
loads, times = st.floats(0.05, 0.95), st.floats(0.0, 5.0)


def alone(station, discipline="fcfs"):
    return ModelGraph("one").station("cpu", station, discipline=discipline).at()


def pool(load, servers):
    """Erlang's chance to wait, in 30 digits."""
    offered = mpmath.mpf(load) * servers
    top = offered**servers / mpmath.factorial(servers) / (1 - mpmath.mpf(load))
    return top / (mpmath.nsum(lambda k: offered**k / mpmath.factorial(k), [0, servers - 1]) + top)


def exceedance_of(solution, part, seconds):
    return solution[f"cpu.{part}_time_over_{round(1e6 * seconds)}us"], round(1e6 * seconds) / 1e6


@settings(max_examples=40)
@given(loads, st.integers(1, 12), times)
def test_open_pools_follow_erlang(load, servers, seconds):
    """W: C exp(-a t), a = (m - load m) / S; R: that and an exponential service; 1e-9 absolute."""
    solution = alone(MMm(1.0, servers)).solve(load * servers)
    wait, rate = pool(load, servers), mpmath.mpf(servers * (1 - load))
    result, time = exceedance_of(solution, "waiting", seconds)
    assert result == pytest.approx(float(wait * mpmath.exp(-rate * time)), rel=1e-9, abs=1e-12)
    result, time = exceedance_of(solution, "response", seconds)
    if abs(rate - 1) < 1e-3:
        return  # where the two rates are one, the formula below is 0 / 0
    both = (rate * mpmath.exp(-time) - mpmath.exp(-rate * time)) / (rate - 1)
    exact = (1 - wait) * mpmath.exp(-time) + wait * both
    assert result == pytest.approx(float(exact), abs=1e-9)


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(1, 4), st.floats(0.1, 5.0), times)
def test_circulating_jobs_wait_behind_those_whom_they_find(jobs, servers, think, seconds):
    """The machine repairman with one job fewer, in 30 digits; 1e-10 absolute."""
    solution = alone(MMm(1.0, servers)).solve(population=jobs, think_time=think)
    weights = [mpmath.mpf(1)]
    for n in range(1, jobs):
        weights.append(weights[-1] * (jobs - n) / mpmath.mpf(think) / min(n, servers))
    met = [weight / sum(weights) for weight in weights]

    def stages(count, time):
        turns = servers * mpmath.mpf(time)
        return mpmath.gammainc(count, turns, regularized=True) if count else mpmath.mpf(0)

    result, time = exceedance_of(solution, "waiting", seconds)
    exact = sum(chance * stages(max(n - servers + 1, 0), time) for n, chance in enumerate(met))
    assert result == pytest.approx(float(exact), abs=1e-10)

    def stay(count, time):
        """Erlang's stages and then one service: the convolution by quadrature."""
        if not count:
            return mpmath.exp(-time)
        if servers == 1:
            return stages(count + 1, time)
        rate = mpmath.mpf(servers)
        density = lambda u: rate**count * u ** (count - 1) * mpmath.exp(-rate * u - (time - u))  # noqa: E731
        inside = mpmath.quad(density, [0, time]) / mpmath.factorial(count - 1) if time else 0
        return stages(count, time) + inside

    result, time = exceedance_of(solution, "response", seconds)
    exact = sum(
        chance * stay(max(n - servers + 1, 0), mpmath.mpf(time)) for n, chance in enumerate(met)
    )
    assert result == pytest.approx(float(exact), abs=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        alone(MM1(0.1)),
        alone(MD1(0.1)),
        alone(MG1(0.1, 3.0)),
        alone(MM1K(0.1, 4)),
        alone(MMm(0.15, 2)),
        ModelGraph("two").station("cpu", MM1(0.1)).station("d", MM1(0.08)).route("cpu", "d").at(),
    ],
)
def test_they_are_what_percentiles_invert(model):
    """Of the time that p of all times do not exceed, 1 - p exceed it; to the digits of the name."""
    solution = model.solve(6.0)
    for name, rest in (("response_time_p", 0.01), ("cpu.waiting_time_p", 0.05)):
        time = solution[f"{name}{100 * (1 - rest):g}"]
        text = f"{name[:-2]}_over_{1e9 * time:.6f}ns"
        assert solution[text] == pytest.approx(rest, rel=1e-5), name
    response = solution["cpu.response_time_over_0.2s"]
    assert solution["cpu.waiting_time_over_0.2s"] < response < 1


def test_of_shared_servers_networks_and_classes():
    """M/M/1-PS by its published chance; a line of exponential times; each class its own law."""
    shared = alone(MM1(0.1), "ps").solve(5.0)
    only = shared["cpu.response_time_over_200ms"]
    assert only == pytest.approx(shared["response_time_over_200ms"], rel=1e-9)
    line = ModelGraph("g").station("x", MM1(0.1)).station("y", MM1(0.05)).route("x", "y")
    response_time_over_300ms = line.at().solve(5.0)["response_time_over_300ms"]
    first, second = mpmath.exp(mpmath.mpf("-1.5")), mpmath.exp(mpmath.mpf("-4.5"))
    assert response_time_over_300ms == pytest.approx(
        float((15 * first - 5 * second) / 10), rel=1e-9
    )
    apart = ModelGraph("c").station("x", MM1(0.1)).station("y", MM1(0.05))
    apart = apart.job_class("a", 4.0, arrives="x").job_class("b", 3.0, arrives="y").at().solve()
    chance = [float(mpmath.exp(mpmath.mpf(-r) / 2)) for r in (6, 17)]
    assert apart["class a.response_time_over_500ms"] == pytest.approx(chance[0], rel=1e-9)
    assert apart["class b.response_time_over_0.5s"] == pytest.approx(chance[1], rel=1e-8)
    both = (4 * chance[0] + 3 * chance[1]) / 7
    assert apart["response_time_over_500ms"] == pytest.approx(both, rel=1e-9)


def test_names_have_one_form_and_answers_their_place():
    solution = RAID.solve([800.0, 1700.0]).answering(
        "response_time_over_20.0ms", "cpu.waiting_time_over_2ms", "response_time_p95"
    )
    assert "response_time_over_20ms" in solution.outputs
    assert solution["response_time_over_20.00ms"][0] == solution["response_time_over_20ms"][0]
    assert solution["response_time_over_20ms"][1] == 1.0
    assert solution["cpu.waiting_time_over_2ms"][1] == 1.0
    assert solution["response_time_over_0.02s"] == pytest.approx(
        solution["response_time_over_20ms"]
    )
    assert 0 < solution["disks.response_time_over_20ms"][1] < 1
    assert solution.to_xarray()["response_time_over_20ms"].attrs["units"] == ""
    assert alone(Delay(0.1)).solve(1.0)["cpu.waiting_time_over_1ms"] == 0.0


def test_the_command_shows_them_in_table_json_and_csv():
    options = ("--preset", "raid", "--set", "arrival_rate=800")
    shown = "response_time_over_20ms,cpu.waiting_time_over_2ms"
    table = headway("solve", "nfs-server", *options, "--show", shown).out
    assert "response_time_over_20ms" in table
    point = json.loads(headway("solve", "nfs-server", *options, "--show", shown, "--json").out)
    point = point["points"][0]
    expected = RAID.solve(800.0)
    assert point["outputs"]["response_time_over_20ms"] == expected["response_time_over_20ms"]
    wait = point["components"]["cpu"]["waiting_time_over_2ms"]
    assert (
        wait
        == expected["cpu.waiting_time_over_2ms"]
        == pytest.approx(0.52 * np.exp(-0.48 * 2e-3 / 0.00065))
    )
    head = headway("solve", "nfs-server", *options, "--show", shown, "--csv").out.splitlines()[0]
    assert {"response_time_over_20ms", "cpu_waiting_time_over_2ms"} <= set(head.split(","))


def test_what_is_not_known_is_refused_in_a_line():
    two = ModelGraph("g").station("x", MM1(0.1)).job_class("a", 1.0).job_class("b", 1.0)
    with pytest.raises(GraphError, match="g: x: how long jobs of several classes stay"):
        two.at().solve()["x.response_time_over_1ms"]
    with pytest.raises(
        GraphError, match="waiting times of several classes have no known distribution"
    ):
        two.at().solve()["x.waiting_time_over_1ms"]
    with pytest.raises(GraphError, match="not known under lcfs"):
        alone(MM1(0.1), "lcfs").solve(5.0)["cpu.response_time_over_1ms"]
    with pytest.raises(GraphError, match="at shared servers is known of open networks only"):
        alone(MM1(0.1), "ps").solve(population=3)["cpu.response_time_over_1ms"]
    with pytest.raises(GraphError, match="MGm"):
        alone(MGm(0.1, 2, 3.0)).solve(5.0)["cpu.waiting_time_over_1ms"]
    back = ModelGraph("g").station("x", MD1(0.1)).route("x", "x", 0.5).at()
    with pytest.raises(GraphError, match="come straight back"):
        back.solve(2.0)["x.response_time_over_1ms"]
    bursty = ModelGraph("one").station("cpu", MM1(0.1)).arrive("cpu", 5.0, scv=4.0)
    with pytest.raises(GraphError, match="propagated variability has no percentiles"):
        bursty.at().solve()["response_time_over_1ms"]
    with pytest.raises(UnknownParameter, match="no answer"):
        RAID.solve(800.0)["response_time_over_20"]
    with pytest.raises(InvalidParameter, match="no number 'response_time_over_2m'"):
        named_outputs(["response_time_over_2m"], [], [], "there is no number", ["cpu"])
    assert "no number 'cpu.waiting_time_over_ms'" in refusal(
        "solve", "nfs-server", "--show", "cpu.waiting_time_over_ms"
    )
