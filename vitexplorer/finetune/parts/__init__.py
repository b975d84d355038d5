"""What several methods are built from: bottlenecks, low-rank changes, prompts, heads, and how they are hung in."""
