"""How long fits take, and what the forms of a server reach on the published curves.

Run with ``make benchmark``. Each figure is printed beside the one the project promises.
"""

import statistics
import time

import numpy as np

from headway.models import Measurements, catalogue_model, data_path, fit_model
from headway.models.inference.server import fit_server

SCSI = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
FREE = ["delay", "cpu_time", "disk_time", "touched_per_load"]


def test_one_fit(capsys):
    model = catalogue_model("nfs-server").with_preset("scsi")
    data = Measurements.read(SCSI)
    fit_model(model, data, FREE)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        fit_model(model, data, FREE)
        times.append(time.perf_counter() - start)

    with capsys.disabled():
        print(f"\na fit of four parameters, many starts: {1e3 * statistics.median(times):.0f} ms")
    assert fit_model(model, data, FREE).summary["max_relative_error"] < 0.03


def test_all_published_curves(capsys):
    start = time.perf_counter()
    paths = sorted(data_path("sfs_results/curves").glob("*.csv"))
    fits = [fit_server(Measurements.read(path)) for path in paths]
    taken = time.perf_counter() - start
    errors = [fit.best.comparison.summary["rms_relative_error"] for fit in fits]

    with capsys.disabled():
        print(
            f"\nforms of a server on {len(fits)} curves: {taken:.0f} s (promised 60), median RMS "
            f"{np.median(errors):.2%} (promised 4.5 %), {sum(e <= 0.1 for e in errors)} within "
            "10 % (promised 20)"
        )
    assert np.median(errors) <= 0.045
