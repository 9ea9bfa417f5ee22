"""A small campaign that is the same in every run, and that a fault would be seen in one."""

import random

import numpy as np
import pytest

from headway.models.files.reading import parse_model
from tests.fuzz import campaign as campaigns
from tests.fuzz.campaign import campaign, made
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.seeds import MODELS
from tests.fuzz.targets import TARGETS

SEED, SHARES, EACH = 20_011, 4, 500


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_spoilt_inputs_are_answered_or_refused(share):
    findings, counts = campaign(SEED, range(share * EACH, (share + 1) * EACH))

    assert not findings, "\n".join(f"{result}\n{result.trace}" for result in findings)
    assert counts.total() == EACH
    assert counts["answered"] > EACH / 10  # else what is tried is nothing but noise
    assert counts["refused"] > EACH / 10


def test_the_same_seed_makes_the_same_inputs():
    kinds = {made(SEED, index)[0] for index in range(300)}

    assert kinds == set(TARGETS)
    assert [made(7, k)[:2] for k in range(20)] == [made(7, k)[:2] for k in range(20)]
    assert [made(7, k)[1] for k in range(20)] != [made(8, k)[1] for k in range(20)]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("text", ["", "a", "1", "\n", "a,b\n1,2\n"])
def test_mutations_take_any_text(mutation, text):
    chance = random.Random(1)
    for _ in range(20):
        assert isinstance(mutation(chance, text, ["x = 1", ""]), str)


@pytest.mark.parametrize("text", MODELS, ids=lambda text: text.split('"')[1])
def test_small_models_are_good_before_they_are_spoilt(text):
    assert np.isfinite(parse_model(text).solve()[parse_model(text).solve().outputs[0]])


def _crash(_chance, _path):
    raise ZeroDivisionError


def _endless(_chance, _path):
    while True:
        pass


@pytest.mark.parametrize(
    ("target", "what"), [(_crash, "ZeroDivisionError"), (_endless, "Hang: longer than 0.1 s")]
)
def test_a_fault_is_found_and_named(target, what, monkeypatch):
    monkeypatch.setattr(campaigns, "SECONDS", 0.1)
    monkeypatch.setattr(campaigns, "TARGETS", dict.fromkeys(TARGETS, (target, 1)))
    findings, counts = campaign(SEED, range(1))

    assert counts == {"found": 1}
    assert findings[0].what.startswith(what)
    assert "SEED=20011 ONLY=0" in str(findings[0])
