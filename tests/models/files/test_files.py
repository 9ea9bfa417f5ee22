import re
import tomllib

import pytest

from headway.errors import ModelFileError, UnknownModel
from headway.models import catalogue_model, find_model, model_names, parse_model, read_model

SERVER = """\
name = "server"
[parameters]
arrival_rate = "10 /s"
cpu_time = { value = "10 ms", min = "0 ms", doc = "per visit" }
back = 0.6
slow = { formula = "2 * cpu_time", unit = "ms" }
[stations.cpu]
kind = "MM1"
service_time = "cpu_time"
[[routes]]
from = "cpu"
to = "cpu"
probability = "back"
"""


def test_feedback_from_a_file():
    solved = parse_model(SERVER).solve()

    assert solved["cpu.visits"] == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize("name", model_names())
def test_catalogue_written_and_read_gives_the_same_numbers(name):
    model = catalogue_model(name)

    again = parse_model(model.to_toml())

    assert again.inputs == model.inputs
    assert again.presets == model.presets
    assert again.graph == model.graph
    for preset in model.presets:
        assert again.with_preset(preset).inputs == model.with_preset(preset).inputs
    assert again.to_toml() == model.to_toml()


@pytest.mark.parametrize("unit", ["us", "min"])
def test_an_interval_is_written_in_one_unit_and_read_to_the_last_bit(unit):
    for low in (0.0007788610757163285, 0.0038, 0.0096347):
        interval = f'min = "0 ms", unit = "{unit}", ci95 = ["{low} s", "{20 * low} s"]'
        model = parse_model(SERVER.replace('min = "0 ms"', interval))

        written = model.to_toml()

        ends = tomllib.loads(written)["parameters"]["cpu_time"]["ci95"]
        assert all(end.endswith(f" {unit}") for end in ends), ends
        assert parse_model(written).parameters == model.parameters


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (
            '{ value = 4, unit = "ms" }',
            'think is 4 without a unit of its own, beside ms; write "4 ms"',
        ),
        ('{ value = "4", unit = "ms" }', 'or "4 s" if that is meant'),
        (
            '{ value = "4 ms", max = 10 }',
            "think: maximum is 10 without a unit of its own, beside ms",
        ),
        ('{ value = "4 ms", ci95 = [3, "5 ms"] }', "think: ci95 is 3 without a unit of its own"),
    ],
)
def test_a_number_that_could_be_of_two_units_is_refused(number, says):
    with pytest.raises(ModelFileError, match=re.escape(says)):
        parse_model(f'name = "g"\n[parameters]\nthink = {number}\n')


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ('{ value = 4, unit = "s" }', 4.0),
        ('{ value = "4 ms", min = 0 }', 0.004),
        ('{ value = 0, unit = "ms" }', 0.0),
        ("4", 4.0),
    ],
)
def test_a_number_without_a_unit_is_of_si(number, value):
    text = f'name = "g"\n[parameters]\nthink = {number}\n[outputs]\ntwice = "2 * think"\n'
    assert parse_model(text).inputs["think"] == value


@pytest.mark.parametrize("name", model_names())
def test_every_number_of_the_catalogue_has_meaning_and_source(name):
    model = catalogue_model(name)

    assert model.doc
    assert model.source
    assert model.assumptions
    assert all(p.doc for p in model.parameters.values())
    assert all(preset.source for preset in model.presets.values())


def test_order_of_definition_does_not_matter():
    text = """
name = "g"
[parameters]
arrival_rate = "1 /s"
a = { formula = "2 * b" }
b = { formula = "0.1 + lan.latency" }
[stations.first]
kind = "MM1"
service_time = "second.service_time"
[stations.second]
kind = "MM1"
service_time = "a"
[links.lan]
platform = "now"
[[routes]]
from = "first"
to = "second"
"""
    model = parse_model(text)

    assert tuple(model.graph.stations) == ("first", "second")
    assert model.solve()["first.service_time"] == pytest.approx(2 * (0.1 + 5e-6), rel=1e-12)


