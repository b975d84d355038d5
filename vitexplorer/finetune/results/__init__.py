"""Results of a job, without torch.

`records.py`, `metrics.py`, the `baseline.py` to beat, uncertainty (`bootstrap.py`) and cost (`pareto.py`).
"""
