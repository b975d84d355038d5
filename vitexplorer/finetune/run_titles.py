"""Titles of runs: the method's own title and the settings that differ from its defaults."""

from __future__ import annotations

import re

from vitexplorer.core.text import Text, same


def run_title(key: str) -> Text:
    """Return the title of a run by its key: `LoRA (r=4, lr=0.01)` for `lora-r=4-lr=0.01`."""
    from vitexplorer.finetune.methods import METHODS  # here: the methods import torch

    method, *settings = re.split(r"-(?=[a-z_]+=)", key)
    title = METHODS[method].title if method in METHODS else same(method)
    if not settings:
        return title
    return Text("{method} ({settings})", "{method}（{settings}）").format(method=title, settings=", ".join(settings))
