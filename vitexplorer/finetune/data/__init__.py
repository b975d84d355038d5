"""The user's images: read, inspected and split. The files are never changed.

    dataset = read_data("pets.zip", into=folder)      # class folders, or images and a .csv; nothing is decoded yet
    report = inspect(dataset)                         # every image once: sizes, duplicates, what cannot be used
    sides = split(report.dataset, seed=0, share=0.2)  # indices; every class on both sides, duplicates on one

`read_folder`, `read_table` and `read_zip` read one kind of data; a `Pick` chooses columns of a table, which
`table_columns` and `folder_columns` describe; `PictureCache` holds shrunk pictures; `example_folder` draws scenes.

A problem is a `Finding` (kind, level, text in both languages, names) if the rest of the data can be used, and a
`DataError` if nothing can. `Dataset.digest` identifies the images and targets of a folder.
"""

from vitexplorer.finetune.data.archive import read_zip
from vitexplorer.finetune.data.cache import PictureCache
from vitexplorer.finetune.data.columns import Columns, Pick, table_columns
from vitexplorer.finetune.data.example import example_folder
from vitexplorer.finetune.data.folder import folder_columns, read_folder
from vitexplorer.finetune.data.report import DataReport, inspect
from vitexplorer.finetune.data.source import read_data
from vitexplorer.finetune.data.splitting import Split, split
from vitexplorer.finetune.data.table import read_table
from vitexplorer.storage.dataset import Dataset, Item
from vitexplorer.storage.findings import DataError, Finding

__all__ = [
    "Columns",
    "DataError",
    "DataReport",
    "Dataset",
    "Finding",
    "Item",
    "Pick",
    "PictureCache",
    "Split",
    "example_folder",
    "folder_columns",
    "inspect",
    "read_data",
    "read_folder",
    "read_table",
    "read_zip",
    "split",
    "table_columns",
]
