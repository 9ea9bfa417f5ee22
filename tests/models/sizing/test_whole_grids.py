"""A grid judged along its axes has the answers of its configurations one by one."""

import numpy as np
import pytest

from headway.models import ModelGraph, catalogue_model, size_model
from headway.models.analysis.points import outputs_over, spread
from headway.models.sizing.choices import ChoiceGrid
from headway.models.sizing.judge import ByModel
from headway.queueing import MD1, MM1, MM1K, Delay, MMm, Parallel


def shop():
    graph = ModelGraph("shop").declare("s", "d", "m", "k").station("balancer", MM1(1e-4))
    graph = graph.station("cpu", MMm("s", "m")).station("database", Parallel("d", "k"))
    graph = graph.route("balancer", "cpu").route("cpu", "database")
    return graph.at(s=0.02, d=0.012, m=1, k=1, arrival_rate=500)


def with_losses():
    graph = ModelGraph("rooms").declare("s", "m", "k").station("door", MM1K("s", "k"))
    graph = graph.station("cpu", MMm(0.01, "m")).route("door", "cpu").route("cpu", "door", 0.2)
    return graph.at(s=0.004, m=1, k=1, arrival_rate=150)


def with_returns():
    graph = ModelGraph("again").declare("m", "k").station("cpu", MMm(0.01, "m"))
    graph = graph.station("disk", MD1("0.004 / k")).station("net", Delay("0.001 * k"))
    graph = graph.route("cpu", "net", 0.5).route("cpu", "disk", 0.5).route("disk", "disk", 0.3)
    return graph.at(m=1, k=1, arrival_rate=250)


def refusing_some():
    graph = ModelGraph("some").declare("m", "k").station("cpu", MMm("0.01 * (m + 3 - k)", "m"))
    return graph.at(m=1, k=1, arrival_rate=150)


def nfs_server():
    return catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=1200)


TEN = {"m": range(1, 11), "k": range(1, 11)}
CASES = [
    (shop, {"m": range(8, 20), "k": range(1, 11)}, "utilisation<=80%", "40*m + 25*k"),
    (with_losses, TEN, "loss_probability<=20%", "3*m + k + 1"),
    (with_returns, TEN, "response_time<=30ms", "m + k**2"),
    (refusing_some, TEN, "utilisation<=70%", "m + 2*k"),
    (nfs_server, {"disks": range(4, 33), "memory": [256e6, 1024e6]}, "disks.utilisation<=90%",
     "200*disks + memory/1e6"),
]  # fmt: skip


def _shown(one):
    return one and (dict(one.values), one.cost, one.outputs, one.measure, one.meets)


@pytest.mark.parametrize(("model", "choose", "goal", "cost"), CASES)
def test_sizes_are_those_of_configurations_one_by_one(model, choose, goal, cost, monkeypatch):
    def sized():
        size = size_model(model(), [goal], choose, cost)
        shown = [size.best, size.cheaper, size.nearest, *size.steps.values(), *size.front]
        return [_shown(one) for one in shown], size.looked_at, size.scope

    whole = sized()
    for way in ("along_axes", "at_once"):
        monkeypatch.setattr(ByModel, way, False)
    assert whole == sized()


def test_percentiles_are_judged_one_by_one(monkeypatch):
    def sized():
        choose = {"m": range(10, 16), "k": range(7, 12)}
        size = size_model(shop(), ["response_time_p99<=200ms"], choose, "40*m + 25*k")
        return dict(size.best.values), [dict(one.values) for one in size.front]

    whole = sized()
    monkeypatch.setattr(ByModel, "along_axes", False)
    assert whole == sized()


@pytest.mark.parametrize(("model", "choose", "goal", "cost"), CASES)
def test_points_along_axes_are_those_of_columns(model, choose, goal, cost):
    axes = ChoiceGrid({name: tuple(map(float, each)) for name, each in choose.items()}).axes()
    names = [goal.split("<")[0], "response_time", "throughput"]
    along = outputs_over(model(), axes, names)
    alone = outputs_over(model(), spread(axes), names)
    np.testing.assert_allclose(along, alone, rtol=1e-12)
    assert np.isfinite(along).any()
