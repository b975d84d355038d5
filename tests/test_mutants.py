"""Planted faults match the product: each has one place, and a test that should fail on it.

`python -m tests.mutants` runs them and checks that the tests do fail.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.mutants import MUTANTS
from tests.mutants.mutant import JAVASCRIPT, Mutant, NoPlaceError, find, node_of, planted


def test_every_fault_has_its_one_place_and_its_test():
    for mutant in MUTANTS:
        changed = planted(mutant, find(mutant))
        assert mutant.before != mutant.after
        if mutant.definition != JAVASCRIPT:
            ast.parse(changed)
        assert re.match(r"tests/([a-z_]+/)*test_\w+\.py::", node_of(mutant))


def test_faults_are_many_and_each_has_a_name_of_its_own():
    assert len(MUTANTS) >= 75
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_text_that_is_missing_or_ambiguous_is_reported():
    with pytest.raises(NoPlaceError, match="it is 0 times: nowhere"):
        find(Mutant("one", "AttentionCall.weights", "no such code", "", "test_x"))
    with pytest.raises(NoPlaceError, match="it is 3 times"):
        find(Mutant("two", "AttentionCall.weights", "return", "", "test_x"))
    with pytest.raises(NoPlaceError, match="it is in none"):
        node_of(Mutant("three", "AttentionCall.weights", "return", "", "test_that_nobody_wrote"))
