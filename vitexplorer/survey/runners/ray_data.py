"""Runner on a Ray cluster, or on the cores of this machine: Ray Data maps the shard function over shard numbers.

The state of a survey is in its folder alone, so all machines need to see that folder and the images under the same
paths. Ray restarts workers that died; a killed run resumes from the existing files, as with every runner. Install it
with `pip install -r requirements-ray.txt`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch

from vitexplorer.core.text import Text
from vitexplorer.storage.claims import shared
from vitexplorer.survey.card import SurveyError
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.runners import Job, RowCallback
from vitexplorer.survey.shard import Work, survey_shards


class Actor:
    """Ray worker: loads the model once, then does a shard in each call."""

    def __init__(self, job: Job, model: bytes):
        torch.set_num_threads(1)  # each worker has a core of the cluster, or a GPU
        keep_freed_memory()
        loaded = torch.load(io.BytesIO(model), weights_only=False)  # saved by `run`
        self._work = Work.of(job.folder, loaded, job.batch_size, job.threads)
        self._token = job.token

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[int]]:
        """Do the shards in `batch` and return the number of their rows."""
        with shared(self._work.folder, self._token):
            done = [rows for _, rows in survey_shards(self._work, map(int, batch["shard"]))]
        return {"rows": [sum(done)]}


def run(job: Job, shards: Sequence[int], report: RowCallback) -> None:
    """Do these shards. Raises SurveyError if Ray is not installed, and any exception of `report`."""
    try:
        ray = import_module("ray")
        data = import_module("ray.data")
    except ImportError:
        raise SurveyError(_NO_RAY) from None
    saved = io.BytesIO()
    torch.save(job.model, saved)
    on_gpu = job.model.device.type == "cuda"
    begun = not ray.is_initialized()
    if begun:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        data.DataContext.get_current().enable_progress_bars = False
        answered = data.from_items(
            [{"shard": number} for number in shards], override_num_blocks=len(shards)
        ).map_batches(
            Actor,
            fn_constructor_args=(job.for_worker(), saved.getvalue()),
            batch_size=1,
            compute=data.ActorPoolStrategy(size=min(job.workers, len(shards))),
            num_cpus=0 if on_gpu else 1,
            num_gpus=1 if on_gpu else 0,
        )
        for rows in answered.iter_rows():
            report(int(rows["rows"]))
    finally:
        if begun:
            ray.shutdown()


_NO_RAY = Text(
    "Ray is not installed. Install it with `pip install -r requirements-ray.txt`, or run the survey with processes.",
    "未安装 Ray。请用 `pip install -r requirements-ray.txt` 安装，或改用本机进程运行普查。",
)
