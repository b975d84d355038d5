"""Renderers: one file, one type of result. Each defines `RENDERER`; nothing else has to know of it."""
