"""A paper that defines a quantity, cited in English and in Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vitexplorer.core.summaries import described
from vitexplorer.core.text import Language

_IN_CHINESE = (
    (r" et al\.", " 等"),
    (r", figure (\S+)", "，图 \\1"),
    (r", table (\S+)", "，表 \\1"),
    (r", section (\S+)", "，第 \\1 节"),
    (r", appendix (\S+)", "，附录 \\1"),
    (r", equations (\d+) and (\d+)", "，式（\\1）、（\\2）"),
    (r", equation (\d+)", "，式（\\1）"),
)


@dataclass(frozen=True)
class Paper:
    """Where a quantity is defined."""

    citation: str
    """in English: authors, year and the place in the paper"""
    url: str

    def in_(self, language: Language) -> str:
        """The citation as readers of `language` write it: Dosovitskiy 等 2021，图 7; authors stay in Latin letters."""
        if language == "en":
            return self.citation
        said = self.citation
        for english, chinese in _IN_CHINESE:
            said = re.sub(english, chinese, said)
        return said


@described.register
def _(paper: Paper) -> str:
    return paper.citation
