"""A tagged job followed through stations of an open network to which jobs return."""
