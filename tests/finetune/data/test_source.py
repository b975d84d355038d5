"""One entry point for folders, tables and zips."""

from __future__ import annotations

from tests.helpers.image_folders import fill, pets, table, zipped
from vitexplorer.finetune.data import read_data, read_folder, read_table


def test_one_function_opens_folders_tables_and_zips(tmp_path):
    fill(tmp_path / "a", pets())
    path = table(tmp_path / "a", ["f,y", *(f"{name},{len(name)}" for name in pets())])
    assert read_data(tmp_path / "a", tmp_path / "b") == read_folder(tmp_path / "a")
    assert read_data(path, tmp_path / "b") == read_table(path)
    packed = zipped(tmp_path / "a.zip", pets())
    assert len(read_data(packed, tmp_path / "b")) == 6
