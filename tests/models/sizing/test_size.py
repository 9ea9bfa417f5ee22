"""The cheapest configuration that meets targets."""

import csv
import io
import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models import ModelGraph, catalogue_model, parse_model, size_model
from headway.models.analysis.goals import Goal
from headway.models.analysis.points import outputs_over
from headway.models.sizing.cost import cost_of
from headway.models.sizing.resources import resources
from headway.models.sizing.size import Scope
from headway.models.sizing.sizing import Extent
from headway.queueing import MM1, Delay, MMm, MMmK, Parallel
from headway.queueing.stations.listed.kinds import STATIONS, station_kind
from tests.campaigns.sizes import FEW, agrees, answer, brute_force, random_case, with_few
from tests.support.command import headway, refusal

POOL = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
BUSY = POOL.at(s=0.002, m=1, arrival_rate=1400)
SHOP = (
    ModelGraph("shop")
    .declare("s", "d", "cores", "disks")
    .station("cpu", MMm("s", "cores"))
    .station("disk", Parallel("d", "disks"))
    .route("cpu", "disk")
    .at(s=0.02, d=0.012, cores=1, disks=1, arrival_rate=500)
)
CHOOSE = {"cores": range(1, 33), "disks": (2, 4, 8, 16)}
ASK = ("size", "nfs-server", "--preset", "raid", "--set", "arrival_rate=1200")
MORE = ("--choose", "disks=4:32", "--choose", "memory=256,512,1024,2048MB")
COST = ("--cost", "200*disks + memory/1e6")


@pytest.mark.parametrize("seed", range(20))
def test_answers_are_those_of_brute_force(seed):
    """The whole comparison, 200 cases of up to 100,000, is ``python -m tests.campaigns.sizes``."""
    assert agrees(random_case(seed, 2000))


@pytest.mark.parametrize("seed", range(8))
def test_bounds_leave_the_cheapest(seed):
    same, proven = with_few(random_case(seed, 2000))
    assert same or not proven


def test_by_hand():
    """2.8 erlang at 500 of its 1400: 2 cores saturate, 3 wait; M/M/m tables say 5 for 2.5 ms."""
    size = size_model(BUSY, ["response_time<=2.5ms"], {"m": range(1, 33)}, "400*m")
    times = [float(BUSY.at(m=m).solve().response_time) for m in (4, 5)]

    assert times[1] <= 0.0025 < times[0]
    assert (size.best.values, size.best.cost) == ({"m": 5.0}, 2000.0)
    assert size.cheaper == size.nearest == size.steps["m"]
    ((goal, by),) = size.cheaper.missed
    assert (goal.output, by) == ("response_time", pytest.approx(times[0] / 0.0025 - 1))


def test_of_equal_costs_the_fastest_is_taken():
    size = size_model(SHOP, ["utilisation<=0.99"], CHOOSE, "1 + 0*cores")
    assert size.best.values == {"cores": 32.0, "disks": 16.0}
    assert size.cheaper is None


def test_costs_that_differ_by_rounding_are_equal():
    cost = cost_of("0.1*a + 0.2*b", ["a", "b"])
    columns = {"a": np.array([3.0, 1.0]), "b": np.array([3.0, 4.0])}
    assert 0.1 * 3 + 0.2 * 3 != 0.1 * 1 + 0.2 * 4
    assert np.ptp(cost.of(columns)) == 0


def test_the_same_however_choices_are_written():
    first = size_model(SHOP, ["response_time<=50ms"], CHOOSE, "400*cores + 250*disks")
    mixed = {"cores": [*range(32, 0, -1), 4.0], "disks": np.array([16, 2, 8, 4, 4])}
    assert size_model(SHOP, ["response_time<=50ms"], mixed, "400*cores + 250*disks") == first


def test_huge_grids_are_bounded():
    """Ten thousand million configurations, of which bounds leave one or a few."""
    choose = {"cores": range(1, 100_001), "disks": range(1, 100_001)}
    goals = ["response_time<=50ms", "utilisation<=80%"]
    size = size_model(SHOP, goals, choose, "400*cores + 250*disks")
    small = {"cores": range(1, 101), "disks": range(1, 101)}
    known = size_model(SHOP, goals, small, "400*cores + 250*disks")

    assert size.best == known.best
    assert (size.cheaper, size.nearest) == (known.cheaper, known.nearest)
    assert (size.proven, size.scope, known.scope) == (True, Scope.AROUND, Scope.ALL)


