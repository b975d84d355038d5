"""Quantities that several views share, each defined in one file."""
