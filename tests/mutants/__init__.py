"""Proof that the quick tests notice: faults planted one at a time in every part of the product."""

from tests.mutants.planted import (
    attention,
    changes,
    figures,
    images,
    methods,
    page,
    relevance,
    scripts,
    serving,
    strangers,
    tokens,
    training,
)

PARTS = (attention, relevance, tokens, images, changes, figures, methods, training, serving, scripts, strangers, page)
MUTANTS = tuple(mutant for part in PARTS for mutant in part.MUTANTS)
