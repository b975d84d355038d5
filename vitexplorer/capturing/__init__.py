"""Captures: what is kept of one forward pass, for one image or a batch of them."""
