"""The room Compare: two models, images, sizes or runs side by side."""
