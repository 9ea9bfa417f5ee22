"""What setup.cfg allows, and what the constraints pin; `make pins` resolves them."""

import re
import subprocess

import pytest

from tests import pins, processors

UV = "warning: `soup==3.0` is yanked (reason: broken)"


def test_the_oldest_versions_that_are_tested_are_those_that_setup_allows():
    tested = pins.pinned(pins.OLDEST)

    for name, version in map(pins.least, pins.used()):
        assert re.fullmatch(rf"{re.escape(version)}(\.0)*", tested[name]), name
    assert [tested[name] for name in pins.TOOLS] == [
        pins.pinned(pins.NEWEST)[name] for name in pins.TOOLS
    ]


def test_the_tests_run_with_versions_that_setup_allows():
    known = pins.pinned(pins.NEWEST)

    for name, version in map(pins.least, pins.requirements()):
        assert _numbers(known[name]) >= _numbers(version), name
    assert {*pins.used()} <= {*pins.lines(pins.DEVELOPERS)}


def _numbers(version):
    return [int(number) for number in version.split(".")]


def test_the_pythons_that_are_resolved_for_are_the_oldest_and_the_newest_named():
    oldest, newest = pins.pythons()

    assert pins.setup()["options"]["python_requires"] == f">={oldest.removesuffix('.0')}"
    assert f":: {newest}\n" in pins.setup()["metadata"]["classifiers"] + "\n"
    assert (oldest, newest) == ("3.11.0", "3.13")


@pytest.mark.parametrize(
    ("code", "out", "err", "found"),
    [
        (0, "numpy=={numpy}\n", "", []),
        (0, "numpy=={numpy}\n", UV, [UV]),
        (0, "numpy==1.0\nnew==3\n", "", ["new==3", "numpy==1.0"]),
        (1, "", "error: furo needs Python >=3.11.5\n", ["error: furo needs Python >=3.11.5"]),
    ],
)
def test_what_does_not_install_is_told(monkeypatch, capsys, code, out, err, found):
    out = out.format_map(pins.pinned(pins.NEWEST))
    done = subprocess.CompletedProcess([], code, out, err)
    monkeypatch.setattr(pins, "resolve", lambda *_: done)

    assert pins.main([]) == bool(found)
    lines = capsys.readouterr().out.splitlines()
    told = [
        f"{pins.NEWEST} does not pin {each}" if "==" in each and each != UV else each
        for each in found
    ]
    python = pins.pythons()
    expected = [f"Python {version}: {each}" for version in python for each in told]
    assert lines == (expected or [f"{pins.NEWEST}: every pin installs on Python 3.11.0 and 3.13"])


def test_another_processor_lacks_what_it_says():
    least = processors.PROCESSORS[-1].environment()
    lesser = processors.PROCESSORS[0].environment()

    assert least["NPY_DISABLE_CPU_FEATURES"].split() == processors.instructions()
    assert "X86_V3" not in lesser["NPY_DISABLE_CPU_FEATURES"].split()
    assert {each.threads for each in processors.PROCESSORS} == {1, 2}
