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
    """The paper that defines a quantity."""

    citation: str
    """Authors, year and place in the paper, in English"""
    url: str

    def in_(self, language: Language) -> str:
        """Return the citation in a language: Dosovitskiy 等 2021，图 7; authors stay in Latin letters."""
        if language == "en":
            return self.citation
        citation = self.citation
        for english, chinese in _IN_CHINESE:
            citation = re.sub(english, chinese, citation)
        return citation


@described.register
def _(paper: Paper) -> str:
    return paper.citation
