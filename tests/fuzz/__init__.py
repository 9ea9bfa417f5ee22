"""Mutations of every text that headway reads: each is refused in one line, or answered."""
