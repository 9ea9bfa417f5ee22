"""Signatures of measured curves and tables: SFS, LogP, LogGP."""
