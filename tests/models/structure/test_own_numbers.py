"""Numbers of layered services without a name are parameters where they are asked for."""

import pytest

from headway.errors import GraphError, UnknownParameter
from headway.models import find_model, parse_model
from headway.models.analysis.sensitivity import sensitivity
from headway.models.files.writing import to_toml
from headway.models.measured.matching import match
from headway.models.measured.measurements import Measurements
from headway.models.reports.alone import report_model
from headway.models.sizing.sizing import size_model
from headway.models.structure.parts.own_numbers import clients_name, load_name

TEXT = """
name = "one"
[processors.cpu]
servers = 2
[tasks.users]
population = 4
think_time = "1 s"
[tasks.users.entries.use]
calls = { page = 1 }
[tasks.web]
processor = "cpu"
threads = 1
[tasks.web.entries.page]
demand = "0.5 s"
second_phase = { demand = "1 ms" }
"""


@pytest.fixture
def model():
    """Four clients who share a thread."""
    return parse_model(TEXT)


def test_they_are_set_by_the_names_of_their_parts(model):
    """With so many threads as clients, nobody waits but for the processor."""
    free = parse_model(TEXT.replace("population = 4", "population = 2"))
    changed = model.at(users_population=2)
    assert changed.solve().throughput == pytest.approx(free.solve().throughput, rel=1e-12)
    assert list(changed.parameters) == ["users_population"]
    assert list(model.parameters) == []
    both = model.at(web_threads=[1, 4], page_demand="20 ms", cpu_servers=1).solve().throughput
    assert both.shape == (2,)
    assert both[0] < both[1]


def test_what_a_file_names_keeps_its_name():
    """And no other for the same; what has no limit has no value, but can be given one."""
    text = TEXT.replace("threads = 1", 'threads = "pool"').replace("= 2", '= "unlimited"')
    model = parse_model(f"[parameters]\npool = 3\n{text}".replace('name = "one"', ""))
    names = ["users_population", "users_think_time", "use_demand", "page_demand", "cpu_servers"]
    assert sorted(model.graph.own_numbers) == sorted(names)
    assert model.graph.own_numbers["cpu_servers"].value is None
    assert model.at(cpu_servers=1).solve().throughput < model.solve().throughput


def test_a_wrong_name_is_answered_by_the_nearest(model):
    """Of these numbers too."""
    with pytest.raises(UnknownParameter, match="did you mean web_threads"):
        model.at(web_thread=3)
    with pytest.raises(GraphError, match="it has clients; set users_population"):
        model.closed(3)


def test_models_with_such_numbers_are_written_and_read(model):
    """As parameters of the file."""
    changed = model.at(web_threads=2)
    again = parse_model(to_toml(changed))
    assert again.parameters["web_threads"].value == 2
    assert again.solve().throughput == pytest.approx(changed.solve().throughput, rel=1e-12)


def test_they_are_shown(model):
    """What can be set, with its value; zeros are left out."""
    (table,) = model.tables()
    rows = dict(zip(*(column.cells for column in table.columns[:2]), strict=True))
    assert list(rows) == ["users_population", "users_think_time", "web_threads", "cpu_servers",
                          "page_demand"]  # fmt: skip
    assert table.notes == ("each can be set like a parameter, such as --set users_population=...",)


def test_arrivals_are_set_and_are_the_load_of_a_page():
    """Where they are the only ones."""
    text = TEXT.replace('demand = "0.5 s"', 'demand = "0.5 s"\narrival_rate = 1')
    both = parse_model(text)
    assert both.at(page_arrival_rate=0.5).solve()["page.throughput"] < 2
    assert load_name(both.graph.layers) == "users_population"
    head, _, tail = text.partition("[tasks.users]")
    alone = parse_model(head + tail[tail.index("[tasks.web]") :])
    assert load_name(alone.graph.layers) == "page_arrival_rate"
    rates = alone.at(page_arrival_rate=[0.5, 1.0]).solve()["page.throughput"]
    assert rates.tolist() == pytest.approx([0.5, 1.0], rel=1e-9)


def test_the_load_has_a_name_where_it_can_be_set(model):
    """A parameter of the file, or what it would become; a name with a space becomes none."""
    assert clients_name(model.graph.layers) == "users_population"
    text = TEXT.replace("population = 4", 'population = "many"').replace('name = "one"', "")
    given = parse_model(f"[parameters]\nmany = 3\n{text}")
    assert clients_name(given.graph.layers) == load_name(given.graph.layers) == "many"
    spaced = TEXT.replace("[tasks.users", '[tasks."all users"')
    assert clients_name(parse_model(spaced).graph.layers) == ""


def test_a_column_of_clients_is_that_of_the_clients(model):
    """Whatever its title."""
    data = Measurements.parse("users,throughput_ops_s,response_ms\n1,0.66,500\n3,1.5,999\n", "a")
    found = match(model, data)
    assert found.inputs["users_population"].tolist() == [1, 3]


def test_sensitivities_are_of_all_where_there_is_no_parameter(model):
    """And of parameters alone where there are any."""
    effects = sensitivity(model).effects["throughput"]
    assert {"users_population", "web_threads", "page_demand"} <= effects.keys()
    assert list(sensitivity(model.at(web_threads=2)).effects["throughput"]) == ["web_threads"]


def test_a_page_goes_over_the_clients(model):
    """Beside the parameters of the file."""
    assert report_model(model.at(web_threads=2)).load == "users_population"


def test_targets_are_of_the_busiest_part(model):
    """Of pools and processors; a wrong name is answered by that of a part."""
    few = size_model(model, "utilisation<=0.7", {"web_threads": range(1, 5)}, "web_threads")
    busiest = model.at(few.best.values).solve()
    assert max(busiest["web.utilisation"], busiest["cpu.utilisation"]) <= 0.7
    with pytest.raises(UnknownParameter, match="did you mean web.utilisation"):
        size_model(model, "web_utilisation<=0.7", {"web_threads": [1, 2]}, "web_threads")


def test_an_entry_of_a_second_phase_alone_has_no_time_before_its_reply(tmp_path):
    """As in files of LQNS."""
    file = tmp_path / "late.in"
    file.write_text(
        "P 1 p cpu f -1 T 2 t users r use -1 cpu t web n page -1 cpu -1 "
        "E 2 s use 1 -1 y use page 1 -1 s page 0 0.5 -1 -1",
        encoding="utf-8",
    )
    own = find_model(str(file)).graph.own_numbers
    assert {name: one.value for name, one in own.items()} == {
        "users_think_time": 0.0,
        "cpu_servers": 1.0,
        "use_demand": 1.0,
        "page_demand": 0.0,
    }
