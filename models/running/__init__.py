"""Distribute work over an executor: processes of this machine, a cluster, or the caller's own."""
