"""Steps two and three of the room: methods are chosen, a training runs, and earlier ones are listed."""
