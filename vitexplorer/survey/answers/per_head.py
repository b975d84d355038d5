"""Mean over images of each head's metric, with its interval.

As in figure 11 of Dosovitskiy et al. 2020 (arXiv 2010.11929) for 128 images, and figure 3 of Raghu et al. 2021 (arXiv
2108.08810) for 5000. The interval is Student's 95 % interval over images, see `moments`. Of more than `MOST_READ`
images a random sample is read, and the intervals are for its size.
"""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.core.types import MatrixResult
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.moments import mean_tables, moments_of
from vitexplorer.survey.answers.results import provenance_of, scope_notes
from vitexplorer.survey.columns import Column, column_among
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_READ = 200_000
"""Limit for images; the interval of so many is 1/200 of a standard deviation wide"""


def head_metrics(survey: Survey) -> tuple[Column, ...]:
    """Return the columns that have a number for each head."""
    return tuple(column for column in survey.columns.values() if column.axes == ("blocks", "heads"))


def per_head(survey: Survey, metric: str, where: Where = ()) -> MatrixResult:
    """Compute the mean over images of each head's metric, values (blocks, heads), with `low`, `high` and `counts`.

    NaN for a head that a block lacks, and if no image has a number.

    Args:
        survey: the survey.
        metric: a column with a number for each head: distance, head_entropy, class_mass, ...
        where: conditions on the images.

    Raises:
        UnsupportedError: the survey has no head metrics.
        UnknownNameError: there is no such metric.
    """
    column = metric_of(survey, metric)
    rows = chosen(survey, where, MOST_READ)
    return MatrixResult(
        view="survey_heads",
        title=Text("{title}: mean over images", "{title}：对图像取平均").format(title=column.title),
        axes=("blocks", "heads"),
        unit=column.unit,
        formula="1/n Σ_image x",
        provenance=provenance_of(survey),
        settings={"metric": metric},
        notes=(*scope_notes(survey, where), *rows.notes, INTERVALS),
        **mean_tables(moments_of(survey, column, rows.rows), column.shape),
    )


INTERVALS = Text(
    "The table has the 95 % interval of each mean over images (Student's t).",
    "表格给出各均值的 95 % 置信区间，以图像为样本（学生 t 分布）。",
)


def metric_of(survey: Survey, metric: str) -> Column:
    """Look up a column with a number for each head. Raises UnsupportedError or UnknownNameError."""
    none = Text("This survey has no numbers of heads.", "本次普查没有各注意力头的数值。")
    return column_among(head_metrics(survey), metric, none)
