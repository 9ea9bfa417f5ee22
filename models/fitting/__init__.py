"""Fitting: from measured curves to parameters, how sure they are, and what is wrong."""
