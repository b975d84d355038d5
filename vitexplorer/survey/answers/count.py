"""How many images are meant?"""

from __future__ import annotations

from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey


def count(survey: Survey, where: Where = ()) -> int:
    """Rows for which every condition holds; images that could not be read are rows too."""
    return int(survey.sql("SELECT count(*) FROM {rows}", where).fetchall()[0][0])
