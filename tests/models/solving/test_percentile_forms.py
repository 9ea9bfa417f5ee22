"""Closed forms of percentiles: constant times and one exponential time, or a refusal."""

from itertools import pairwise

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, catalogue_model
from headway.models.solving.symbolic import numeric, symbol
from headway.queueing import MD1, MM1, Delay, MMm, Parallel
from headway.queueing.stations.listed.kinds import STATIONS, station_kind

# Of a time: the solver's own inversion and its root to 1e-13 of a time, both rounded.
DIGITS = 1e-12
RANDOM = np.random.default_rng(15)
MANY = 200
RATES = RANDOM.uniform(1, 999, MANY)
DELAYS, TIMES = RANDOM.uniform(0, 5e-3, MANY), RANDOM.uniform(0.1e-3, 0.99e-3, MANY)


def chain(*stations):
    graph = ModelGraph("chain").declare("d", "s")
    for name, station in stations:
        graph = graph.station(name, station)
    names = [name for name, _ in stations]
    for source, target in pairwise(names):
        graph = graph.route(source, target)
    return graph


SINGLE = chain(("net", Delay("d")), ("cpu", MM1("s")), ("back", Delay("2 * d")))
LANES = chain(("disks", Parallel("4 * s", 4)), ("net", Delay("d")))


def formula_answer(graph, output, **values):
    form = graph.closed_form(output)
    names = sorted(map(str, form.free_symbols))
    return numeric(form, [symbol(n) for n in names])(*(values[n] for n in names))


@pytest.mark.parametrize("percent", ["1", "50", "95", "99", "99.9"])
@pytest.mark.parametrize("graph", [SINGLE, LANES])
def test_it_is_what_the_solver_finds(graph, percent):
    name = f"response_time_p{percent}"
    value = graph.at(d=DELAYS, s=TIMES).solve(RATES)[name]

    form = formula_answer(graph, name, d=DELAYS, s=TIMES, arrival_rate=RATES)

    np.testing.assert_allclose(form, value, rtol=DIGITS)


@pytest.mark.parametrize("name", ["server-single", "server"])
def test_a_formula_of_constants_and_a_station_has_one(name):
    model = catalogue_model(name)
    values = {"delay": DELAYS, "service_time": TIMES}
    values |= {"servers": RANDOM.uniform(1, 4, MANY)} if name == "server" else {}
    response_time_p99 = model.at(values).solve(RATES)["response_time_p99"]

    form = formula_answer(model.graph, "response_time_p99", arrival_rate=RATES, **values)

    np.testing.assert_allclose(form, response_time_p99, rtol=DIGITS)


def test_it_reads_as_one_writes_it():
    form = SINGLE.closed_form("response_time_p99.0")

    assert str(form) == "3*d + s*log(100)/(-arrival_rate*s + 1)"
    assert form == SINGLE.closed_form("response_time_p99")


def test_constant_times_alone_are_every_percentile():
    assert str(chain(("net", Delay("d"))).closed_form("response_time_p50")) == "d"


def test_one_class_alone_has_that_of_its_network():
    graph = SINGLE.declare("rate").job_class("web", "rate")
    model = graph.at(d=1e-3, s=1e-3, rate=500.0)

    for name in ("response_time_p99.9", "class web.response_time_p99.9"):
        form = model.closed_form(name)
        value = form.subs({s: model.inputs[str(s)] for s in form.free_symbols})
        assert float(value) == pytest.approx(float(model.solve()[name]), rel=DIGITS)


def once(station, **more):
    return ModelGraph("one").declare("p").station("cpu", station, **more)


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (once(MMm(1e-3, 4)), r"cpu \(MMm\) is not exponential"),
        (once(MD1(1e-3)), r"cpu \(MD1\) is not exponential"),
        (once(MM1(1e-3), discipline="ps"), r"cpu \(MM1, which all jobs share\)"),
        (once(MM1(1e-3), visits=1.0), "visits are only means"),
        (once(MM1(1e-3)).station("b", MM1(1e-3)).route("cpu", "b"), "jobs wait at cpu and b"),
        (once(MM1(1e-3)).station("b", Delay(1.0)).route("cpu", "b", "p"), "different routes"),
        (once(MM1(1e-3)).route("cpu", "cpu", 0.5), "different routes from cpu"),
        (once(MM1(1e-3)).arrive("cpu", 1.0).station("b", Delay(1.0)).arrive("b", 1.0), "several"),
        (catalogue_model("server-cache").graph, "more than the sum of constant times"),
        (catalogue_model("server-pool").graph, r"\(MMm\) is not exponential"),
        (catalogue_model("program-gap").graph, "run time is one number"),
        (once(MM1(1e-3)).job_class("a", 1.0).job_class("b", 1.0), "there are several classes"),
    ],
)
def test_what_has_no_such_form_is_refused_with_the_reason(graph, why):
    with pytest.raises(GraphError, match=f"no closed form of response_time_p99: .*{why}"):
        graph.closed_form("response_time_p99")


def test_what_circulates_and_what_is_no_percentage_are_refused():
    with pytest.raises(GraphError, match="closed network comes from a recursion"):
        SINGLE.at(d=1e-3, s=1e-3).closed(5).closed_form("response_time_p99")
    with pytest.raises(InvalidParameter, match="between 0 and 100"):
        SINGLE.closed_form("response_time_p100")


def test_kinds_that_claim_to_be_exponential_are():
    claiming = {name for name in STATIONS if station_kind(name).can.exponential}
    assert claiming == {"MM1", "Parallel"}
    for station in (MM1(1e-3), Parallel(4e-3, 4)):
        s = np.array([0.5 + 3j, 2000.0 + 100j])
        law, mean = station.time_law(700.0), station.response_time(700.0)
        np.testing.assert_allclose(law.pieces[0].transform(s), 1 / (1 + mean * s), rtol=1e-12)
        assert [piece.shift for piece in law.pieces] == [0.0]
