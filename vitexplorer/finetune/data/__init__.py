"""The user's images: read, inspected and split. The files are never changed.

    dataset = read_data("pets.zip", into=folder)      # class folders, or images and a .csv; nothing is decoded yet
    report = inspect(dataset)                         # every image once: sizes, duplicates, what cannot be used
    sides = split(report.dataset, seed=0, share=0.2)  # indices; every class on both sides, duplicates on one

read_data(path, into, pick, *, progress)
                                  chooses one of the following for `path`
read_folder(path, pick)           a `Dataset` of class folders or, where a table names the images, of that table;
                                  `folder_columns(path)` lists its columns, None without a table
read_table(path, images, pick)    a `Dataset` of a .csv; `table_columns(path, images)` lists its columns
read_zip(path, into, pick, *, progress)
                                  unpacks safely into a new folder, whole or not at all, and reads it
Pick(image, target, task)         which columns of a table, and whether "classification" or "regression"; all optional
inspect(dataset, *, progress)     a `DataReport`: `.dataset` (usable images, with groups of duplicates), `.findings`,
                                  `.can_train`, `.counts`, `.unreadable`, `.sizes`, `.exact`, `.near`
split(dataset, seed, share)       a `Split`: `.train` and `.validation` indices; pass the report's dataset
PictureCache(folder, megabytes)   shrunk pictures on disk, bounded; may be shared by processes
example_folder(path, per_class, size, *, task)
                                  drawn scenes as an example

A problem is a `Finding` (kind, level, text in both languages, names) if the rest of the data can be used, and a
`DataError` if nothing can. `Dataset.digest` identifies the images and targets of a folder.
"""

from vitexplorer.finetune.data.archive import read_zip
from vitexplorer.finetune.data.cache import PictureCache
from vitexplorer.finetune.data.columns import Column, Columns, Pick, table_columns
from vitexplorer.finetune.data.example import example_folder
from vitexplorer.finetune.data.folder import folder_columns, read_folder
from vitexplorer.finetune.data.report import DataReport, inspect
from vitexplorer.finetune.data.source import read_data
from vitexplorer.finetune.data.splitting import Split, split
from vitexplorer.finetune.data.table import read_table
from vitexplorer.storage.dataset import Dataset, Item
from vitexplorer.storage.findings import DataError, Finding

__all__ = [
    "Column",
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
