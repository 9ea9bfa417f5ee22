"""Requests that go to several unlike stations at once, and on when enough of them are done."""
