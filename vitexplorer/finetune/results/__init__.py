"""Results of a job: `records.py`, `metrics.py`, the `baseline.py` to beat, uncertainty (`bootstrap.py`). No torch."""
