"""What is shown does not depend on the last bits, in which processors differ."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from headway.models import Model, balance, parse_model
from headway.models.language.units import unit
from headway.models.measured.cells import Observed
from headway.models.reports.alone import report_model
from headway.models.reports.words import _as_printed, bottleneck_words
from headway.models.sizing.cost import cost_of
from headway.numerals import first_largest, ranked, times
from tests.support.places import TESTS

TEXT = """
name = "twins"
[parameters]
arrival_rate = "{arrival_rate!r} /s"
first_time = "{first_time!r} s"
second_time = "{second_time!r} s"
third_time = "{third_time!r} s"
fourth_time = "{fourth_time!r} s"
[stations.zeta]
kind = "MM1"
service_time = "first_time"
[stations.alpha]
kind = "MM1"
service_time = "second_time"
[stations.delta]
kind = "MM1"
service_time = "third_time"
[stations.beta]
kind = "MM1"
service_time = "fourth_time"
[[routes]]
from = "zeta"
to = "alpha"
[[routes]]
from = "alpha"
to = "delta"
[[routes]]
from = "delta"
to = "beta"
"""


def near(value: float, bits: int) -> float:
    """A number so many last bits away."""
    for _ in range(abs(bits)):
        value = math.nextafter(value, math.copysign(math.inf, bits))
    return value


def twins(*bits: int) -> Model:
    """Stations two by two alike, but for the last bits of their times."""
    own = {"arrival_rate": 600.0, "first_time": 1e-3, "second_time": 1e-3}
    own |= {"third_time": 5e-4, "fourth_time": 5e-4}
    moved = {n: near(x, b) for (n, x), b in zip(own.items(), bits or [0] * 5, strict=True)}
    return parse_model(TEXT.format(**moved))


BITS = [(1, -1, 1, -1, 1), (-1, 1, -1, 1, -1), (0, 3, 0, 3, 0), (3, 0, -3, 0, 2)]
ANSWERS: dict[str, Callable[[Model], str]] = {
    "solution": lambda model: "\n".join(map(str, model.solve().tables())),
    "sweep": lambda model: "\n".join(map(str, model.solve([100.0, 900.0]).tables())),
    "sensitivity": lambda model: "\n".join(map(str, model.sensitivity().tables())),
    "balance": lambda model: "\n".join(map(str, balance(model).tables())),
    "page": lambda model: "\n".join(bottleneck_words(report_model(model))),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("bits", BITS)
def test_of_equal_stations_the_first_of_the_model_is_named(
    answer: str, bits: tuple[int, ...]
) -> None:
    expected = ANSWERS[answer](twins())
    assert "zeta" in expected
    assert ANSWERS[answer](twins(*bits)) == expected


@pytest.mark.parametrize("text", ["0.1*n + 0.2*n", "0.3*n", "1000*n/3*3", "7*n*1e-5", "n*1e9/7"])
def test_costs_that_agree_in_twelve_digits_are_equal(text: str) -> None:
    """Also beside powers of ten, where the number of digits before the point changes."""
    counts = np.array([1.0, 3.0, 9.0, 10.0, 99.0, 100.0, 1e4, 333.0])
    cost = cost_of(text, ["n"])
    costs = cost.of({"n": counts})
    for bits in (-3, -1, 1, 3):
        moved = np.array([near(count, bits) for count in counts])
        assert cost.of({"n": moved}).tolist() == costs.tolist()
    np.testing.assert_allclose(costs, cost.formula.evaluate({"n": counts}), rtol=1e-11)


@pytest.mark.parametrize("largest", [100.0, 1000.0, 99.9999, 0.001])
def test_points_that_a_tool_computed_have_the_same_digits(largest: float) -> None:
    def cells(bits: int) -> tuple[str, ...]:
        values = np.array([largest / 3, near(largest, bits)])
        column = Observed("ms", "ms", unit("ms"), values, np.full(2, 1e-15))
        return _as_printed(column, unit("s"))

    assert {cells(bits) for bits in (-2, 2)} == {cells(0)}


def test_the_first_of_several_equal_values_is_the_largest() -> None:
    assert [int(first_largest([x, 0.3, 0.1])) for x in (0.3, near(0.3, -2), near(0.3, 2))] == [
        0
    ] * 3
    assert int(first_largest([math.nan, 1.0, math.inf, math.inf])) == 2
    assert int(first_largest([-math.inf, -1.7e308, -1.79e308])) == 1
    assert first_largest([[1.0, 2.0], [near(1.0, 1), 3.0]], axis=0).tolist() == [0, 1]
    values = {"b": 0.3, "a": near(0.3, -1), "c": 0.2}
    assert ranked(["b", "a", "c"], values) == ["c", "b", "a"]


def test_times_of_one_sentence_have_one_unit() -> None:
    assert times(0.0123456, 2e-5) == ["12.35 ms", "0.02 ms"]
    assert times(near(1e-3, -1)) == ["1 ms"]
    assert times(3e-10) == ["0.0003 us"]


def test_no_test_asks_for_digits_in_which_processors_differ() -> None:
    """Twelve are the most; solvers' own tolerances in oracles are none of a comparison."""
    pattern = re.compile(
        r"(?:approx|assert_allclose|isclose)\(.*\b(?:rel|rtol|rel_tol)=[0-9.]*e-1[3-9]"
    )
    lines = {
        f"{path.name}:{number}"
        for path in TESTS.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    }
    assert lines == set()
