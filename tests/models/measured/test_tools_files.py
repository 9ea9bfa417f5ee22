"""Every sample of a tool: known for what it is, and spoilt read or refused in one line."""

import pytest

from headway.models.reading.recognise import recognised
from tests.support.tool_files import kind, outcome, refused, sample, samples, spoilt, survives

KINDS = {
    "memtier": "memtier_benchmark",
    "pgbench": "pgbench",
    "redis_benchmark": "redis-benchmark",
    "sysbench": "sysbench",
    "ycsb": "YCSB",
    "imb": "Intel MPI Benchmarks",
    "iperf3": "iperf3",
    "nccl": "nccl-tests",
    "netperf": "netperf",
    "osu": "OSU micro-benchmarks",
    "sockperf": "sockperf",
    "simgrid": "SimGrid calibration",
}


@pytest.mark.parametrize("name", samples(*KINDS))
def test_samples_are_recognised_and_survive_being_spoilt(name):
    text = sample(name)
    assert kind(text) == KINDS[name.partition("/")[0]]
    if "broken" in name or "refused" in name:
        assert survives(text, 40) == 0
    else:
        assert survives(text, 40) < 40


@pytest.mark.slow
@pytest.mark.parametrize("tool", KINDS)
def test_two_hundred_spoilt_texts_of_a_tool(tool):
    assert 0 < survives(sample(min(samples(tool)))) < 200


@pytest.mark.slow
@pytest.mark.parametrize("name", samples())
def test_spoilt_files_are_read_or_refused_in_one_line(name):
    """Asked of the tool's own reader, whatever it still recognises."""
    text = sample(name)
    reader = recognised(text)[0]
    for variant in spoilt(text, 32, None if len(text) < 60_000 else 60_000):
        recognised(variant)
        result = outcome(reader, variant, name)
        assert name in result
        assert "\n" not in result


LARGE = "9" * 5000


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("bcc/biolatency.txt", "2 -> 3 ", f"2 -> {LARGE} "),
        ("netperf/tcp_stream.txt", "10^6bits", f"10^{LARGE}bits"),
        ("prometheus/sums.json", "[[", f'[[{LARGE[:400]},"1"],['),
        ("traces/jaeger_trace.json", '"duration":', f'"duration":{LARGE[:400]}'),
    ],
)
def test_numbers_that_no_machine_holds_are_refused(name, old, new):
    text = sample(name)
    assert old in text
    refused(text.replace(old, new, 1), name.rpartition(".")[0], name)
