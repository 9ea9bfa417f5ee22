"""MLPerf Storage: Z, X, N and the stall of each summary, and what contradicts in them."""

import json

import pytest

from headway.models.analysis.audit import audit
from headway.models.auditing.accelerators import law_error
from headway.models.reading.loadtest import LoadTest, points_of, read_load_test
from tests.support.command import headway, refusal
from tests.support.tool_files import refused, sample

SUMMARY = sample("mlperf_storage", "unet3d-h100.json")
FIRST = sample("mlperf_storage", "unet3d-v0.5.json")
TABLE = sample("mlperf_storage", "runs.csv")
NAME = "results/filer/unet3d-h100/runs/run1/c008/summary.json"


def written(folder, text, *hosts):
    """One summary a host, in the folders of the published results."""
    for host in hosts:
        path = folder / "results/filer/unet3d-h100/run1" / host / "summary.json"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return folder


def test_a_summary_gives_throughput_population_think_time_and_stall():
    """36 H100, Z = 0.323 s for 7 samples; AU 93.5852%: R = Z (1/AU - 1) = 22.14 ms."""
    (point,) = points_of(SUMMARY, NAME)
    metric = json.loads(SUMMARY)["metric"]
    assert (point.population, point.think_time, point.loop) == (36, 0.323, "closed")
    assert point.throughput == pytest.approx(
        metric["train_throughput_mean_samples_per_second"] / 7, rel=1e-12
    )
    assert point.response_time == pytest.approx(0.323 * (1 / 0.935852472392038 - 1), rel=1e-9)
    assert point.more["machines"] == 18
    assert point.name == "filer: unet3d on h100, 18 hosts"


def test_the_first_release_names_the_model_and_emulates_v100():
    """v0.5: unet3d with Z = 1.3604 s for 4 samples."""
    (point,) = points_of(FIRST, "x/summary.json")
    assert (point.think_time, point.population) == (1.3604, 8)
    assert point.throughput == pytest.approx(22.588179283661333 / 4, rel=1e-12)
    assert point.name == "unet3d on v100, 1 host"


def test_release_2_names_the_workload_alone_in_its_folders():
    """mlcommons/storage, v2.0-branch, mlpstorage/rules.py: generate_output_location."""
    layout = "results/filer{}/training/unet3d/run/20250711_101500/summary.json"
    (point,) = points_of(SUMMARY, layout.format(""))
    assert (point.name, point.think_time) == ("filer: unet3d, 18 hosts", None)
    assert "give folder names that say workload and accelerator" in point.notes[0]
    (named,) = points_of(SUMMARY, layout.format("/h100"))
    assert (named.name, named.think_time) == ("filer: unet3d on h100, 18 hosts", 0.323)


def test_what_is_read_is_in_bytes_and_samples_a_second():
    """MB are of 2^20 bytes: 146,600,628 a sample (unet3d_h100.yaml: record_length)."""
    (point,) = points_of(SUMMARY, NAME)
    samples = point.more["samples_ops_s"]
    assert samples == pytest.approx(708.8530913360294, rel=1e-12)
    assert point.more["bandwidth_bytes_s"] == pytest.approx(samples * 146600628, rel=1e-6)


def test_folders_nearest_the_file_say_what_it_is():
    assert points_of(SUMMARY, "a100_site/resnet_h100/1/summary.json")[0].think_time == 0.224


def test_hosts_that_wrote_the_same_totals_are_one_point(tmp_path):
    test = read_load_test([str(written(tmp_path, SUMMARY, "h1", "h2", "h3"))])
    assert len(test.points) == 1
    assert len(test.left_out) == 2


def test_runs_that_differ_are_repeats(tmp_path):
    written(tmp_path, SUMMARY, "h1")
    written(tmp_path, SUMMARY.replace("93.58", "93.57"), "h2")
    assert len(read_load_test([str(tmp_path)]).points) == 2


def test_a_table_gives_a_point_for_each_run():
    points = points_of(TABLE, "runs.csv")
    assert len(points) == 10
    assert points[0].think_time == 0.0035
    # no accelerator is named for these, though their workload is
    assert points[6].think_time is None
    assert "on accelerator unknown: give the columns" in points[6].notes[0]
    # no workload is named in its column, but in the run
    assert points[8].think_time in (0.435, 0.224)


@pytest.mark.parametrize("column", [6, 7])
def test_numbers_of_a_table_are_numbers(column):
    title, row = TABLE.splitlines()[:2]
    cells = row.split(",")
    cells[column] = "many"
    refused("\n".join([title, ",".join(cells)]), "runs.csv:2, .*many", "runs.csv")


def test_what_no_run_can_have_is_refused():
    refused(SUMMARY.replace("93.585247", "103.585247"), r"is 103\.6%.*at most 100%", NAME)
    refused(SUMMARY.replace('"num_accelerators": 36', '"num_accelerators": 0'), "positive", NAME)
    refused(SUMMARY.replace("train_au_mean", "train_au_mode"), "is missing; use the summary", NAME)
    refused(TABLE.splitlines()[0], "no run is below its titles", "runs.csv")


def test_an_empty_folder_and_too_busy_accelerators_end_in_one_line(tmp_path):
    for place in (tmp_path, written(tmp_path / "x", SUMMARY.replace("93.58", "103.58"), "h")):
        result = headway("read", str(place))
        assert result.code == 2
        assert len(result.err.splitlines()) == 1


def finding(text, name, kind):
    found = {each.kind: each for each in audit(LoadTest(tuple(points_of(text, name)))).findings}
    return found.get(kind)


def test_throughput_that_contradicts_utilisation_is_named():
    """3.0% below N AU / Z in this summary; within 1% is not a word."""
    found = finding(SUMMARY, NAME, "utilisation_contradicts")
    metric = json.loads(SUMMARY)["metric"]
    au, rate = (
        metric["train_au_mean_percentage"] / 100,
        metric["train_throughput_mean_samples_per_second"],
    )
    assert found.value == pytest.approx(rate / 7 * 0.323 / (36 * au) - 1, rel=1e-9)
    assert "filer: unet3d on h100, 18 hosts at 36" in found.text
    busy = 100 * rate / 7 * 0.323 / 36
    near = SUMMARY.replace(repr(metric["train_au_mean_percentage"]), repr(busy * 1.009))
    assert finding(near, NAME, "utilisation_contradicts") is None
    assert abs(law_error(points_of(near, NAME)[0])) < 0.01


def test_a_missing_time_of_computation_is_found_with_the_keys_that_name_it():
    found = finding(SUMMARY, "run1/summary.json", "no_computation_time")
    assert "folder names that say workload and accelerator, such as unet3d-h100" in found.text
    assert finding(SUMMARY, NAME, "no_computation_time") is None


def test_a_fit_takes_runs_of_one_workload(tmp_path):
    (tmp_path / "runs.csv").write_text(TABLE)
    free = ("--free", "delay,service_time")
    line = refusal("fit", "training-storage", "--data", str(tmp_path / "runs.csv"), *free)
    assert "has accelerators of" in line
    assert "give the runs of one, such as its folder" in line
