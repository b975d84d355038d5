"""What a job found: `records.py`, its `metrics.py`, the `baseline.py` to beat, how sure (`bootstrap.py`), at what cost
(`pareto.py`). No torch."""
