"""Text, code blocks and front matter of the documentation."""

import re
from pathlib import Path
from typing import Any

import yaml

from docs.make.tables import PAGES, README


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def code_blocks(language: str, *pages: Path) -> list[str]:
    """List the code blocks of a language in these pages, or in all."""
    texts = "\n".join(map(text_of, pages or PAGES))
    return re.findall(rf"```{language}\n(.*?)```", texts, re.DOTALL)


def front_matter() -> dict[str, Any]:
    return yaml.safe_load(text_of(README).split("---\n")[1])
