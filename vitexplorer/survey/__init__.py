"""Survey of a folder: the same questions about every image, one row each, in Parquet files.

- `question.py`    record of a question; `questions/` one file each; `schema.py` the questions and columns of a model
- `source.py`      folders, tables and lists of images; `manifest.py` the plan of rows; `card.py` the description
- `shard.py`       the core function: images in, one file of rows out; `runners/` run it; `surveying.py` entry point
- `opened.py`      an opened survey, queried through `index.py`; `answers/` one analysis each; `compared.py` two surveys
  of the same images; `export.py` files for other programs
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel
    from vitexplorer.survey.opened import Survey
    from vitexplorer.survey.source import AnySource


def survey(
    source: AnySource,
    model: LoadedModel | str | os.PathLike,
    ask: Sequence[str] | None = None,
    out: str | os.PathLike = "survey",
    **options: Any,
) -> Survey:
    """Survey every image of `source` into the folder `out` and open it, see `surveying.ask_all`."""
    from vitexplorer.survey.opened import open_survey
    from vitexplorer.survey.surveying import ask_all

    return open_survey(ask_all(source, model, ask, out, **options))
