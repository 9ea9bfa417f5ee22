"""Hypothesis without deadlines (a busy machine is no fault of the code), and a fit many need."""

import pytest
from hypothesis import settings

from headway.models import Measurements, catalogue_model
from tests.fit_data import FREE, SCSI

settings.register_profile("headway", deadline=None)
settings.load_profile("headway")


@pytest.fixture(scope="session")
def scsi():
    """nfs-server fitted to Table A.1."""
    return catalogue_model("nfs-server").with_preset("scsi").fit(Measurements.read(SCSI), FREE)
