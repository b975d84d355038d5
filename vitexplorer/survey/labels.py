"""Which class of a model does a label name? The name of a folder or a cell of a table, as people write it."""

from __future__ import annotations

from vitexplorer.models.loading import LoadedModel

LONG = 10
"""digits of what is no index any more"""


def class_of(label: str | None, model: LoadedModel) -> int | None:
    """A class by its name in either language or one of its synonyms, which no other class has, or by its index.

    Upper and lower case, spaces, hyphens and underscores are alike. None where no class is meant, and of a model with
    one output, which has none.
    """
    if label is None or model.num_classes < 2:
        return None
    wanted = _plain(label)
    names = [(_plain(text.en), _plain(text.zh)) for text in model.class_texts]
    whole = [index for index, both in enumerate(names) if wanted in both]
    synonyms = [index for index, (en, _) in enumerate(names) if wanted in (one.strip() for one in en.split(","))]
    if found := whole or synonyms:
        return found[0] if len(found) == 1 else None
    is_index = wanted.isdecimal() and len(wanted) < LONG and int(wanted) < model.num_classes
    return int(wanted) if is_index else None


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
