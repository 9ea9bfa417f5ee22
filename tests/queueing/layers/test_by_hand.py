"""The page of layers worked by hand, against the laws that it derives."""

import re
from fractions import Fraction

import pytest

from headway.errors import GraphError
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


def met():
    """Two who each come 1 s after the last deal, which begins with the later one and takes 1 s."""
    first, other = Fraction(1, 2), Fraction(1)
    return 2 / (first + other + 1)


HAND = {
    "interlock": (interlocked(), Fraction(75, 182)),
    "overtaking": (overtaking(), Fraction(6, 17)),
    "quorum": (overtaking(Fraction(1, 3) + Fraction(1, 2)), Fraction(6, 19)),
    "meeting": (met(), Fraction(4, 5)),
    "four": (replicated(), Fraction(8, 5)),
}


@pytest.mark.parametrize("name", HAND)
def test_the_chain_is_what_is_worked_out_by_hand(name):
    law, printed = HAND[name]
    model = parse_model(MODELS[name])
    solution = model.solve(method="chain")
    assert law == printed
    assert (solution.method, solution.approximation) == ("chain", "")
    assert float(solution.throughput) == pytest.approx(float(law), rel=1e-9)


def test_layers_follow_what_the_page_says():
    """Interlock and overtaking; stragglers that hold a thread are refused."""
    near = {
        "interlock": (HAND["interlock"][1], 2e-3),
        "overtaking": (HAND["overtaking"][1], 1e-6),
    }
    for name, (law, tolerance) in near.items():
        found = float(parse_model(MODELS[name]).solve(method="layers").throughput)
        assert found == pytest.approx(float(law), rel=tolerance)
    with pytest.raises(GraphError, match="hold its thread after others have ended, which layers"):
        parse_model(MODELS["quorum"]).solve(method="layers")


def test_what_is_told_of_entries_is_worked_out_by_hand():
    """By Little's law from the throughputs above; a response has no second phase, a thread has."""
    rate, again = HAND["interlock"][1], Fraction(1, 3)
    waits = 2 / rate - 2 - 2  # N / X - Z - S
    alone = HAND["overtaking"][1]
    wanted = {
        "interlock": {
            "serve": (rate, waits, 2, 0, waits + 2, 2 * rate),
            "look": (rate, 0, 1, 0, 1, rate),
        },
        "overtaking": {
            "serve": (alone, again, Fraction(1, 2), 1, again + Fraction(1, 2), alone * 3 / 2)
        },
    }
    outputs = "throughput", "waiting_time", "service_time", "second_phase", "response_time", "busy"
    for name, entries in wanted.items():
        solution = parse_model(MODELS[name]).solve()
        for entry, numbers in entries.items():
            found = [float(solution[f"{entry}.{output}"]) for output in outputs]
            assert found == pytest.approx(
                [float(number) for number in numbers], rel=1e-9, abs=1e-12
            )
