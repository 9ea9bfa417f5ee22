"""Fits and files that many tests need."""

import signal

import pytest

from headway.models import Measurements, catalogue_model
from headway.models.running.pool import workers
from tests.notebooks import FITTED, FOLDER, executed, kernel
from tests.support.fit_data import FREE, SCSI
from tests.support.fits import keep_fits
from tests.support.limits import HANGS
from tests.support.once import once_a_run


@pytest.fixture(scope="session")
def scsi():
    """nfs-server fitted to Table A.1."""
    return catalogue_model("nfs-server").with_preset("scsi").fit(Measurements.read(SCSI), FREE)


@pytest.fixture
def fits_once(monkeypatch):
    """A command that needs the fit of an earlier one, or of another page, finds it."""
    keep_fits(monkeypatch)


@pytest.fixture(scope="session")
def vendor_notebook(tmp_path_factory):
    """The notebook that fits all published curves and calibrates both systems, run once."""
    path = FOLDER / "vendor_curves.ipynb"

    def make():
        with kernel() as client:
            return executed(path, client, FITTED)

    return once_a_run(tmp_path_factory, path.stem, make)


@pytest.fixture(scope="session")
def fitted_curves(vendor_notebook):
    """What `fit_server` finds for each published curve, by its name."""
    return vendor_notebook["found"]["curves"]


@pytest.fixture(scope="session")
def calibrated_systems(vendor_notebook):
    """What `calibrated` finds for each system of the thesis."""
    return vendor_notebook["found"]["systems"]


@pytest.fixture(scope="module")
def two_workers():
    """Two processes that share work."""
    with workers(2) as crew:
        yield crew


@pytest.fixture(autouse=True, scope="session")
def interruptible():
    """Let Ctrl-C reach tests and what they start, also where the caller ignores it.

    A shell without a terminal does, for what it starts in the background.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Print no line about work that goes on, as it depends on how fast the machine is."""
    monkeypatch.setattr("headway.cli.output.EVERY", HANGS)


@pytest.fixture
def write(tmp_path):
    """Write a text to a file."""

    def written(text, name="data.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def pytest_collection_modifyitems(items):
    """Begin with the notebook that others wait for; who needs only what it found comes last."""
    items.sort(key=lambda item: _place(getattr(item, "fixturenames", ()), item.name))


def _place(fixtures, name):
    return 2 if "vendor_notebook" in fixtures else 0 if name.endswith("[vendor_curves]") else 1
