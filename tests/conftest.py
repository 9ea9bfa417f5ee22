"""A fit that many tests need."""

import pytest

from headway.models import Measurements, catalogue_model
from tests.fit_data import FREE, SCSI


@pytest.fixture(scope="session")
def scsi():
    """nfs-server fitted to Table A.1."""
    return catalogue_model("nfs-server").with_preset("scsi").fit(Measurements.read(SCSI), FREE)
