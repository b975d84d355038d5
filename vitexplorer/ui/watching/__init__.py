"""How a server is: whether it is ready, what it does and how long that takes, for whoever runs it."""
