"""Guided path: a column beside the rooms, and a person's progress on it."""
