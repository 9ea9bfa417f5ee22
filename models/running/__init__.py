"""Work spread over an executor: processes of this machine, a cluster, whatever a caller has."""
