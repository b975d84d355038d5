"""Readiness, request metrics and log lines for operators of a server."""
