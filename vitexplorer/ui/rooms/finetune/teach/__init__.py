"""Teaching by examples: boxes of pictures, and a linear probe that answers at once."""
