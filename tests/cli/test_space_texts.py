"""Spaces as one writes them on a command line: grids, samples, and files of points."""

import numpy as np
import pytest

from headway.cli.spaces import SpaceOptions, model_and_space
from headway.cli.sweeps import sweep
from headway.errors import HeadwayError
from headway.models import catalogue_model
from headway.models.language.units import unit
from headway.models.sweeping.axes import Between, Choices, Steps
from headway.models.sweeping.listed import Drawn
from headway.models.sweeping.samples import Sample
from headway.models.sweeping.spaces import Grid

NFS = catalogue_model("nfs-server")


def space(*settings, **message):
    return model_and_space(message.pop("model", NFS), SpaceOptions(settings, **message))[1]


def test_settings_make_a_grid_and_single_values_stay_in_the_model():
    model, result = model_and_space(
        NFS,
        SpaceOptions(["arrival_rate=1:1e9", "disks=2,4,8", "cpu_time=600:650:25us", "delay=2ms"]),
    )
    cpu_times = Steps(0.0006, 2.5e-05, 3)
    assert result == Grid(
        {
            "arrival_rate": Steps(1.0, 1.0, 10**9),
            "disks": Choices(np.array([2.0, 4.0, 8.0])),
            "cpu_time": cpu_times,
        }
    )
    assert model == NFS.at(delay=0.002)


@pytest.mark.parametrize(
    "text", ["0.1:0.9:0.1", "1:7:0.3", "9:1:-2.5", "100:300:100us", "3", "1,2"]
)
def test_a_swept_range_has_the_values_that_other_commands_give_it(text):
    expected = sweep(text, unit("s"), "delay")
    result = space(f"delay={text}", "disks=1,2").piece(0, 2 * expected.size)
    columns = result.points(0, 2 * expected.size)
    assert columns.get("delay", np.repeat(expected, 2)).tolist() == np.repeat(expected, 2).tolist()


def test_with_a_sample_a_range_is_anything_between_its_ends():
    settings = [
        "delay=5:9ms",
        "arrival_rate=1:1000:log",
        "disks=1:4",
        "nvram=0,1",
        "cpu_time=1:9:2us",
    ]
    points = space(*settings, sample=64, kind="latin", seed=7)
    assert points == Sample(
        {
            "delay": Between(0.005, 0.009),
            "arrival_rate": Between(1.0, 1000.0, logarithmic=True),
            "disks": Between(1.0, 4.0, whole=True),
            "nvram": Choices(np.array([0.0, 1.0])),
            "cpu_time": Steps(1e-6, 2e-6, 5),
        },
        64,
        "latin",
        7,
    )


def test_the_uncertain_parameters_of_a_model_are_drawn():
    model = NFS.uncertain({"cpu_time": ("600 us", "700 us"), "disk_time": ("9 ms", "13 ms")})
    points = space("cpu_time=640us", model=model, sample=10**9, kind="drawn", seed=3)
    assert isinstance(points, Drawn)
    assert (points.names, points.size, points.seed) == (("disk_time",), 10**9, 3)


def points(tmp_path, text):
    path = tmp_path / "points.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_lists_points(tmp_path):
    path = points(tmp_path, "arrival_rate_ops_s;cpu_time [us];disks\n200;650;2\n300;700;4\n")
    model, result = model_and_space(NFS, SpaceOptions(["delay=2ms"], points=path))
    assert {name: column.tolist() for name, column in result.piece(0, 2).points(0, 2).items()} == {
        "arrival_rate": [200.0, 300.0],
        "cpu_time": [0.00065, 0.0007],
        "disks": [2.0, 4.0],
    }
    assert model == NFS.at(delay=0.002)


@pytest.mark.parametrize(
    ("settings", "options", "words"),
    [
        ([], {}, "nothing to sweep; give --set NAME=START:STOP:STEP"),
        (["delay=1ms"], {}, "nothing to sweep"),
        (["disks"], {}, "--set disks: write NAME=VALUE"),
        (["disk=1,2"], {}, "no parameter 'disk'; did you mean disks"),
        (["disks=1,2", "disks=3"], {}, r"--set disks is given twice; write a list as disks=1,2,4"),
        (["disks=1:1e20"], {}, r"1e\+20 operating points exceed the limit of 9.0072e.15"),
        (["disks=4:1"], {}, "disks is '4:1': steps of 1 do not lead from 4 to 1"),
        (["delay=1:2MB"], {}, r"delay is '1MB', which is data \(B\); it needs time"),
        (["disks=1,-2"], {}, "disks is -2; it must be"),
        (["delay=1:9ms:log"], {}, "delay is '1:9ms:log'; a logarithmic range needs --sa"),
        (["delay=9:1ms"], {"sample": 4}, "delay is '9:1ms': a range from 0.009 to 0.001: its low"),
        (["delay=0:1ms:log"], {"sample": 4}, "a logarithmic range must start above 0"),
        (["disks=1.2:1.8"], {"sample": 4}, "it contains no integer"),
        (["delay=1:2:3:4"], {"sample": 4}, "delay is '1:2:3:4'; a range is start:stop:step"),
        (["delay=1:9ms"], {"sample": 0}, "sample is 0; it must be a whole number"),
        (["delay=1:9ms"], {"sample": 4, "seed": -1}, "seed is -1; it must be a whole number"),
        (["delay=1:9ms"], {"sample": 4, "kind": "latn"}, "'latn'; did you mean latin"),
        (
            ["delay=1:9ms"],
            {"sample": 4, "kind": "drawn"},
            "delay has several values, but --kind drawn",
        ),
        ([], {"sample": 4, "kind": "drawn"}, "no parameter is uncertain"),
    ],
)
def test_what_is_no_space_is_refused_in_one_line(settings, options, words):
    with pytest.raises(HeadwayError, match=words) as error:
        space(*settings, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "settings", "options", "words"),
    [
        ("disk,delay_ms\n1,2\n", [], {}, r"points.csv: column 'disk': .* did you mean disks"),
        ("disks,host\n1,a\n", [], {}, r"points.csv: column 'host': .*no parameter 'host'"),
        ("disks\n1\n\nx\n", [], {}, r"points.csv: column 'disks': 'x' is not a number"),
        ("disks,delay_ms\n1,2\n2,\n", [], {}, r"points.csv: line 3: 'delay_ms' is empty"),
        ("delay_mb\n1\n", [], {}, r"points.csv: column 'delay_mb' is in MB; give it in"),
        ("disks\n1\n-2\n", [], {}, r"disks is -2; it must be"),
        ("disks\n", [], {}, r"points.csv"),
        ("disks\n1\n", ["disks=2"], {}, r"^both --set and a column of .*points.csv give disks"),
        ("disks\n1\n", ["delay=1,2"], {}, r"delay is swept, but .*points.csv lists the points"),
        (
            "disks\n1\n",
            [],
            {"sample": 3},
            r"give --points, which lists points, or --sample, which generates them",
        ),
    ],
)
def test_what_is_no_list_of_points_is_refused_in_one_line(tmp_path, text, settings, options, words):
    with pytest.raises(HeadwayError, match=words) as error:
        space(*settings, points=points(tmp_path, text), **options)
    assert "\n" not in str(error.value)
