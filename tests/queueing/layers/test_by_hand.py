"""The page of layers worked by hand, against the laws that it derives."""

import re
from fractions import Fraction

import numpy as np
import pytest

from headway.models import parse_model
from tests.support.places import ROOT

EXPLANATION = ROOT / "docs/explanation"
PAGES = "".join((EXPLANATION / name).read_text() for name in ("layers-by-hand.md", "layers.md"))
MODELS = dict(re.findall(r"```toml\n# (\w+)\.toml\n(.*?)```", PAGES, re.DOTALL))


def interlocked():
    """Two users of one thread, held for a law of known transform: busy periods, and Z / 2."""
    think, service = Fraction(2), Fraction(2)
    alone = (1 / (1 + Fraction(1, 2) / think)) ** 2 / (1 + 1 / think)
    return 1 / (service + alone * think / 2)


def overtaking(answered=Fraction(1, 2)):
    """One user that comes back after 2 s, before a second phase of 1 s has ended or not."""
    return 1 / (2 + answered + Fraction(1, 1 + 2) * 1)


def replicated():
    """M/M/1//2 with a think time as long as the service: four clients, two for each server."""
    weights = [1, 2, 2]
    return 2 * (1 - Fraction(weights[0], sum(weights)))


HAND = {
    "interlock": (interlocked(), Fraction(75, 182)),
    "overtaking": (overtaking(), Fraction(6, 17)),
    "quorum": (overtaking(Fraction(1, 3) + Fraction(1, 2)), Fraction(6, 19)),
    "four": (replicated(), Fraction(8, 5)),
}


@pytest.mark.parametrize("name", HAND)
def test_the_chain_is_what_is_worked_out_by_hand(name):
    law, printed = HAND[name]
    model = parse_model(MODELS[name])
    solution = model.solve()
    assert law == printed
    assert (solution.method, solution.approximation) == ("chain", "")
    assert float(solution.throughput) == pytest.approx(float(law), rel=1e-9)


def test_layers_leave_stragglers_out():
    """As the page says; interlock they have."""
    found = {n: float(parse_model(MODELS[n]).solve(method="layers").throughput) for n in HAND}
    assert found["quorum"] == pytest.approx(float(HAND["overtaking"][1]), rel=1e-6)
    assert found["interlock"] == pytest.approx(float(HAND["interlock"][1]), rel=2e-3)
    assert np.isfinite(list(found.values())).all()
