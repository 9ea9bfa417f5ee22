"""Runs of real servers that ship: each is read whole, and what is known beside it fits."""

import pytest

from headway.models.files.shipped import data_path, data_rows
from headway.models.reading.loadtest import read_load_test

RUNS = {
    "nginx/base": 48,
    "nginx/busy": 24,
    "nginx/think-2ms": 18,
    "nginx/think-5ms": 18,
    "nginx/quota": 14,
    "redis/base": 36,
    "redis/busy": 14,
    "redis/quota": 14,
}


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_read_whole_and_their_processors_beside_them(name):
    server, _, file = name.partition("/")
    points = read_load_test([f"load_tests/{name}.txt"]).points
    rows = [r for r in data_rows(f"load_tests/{server}/processors") if r["file"] == file]

    assert len(points) == RUNS[name]
    in_order = sorted(rows, key=lambda row: float(row["clients"]))
    assert [p.population for p in points] == [float(row["clients"]) for row in in_order]
    for point in points:
        assert point.loop == "closed"
        assert point.throughput == pytest.approx(point.samples / point.duration, rel=0.015)
    for row in rows:
        assert 0.02 < float(row["server_utilisation"]) < 1.01
        assert 0.02 < float(row["generator_utilisation"]) < 1.03


@pytest.mark.parametrize("name", ["vllm", "vllm_eagle", "vllm_quantization"])
def test_inference_servers_ship_with_what_limits_them(name):
    points = read_load_test([f"load_tests/inference/{name}"]).points

    assert [p.loop for p in points] == ["open"] * 7
    top = points[-1]
    assert top.throughput * top.response_time == pytest.approx(44 * 10, rel=0.14)
    manifest = data_path(f"load_tests/inference/{name}/manifests.yaml").read_text()
    assert "--max-num-seqs=128" in manifest
