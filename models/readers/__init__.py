"""Readers of measured files, recognised by their content."""
