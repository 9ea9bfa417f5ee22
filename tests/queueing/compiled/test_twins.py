"""Kernels in C and their twins in Python say the same, and a spoilt call touches no memory."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest

from headway.queueing.compiled.library import LIBRARY, SWITCH, TWINS, compiled

DIGITS = 1e-13  # both round each operation to 1e-16, in the same order or nearly so

Arguments = tuple[object, ...]


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _inverse_polynomial(seed: int) -> Arguments:
    servers, points = int(random(seed).integers(1, 129)), int(random(seed).integers(1, 1200))
    return servers, random(seed).uniform(1e-3, servers, points), np.empty(points)


MADE: dict[str, tuple[str, Callable[[int], Arguments]]] = {
    "inverse_polynomial": ("headway.queueing.erlang.blocking", _inverse_polynomial),
}
"""The module of each twin, and arguments by seed; results are the arrays that are written."""

built = pytest.mark.skipif(LIBRARY is None, reason="needs the kernels, which were not built")


@built
def test_each_kernel_has_a_twin_and_a_row_here():
    for module, _ in MADE.values():
        import_module(module)

    kernels = {name for name in dir(LIBRARY) if not name.startswith("_")}
    assert kernels == set(MADE)
    assert kernels <= set(TWINS)


@built
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("seed", range(25))
def test_a_kernel_does_what_its_twin_does(name, seed):
    module, arguments = MADE[name]
    import_module(module)
    ours, theirs = arguments(seed), arguments(seed)

    getattr(LIBRARY, name)(*ours)
    with np.errstate(all="ignore"):  # as those who call them do
        TWINS[name](*theirs)

    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=DIGITS, atol=0)


@built
@pytest.mark.parametrize("name", MADE)
def test_arrays_of_the_wrong_size_are_refused(name):
    arguments = MADE[name][1](1)
    arrays = [k for k, value in enumerate(arguments) if isinstance(value, np.ndarray)]
    for k in arrays:
        short = [*arguments]
        short[k] = np.zeros(0, arguments[k].dtype)
        with pytest.raises(ValueError, match=name):
            getattr(LIBRARY, name)(*short)


@built
def test_what_is_no_array_of_numbers_is_refused():
    kernel, load = LIBRARY.inverse_polynomial, np.ones(3)
    with pytest.raises(TypeError, match="3 arguments are needed, not 2"):
        kernel(2, load)
    with pytest.raises(TypeError, match="float64"):
        kernel(2, np.ones(3, np.float32), load)
    with pytest.raises(ValueError, match="contiguous"):
        kernel(2, np.ones((3, 2))[:, 0], load)
    with pytest.raises(TypeError):
        kernel(2, "loads", load)


def test_the_switch_keeps_to_python():
    script = "from headway.queueing.compiled.library import LIBRARY; print(LIBRARY)"
    environment = {**os.environ, SWITCH: "0"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True)

    assert done.stdout.decode().strip() == "None"


def test_a_twin_without_a_kernel_serves_itself():
    def nothing_like_it(result):
        result *= 2

    try:
        assert compiled(nothing_like_it) is nothing_like_it
    finally:
        TWINS.pop("nothing_like_it")