def test_what_evolves_is_said_not_to_be_proven():
    """A speed is no resource that is known to help, so bounds cannot leave it out."""
    case = next(c for c in (random_case(s, 2000) for s in range(40)) if not with_few(c)[1])
    solution = answer(case, FEW)

    assert not solution.proven
    assert solution.best.cost == pytest.approx(brute_force(case)[1])
    assert "not proven" in " ".join(str(solution).split())
    assert json.loads(solution.to_json())["proven"] is False


def test_only_so_many_are_solved_for_the_front():
    cost, goals = "400*cores + 250*disks", ["utilisation<=0.9"]
    choose = {"cores": range(1, 65), "disks": range(1, 65)}
    some = size_model(SHOP, goals, choose, cost, extent=Extent(front=1500))
    every = size_model(SHOP, goals, choose, cost)

    assert (some.scope, some.looked_at) == (Scope.CHEAPEST, 1500)
    assert (every.scope, every.looked_at) == (Scope.ALL, 4096)
    assert (some.best, some.cheaper, some.steps) == (every.best, every.cheaper, every.steps)
    assert some.front == every.front[: len(some.front)]


LAYERED = """
name = "pools"

[parameters]
web = 1
store = 1

[processors.far]
servers = "unlimited"

[tasks.users]
population = 2
think_time = 1
entries.use.calls = { page = 1 }

[tasks.web]
processor = "far"
threads = "web"
entries.page = { demand = 0.5, calls = { read = 1 } }

[tasks.store]
processor = "far"
threads = "store"
entries.read.demand = 0.5
"""


def test_layers_are_not_solved_far_beyond_the_cheapest():
    """Each pool makes another system, so of 6,400 only the cheapest few are solved."""
    model = parse_model(LAYERED)
    choose = {"web": range(1, 81), "store": range(1, 81)}
    size = size_model(model, ["response_time<=1.01"], choose, "web + store")
    assert size.best.values == {"web": 2.0, "store": 2.0}  # nobody waits: 1 s
    assert (size.scope, size.looked_at, size.proven) == (Scope.CHEAPEST, 256, True)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (kind, sorted(kind.can.eased_by))
        for kind in (station_kind(name) for name in STATIONS)
        if kind.can.eased_by
    ],
)  # fmt: skip
@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.floats(0.05, 0.99), st.integers(1, 20))
def test_more_of_what_eases_never_hurts(kind, fields, busy, servers):
    """What bounds rest on: up to rounding (1e-12), whatever arrives."""
    assert fields == ["servers"]
    few, many = (kind(0.1, m) for m in (servers, servers + 1))
    rate = busy * servers / 0.1

    for number in ("response_time", "waiting_time", "utilisation", "queue_length"):
        least, most = getattr(many, number)(rate), getattr(few, number)(rate)
        assert least <= most * (1 + 1e-12)
    assert many.capacity >= few.capacity


def test_resources_are_numbers_of_servers_alone():
    fast = [Goal("response_time", "<=", 1.0)]
    assert resources(SHOP, fast, ["cores", "disks", "s"]) == ("cores", "disks")
    assert resources(SHOP, [Goal("response_time_p99", "<=", 1.0)], ["cores"]) == ("cores",)
    assert resources(SHOP, [Goal("response_time", ">=", 1.0)], ["cores"]) == ()
    assert resources(SHOP.closed(10), fast, ["cores"]) == ()
    shared = ModelGraph("x").declare("m").station("cpu", MMm("0.1 * m", "m")).at(m=1)
    assert resources(shared, fast, ["m"]) == ()
    result = ModelGraph("x").declare("m").station("cpu", MMm(0.1, "m"))
    result = result.station("net", Delay("cpu.utilisation")).route("cpu", "net")
    assert resources(result.at(m=1), fast, ["m"]) == ()
    room = ModelGraph("x").declare("m", "k").station("cpu", MMmK(0.1, "m", "k")).at(m=1, k=4)
    assert resources(room, fast, ["m", "k"]) == ()


