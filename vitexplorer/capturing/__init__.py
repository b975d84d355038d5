"""Captures: the tensors that views need of one forward pass, for one image or a batch of them."""
