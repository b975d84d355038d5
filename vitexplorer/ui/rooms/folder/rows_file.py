"""Download of the chosen rows of a survey: written to a temporary folder, sent, and deleted."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.ui.kit.static_responses import NO_STORE

FORMATS = ("csv", "parquet")


def rows_file(request: SurveyRequest) -> FileResponse:
    """Return the rows as a CSV or Parquet file; only Parquet holds columns of lists.

    Raises:
        ExplainedError: where the file cannot be written.
    """
    from vitexplorer.survey.export import export

    ending = request.text("as")
    if ending not in FORMATS:
        raise ExplainedError(SURVEY_WORDS["survey_wrong"])
    survey, where = request.opened, request.where
    with explain_full_disk(Path(tempfile.gettempdir())):
        folder = Path(tempfile.mkdtemp(prefix="vitexplorer-rows-"))
    try:
        file = export(survey, where, folder / f"rows.{ending}", lists=ending == "parquet")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    remove_folder = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, headers=NO_STORE, background=remove_folder)
