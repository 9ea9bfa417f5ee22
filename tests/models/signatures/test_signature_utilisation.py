"""Demands off measured utilisations: values, coverage, and rates that do not come apart."""

import json

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import Measurements
from headway.models.signatures.utilisation import MeasuredUse
from tests.support.command import headway, refusal

READS = np.array([50.0, 100, 200, 300, 150, 400, 80, 250])
WRITES = np.array([20.0, 60, 10, 90, 120, 40, 100, 30])
READ, WRITE = 1e-3, 3e-3
_TESTS = 400


def text(share, writes=WRITES, name="cpu_util_pct"):
    rows = zip(READS.tolist(), writes.tolist(), (100 * share).tolist(), strict=True)
    lines = "\n".join(f"{x!r},{w!r},{u!r}" for x, w, u in rows)
    return f"reads_ops_s,writes_ops_s,{name}\n{lines}\n"


def used(share, **how):
    table = Measurements.parse(text(share, **how), "own.csv")
    return MeasuredUse.of(table, "reads_ops_s,writes_ops_s").resources[0]


def test_exact_shares_give_exact_demands():
    columns = used(READS * READ + WRITES * WRITE)

    # sums of floats
    assert [demand.value for demand in columns.demands] == pytest.approx([READ, WRITE], rel=1e-12)
    assert columns.warnings == ()


def test_intervals_cover_the_truth():
    exact, hits = READS * READ + WRITES * WRITE, np.zeros(2)
    for seed in range(_TESTS):
        columns = used(exact + 0.01 * np.random.default_rng(seed).standard_normal(8))
        truth = zip(columns.demands, (READ, WRITE), strict=True)
        hits += [demand.low <= true <= demand.high for demand, true in truth]

    # 95% of 400, and three standard deviations of that count to either side
    assert ((hits / _TESTS >= 0.917) & (hits / _TESTS <= 0.983)).all(), hits


def test_rates_that_move_together_are_named():
    close = READS * (1 + 0.02 * np.cos(np.arange(8)))
    noise = 0.005 * np.random.default_rng(1).standard_normal(8)
    columns = used(READS * READ + close * WRITE / 10 + noise, writes=close)

    assert (
        "reads_ops_s and writes_ops_s are strongly correlated, so only a sum of their demands is"
        in columns.warnings[0]
    )
    with pytest.raises(MeasurementError, match="reads_ops_s and writes_ops_s are in the same prop"):
        used(READS * READ, writes=2 * READS)


def test_what_runs_without_load_is_told():
    noise = 1e-3 * np.random.default_rng(1).standard_normal(8)
    columns = used(0.05 + READS * READ + WRITES * WRITE / 10 + noise)

    assert columns.idle.value == pytest.approx(0.05, abs=5e-3)
    assert any("without load" in text for text in columns.warnings)


def test_the_command_and_what_it_refuses(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(text(READS * READ + WRITES * WRITE))
    arguments = ["signature", "utilisation", str(path)]
    both = [*arguments, "--x", "reads_ops_s,writes_ops_s"]

    document = json.loads(headway(*both, "--json").out)["resources"]["cpu_util_pct"]
    assert document["demands"]["writes_ops_s"]["value"] == pytest.approx(WRITE)
    assert "3.000 ms" in headway(*both).out or "3 ms" in headway(*both).out
    assert headway(*both, "--csv").out.startswith("resource,rate,demand_s,low_s,high_s")
    assert "there is no column 'throughput'" in refusal(*arguments)
    assert "names a rate twice" in refusal(*arguments, "--x", "reads_ops_s,reads_ops_s")
    assert "it needs no unit" in refusal(*both, "--y", "reads_ops_s")
    assert "2 demands need at least 4" in refusal(*both, "--to", "90")
    path.write_text("throughput_ops_s\n1\n")
    assert "no column of utilisation, such as cpu_util" in refusal(*arguments)
