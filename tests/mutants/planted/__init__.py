"""The faults, by part of the product."""
