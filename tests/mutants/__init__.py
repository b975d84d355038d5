"""Proof that the quick tests notice: faults planted one at a time in every part of the product."""

from tests.mutants.planted import attention, changes, figures, images, relevance, tokens

MUTANTS = tuple(mutant for part in (attention, relevance, tokens, images, changes, figures) for mutant in part.MUTANTS)
