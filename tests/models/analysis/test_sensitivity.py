"""Derivatives and elasticities, the bottlenecks, and what a target would take."""

import json

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from headway.models import Measurements, ModelGraph, catalogue_model, data_path, what_it_takes
from headway.models.analysis.sensitivity import sensitivity
from headway.queueing import MM1, MMm
from tests.support.command import headway, refusal

CURVE = data_path("network_sensitivity/table_a_5_raid_performance.csv")
RAID = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=1200.0)
PROGRAM = (
    ModelGraph("program")
    .declare("base", "messages", "overhead")
    .output("run_time", "base + 2 * messages * overhead")
)


def central(model, output, name, step=1e-5):
    value = model.inputs[name]
    up, down = (float(model.at({name: value * (1 + s)}).solve()[output]) for s in (step, -step))
    return (up - down) / (2 * step * value)


def test_elasticities_equal_central_differences():
    """The promise: to 1e-6; a step of 1e-5 makes differences good to some 1e-9."""
    derivatives = sensitivity(RAID)

    for output, effects in derivatives.effects.items():
        here = float(derivatives.solution[output])
        for name, effect in effects.items():
            if name == "disks" or RAID.inputs[name] == 0:
                continue
            slope = central(RAID, output, name)
            assert effect.elasticity == pytest.approx(
                slope * RAID.inputs[name] / here, rel=1e-6, abs=1e-6
            ), (output, name)
            assert effect.derivative == pytest.approx(slope, rel=1e-6, abs=1e-9), (output, name)


def test_command_gives_the_promised_numbers():
    result = headway(
        *("sensitivity", "nfs-server", "--preset", "raid", "--set", "arrival_rate=1200", "--json")
    )

    document = json.loads(result.out)
    assert document["bottleneck"] == "cpu"
    effects = document["outputs"]["saturation_throughput"]
    assert effects["cpu_time"]["elasticity"] == pytest.approx(-1, abs=1e-6)
    assert effects["added_overhead"]["elasticity"] == 0
    assert effects["added_overhead"]["derivative"] == pytest.approx(-2.4 * 1538.4615**2, rel=1e-5)
    assert document["bottlenecks"][0]["station"] == "cpu"
    assert document["bottlenecks"][1]["station"] == "disks"
    # disks: 28 servers of 12 ms for what misses the cache, rate - 512 op/s
    assert document["bottlenecks"][1]["saturation_throughput"] == pytest.approx(28 / 0.012 + 512)


def test_rates_scale_with_time():
    """Halving every time doubles every rate: elasticities of all times and rates sum to one."""
    response_time = sensitivity(RAID).effects["response_time"]
    times = ("delay", "cpu_time", "disk_time", "added_latency", "added_overhead")

    total = (
        sum(response_time[name].elasticity for name in times)
        - response_time["arrival_rate"].elasticity
    )

    # touched data per rate counts as a time too
    assert total - response_time["touched_per_load"].elasticity * -1 == pytest.approx(1, abs=1e-6)


def test_programs_and_whole_numbers_and_closed_networks():
    program = sensitivity(PROGRAM.at(base=1.0, messages=100.0, overhead=1e-3))
    assert program.bottleneck is None
    assert program.effects["run_time"]["messages"].elasticity == pytest.approx(0.2 / 1.2)

    pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m")).at(s=1.0, m=4)
    derivatives = sensitivity(pool.at(arrival_rate=3.0))
    more, less = (float(pool.at(m=m, arrival_rate=3.0).solve().response_time) for m in (5, 4))
    assert derivatives.effects["response_time"]["m"].derivative == pytest.approx(more - less)

    one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5)
    closed = sensitivity(one.closed(10, 1.0))
    assert closed.effects["throughput"]["s"].elasticity == pytest.approx(
        -1, abs=1e-3
    )  # almost saturated


def test_answers_in_every_form(tmp_path):
    derivatives = RAID.sensitivity()

    assert "bottleneck: cpu, which saturates at 1538 op/s; relieve it, and disks" in str(
        derivatives
    )
    assert derivatives.to_csv().startswith("output,parameter,derivative,elasticity")
    assert len(derivatives.rows()) == sum(map(len, derivatives.effects.values()))
    assert derivatives.plot().axes
    picture = tmp_path / "tornado.svg"
    assert headway("sensitivity", "nfs-server", "--plot", picture).code == 0
    assert picture.exists()


def test_what_a_target_takes():
    model = catalogue_model("nfs-server").with_preset("raid")
    target = what_it_takes(model, "response_time", 0.010, "cpu_time")

    assert float(target.solution.response_time) == pytest.approx(0.010, rel=1e-9)
    limit = what_it_takes(model, "saturation_throughput", 2000.0, "cpu_time")
    assert limit.value == pytest.approx(1 / 2000)
    result = headway(
        *("sensitivity", "nfs-server", "--preset", "raid", "--json"),
        *("--target", "response_time=10ms", "--solve-for", "cpu_time"),
    )
    document = json.loads(result.out)
    assert document["value"] == pytest.approx(target.value)
    assert document["parameter"] == "cpu_time"


