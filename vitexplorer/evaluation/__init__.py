"""Whether maps are right: protocols that hold them against a known truth, one file each, and the tables they make."""

from vitexplorer.evaluation.evaluating import evaluate

__all__ = ["evaluate"]
