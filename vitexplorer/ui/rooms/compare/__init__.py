"""What stands around the two sides of a comparison: what each says, how they are matched, good pairs to begin with."""
