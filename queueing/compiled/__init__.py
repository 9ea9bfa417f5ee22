"""Kernels in C, if a compiler built them; each replaces a Python function, its twin."""
