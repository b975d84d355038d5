"""Mutants of the API: its answers, and its limits."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "an image fetched from the server's own network",
        "_is_public",
        "address.is_global and",
        "",
        "test_what_not_everybody_reaches_is_not_public",
    ),
    Mutant(
        "a way inside by way of an answer from outside",
        "_asked",
        "if answer.has_redirect_location:",
        "if False:",
        "test_no_way_leads_inside",
    ),
    Mutant(
        "a file of the machine taken for one that was sent",
        "_sent",
        "if not path.is_relative_to",
        "if path.is_relative_to",
        "test_what_cannot_be_is_a_sentence",
    ),
    Mutant(
        "an event of the page among the endpoints",
        "Page._bind",
        "visit.size, **LATEST",
        'visit.size, trigger_mode="always_last", queue=False',
        "test_nothing_else_has_a_name",
    ),
    Mutant(
        "a changed run explained as the plain one",
        "Explaining._capture",
        "(address.picture, address.change)",
        '(address.picture, "")',
        "test_of_another_size_weights_and_run",
    ),
    Mutant(
        "an event that failed counted as answered",
        "watch_events",
        'outcome = "failed"',
        'outcome = "answered"',
        "test_events_are_counted_by_their_outcome",
    ),
)
