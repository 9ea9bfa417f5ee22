"""Spans of traces as OpenTelemetry, Jaeger and Zipkin write them."""
