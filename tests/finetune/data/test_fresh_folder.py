"""New folders are never written through a link or over a file."""

from __future__ import annotations

import pytest

from tests.helpers.image_folders import fill, left_behind
from vitexplorer.finetune.data import DataError
from vitexplorer.finetune.data.fresh_folder import fresh_folder


def test_a_folder_that_is_a_link_or_a_file_is_not_written_through(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    fill(tmp_path, {"file": b"x"})
    for taken in ("link", "file"):
        with pytest.raises(DataError, match="is not empty"), fresh_folder(tmp_path / taken):
            pass
    assert left_behind(tmp_path / "elsewhere") == []
    with pytest.raises(DataError, match="cannot be written"), fresh_folder(tmp_path / "file" / "in"):
        pass
