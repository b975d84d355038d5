"""Small components of the page: header, example strip, status line. Each has its JavaScript in a file beside it."""
