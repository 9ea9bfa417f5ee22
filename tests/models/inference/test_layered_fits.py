"""Demands of layered services from measurements at a few loads, as exact chains give them."""

import numpy as np
import pytest

from headway.models import parse_model
from headway.models.measured.measurements import Measurements

SHOP = """
name = "shop"

[parameters]
users = 6

[parameters.page_time]
value = "10 ms"
min = "4 ms"
max = "24 ms"

[parameters.read_time]
value = "10 ms"
min = "4 ms"
max = "24 ms"

[processors.front]

[processors.back]

[tasks.users]
population = "users"
think_time = "100 ms"

[tasks.users.entries.visit]
calls = { page = 1 }

[tasks.web]
processor = "front"
threads = 2

[tasks.web.entries.page]
demand = "PAGE"
calls = { read = 2 }

[tasks.store]
processor = "back"

[tasks.store.entries.read]
demand = "READ"
"""


def fitted(page, read, loads, folder, outputs="throughput"):
    """Both demands, fitted to exact answers at 12 ms and 8 ms."""
    model = parse_model(SHOP.replace("PAGE", page).replace("READ", read))
    right = model.solve(users=np.array(loads), page_time="12 ms", read_time="8 ms")
    assert right.method == "chain"
    assert not right.approximation
    both = zip(loads, right.throughput, 1e3 * np.asarray(right.response_time), strict=True)
    rows = [f"{n:g},{x:.4f},{t:.4f}" for n, x, t in both]
    path = folder / "loads.csv"
    titles = "users,throughput [1/s],response_time [ms]"
    path.write_text("\n".join([titles, *rows]), encoding="utf-8")
    return model.fit(Measurements.read(path), ["page_time", "read_time"], y=outputs)


def test_demands_of_two_services_are_found_within_their_intervals(tmp_path):
    """From four digits behind the point, with standard errors that hold them.

    Response times follow from throughputs by Little's law, so each counts for half of a point.
    """
    outputs = "throughput,response_time"
    fit = fitted("page_time", "read_time", [1.0, 2.0, 4.0], tmp_path, outputs)
    assert fit.problem.outputs == tuple(outputs.split(","))
    assert set(np.ravel(fit.problem.share)) == {0.5}
    for name, right in (("page_time", 0.012), ("read_time", 0.008)):
        found, error = fit.values[name], fit.standard_errors[name]
        assert found == pytest.approx(right, rel=1e-3)
        assert abs(found - right) <= 13 * error  # Student's t of one degree, 95%
    assert not fit.identified.undetermined


@pytest.mark.slow
def test_demands_that_only_come_as_a_sum_are_not_determined(tmp_path):
    fit = fitted("page_time + 2 * read_time", "1 ms", [1.0, 3.0], tmp_path)
    assert fit.identified.undetermined == {"page_time", "read_time"}
    assert "only a combination of" in fit.warnings[0]
