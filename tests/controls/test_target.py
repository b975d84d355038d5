"""The control for a class: its number, its names, and refusals with the rule."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError


def named(*names: str) -> Capture:
    """Return the small ViT whose seven classes have names."""
    captured = capture_small("vit")
    return replace(captured, model=replace(captured.model, class_names=names))


NAMES = ("tench", "tabby, tabby cat", "crane", "7", "crane", "cat", "Egyptian cat")


@pytest.mark.parametrize(
    ("given", "target"),
    [(2, 2), ("2", 2), (" 4 ", 4), ("tench", 0), ("TABBY", 1), ("tabby cat", 1), ("tabby, tabby cat", 1), ("cat", 5)],
)
def test_a_class_has_a_number_and_names(given, target):
    result = vx.compute("random", named(*NAMES), target=given)
    assert result.settings["target"] == target
    assert f"class {target} ({NAMES[target]})" in result.notes[0].en


@pytest.mark.parametrize(
    ("given", "names", "error", "expected"),
    [
        (7, (), SettingError, "There is no class 7: the classes are 0 to 6."),
        (-1, (), SettingError, "There is no class -1: the classes are 0 to 6."),
        ("-1", NAMES, SettingError, "There is no class -1: the classes are 0 to 6."),
        (1.5, (), SettingError, "target must be a whole number, not 1.5."),
        ("tench", (), SettingError, "target must be a whole number, not 'tench'."),
        ("tensh", NAMES, UnknownNameError, "Unknown class 'tensh'. Did you mean 'tench'?"),
        ("crane", NAMES, SettingError, "2 classes are called 'crane': give the number, 2, 4."),
    ],
    ids=str,
)
def test_a_wrong_class_is_answered_with_the_rule(given, names, error, expected):
    with pytest.raises(error, match=re.escape(expected)) as raised:
        vx.compute("grad_cam", named(*names), target=given)
    assert raised.value.text.zh
