"""What is shared stays as it is: models, graphs and answers are read-only, hashable, picklable."""

import copy
import pickle

import numpy as np
import pytest

from headway.errors import FormulaError, UnknownParameter
from headway.models import ModelGraph, catalogue_model, model_names
from headway.models.language.frozen import Awaited, Frozen
from headway.queueing import MM1


@pytest.mark.parametrize("name", model_names())
def test_shipped_models_are_values(name):
    model = catalogue_model(name)
    model.graph.plan  # noqa: B018 - what is cached is no part of the value
    ready = model.with_preset(next(iter(model.presets))) if model.presets else model
    others = [ready.at(), pickle.loads(pickle.dumps(ready)), copy.deepcopy(ready)]  # noqa: S301

    for other in others:
        assert other == ready
        assert hash(other) == hash(ready)
        assert (other.graph, hash(other.graph)) == (ready.graph, hash(ready.graph))
    assert (model == ready) == (not model.presets)
    assert model != catalogue_model("lopc" if name != "lopc" else "bsp")


@pytest.mark.parametrize("name", model_names())
def test_solutions_are_values(name):
    model = catalogue_model(name)
    if any(parameter.value is None for parameter in model.parameters.values()):
        model = model.with_preset(next(iter(model.presets)))
    solution = model.solve()
    other = pickle.loads(pickle.dumps(solution))  # noqa: S301

    assert other == solution == model.solve()
    assert hash(other) == hash(solution)
    assert other.to_json() == solution.to_json()


def test_nothing_of_a_shipped_model_can_be_assigned():
    model = catalogue_model("nfs-server")

    for mapping in (
        model.parameters,
        model.presets,
        model.meanings,
        model.graph.stations,
        model.graph.stations["cpu"].fields,
        model.graph.bindings,
        model.presets["raid"].values,
        model.solve().values,
    ):
        assert isinstance(mapping, Frozen)
        with pytest.raises(TypeError):
            mapping["cpu_time"] = None
        with pytest.raises(TypeError):
            del mapping["cpu_time"]


def test_arrays_are_read_only_and_count_in_equality():
    loads = np.array([100.0, 200.0])
    model = catalogue_model("nfs-server").at(arrival_rate=loads)
    loads[0] = 500.0

    assert model.inputs["arrival_rate"].tolist() == [100.0, 200.0]
    assert model == catalogue_model("nfs-server").at(arrival_rate=[100.0, 200.0])
    assert model != catalogue_model("nfs-server").at(arrival_rate=loads)
    with pytest.raises(ValueError, match="read-only"):
        model.parameters["arrival_rate"].value[0] = 1.0


def test_the_order_of_stations_is_part_of_a_graph():
    """Jobs arrive at the first one."""
    one = ModelGraph("two").station("a", MM1(1.0)).station("b", MM1(1.0))
    other = ModelGraph("two").station("b", MM1(1.0)).station("a", MM1(1.0))

    assert one != other
    assert Frozen({"a": 1}) == {"a": 1}


def test_parameters_are_given_to_solve_by_name():
    model = catalogue_model("nfs-server").with_preset("raid")

    assert (
        model.solve(cpu_time="1 ms", arrival_rate=100.0)
        == model.at(cpu_time=1e-3, arrival_rate=100.0).solve()
    )
    closed = catalogue_model("server-closed")
    assert closed.solve(population=5) == closed.at(population=5).solve()  # keeps its think time
    assert closed.solve(think_time=2.0) == closed.at(think_time=2.0).solve()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("arival_rate", "no parameter 'arival_rate'; did you mean arrival_rate"),
        ("populaton", "did you mean population"),
        ("metod", "did you mean method"),
        ("cpu_tim", "did you mean cpu_time"),
    ],
)
def test_wrong_names_for_solve_are_the_package_s_own_error(name, message):
    with pytest.raises(UnknownParameter, match=message):
        catalogue_model("nfs-server").solve(**{name: 3.0})


def test_wrong_names_for_answers_are_the_package_s_own_error():
    solution = catalogue_model("server-single").solve()

    with pytest.raises(UnknownParameter, match=r"did you mean node\.utilisation"):
        solution["nod.utilisation"]
    with pytest.raises(UnknownParameter, match="no answer 'x'; there are "):
        solution["x"]
    with pytest.raises(UnknownParameter, match="did you mean response_time"):
        solution["response_tim"]
    with pytest.raises(UnknownParameter, match="an open network has no think time"):
        catalogue_model("server-single").solve(think_time=1.0)


def test_a_quantity_with_unit_in_a_graph_says_what_to_do():
    with pytest.raises(
        FormulaError, match=r"numbers here are in SI units: write 0\.005, or declare"
    ):
        ModelGraph("one").station("cpu", MM1("5 ms"))


def test_awaited_entries_are_calculated_once_and_only_when_read():
    asked = []

    def area(known):
        asked.append("area")
        return known["side"] ** 2

    numbers = Awaited({"side": 3.0}, {"area": area})
    assert "area" in numbers
    assert (list(numbers), len(numbers), asked) == (["side", "area"], 2, [])

    assert numbers["area"] == numbers["area"] == 9.0
    assert asked == ["area"]
    whole = Frozen({"side": 3.0, "area": 9.0})
    unread = Awaited({"side": 3.0}, {"area": area})
    assert unread == whole
    assert hash(unread) == hash(whole)
    assert pickle.loads(pickle.dumps(unread)) == whole  # noqa: S301
    assert dict(unread.items()) == dict(whole.items())


def test_busy_shares_of_long_arrays_are_calculated_when_read():
    rates = np.linspace(1.0, 9.0, 5)
    solution = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(rates)

    # U = lambda S and Q = U / (1 - U) of an M/M/1
    assert solution["cpu.utilisation"] == pytest.approx(rates / 10, rel=1e-12)
    assert solution["cpu.queue_length"] == pytest.approx(rates / (10 - rates), rel=1e-12)
    again = pickle.loads(pickle.dumps(solution))  # noqa: S301
    assert again["cpu.queue_length"].tolist() == solution["cpu.queue_length"].tolist()
