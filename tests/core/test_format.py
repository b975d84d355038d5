"""Numbers formatted for people."""

from __future__ import annotations

import pytest

from vitexplorer.core.format import plus_minus


@pytest.mark.parametrize(
    ("value", "half", "expected"),
    [
        (0.0076, 0.0101, "0.008 ± 0.010"),
        (-0.004, 0.1, "0.00 ± 0.10"),
        (-1234.4, 56.2, "−1,234 ± 56"),
        (0.25, 0, "0.250 ± 0"),
        (0.25, float("nan"), "0.250 ± –"),
    ],
)
def test_an_uncertainty_has_two_digits_and_its_number_as_many_decimals(value, half, expected):
    assert plus_minus(value, half) == expected