@pytest.mark.parametrize("rate", [300.0, 1500.0, 2500.0])
def test_a_count_just_meets_its_target(rate):
    """Servers and jobs are whole: the needed number meets the target, its neighbour does not."""
    pool = catalogue_model("server-pool").at(delay=0.002, service_time=0.0022, servers=4)
    target = what_it_takes(pool.at(arrival_rate=rate), "response_time", 0.0045, "servers")
    times = [
        np.asarray(pool.at(arrival_rate=rate, servers=m).solve().response_time)
        for m in (target.value, target.value - 1)
    ]

    assert times[0] <= 0.0045 < times[1]
    closed = catalogue_model("nfs-server").with_preset("raid").closed(45)
    jobs = what_it_takes(closed, "response_time", 0.020, "population").value
    assert closed.closed(jobs).solve().response_time <= 0.020
    assert closed.closed(jobs + 1).solve().response_time > 0.020


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--set", "arrival_rate=1:3"],
            "sensitivity needs one operating point, but arrival_rate has several values",
        ),
        (["--set", "arrival_rate=1600"], "it saturates at 1538"),
        (["--target", "response_time=1ms"], "use --target and --solve-for together"),
        (["--target", "response_time", "--solve-for", "delay"], "write OUTPUT=VALUE"),
        (["--target", "response_tim=1ms", "--solve-for", "delay"], "did you mean response_time"),
        (["--target", "response_time=1MB", "--solve-for", "delay"], "needs time"),
        (["--target", "response_time=1ms", "--solve-for", "dealy"], "did you mean delay"),
        (["--target", "response_time=1us", "--solve-for", "delay"], "choose another target"),
    ],
)
def test_refused_in_one_line(arguments, message):
    assert message in refusal("sensitivity", "nfs-server", "--preset", "raid", *arguments)


@pytest.mark.parametrize("seed", range(5))
def test_random_points(seed):
    random = np.random.default_rng(seed)
    model = RAID.at(arrival_rate=random.uniform(600, 1400), delay=random.uniform(1e-4, 1e-2))
    response_time = sensitivity(model).effects["response_time"]

    for name in ("arrival_rate", "delay", "cpu_time", "memory"):
        slope = central(model, "response_time", name)
        assert response_time[name].derivative == pytest.approx(slope, rel=1e-6)


def test_elasticities_of_a_fit_have_intervals():
    """For M/M/1 the elasticity of R is 1 / (1 - U): its interval is that of s, propagated."""
    loads = np.linspace(100, 900, 10)
    exact = 1e-3 / (1 - loads * 1e-3)
    times = exact * (1 + 0.03 * np.random.default_rng(6).standard_normal(10))
    rows = "\n".join(f"{x!r},{y!r}" for x, y in zip(loads.tolist(), times.tolist(), strict=True))
    data = Measurements.parse(f"throughput_ops_s,response_s\n{rows}\n", "curve")
    one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=5e-4)
    fit = one.fit(data, ["s"])

    derivatives = fit.sensitivity(800.0)

    s = fit.values["s"]
    row = next(
        r for r in derivatives.rows() if r["output"] == "response_time" and r["parameter"] == "s"
    )
    assert row["elasticity"] == pytest.approx(1 / (1 - 800 * s))
    half = (fit.ci95["s"][1] - s) * 800 / (1 - 800 * s) ** 2
    assert row["ci95"][1] - row["elasticity"] == pytest.approx(half, rel=1e-5)
    assert f"{row['elasticity']:+.3f} ± {half:.3f}" in str(derivatives)
    assert derivatives.to_csv().startswith("output,parameter,derivative,elasticity,low,high,x,y\n")
    effect = json.loads(derivatives.to_json())["outputs"]["response_time"]["s"]
    assert effect["ci95"] == pytest.approx(row["ci95"])
    whiskers = [
        c for c in derivatives.plot().axes[0].containers if isinstance(c, ErrorbarContainer)
    ]
    assert len(whiskers) == 1


def test_command_fits_first_where_data_are_given():
    start = ("sensitivity", "nfs-server", "--preset", "raid", "--set", "arrival_rate=1200")
    fitted = (*start, "--data", CURVE, "--free", "delay,cpu_time")
    document = json.loads(headway(*fitted, "--json").out)["outputs"]["response_time"]
    wanted = headway(*fitted, "--target", "response_time=10ms", "--solve-for", "cpu_time")

    low, high = document["cpu_time"]["ci95"]
    assert low < document["cpu_time"]["elasticity"] < high
    assert "cpu_time" in wanted.out
    assert "use --data and --free together" in refusal(*start, "--free", "delay")
