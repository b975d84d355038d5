"""Routes, guards, static files, metrics and the API."""
