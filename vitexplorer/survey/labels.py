"""Matching of labels, as written in folder names or table cells, to the classes of a model."""

from __future__ import annotations

from vitexplorer.models.loading import LoadedModel

LONG = 10
"""Number of digits from which on a number is no class index"""


def class_of(label: str | None, model: LoadedModel) -> int | None:
    """Find a class by its name in either language, a unique synonym, or its index; None if there is no match.

    Case is ignored, and spaces, hyphens and underscores are equivalent. None for a model with one output, which has no
    classes.
    """
    if label is None or model.num_classes < 2:
        return None
    name = _plain(label)
    names = [(_plain(text.en), _plain(text.zh)) for text in model.class_texts]
    whole = [index for index, both in enumerate(names) if name in both]
    synonyms = [index for index, (en, _) in enumerate(names) if name in (synonym.strip() for synonym in en.split(","))]
    if matches := whole or synonyms:
        return matches[0] if len(matches) == 1 else None
    is_index = name.isdecimal() and len(name) < LONG and int(name) < model.num_classes
    return int(name) if is_index else None


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
