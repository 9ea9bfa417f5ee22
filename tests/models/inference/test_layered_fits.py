"""Demands of layered services from throughputs at a few loads, as exact chains give them."""

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


def fitted(page, read, loads, folder):
    """Both demands, fitted to exact throughputs at 12 ms and 8 ms."""
    model = parse_model(SHOP.replace("PAGE", page).replace("READ", read))
    right = model.solve(users=np.array(loads), page_time="12 ms", read_time="8 ms")
    assert right.method == "chain"
    assert not right.approximation
    rows = [f"{n:g},{x:.4f}" for n, x in zip(loads, right.throughput, strict=True)]
    path = folder / "loads.csv"
    path.write_text("\n".join(["users,throughput [1/s]", *rows]), encoding="utf-8")
    return model.fit(Measurements.read(path), ["page_time", "read_time"])


def test_demands_of_two_services_are_found_within_their_intervals(tmp_path):
    """From throughputs of four digits behind the point, with standard errors that hold them."""
    fit = fitted("page_time", "read_time", [1.0, 2.0, 4.0], tmp_path)
    for name, right in (("page_time", 0.012), ("read_time", 0.008)):
        found, error = fit.values[name], fit.standard_errors[name]
        assert found == pytest.approx(right, rel=1e-3)
        assert abs(found - right) <= 13 * error  # Student's t of one degree, 95%
    assert not fit.identified.undetermined


def test_demands_that_only_come_as_a_sum_are_not_determined(tmp_path):
    fit = fitted("page_time + 2 * read_time", "1 ms", [1.0, 3.0], tmp_path)
    assert fit.identified.undetermined == {"page_time", "read_time"}
    assert "only a combination of" in fit.warnings[0]
