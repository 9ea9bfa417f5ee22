"""Readers of monitors, histograms and traces: utilisation of resources, and times."""
