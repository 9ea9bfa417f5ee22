"""A part of the campaign that measures what approximations miss; the words say what it found."""

import numpy as np
import pytest

from headway.queueing import Method
from headway.queueing.closed.measured import (
    CLOSED_IN_ORDER,
    IN_ROWS,
    MEASURED,
    OpenRegion,
    closed_note,
    open_note,
)
from tests.campaigns.approximation_errors import (
    FAMILIES,
    Family,
    errors,
    in_order_errors,
    one_class_errors,
    tandem_errors,
)
from tests.support.cases import mostly_slow

SINGLE = ["single servers", "single servers beside an open class"]


def within(errors, figures):
    """Whether throughputs and response times miss no more than the figures [%]."""
    return all(100 * part.max() <= most for part, most in zip(errors, figures, strict=True))


@pytest.mark.parametrize("name", SINGLE)
def test_single_servers(name):
    for method, result in errors(FAMILIES[name], 150).items():
        assert within(result, MEASURED[method, "single"])
        # Wrong by a tenth of what is documented, something else is measured.
        assert 100 * result[0].max() > MEASURED[method, "single"][0] / 10


@pytest.mark.slow
@pytest.mark.parametrize("busy", mostly_slow([0.0, 0.8], {0.8}))
def test_pools(busy):
    misses = errors(Family(((3, 21, 21),), 16, busy), 25)

    for method, parts in misses.items():
        assert within(parts, MEASURED[method, "pools"])
    assert misses[Method.LINEARIZER][0].max() < 0.03


def test_pools_of_one_class():
    for method, result in one_class_errors(60).items():
        assert within(result, MEASURED[method, "pools"])
        assert method is Method.SCHWEITZER or result[0].max() < 0.03


def test_in_order_of_arrival():
    result = in_order_errors(16)

    assert within(result, CLOSED_IN_ORDER[Method.LINEARIZER])
    assert np.median(result[0]) < 0.05


def test_open_tandem_in_order_of_arrival():
    result = tandem_errors(6, jobs=100_000)

    # So many jobs give the mean of a busy queue to some per cent only.
    assert 100 * result.max() <= IN_ROWS[0] + 2


def test_words():
    assert closed_note(Method.LINEARIZER, pools=False) == (
        "Linearizer approximate mean value analysis; largest error measured: "
        f"throughput {MEASURED[Method.LINEARIZER, 'single'][0]:g}%, "
        f"response time {MEASURED[Method.LINEARIZER, 'single'][1]:g}%"
    )
    assert "cpu: first come first served" in closed_note(
        Method.SCHWEITZER, pools=True, in_order=["cpu"]
    )
    near = OpenRegion(False, None, 2.0, 2, 1.0, 0.5)
    assert open_note(["cpu", "disk"], near) == (
        "cpu, disk: first come first served with times that differ by class; largest error "
        f"measured: response time {IN_ROWS[0]:g}% (without loops, exponential times)"
    )
    far = OpenRegion(True, (0.5, 9.0), 2.0, 2, 1.0, 0.5)
    assert open_note(["cpu"], far).endswith("and Poisson arrivals, which this is beyond)")
