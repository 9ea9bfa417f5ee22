"""What is taken for a Poisson process is labelled where it is none and matters, with a figure."""

import pytest

from headway.models import parse_model
from headway.queueing.flows.measured import LOSS, QUEUE, TAILS, TIME
from tests.campaigns import loss_errors
from tests.support.cases import mostly_slow
from tests.support.pages import accuracy

ONE = 'name = "x"\n[parameters]\narrival_rate = 0.3\n'
SELF = '[[routes]]\nfrom = "q"\nto = "q"\nprobability = 0.4\n'


def line(*kinds):
    """Stations in a row."""
    text = ONE
    for k, kind in enumerate(kinds):
        more = "capacity = 4\n" if kind == "MM1K" else ""
        text += f'[stations.s{k}]\nkind = "{kind}"\nservice_time = 1.0\n{more}'
    for k in range(len(kinds) - 1):
        text += f'[[routes]]\nfrom = "s{k}"\nto = "s{k + 1}"\n'
    return parse_model(text).solve()


@pytest.mark.parametrize(
    "kinds", [("Delay", "MM1K"), ("MM1", "MM1K"), ("MM1K", "Delay"), ("MM1K",)]
)
def test_what_is_poisson_is_not_called_an_assumption(kinds):
    """A delay before one queue, and a queue before a delay, are exact."""
    assert "Poisson" not in line(*kinds).approximation


def test_what_a_room_lets_through_is_not_poisson():
    note = line("MM1K", "Delay", "MM1").approximation
    assert note.startswith("arrivals at and departures from s0 are assumed Poisson; largest error")
    assert "chance of loss" in note


@pytest.mark.parametrize("scv", [0.0, 1.0, 4.0])
def test_one_server_of_any_kind_that_jobs_return_to_is_the_same(scv):
    """Takács: a stay is one service of all its visits; `MGm` of one server as `MG1`, to 1e-12."""
    text = ONE + '[stations.q]\nkind = "{}"\nservice_time = 1.0\nscv = {}\n{}' + SELF
    one, many = (
        parse_model(text.format(kind, scv, more)).solve()
        for kind, more in (("MG1", ""), ("MGm", "servers = 1\n"))
    )
    for name in ("response_time", "q.queue_length", "q.response_time"):
        assert many[name] == pytest.approx(float(one[name]), rel=1e-12)


def test_labels_of_losses_are_the_largest_errors_of_the_stored_networks():
    """Rounded up to a tenth."""
    loss, time, queue, half, most, last = loss_errors.largest(loss_errors.stored())
    for label, error in zip((LOSS, TIME, QUEUE), (loss, time, queue), strict=True):
        assert error <= label <= error + 0.1 + 1e-9
    assert max(half, most) <= TAILS[0] <= max(half, most) + 1
    assert last <= TAILS[1] <= last + 1


@pytest.mark.parametrize("seed", mostly_slow([1, 8], 1))
def test_stored_errors_of_losses_are_those_that_are_found(seed):
    """Six digits are stored; percentiles are found to 1e-6."""
    (row,) = (row for row in loss_errors.stored() if row.seed == seed)
    found = loss_errors.measured(seed)
    for name, value in vars(row).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-3, abs=1e-3), name


def test_the_page_says_what_losses_miss():
    page = " ".join(accuracy().split())
    rows = list(loss_errors.stored())
    errors = ", ".join(f"{error:.1f}%" for error in loss_errors.largest(rows))
    assert f"{len(rows)} networks" in page
    assert errors in page
