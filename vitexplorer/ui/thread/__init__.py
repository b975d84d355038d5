"""Strip under every room that follows one patch from the image to the answer."""
