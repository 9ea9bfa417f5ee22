"""Sobol indices of models: against the importances of a propagation, and from the command line."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from headway.errors import InvalidParameter, UnknownParameter
from headway.models import catalogue_model, global_sensitivity
from tests.support.command import headway, refusal

RAID = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=700.0)
UNSURE = {"delay": ("3 ms", "4 ms"), "cpu_time": ("0.6 ms", "0.7 ms"), "disk_time": (0.01, 0.014)}


def by_name(swept, output="response_time"):
    return {
        (row["parameter"], row["index"]): row for row in swept.results if row["output"] == output
    }


@pytest.mark.parametrize("correlations", [{}, {("delay", "cpu_time"): 0.7}])
def test_indices_are_those_of_a_propagation(correlations):
    """Found another way, from other draws: within both errors, and 0.02 at most."""
    model = RAID.uncertain(UNSURE, correlations)
    result = by_name(global_sensitivity(model, samples=2**12))
    other = model.propagate(draws=4096).importance
    for place, name in enumerate(other.parameters):
        for index, shares in (("first", other.first), ("total", other.total)):
            row = result[name, index]
            assert row["value"] == pytest.approx(shares["response_time"][place, 0], abs=0.02)
            low, high = row["interval"]
            assert low <= row["value"] <= high <= low + 0.05


def test_several_outputs_and_ranges_at_once():
    ranges = {"arrival_rate": (300.0, 900.0), "disks": [14.0, 28.0], "cpu_time": (6e-4, 7e-4)}
    outputs = ("response_time", "saturation_throughput")
    indices = global_sensitivity(RAID, outputs, ranges, samples=2**10)
    limits = by_name(indices, "saturation_throughput")
    assert limits["cpu_time", "first"]["value"] == pytest.approx(1, abs=1e-3)  # it alone limits
    assert limits["disks", "total"]["value"] == 0
    assert by_name(indices)["arrival_rate", "first"]["value"] > 0.1


def test_the_same_bits_by_others_and_for_the_same_seed():
    ranges = {"arrival_rate": (300.0, 900.0), "delay": (0.003, 0.004)}
    alone = global_sensitivity(RAID, ranges=ranges, samples=2**10)
    with ThreadPoolExecutor(2) as pool:
        spread = global_sensitivity(RAID, ranges=ranges, samples=2**10, executor=pool)
    assert repr(alone.results) == repr(spread.results)
    again = global_sensitivity(RAID, ranges=ranges, samples=2**10, seed=2)
    assert repr(alone.results) != repr(again.results)


def test_what_saturates_somewhere_has_no_indices_and_says_so():
    indices = global_sensitivity(RAID, ranges={"arrival_rate": (1000.0, 3000.0)}, samples=2**10)
    rows = indices.results
    assert all(np.isnan(row["value"]) for row in rows)
    assert rows[0]["absent"] > 0
    shown = str(indices)
    assert "no indices of response_time" in shown
    assert "have no response_time" not in shown
    assert "nan" not in shown


def test_what_is_interrupted_has_no_indices_and_says_why():
    def stop(*result):
        raise KeyboardInterrupt

    ranges = {"arrival_rate": (300.0, 900.0)}
    indices = global_sensitivity(RAID, ranges=ranges, samples=2**16, progress=stop)
    assert indices.effort.interrupted
    assert "interrupted: of the first" in str(indices)
    assert "does not vary" not in str(indices)


def test_bad_input():
    with pytest.raises(InvalidParameter, match="no parameter is uncertain"):
        global_sensitivity(RAID)
    with pytest.raises(UnknownParameter, match="did you mean delay"):
        global_sensitivity(RAID, ranges={"delya": (1.0, 2.0)})
    with pytest.raises(InvalidParameter, match="there is no output 'response'"):
        global_sensitivity(RAID, ["response"], {"delay": (0.001, 0.002)})
    with pytest.raises(InvalidParameter, match="samples is 10; it must be"):
        global_sensitivity(RAID, ranges={"delay": (0.001, 0.002)}, samples=10)


NFS = ("sensitivity", "nfs-server", "--preset", "raid")


def test_the_command_tells_indices_of_several_values():
    several = ("--set", "arrival_rate=300:900:50", "--set", "delay=3ms,4ms")
    document = json.loads(headway(*NFS, *several, "--global", "--sample", "1024", "--json").out)
    rows = {(row["parameter"], row["index"]): row for row in document["results"]}
    assert set(rows) == {(n, i) for n in ("arrival_rate", "delay") for i in ("first", "total")}
    assert sum(rows[name, "first"]["value"] for name in ("arrival_rate", "delay")) > 0.9


RANGES = ("--set", "arrival_rate=300:900", "--set", "delay=3:4ms", "--set", "disks=14,28")


def test_the_command_takes_ranges_a_seed_and_workers():
    """As from Python, for any number of workers; what it took is told on stderr."""
    ranges = {"arrival_rate": (300.0, 900.0), "delay": (0.003, 0.004), "disks": [14.0, 28.0]}
    model = catalogue_model("nfs-server").with_preset("raid").at(memory=2e9)
    expected = model.global_sensitivity(ranges=ranges, samples=2**10, seed=5)
    arguments = (
        *NFS,
        *RANGES,
        "--set",
        "memory=2GB",
        "--global",
        "--sample",
        "1024",
        "--seed",
        "5",
    )
    for more in ((), ("--workers", "1")):
        printed = headway(*arguments, "--json", *more)
        document = json.loads(printed.out)
        assert document["results"] == json.loads(expected.to_json())["results"]
        assert document["space"]["parameters"]["delay"]["law"] == "uniform"
        assert "points/s a core" in printed.err
    other = headway(*arguments[:-1], "6", "--json").out
    assert json.loads(other)["results"] != document["results"]


def test_the_command_takes_what_a_loop_is_closed_with():
    document = json.loads(
        headway(
            *NFS, "--closed", "45", "--set", "delay=3:4ms", "--global", "--sample", "256", "--json"
        ).out
    )
    assert [row["value"] for row in document["results"]] == pytest.approx([1, 1], abs=0.1)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--seed", "9"), "--seed needs --global"),
        (("--workers", "1"), "--workers and --cluster need --global"),
        (("--global", "--set", "delay=4:3ms"), "delay is '4:3ms': a range from"),
        (("--global", "--set", "delay=3ms"), "no parameter is uncertain"),
        (("--global", "--set", "delay=3:4ms", "--seed", "-1"), "seed is -1; it must be"),
        (
            ("--global", "--set", "delay=3:4ms", "--workers", "0"),
            "0 workers: give 1 to 1024, or none for this process only",
        ),
        (("--global",), "no parameter is uncertain"),
        (("--sample", "9"), "--sample needs --global"),
        (
            ("--global", "--target", "response_time=1ms", "--solve-for", "delay"),
            "cannot be combined",
        ),
        (("--global", "--output", "x", "--set", "delay=1ms,2ms"), "there is no output 'x'"),
    ],
)
def test_the_command_refuses_in_one_line(more, words):
    assert words in refusal(*NFS, *more)


def test_the_table_has_a_row_a_parameter_those_that_matter_most_first():
    printed = headway(
        "sensitivity", "nfs-server", "--global", "--set", "disks=8,16,32",
        "--set", "arrival_rate=100,500,900", "--set", "cpu_time=500,600,700us",
    ).out  # fmt: skip
    rows = [line.split()[0] for line in printed.splitlines() if line.strip()]
    named = [name for name in rows if name in ("disks", "arrival_rate", "cpu_time")]
    assert named == ["arrival_rate", "cpu_time", "disks"]
    assert "what response time varies with" in printed
