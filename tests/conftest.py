"""Hypothesis without deadlines: a busy machine is no fault of the code under test."""

from hypothesis import settings

settings.register_profile("headway", deadline=None)
settings.load_profile("headway")
