"""Halves of models that read or write texts: text towers, files of their vectors, the captioner."""
