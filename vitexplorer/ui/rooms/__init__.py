"""Rooms of the page: one folder each, all built in the same way."""
