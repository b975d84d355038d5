"""Limits on uploads, set for one test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vitexplorer.core.settings import settings


@pytest.fixture
def limit(monkeypatch) -> Callable[..., None]:
    """Set settings for one test: `limit(data_files=3)`."""

    def limit(**values: float) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"VIT_{name.upper()}", str(value))
        settings.cache_clear()

    yield limit
    monkeypatch.undo()
    settings.cache_clear()
