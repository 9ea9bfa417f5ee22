"""Classes that turn into one another on their way: routes by class, chains, and their visits."""
