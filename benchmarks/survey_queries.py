"""Latency of queries to a large survey.

    python -m benchmarks.survey_queries [rows] [rows per shard] [folder]

Makes a survey of random numbers (ten million rows, 100,000 in each file; lists only up to 200,000 rows), opens it
twice, and runs every query six times; the first run is left out, and the median and the maximum of the others are
printed, with one line of JSON at the end. An existing survey in the folder is used as it is.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from tests.helpers.survey_folder import same_names, synthetic_survey
from vitexplorer.survey.answers import (
    count,
    gallery,
    histogram,
    map_2d,
    most_typical,
    near_duplicates,
    per_class,
    per_head,
    scatter,
    worst,
)
from vitexplorer.survey.conditions import Equals, OneOf, Within
from vitexplorer.survey.opened import Survey, open_survey

TIMES = 6
LISTS_UP_TO = 200_000
SURE = Within("probability", 0.2, 0.4)
FEW = (Within("entropy", high=0.3), Equals("correct", False))
LABELS = OneOf("label", ("class 3", "class 17"))


def questions(survey: Survey) -> dict[str, Callable[[], object]]:
    """Return the queries by name."""
    queries = {
        "count, one range": lambda: count(survey, (SURE,)),
        "count, three conditions": lambda: count(survey, (SURE, LABELS, Within("rollout_concentration", 0.3))),
        "histogram": lambda: histogram(survey, "entropy", (SURE,)),
        "histogram by label": lambda: histogram(survey, "entropy", (SURE,), by="correct"),
        "gallery, sorted": lambda: gallery(survey, (SURE,), "entropy", True),
        "gallery, as they stand": lambda: gallery(survey, FEW),
        "scatter": lambda: scatter(survey, "margin", "entropy", (SURE,)),
        "worst": lambda: worst(survey, (LABELS,)),
        "per class": lambda: per_class(survey, (SURE,)),
    }
    if "distance" in survey.columns:
        queries |= {
            "count, one head": lambda: count(survey, (Within("distance[1,1]", 30),)),
            "per head": lambda: per_head(survey, "distance", (SURE,)),
            "typical": lambda: most_typical(survey, None, (SURE,)),
            "map": lambda: map_2d(survey, None, "pca", (SURE,)),
            "near duplicates": lambda: near_duplicates(survey, None, (SURE,), 0.99),
        }
    return queries


def main() -> None:
    """Make and open the survey, run the queries, print the times."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    per_shard = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    existing = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    folder = existing or Path(tempfile.mkdtemp(prefix="survey-queries-"))
    measured: dict[str, object] = {"rows": rows, "rows_per_shard": per_shard}
    try:
        if not (folder / "survey.json").exists():
            since = perf_counter()
            synthetic_survey(
                folder, rows, rows_per_shard=per_shard, classes=same_names(20), lists=rows <= LISTS_UP_TO, features=384
            )
            measured["seconds to make"] = round(perf_counter() - since, 1)
        for turn in ("first", "again"):
            since = perf_counter()
            survey = open_survey(folder)
            measured[f"seconds to open, {turn}"] = round(perf_counter() - since, 3)
            print(f"opened, {turn}: {measured[f'seconds to open, {turn}']} s")
        sizes = {name: sum(f.stat().st_size for f in (folder / name).iterdir()) for name in ("rows", "index")}
        measured["megabytes"] = {name: round(size / 1e6) for name, size in sizes.items()}
        for name, ask in questions(survey).items():
            times = []
            for _ in range(TIMES):
                since = perf_counter()
                ask()
                times.append(1000 * (perf_counter() - since))
            measured[name] = {"median": round(statistics.median(times[1:]), 1), "largest": round(max(times[1:]), 1)}
            print(f"{name:28} {measured[name]['median']:8} ms, at most {measured[name]['largest']} ms")
        measured["peak megabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        print(json.dumps(measured))
    finally:
        if existing is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
