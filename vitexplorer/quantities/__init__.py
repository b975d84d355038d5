"""What views are made of: quantities that several of them share, each defined in one file."""
