"""The paired bootstrap against its slow twin."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from vitexplorer.core.text import SettingError
from vitexplorer.finetune.results.bootstrap import Bootstrap, paired_bootstrap


def test_the_bootstrap_agrees_with_its_slow_twin():
    rng = np.random.default_rng(1)
    targets = rng.normal(size=30)
    a, b = targets + rng.normal(size=30) * 0.5, targets + rng.normal(size=30)
    interval = paired_bootstrap("regression", targets, ("a", a), ("b", b), draws=50, seed=7)
    draws, differences = np.random.default_rng(7).integers(30, size=(50, 30)), []
    for draw in draws:
        rmse_a = math.sqrt(sum((a[i] - targets[i]) ** 2 for i in draw) / 30)
        rmse_b = math.sqrt(sum((b[i] - targets[i]) ** 2 for i in draw) / 30)
        differences.append(rmse_b - rmse_a)
    assert interval.share == np.mean(np.array(differences) > 0)
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))


def outputs_of(right: str) -> np.ndarray:
    """Make outputs for images of class 0, right where the text has a 1."""
    return np.eye(2)[[0 if one == "1" else 1 for one in right]]


def compared(a: str, b: str) -> Bootstrap:
    return paired_bootstrap("classification", np.zeros(len(a), int), ("a", outputs_of(a)), ("b", outputs_of(b)))


def test_the_bootstrap_sees_what_is_clear_and_what_is_not():
    clear = compared("1" * 40, "0" * 40)
    assert (clear.difference, clear.low, clear.share) == (1, 1, 1)
    assert clear.verdict.en.startswith("a is ahead of b by 100.0 points on 40 validation images")
    same = compared("1" * 40, "1" * 40)
    assert (same.difference, same.share, same.p_value) == (0, 0.5, 1)
    assert same.verdict.en.endswith(
        "cannot be told apart on 40 validation images (both do equally well on every image)."
    )
    assert compared("0" * 40, "1" * 40).verdict.en.startswith("b is ahead of a")
    with pytest.raises(SettingError):
        compared("1" * 40, "0" * 39)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (4, 0), (6, 0), (9, 2), (5, 5)])
def test_mcnemars_test_agrees_with_its_slow_twin(only_a: int, only_b: int) -> None:
    """Under the null hypothesis each image that one run alone gets right is either run's with probability 1/2."""
    changed = only_a + only_b
    chances = [math.comb(changed, number) / 2**changed for number in range(changed + 1)]
    expected = sum(chance for chance in chances if chance <= chances[only_a] * (1 + 1e-9))
    result = compared("1" * 20 + "1" * only_a + "0" * only_b, "1" * 20 + "0" * only_a + "1" * only_b)
    assert result.p_value == pytest.approx(expected)


def test_few_images_prove_nothing() -> None:
    """The bootstrap's interval excludes 0 in each of these cases."""
    one = compared("1", "0")
    assert one.low > 0
    assert one.verdict.en == "a and b cannot be told apart on 1 validation image (McNemar's exact test, p = 1.00)."
    four = compared("1" * 10, "1" * 6 + "0" * 4)
    assert four.low > 0
    assert "told apart on 10 validation images (McNemar's exact test, p = 0.125)" in four.verdict.en
    numbers = paired_bootstrap("regression", np.zeros(5), ("a", np.zeros(5)), ("b", np.ones(5)))
    assert numbers.verdict.en == "a and b cannot be told apart on 5 validation images (too few images for a test)."


def test_an_error_has_its_own_unit() -> None:
    rng = np.random.default_rng(0)
    clear = paired_bootstrap("regression", np.zeros(30), ("a", rng.normal(size=30) / 10), ("b", rng.normal(size=30)))
    sentence = (
        r"a is ahead of b by an RMSE lower by 0\.\d+ on 30 validation images \(95 % interval 0\.\d+ to [\d.]+\)\."
    )
    assert re.fullmatch(sentence, clear.verdict.en)
    broken = paired_bootstrap("regression", np.zeros(9), ("a", np.zeros(9)), ("b", np.full(9, np.nan)))
    assert "not a finite number" in broken.verdict.en
