"""One forward pass followed: attention calls, the residual stream, the path of every tensor."""
