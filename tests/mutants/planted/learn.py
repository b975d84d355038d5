"""Mutants of the guided path: numbers of another picture, an end that is reported too soon."""

from tests.mutants.mutant import JAVASCRIPT, Mutant

MUTANTS = (
    Mutant(
        "the farthest head in place of the nearest",
        "numbers",
        "(np.nanargmin, np.nanargmax)",
        "(np.nanargmax, np.nanargmin)",
        "test_numbers_of_the_heads",
    ),
    Mutant(
        "patches that matter least hidden as those that matter most",
        "numbers",
        "(ranked[-hidden:], ranked[:hidden])",
        "(ranked[:hidden], ranked[-hidden:])",
        "test_numbers_of_the_class_token",
    ),
    Mutant("a decision that was not kept", "numbers", "if all(", "if any(", "test_numbers_of_the_stack"),
    Mutant(
        "a handout whose letters are all of the first choice",
        "_answer",
        'letter="ABCDEF"[right]',
        'letter="ABCDEF"[0]',
        "test_the_handout_has_the_numbers_and_the_figures_of_each_step",
    ),
    Mutant(
        "a step that is done by one of its parameters",
        JAVASCRIPT,
        ".every(([name, pattern])",
        ".some(([name, pattern])",
        "test_the_arithmetic_of_the_modules_is_right",
    ),
)
