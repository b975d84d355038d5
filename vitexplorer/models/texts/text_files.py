"""Files of texts with their vectors, for models that read no texts, or machines without the libraries that do.

A `.safetensors` with the tensor "vectors", (texts, joint), and the metadata "texts", a JSON list of the sentences.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from vitexplorer.controls.explained import TextVector
from vitexplorer.controls.texts import TextVectors
from vitexplorer.core.text import SettingError, Text
from vitexplorer.storage.atomic_writes import replace_bytes
from vitexplorer.storage.checked_reading import broken, read_tensors

_NO_VECTORS = Text("it needs a tensor `vectors` with a row for each text", "缺少张量 `vectors`，每条文字应占一行")
_NO_TEXTS = Text(
    "its metadata need `texts`, a JSON list of as many sentences", "元数据缺少 `texts`，即同样数量句子的 JSON 列表"
)
_COUNT = Text("There are {texts} texts and {vectors} vectors.", "有 {texts} 条文字，却有 {vectors} 个向量。")


def save_texts(path: str | os.PathLike, texts: Sequence[str], vectors: Any) -> None:
    """Write texts with their vectors, float32 (texts, joint).

    Raises SettingError where their numbers differ.
    """
    rows = np.ascontiguousarray(np.asarray(vectors, dtype=np.float32))
    if rows.ndim != 2 or len(rows) != len(texts):
        raise SettingError(_COUNT.format(texts=len(texts), vectors=len(rows) if rows.ndim else 0))
    metadata = {"texts": json.dumps(list(texts), ensure_ascii=False)}
    replace_bytes(Path(path), save({"vectors": rows}, metadata=metadata))


def load_texts(path: str | os.PathLike) -> TextVectors:
    """Read a file of texts with their vectors, for `texts=` of a view.

    Raises BrokenFileError for a file that is damaged or holds something else.
    """
    tensors, metadata = read_tensors(Path(path))
    vectors = tensors.get("vectors")
    if vectors is None or vectors.ndim != 2:
        raise broken(path, _NO_VECTORS)
    try:
        texts = json.loads((metadata or {}).get("texts", ""))
    except ValueError:
        texts = None
    if not isinstance(texts, list) or len(texts) != len(vectors) or not all(isinstance(text, str) for text in texts):
        raise broken(path, _NO_TEXTS)
    return TextVectors(tuple(TextVector(text, row.float().numpy()) for text, row in zip(texts, vectors, strict=True)))
