"""Errors on the command line: one sentence for what the user can fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.core.text import Language, Text


@contextmanager
def one_sentence(language: Language) -> Iterator[None]:
    """Turn an explained error into a line on stderr and exit code 2; other errors pass."""
    try:
        with explain_full_memory():
            yield
    except (ValueError, OSError) as error:
        text = getattr(error, "text", None)
        if not isinstance(text, Text):
            raise
        typer.echo(text.in_(language), err=True)
        raise SystemExit(2) from None
