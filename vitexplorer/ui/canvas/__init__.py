"""The attention canvas: a component on which every head of a block is read with the mouse, answered by the browser."""
