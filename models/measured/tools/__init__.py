"""Readers of tools' output: one file per family of load generators, benchmarks and monitors."""
