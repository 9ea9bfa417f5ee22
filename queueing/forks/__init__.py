"""Requests that fork to several different stations at once, and join when enough are done."""
