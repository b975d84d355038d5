"""Evaluation of maps against a known truth: protocols, one file each, and the tables of their results."""

from vitexplorer.evaluation.evaluating import evaluate

__all__ = ["evaluate"]
