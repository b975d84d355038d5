"""Record of a cause."""

from __future__ import annotations

from typing import Literal, NamedTuple

from vitexplorer.core.text import Text

Group = Literal["pictures", "labels", "weights", "architecture", "data", "training"]


class Cause(NamedTuple):
    """One cause."""

    group: Group
    title: Text
    sign: Text
    """One sentence that says what shows it"""
    looks: Text
    """Description of what a person sees"""
    mend: Text
    """Advice in one sentence"""
    view: str
    """View that shows it"""
    limit: Text | None = None
    """Sentence on what is missed, of a cause that is named first in fewer than 95 % of planted faults"""


COSTS_LITTLE = Text(
    "Faults that cost few answers are missed: of the forty ways compared, one may be as much better by chance.",
    "只使少数回答变差的错误会漏掉：比较的四十种方式中，可能有一种恰好也好这么多。",
)
"""Limit of causes that are told by trying other ways"""
TRIED_LATE = Text(
    "It is tried late: on a slow machine the time may end before, as the report then says; give more seconds.",
    "这一项检查得较晚：在慢的机器上，时间可能先用完，报告会说明这一点；此时请增加秒数。",
)
"""Limit of causes that the check-up comes to last"""
