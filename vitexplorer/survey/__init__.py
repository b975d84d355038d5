"""The same questions asked of every image of a folder: a row for each image, in Parquet files that anything can read.

- `question.py`    what a question is; `questions/` one file each; `schema.py` which of them a model answers, in which
  columns
- `source.py`      folders, tables and lists of images; `manifest.py` which image stands in which row; `card.py` what a
  survey is of
- `shard.py`       the one function, images in and a file of rows out; `runners/` who does it; `surveying.py` the whole
- `opened.py`      a survey that is there, asked through `index.py`; `answers/` one question of a person each;
  `compared.py` two surveys of the same images; `export.py` files for other programs
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
    """Ask every image of `source`, keep the answers in the folder `out` and open it; `surveying.ask_all` says more."""
    from vitexplorer.survey.opened import open_survey
    from vitexplorer.survey.surveying import ask_all

    return open_survey(ask_all(source, model, ask, out, **options))