@pytest.mark.parametrize(
    ("text", "rises"),
    [
        ("400*a + 250*b", True),
        ("max(a, b) * (2 + a)", True),
        ("ceil(a / 4) * 1000", True),
        ("a - b", True),
        ("b - a", False),
        ("1 / a", False),
        ("-1 * a", False),
        ("where(a > 3, 1, 2)", False),
    ],
)
def test_which_costs_rise_is_read_off_the_formula(text, rises):
    assert cost_of(text, ["a", "b"]).rises("a") is rises


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"targets": ["response_time<=1ms"]}, "none of 128 configurations meets response_time"),
        ({"targets": ["response_time<=0.1ms"]}, "39,200 us, by 391 times the limit; disk"),
        ({"cost": "cores - 4"}, "is -3 at cores=1, disks=2; every configuration must cost more"),
        ({"cost": "0*cores"}, "is 0 at"),
        ({"cost": "cores/0"}, "is inf at"),
        ({"cost": "cores + racks"}, "names 'racks', which is not a choice"),
        ({"cost": "cores +"}, "is not arithmetic"),
        ({"choose": {}}, "there is nothing to choose"),
        ({"choose": {"cores": []}}, "choice cores has no values"),
        ({"choose": {"corse": [1]}}, "did you mean cores"),
        ({"choose": {"arrival_rate": [-1.0]}, "cost": "1"}, "arrival_rate is -1"),
        ({"targets": ["respons_time<=1s"]}, "did you mean response_time"),
        ({"targets": ["response_time_p100<=1s"]}, "percentile is 100"),
        ({"targets": ["response_time_p0<=1s"]}, "percentile is 0"),
        ({"targets": []}, "no target is given"),
        ({"model": SHOP.at(arrival_rate=[1.0, 2.0])}, "sizing needs one operating point"),
    ],
)
def test_bad_questions_are_refused(changes, says):
    arguments = {
        "model": SHOP,
        "targets": ["response_time<=50ms"],
        "choose": CHOOSE,
        "cost": "cores",
    }
    arguments |= changes
    with pytest.raises(ValueError, match=says):
        size_model(arguments["model"], arguments["targets"], arguments["choose"], arguments["cost"])


def test_a_refusal_says_what_limits_and_how_far_the_best_one_is():
    far = r"nearest is cores 32, disks 16, .* 39\.2 ms, by 96%"
    with pytest.raises(InvalidParameter, match=far) as caught:
        size_model(SHOP, ["response_time<=20ms"], CHOOSE, "cores")
    assert "disk is the bottleneck, 37.5% busy" in str(caught.value)
    full = r"all saturate; the least busy is .*disk is the bottleneck, 300%"
    with pytest.raises(InvalidParameter, match=full):
        size_model(SHOP, ["response_time<=1s"], {"cores": range(20, 30), "disks": [2]}, "cores")


def test_programs_have_sizes_too():
    program = ModelGraph("job").declare("n").output("run_time", "10 + 90 / n").at(n=1)
    size = size_model(program, ["run_time<=20s"], {"n": range(1, 33)}, "3*n")
    assert size.best.values == {"n": 9.0}  # 10 + 90/9 = 20
    assert size.ranking.output == "run_time"
    more = program.graph.output("speedup", "100 / (10 + 90 / n)").at(n=1)
    assert size_model(more, ["speedup>=5"], {"n": range(1, 33)}, "3*n").best.values == {"n": 9.0}


def test_percentiles_are_targets():
    size = size_model(BUSY, ["response_time_p99<=12ms"], {"m": range(1, 33)}, "m")
    least = size.best.values["m"]
    times = [BUSY.at(m=m).solve()["response_time_p99"] for m in (least - 1, least)]
    assert times[1] <= 0.012 < times[0]


@pytest.mark.parametrize("confidence", [None, 90])
def test_progress_counts_configurations_and_changes_no_answer(confidence):
    told = []
    model = BUSY.uncertain({"s": (1.9e-3, 2.1e-3)}) if confidence else BUSY
    asked = model, ["response_time<=8ms"], {"m": range(1, 33)}, "m", confidence

    answer = size_model(*asked, progress=lambda seen, share: told.append((seen, share)))

    assert answer.best == size_model(*asked).best
    assert told[-1][0].endswith(" of 32 configurations")
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1


