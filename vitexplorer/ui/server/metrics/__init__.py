"""Readiness, request metrics and log lines for whoever runs the server."""
