"""Attention canvas: a component that shows every head of a block; the browser answers the mouse by itself."""
