"""Modules shared by several methods: bottlenecks, low-rank changes, prompts, heads, and hooks to attach them."""
