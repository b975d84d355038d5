"""Twins, small models, drivers and folders that tests share."""
