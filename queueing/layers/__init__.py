"""Layered services: tasks whose threads wait for the services that they call."""
