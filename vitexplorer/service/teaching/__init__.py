"""Teaching by examples: boxes of pictures and a probe on their features."""
