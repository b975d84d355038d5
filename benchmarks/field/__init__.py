"""The same work by us and by what a person would pick instead, side by side; `python -m benchmarks.field --help`."""
