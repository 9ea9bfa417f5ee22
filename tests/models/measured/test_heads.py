"""The share of traces that a head sampler kept, by the identifiers of those that are there."""

import random

import pytest

from headway.models.measured.spans.heads import share_by_identifiers

ALL = 2**64


def signed(bits: int) -> int:
    return bits - ALL if bits >= ALL // 2 else bits


def halves(identifier: str) -> tuple[int, int]:
    return int(identifier[:16], 16), int(identifier[16:], 16)


def folded(identifier: str) -> int:
    """What OpenTelemetry's SDK for JavaScript compares: the exclusive or of words of 8 digits."""
    word = 0
    for k in range(0, 32, 8):
        word ^= int(identifier[k : k + 8], 16)
    return word


SAMPLERS = {
    "Go": lambda i, p: halves(i)[1] >> 1 < int(p * 2**63),
    "Python": lambda i, p: halves(i)[1] < round(p * ALL),
    "Java": lambda i, p: abs(signed(halves(i)[1])) < p * (2**63 - 1),
    ".NET": lambda i, p: abs(signed(halves(i)[0])) < p * (2**63 - 1),
    "C++": lambda i, p: int.from_bytes(bytes.fromhex(i[:16]), "little") < p * ALL,
    "JavaScript": lambda i, p: folded(i) < p * 2**32,
    "OTEP 235": lambda i, p: int(i[18:], 16) >= (1 - p) * 2**56,
    "Jaeger": lambda i, p: halves(i)[1] & (2**63 - 1) < p * (2**63 - 1),
    "text": lambda i, p: i < f"{int(p * 2**128):032x}",
}
"""Whether each keeps a trace, written from what its project says that it does."""


def drawn(count: int, seed: int) -> list[str]:
    source = random.Random(seed)
    return [f"{source.getrandbits(128):032x}" for _ in range(count)]


@pytest.mark.parametrize("share", [0.01, 0.1, 0.25, 0.5, 0.8])
@pytest.mark.parametrize("name", SAMPLERS)
def test_each_sampler_leaves_its_share(name: str, share: float) -> None:
    """(1) has a standard error of p / n: the tolerance is seven of these."""
    kept = [each for each in drawn(40_000, 3) if SAMPLERS[name](each, share)]
    assert share_by_identifiers(kept) == pytest.approx(share, rel=7 / len(kept))


@pytest.mark.parametrize("count", [20, 100, 1000, 20_000])
def test_whole_traces_are_whole(count: int) -> None:
    assert {share_by_identifiers(drawn(count, seed)) for seed in range(20)} == {1.0}


@pytest.mark.parametrize("count", [100, 1000])
def test_traces_left_out_at_random_do_not_show(count: int) -> None:
    """A share that is chosen by other means is for who chose it to say."""
    kept = random.Random(5).sample(drawn(10 * count, 4), count)
    assert share_by_identifiers(kept) == 1.0


@pytest.mark.parametrize(
    "identifiers",
    [
        [f"{k:032x}" for k in range(1, 500)],
        [f"{k:x}" for k in range(1, 500)],
        [f"{random.Random(1).getrandbits(64) + 977 * k:016x}" for k in range(500)],
        [f"{random.Random(k).getrandbits(63):016x}" for k in range(500)],
        [f"{random.Random(k).getrandbits(32):x}" for k in range(500)],
        [f"{random.Random(k).getrandbits(53):x}" for k in range(500)],
        [f"{1_764_000_000 + k:08x}{random.Random(k).getrandbits(96):024x}" for k in range(500)],
        [
            f"{1_764_000_000_000 + k:012x}7{random.Random(k).getrandbits(76):019x}"
            for k in range(500)
        ],
        ["no digits at all"] * 500,
        ["ab12" * 8] * 500,
        [f"{random.Random(k).getrandbits(128):032x}" for k in range(19)],
        [],
    ],
)
def test_identifiers_that_are_not_quite_random_are_no_sample(identifiers: list[str]) -> None:
    """Numbers that count up, of 63, 53 or 32 bits, and those that begin with the time."""
    assert share_by_identifiers(identifiers) == 1.0
