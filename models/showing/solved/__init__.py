"""What more a solution looks like: queue lengths, and what an imported file expected."""
