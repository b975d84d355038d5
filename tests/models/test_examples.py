"""Example images have files, licences and sources."""

from __future__ import annotations

from vitexplorer.core.settings import ASSETS
from vitexplorer.service.image_store import examples


def test_examples_have_licences_and_files() -> None:
    assert len(examples()) >= 6
    for example in examples().values():
        assert example.path.is_relative_to(ASSETS)
        assert example.path.is_file()
        assert example.licence
        assert example.source
