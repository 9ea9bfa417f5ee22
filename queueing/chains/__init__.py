"""Classes that change into one another: routes by class, chains, and their visits."""