def test_links_by_their_numbers_and_arrivals():
    text = """
name = "g"
[stations.a]
kind = "Delay"
service_time = "lan.overhead + lan.gap_per_byte * 1000"
[arrivals]
a = "3 /s"
[links.lan]
latency = "5 us"
send_overhead = "1 us"
receive_overhead = "3 us"
gap = "6 us"
gap_per_byte = "0.01 us/B"
[outputs]
outstanding = { formula = "throughput * response_time", doc = "inside" }
"""
    solved = parse_model(text).solve()

    assert solved.response_time == pytest.approx(2e-6 + 10e-6, rel=1e-12)
    assert solved["outstanding"] == pytest.approx(36e-6, rel=1e-12)


def replaced(old, new):
    assert old in SERVER
    return SERVER.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.toml: a model needs stations, tasks or outputs"),
        (SERVER + '[[routes]]\nfrom = "cpu"\n', "m.toml:10 [routes]: the key 'to' is missing"),
        ("name = ", "not TOML"),
        ("[parameters]\ntime = 10 ms # long", 'column 11); write time = "10 ms"'),
        ("name = 3", "m.toml:1 [name]"),
        ('name = "x"', "needs stations, tasks or outputs"),
        ("a = [" * 5000, "not TOML"),
        (SERVER + "speed = 3\n", "unknown key speed; there are "),
        ("nome = 'x'\n", "m.toml:1 [nome]: unknown key nome; did you mean name?"),
        (
            "name = 'x'\n\n[parametrs]\n",
            "m.toml:3 [parametrs]: unknown key parametrs; did you mean",
        ),
        (
            "name = 'x'\n[stations.s]\nservice_time = 1\n",
            "m.toml:2 [stations.s]: s has no kind; there are",
        ),
        ("name = 'x'\ndoc = 3\n", "m.toml:2 [doc]: must be text"),
        (SERVER + "[outputs.o]\nunit = 's'\n", "[outputs.o]: the key 'formula' is missing"),
        (SERVER + "[presets]\nfast = 3\n", "[presets.fast]: must be a table"),
        (SERVER + "[presets.fast]\ndoc = [3]\n", "[presets.fast.doc]: must be a number or text"),
        (SERVER + "[arrivals]\ncpu = true\n", "[arrivals.cpu]: must be a number or text"),
        (SERVER + "[outputs]\nspeed = 3\n", "[outputs.speed]: must be text"),
        ("name = 'x'\n[routes]\nfrom = 'a'\n", "must be a list of tables: write [[routes]]"),
        ("name = 'x'\nstations.cpu.rates = [[3]]\n", "rates.0]: must be a number or text"),
        (
            "name = 'x'\n[parameters]\n" + "".join(f"p{k} = 1\n" for k in range(10_001)),
            "10,001 entries are more than the limit of 10,000",
        ),
        (
            replaced('kind = "MM1"', 'kind = "MM2"'),
            "m.toml:8 [stations.cpu.kind]: there is no kind",
        ),
        (replaced('kind = "MM1"', 'kind = "MMm"'), "MMm needs servers"),
        (replaced('"cpu_time"', '"cpu_tiem"'), "m.toml:9"),
        (replaced('"cpu_time"', '"cpu_tiem"'), "did you mean cpu_time?"),
        (replaced('"cpu_time"', '"10 MB"'), "needs time, such as s"),
        (replaced('"cpu_time"', '"1 ms + 2 * cpu_time"'), "mixes units and arithmetic"),
        (replaced('"cpu_time"', '"2 * (1 + sin(t))"'), "'t' in '2 * (1 + sin(t))' is unknown"),
        (replaced('"cpu_time"', '"2 * (1 + sin(90 deg))"'), "mixes units and arithmetic"),
        (
            replaced("back = 0.6", 'back = "0.6 * (1 + cos(pi / 4))"'),
            'not a number; write { formula = "0.6 * (1 + cos(pi / 4))" }',
        ),
        (
            replaced('"10 /s"', '"2 * (1 + sin(t / 24 h))"'),
            'give the formula to the station where jobs arrive: [arrivals] cpu = "..."',
        ),
        (
            replaced('"10 /s"', '{ formula = "2 * sin(t)" }'),
            "arrival_rate is a number that commands set; give the formula to the station",
        ),
        (replaced('"cpu_time"', '"cpu.__class__"'), "only NAME.NAME can have a dot"),
        (replaced('"cpu_time"', "\"__import__('os')\""), "not a function"),
        (replaced('"cpu_time"', '"lambda: 1"'), "a lambda is not allowed"),
        (replaced('"cpu_time"', '"' + "(" * 10000 + ")" * 10000 + '"'), "longer than 10000"),
        (replaced('"cpu_time"', '"system(1)"'), "system() is not a function"),
        (replaced('to = "cpu"', 'to = "disk"'), "there is no station 'disk'"),
        (replaced('service_time = "cpu_time"', 'speed = "cpu_time"'), "cpu has no 'speed'"),
        (
            replaced('service_time = "cpu_time"', 'service_time = "cpu_time"\npatience = "1 s"'),
            "its clients have it; write it in [arrivals] cpu = ",
        ),
        (
            replaced('value = "10 ms"', 'value = "-1 ms"'),
            "cpu_time is -1 ms; it must be 0 ms or more",
        ),
        (replaced('value = "10 ms"', 'value = "10 MB"'), "m.toml:4"),
        (replaced('value = "10 ms"', 'value = "10 furlongs"'), "unit 'furlongs' is not known"),
        (replaced("back = 0.6", "back = true"), "back"),
        (replaced("back = 0.6", "back = []"), "m.toml:5"),
        (replaced("back = 0.6", 'back = { value = 1, formula = "1" }'), "delete its value"),
        (replaced("2 * cpu_time", "2 * slow"), "in a circle"),
        (SERVER + '[links.lan]\nplatform = "cray"\n', "unknown platform 'cray'"),
        (SERVER + '[links.lan]\nlatency = "1 us"\n', "send_overhead is missing"),
        (SERVER + '[presets.fast]\ncpu_tiem = "1 ms"\n', "did you mean cpu_time?"),
        (SERVER + '[arrivals]\nnowhere = "1 /s"\n', "there is no station 'nowhere'"),
    ],
)
def test_refused_with_place_and_remedy(text, message):
    with pytest.raises(ModelFileError) as refused:
        parse_model(text, "m.toml")

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("m.toml")


