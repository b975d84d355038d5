"""Mutants by part of the package."""
