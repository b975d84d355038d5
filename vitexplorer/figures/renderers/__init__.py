"""Renderers of results: one file for each type of result. Each defines `RENDERER`, which is found by itself."""
