"""The control for several methods: sorted, each once, refused with the rule."""

from __future__ import annotations

import re

import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError


@pytest.mark.parametrize(
    ("methods", "error", "expected"),
    [
        ("grad_can", UnknownNameError, "Unknown view 'grad_can'. Did you mean 'grad_cam'?"),
        (["faithfulness"], UnknownNameError, "Unknown view 'faithfulness'."),
        (3, SettingError, "methods must be names of views, not 3."),
        (("generic_relevance",), UnsupportedError, "Generic relevance follows one sequence of tokens"),
    ],
    ids=str,
)
def test_a_wrong_method_is_answered_with_the_rule(methods, error, expected):
    with pytest.raises(error, match=re.escape(expected)):
        vx.compute("faithfulness", capture_small("swin"), methods=methods)


def test_methods_are_each_compared_once_and_random_last():
    result = vx.compute("faithfulness", capture_small("vit"), methods="random,grad_cam,grad_cam", steps=2)
    assert result.methods == result.settings["methods"] == ("grad_cam", "random")
    assert vx.compute("faithfulness", capture_small("vit"), methods=[], steps=2).methods == ("random",)
