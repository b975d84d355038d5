"""Chips of the top bar, each with its sheet: image, model, size."""
