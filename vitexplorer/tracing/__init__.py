"""Followers of one forward pass: attention calls, the residual stream, and the path of every tensor."""
