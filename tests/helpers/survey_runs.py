"""Small surveys of a small model."""

from __future__ import annotations

from tests.helpers.small_models import load_small
from vitexplorer.survey.surveying import ask_all

SHARD, BATCH = 4, 3
ASK = ["prediction", "features"]


def run_survey(source, out, *, model="vit", ask=ASK, **options):
    options = {"rows_per_shard": SHARD, "batch_size": BATCH, "workers": 1, "fit": "squash", **options}
    return ask_all(source, load_small(model), ask, out, **options)
