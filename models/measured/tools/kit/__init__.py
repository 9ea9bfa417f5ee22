"""Shared parts of the readers: numbers, JSON, texts, logs of requests, errors."""