def test_command_and_its_formats_agree():
    arguments = (
        *ASK,
        "--target",
        "response_time<=8ms",
        "--target",
        "utilisation<=80%",
        *MORE,
        *COST,
    )
    document = json.loads(headway(*arguments, "--json").out)
    rows = list(csv.DictReader(io.StringIO(headway(*arguments, "--csv").out)))
    text = headway(*arguments).out

    best = document["cheapest"]
    assert best["values"] == {"disks": 4.0, "memory": 1.024e9}
    assert (best["cost"], best["meets"], document["proven"]) == (1824.0, True, True)
    assert document["next_cheaper"]["missed"][0]["by"] is None  # saturated
    assert rows[0]["configuration"] == "cheapest"
    assert float(rows[0]["response_time_s"]) == best["outputs"]["response_time"]
    assert [float(row["cost"]) for row in rows if row["configuration"] == "front"] == [
        one["cost"] for one in document["front"]
    ]
    assert "one step cheaper, memory = 512 MB: the network saturates" in text
    assert "out of 116 configurations" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--choose", "disks"), "--choose disks: write NAME=VALUES"),
        (("--choose", "disks="), "--choose disks=: write NAME=VALUES"),
        (("--choose", "disks=4", "--choose", "disks=8"), "--choose is given twice for disks"),
        (("--choose", "dsiks=4"), "did you mean disks"),
        (("--choose", "disks=4s"), "which is time"),
        (("--choose", "disks=4:1"), "disks is '4:1': steps of 1 do not lead from 4 to 1"),
    ],
)
def test_bad_choices_on_the_command_line(more, says):
    assert says in refusal(*ASK, "--target", "response_time<=10ms", "--cost", "1", *more)


def test_a_closed_network_has_sizes():
    document = json.loads(
        headway("size", "nfs-server", "--preset", "raid", "--closed", "40", "--think", "10ms",
                "--target", "throughput>=1450", "--choose", "disks=2:40", "--cost", "disks",
                "--json").out
    )  # fmt: skip
    raid = catalogue_model("nfs-server").with_preset("raid").closed(40, "10ms")
    least = document["cheapest"]["values"]["disks"]
    made = [float(raid.at(disks=n).solve().throughput) for n in (least - 1, least)]
    assert made[0] < 1450 <= made[1]


def test_figure_shows_the_front_and_the_choice():
    size = size_model(SHOP, ["response_time<=50ms"], CHOOSE, "400*cores + 250*disks")
    (axes,) = size.plot().axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "cheapest that does" in labels
    assert "target" in labels
    costs = [one.cost for one in size.front]
    assert costs == sorted(costs)
    times = [one.measure for one in size.front]
    assert all(b < 0.99 * a for a, b in pairwise(times))
    assert all(math.isfinite(time) for time in times)


def test_a_single_server_that_is_fast_enough():
    one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.001, arrival_rate=10)
    size = size_model(one, ["response_time<=1s"], {"s": [0.001]}, "1/s")
    assert (size.cheaper, size.nearest, dict(size.steps)) == (None, None, {})
    assert len(size.front) == 1


def test_slow_percentiles_are_found_once_and_not_far_beyond_the_cheapest(monkeypatch):
    asked = []

    def counted(model, columns, names, *given):
        if "response_time_p95" in names:
            asked.extend(columns["m"].tolist())
        return outputs_over(model, columns, names, *given)

    monkeypatch.setattr("headway.models.sizing.judge.outputs_over", counted)
    monkeypatch.setattr("headway.models.sizing.sizing._are_slow", lambda *_: True)
    size = size_model(BUSY, ["response_time_p95<=10ms"], {"m": range(3, 60)}, "m")

    assert size.best.values["m"] == 4
    assert size.front[-1].outputs[0] is not None
    assert len(asked) == len(set(asked)) <= 4 + len(size.front)


@pytest.mark.slow
def test_slow_percentiles_are_found_where_all_else_holds():
    """Jobs come back, so that each percentile takes its time; the answer is that of all of them."""
    loop = ModelGraph("loop").declare("m", "k").station("cpu", MMm(0.01, "m"))
    loop = loop.station("db", MMm(0.012, "k")).route("cpu", "db", 0.5).route("db", "cpu")
    model = loop.at(m=5, k=3, arrival_rate=200)
    goals = ["response_time_p99<=260ms", "utilisation<=0.75"]
    size = size_model(model, goals, {"m": range(4, 8), "k": range(2, 6)}, "m + 2*k")

    grid = [(m, k) for m in range(4, 8) for k in range(2, 6)]
    solved = [model.at(m=m, k=k).solve() for m, k in grid]
    busy = [max(4 / m, 2.4 / k) for m, k in grid]
    late = [float(one["response_time_p99"]) for one in solved]
    kept = [
        m + 2 * k for (m, k), u, t in zip(grid, busy, late, strict=True) if u <= 0.75 and t <= 0.26
    ]
    assert size.best.cost == min(kept)
    with pytest.raises(InvalidParameter, match="which misses with utilisation 0.8, by 700%"):
        size_model(model, [goals[0], "utilisation<=0.1"], {"m": range(4, 17)}, "m")
