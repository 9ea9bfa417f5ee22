"""What more a solution looks like: queue lengths, bounds."""
