"""Each number of each sample made negative, no number or a million times larger is never silent."""

import pytest

from tests.campaigns.spoilt_points import FOLDERS, WAYS, files_in, main, spoilt_file

FILES = [each for folder in FOLDERS for each in files_in(folder)]
FEW = [
    "tools/wrk/latency.txt", "tools/pgbench/tpcb_15.txt", "tools/ycsb/basic_c_target_0.18.txt",
    "tools/memtier/redis.json", "tools/k6/closed-summary.json", "tools/iostat/extended.txt",
    "tools/locust/stats.csv", "tools/sockperf/ping-pong.txt",
    "data/load_tests/nginx/processors.csv",
]  # fmt: skip


def silent(path, name, most):
    return [str(each) for each in spoilt_file(path, name, most) if not each.outcome]


@pytest.mark.parametrize(("path", "name"), [each for each in FILES if each[1] in FEW])
def test_few_spoilt_numbers_are_never_silent(path, name):
    assert silent(path, name, 12) == []


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), FILES, ids=[name for _, name in FILES])
def test_spoilt_numbers_are_never_silent(path, name):
    assert silent(path, name, 40) == []


def test_a_campaign_tells_what_became_of_each_number(tmp_path, capsys):
    path = tmp_path / "runs" / "own.csv"
    path.parent.mkdir()
    path.write_text("clients,throughput_ops_s,response_ms\n8,80,100\n")
    assert main([str(path.parent)]) == 0
    counts = [line.split() for line in capsys.readouterr().out.splitlines() if line[:3] == "CSV"]
    assert sum(int(words[-1]) for words in counts) == 3 * len(WAYS)


def test_every_file_of_the_few_is_there():
    assert {name for _, name in FILES} >= set(FEW)
