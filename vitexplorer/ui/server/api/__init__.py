"""Endpoints for scripts and agents, on the same engine as the page."""
