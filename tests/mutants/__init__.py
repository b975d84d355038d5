"""Mutation tests of the quick tests: faults planted one at a time in every part of the package."""

from tests.mutants.planted import (
    attention,
    changes,
    figures,
    hosting,
    images,
    learn,
    methods,
    page,
    relevance,
    scripts,
    serving,
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
    hosting,
    page,
    learn,
)
MUTANTS = tuple(mutant for part in PARTS for mutant in part.MUTANTS)
