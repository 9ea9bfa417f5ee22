"""What the readers of tools share: numbers, JSON, texts, logs of requests, refusals."""
