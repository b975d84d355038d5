"""What kind of head is where in the network, over a whole data set?

The mean over images of each head's number, as figure 11 of Dosovitskiy et al. 2020 (arXiv 2010.11929) has it for 128
images and figure 3 of Raghu et al. 2021 (arXiv 2108.08810) for 5000, and how far it would move with other images:
Student's 95 % interval over images, see `intervals`. Of more than `MOST_READ` images a random sample is read, whose
size the intervals speak of.
"""

from __future__ import annotations

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import MatrixResult
from vitexplorer.survey.answers.chosen import by_file, chosen
from vitexplorer.survey.answers.intervals import mean_tables
from vitexplorer.survey.answers.moments import Moments
from vitexplorer.survey.answers.results import provenance_of, said_of
from vitexplorer.survey.columns import Column
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_READ = 200_000
"""images; the interval of so many is 1/200 of a standard deviation wide"""


def head_metrics(survey: Survey) -> tuple[Column, ...]:
    """The columns that have a number for each head."""
    return tuple(column for column in survey.columns.values() if column.axes == ("blocks", "heads"))


def per_head(survey: Survey, metric: str, where: Where = ()) -> MatrixResult:
    """Mean over images of each head's number, values (blocks, heads), with `low`, `high` and `counts`.

    NaN where a block has no such head, or where no image has a number.

    Args:
        survey: which survey.
        metric: a column with a number for each head: distance, head_entropy, class_mass, ...
        where: which images.

    Raises UnknownNameError for another column.
    """
    column = metric_of(survey, metric)
    assert column.shape is not None
    rows = chosen(survey, where, MOST_READ)
    moments = Moments(column.shape[0] * column.shape[1])
    for piece in by_file(survey, rows.rows):
        moments.add(survey.lists_at(metric, piece))
    return MatrixResult(
        view="survey_heads",
        title=Text("{title}: mean over images", "{title}：图像平均").format(title=column.title),
        axes=("blocks", "heads"),
        unit=column.unit,
        formula="1/n Σ_image x",
        provenance=provenance_of(survey),
        settings={"metric": metric},
        notes=(*said_of(survey, where), *rows.notes, INTERVALS),
        **mean_tables(moments, column.shape),
    )


INTERVALS = Text(
    "The table has the 95 % interval of each mean over images (Student's t).",
    "表格中给出各均值在图像间的 95 % 置信区间（学生 t 分布）。",
)


def metric_of(survey: Survey, metric: str) -> Column:
    """A column with a number for each head. Raises UnsupportedError or UnknownNameError."""
    known = {column.key: column for column in head_metrics(survey)}
    if not known:
        raise UnsupportedError(Text("This survey has no numbers of heads.", "本次普查没有各注意力头的数值。"))
    if metric not in known:
        raise unknown_name("column", metric, known)
    return known[metric]
