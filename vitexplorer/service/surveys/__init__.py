"""Surveys that visitors made, and the answers that their charts, galleries and maps are drawn from."""
