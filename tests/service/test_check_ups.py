"""Check-ups as jobs: every part is reported, and again before each pass."""

from __future__ import annotations

import numpy as np
import pytest

from vitexplorer.diagnosis import PARTS
from vitexplorer.models.loading import load_model
from vitexplorer.service import check_ups


def test_each_part_is_reported_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_ups, "SECONDS", 0.01)  # most candidates are left out
    reports: list[tuple] = []
    pictures = [np.zeros((192, 192, 3), np.uint8)] * 8
    check_ups.checked_up(lambda *step: reports.append(step), load_model("scenes_vit_patch16_192"), pictures)
    begun = [*dict.fromkeys(reports)]
    assert begun == [(at, len(PARTS), part) for at, part in enumerate(PARTS)]
    assert len(reports) > len(begun)
