"""Endpoints for scripts and agents, on the same engine as the page."""

from vitexplorer.ui.server.api.endpoints import add_endpoints as add_endpoints