def test_unstable_values_are_refused_when_solved():
    for back, why in (
        ("0.6", None),
        ("1.0", "no job leaves the loop of cpu"),
        ("1.5", "not between"),
    ):
        model = parse_model(SERVER).at(back=float(back))
        if why is None:
            assert model.solve().response_time > 0
        else:
            with pytest.raises(ValueError, match=why):
                model.solve()


def test_routes_out_of_a_station_over_one():
    text = (
        SERVER
        + '[[routes]]\nfrom = "cpu"\nto = "disk"\nprobability = 0.5\n'
        + ('[stations.disk]\nkind = "MM1"\nservice_time = "1 ms"\n')
    )
    with pytest.raises(ValueError, match=r"routes out of cpu sum to 1\.1"):
        parse_model(text).solve()


def test_files_are_found_by_name_or_path(tmp_path):
    path = tmp_path / "server.toml"
    path.write_text(SERVER, encoding="utf-8-sig")

    assert find_model(str(path)).name == "server"
    assert read_model(path).name == "server"
    with pytest.raises(UnknownModel, match="did you mean nfs-server"):
        find_model("nfs-sever")
    with pytest.raises(ModelFileError, match="there is no such file"):
        find_model(str(tmp_path / "nothing.toml"))
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelFileError, match="not a text file"):
        find_model(str(tmp_path / "bad.toml"))


MIXED_TIMES = """
name = "mix"
[classes.a]
arrival_rate = "0.4 /s"
[classes.b]
arrival_rate = "0.4 /s"
[stations.cpu]
kind = "MM1"
service_time = { a = "0.2 s", b = "2 s" }
"""


@pytest.mark.parametrize(
    ("line", "times"),
    [
        ("", (13.67, 15.47)),
        ('discipline = "fcfs"', (13.67, 15.47)),
        ('discipline = "ps"', (1.67, 16.67)),
    ],
)
def test_a_station_says_its_discipline(line, times):
    model = parse_model(f"{MIXED_TIMES}{line}\n")

    for result in (model.solve(), parse_model(model.to_toml()).solve()):
        assert result["class a.response_time"] == pytest.approx(times[0], abs=0.005)
        assert result["class b.response_time"] == pytest.approx(times[1], abs=0.005)
        assert not result.approximation


def test_an_unknown_discipline_is_refused():
    with pytest.raises(
        ModelFileError,
        match="unknown discipline 'lifo'; it must be one of ps, fcfs, lcfs, siro, priority, pre",
    ):
        parse_model(f'{MIXED_TIMES}discipline = "lifo"\n')
