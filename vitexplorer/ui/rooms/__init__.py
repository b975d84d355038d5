"""The rooms of the page, in the order of a lecture: one file each, all of one shape."""
