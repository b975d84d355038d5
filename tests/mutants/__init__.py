"""Proof that the quick tests notice: faults planted one at a time in every part of the product."""

from tests.mutants.planted import (
    attention,
    changes,
    figures,
    images,
    learn,
    methods,
    page,
    relevance,
    scripts,
    serving,
    strangers,
    tokens,
    training,
)

PARTS = (
    attention,
    relevance,
    tokens,
    images,
    changes,
    figures,
    methods,
    training,
    serving,
    scripts,
    strangers,
    page,
    learn,
)
MUTANTS = tuple(mutant for part in PARTS for mutant in part.MUTANTS)
