"""Text half of a CLIP, SigLIP or dino.txt: sentences become unit vectors in the joint space of images and texts.

transformers or open_clip computes them, whichever wrote the folder, with the tokenizer beside the weights. Both are
extras (`pip install -r requirements-words.txt`) and are loaded at the first sentence. Bundled models have a text half
of their own (`word_tower`), and so has dino.txt (`dino_txt_encoder`), with the tokenizer of open_clip.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.controls.texts import EMPTY
from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.models.checkpoints.contents import folder_of, read_contents
from vitexplorer.models.checkpoints.dino_txt_files import TEXT
from vitexplorer.models.checkpoints.zipped import ZIP, unzipped
from vitexplorer.models.texts.dino_txt_encoder import encoder_of
from vitexplorer.models.texts.word_tower import WordTower, WordTowerConfig
from vitexplorer.storage.checked_reading import read_tensors

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

Library = Literal["transformers", "open_clip", "bundled", "dino.txt"]
AT_ONCE = 64
"""Texts of one pass"""
CACHED = 4 << 20
"""Bytes of the vectors of earlier texts that a model keeps"""
BUNDLED = "text.safetensors"
"""File of a bundled model's text half; its sizes and words are in `text` of config.json"""
_TOKENIZERS = ("tokenizer.json", "vocab.json", "spiece.model", "tokenizer.model")
_SIGMOID = ("siglip", "siglip2")
"""Model types of transformers that were trained with a sigmoid for each pair"""
_LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""Neither the network nor code in the folder, about which transformers would ask on the terminal"""
_NO_LIBRARY = Text(
    "Sentences need the package {library}: `pip install -r requirements-words.txt`.",
    "处理文字需要软件包 {library}：`pip install -r requirements-words.txt`。",
)
_UNREADABLE = Text(
    "The text half in {folder} cannot be loaded: {library} refuses its weights or its tokenizer.",
    "无法加载 {folder} 中的文字部分：{library} 拒绝其权重或分词器。",
)
_TOO_LONG = Text(
    "A text has {tokens} tokens, and this model reads {context} at most: {text} ...",
    "文字有 {tokens} 个词元，而该模型最多读取 {context} 个：{text}……",
)
_NO_TEXTS = Text("{model} reads no texts.", "{model} 不能读取文字。")
_NO_PLACE = Text(
    "A template is a sentence with {{}} in place of the text, not {template}.",
    "模板应为用 {{}} 代替文字的句子，而不是 {template}。",
)


@dataclass(frozen=True)
class _Library:
    """A loaded text half."""

    count: Callable[[str], int]
    """Number of a text's tokens, those at its ends included"""
    encode: Callable[[list[str]], Float[Tensor, "texts joint"]]
    context: int
    """Most tokens of a text"""
    scale: float | None
    """Factor of the cosines in training; None if no file states it"""
    bias: float
    """Added to the scaled cosines in training; 0 without a sigmoid"""


class TextTower:
    """Text half of a model in a folder, a zip of one, or a file of the whole model."""

    def __init__(self, folder: Path, library: Library, *, sigmoid: bool):
        self.folder, self.library = folder, library
        self.sigmoid = sigmoid
        """True where each pair was trained with a sigmoid, False for a softmax over the texts"""
        self._lock = threading.Lock()
        self._vectors: BytesCache[str, np.ndarray] = BytesCache(CACHED, lambda vector: vector.nbytes)

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "library": self.library, "sigmoid": self.sigmoid}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)

    def at(self, folder: Path) -> TextTower:
        """Return the same text half, to be read from a copy of its folder or file."""
        return TextTower(folder, self.library, sigmoid=self.sigmoid)

    def embed(self, texts: Sequence[str]) -> Float[np.ndarray, "texts joint"]:
        """Compute the unit vectors of texts as they stand, or return them from memory.

        Raises:
            SettingError: a text has more tokens than the model reads.
            UnsupportedError: the library is not installed, or refuses the folder.
        """
        vectors = {text: self._vectors.get(text) for text in texts}
        missing = [text for text, vector in vectors.items() if vector is None]
        for text, vector in zip(missing, self._computed(missing) if missing else (), strict=True):
            vectors[text] = vector
            self._vectors.put(text, vector)
        return np.stack([vectors[text] for text in texts])

    def _computed(self, texts: Sequence[str]) -> Float[np.ndarray, "texts joint"]:
        with self._lock:
            loaded = self._loaded
        for text in texts:
            if (tokens := loaded.count(text)) > loaded.context:
                raise SettingError(_TOO_LONG.format(tokens=tokens, context=loaded.context, text=text[:40]))
        with torch.no_grad():
            parts = [loaded.encode(list(texts[at : at + AT_ONCE])) for at in range(0, len(texts), AT_ONCE)]
        return F.normalize(torch.cat(parts).float(), dim=-1).numpy()

    def logits(self, cosines: Float[np.ndarray, " texts"]) -> Float[np.ndarray, " texts"] | None:
        """Scale cosines as in training, with the bias of a sigmoid; None if the scale is not known."""
        with self._lock:
            loaded = self._loaded
        if loaded.scale is None:
            return None
        return loaded.scale * cosines.astype(np.float64) + loaded.bias

    @cached_property
    def _loaded(self) -> _Library:
        is_zipped = self.folder.suffix.lower() == ZIP and self.folder.is_file()
        try:
            with unzipped(self.folder) if is_zipped else nullcontext(self.folder) as folder:
                return _LOADERS[self.library](folder)
        except ImportError as error:
            library = "open_clip" if self.library == "dino.txt" else self.library
            raise UnsupportedError(_NO_LIBRARY.format(library=library)) from error
        except Exception as error:  # the libraries raise whatever a damaged file leads to
            reason = _UNREADABLE.format(folder=self.folder.name, library=self.library)
            raise UnsupportedError(reason) from error


def text_tower_at(path: Path, left_out: Sequence[str] = ()) -> TextTower | None:
    """Return the text half beside a model's weights; None if there is none, or no tokenizer.

    `left_out` are names of the weights that the image half does not use.
    """
    if any(name.startswith(f"{TEXT}backbone.") for name in left_out):
        return TextTower(path, "dino.txt", sigmoid=False)
    if left_out and path.suffix.lower() == ZIP and path.is_file():
        with unzipped(path) as folder:
            tower = text_tower_at(folder)
            return None if tower is None else tower.at(path)
    folder = folder_of(path)
    if folder is None:
        return None
    config = _json(folder / "config.json")
    if (folder / BUNDLED).is_file():
        return TextTower(folder, "bundled", sigmoid=config["text"]["sigmoid"])
    if "text_config" in config:
        has_tokenizer = any((folder / name).is_file() for name in _TOKENIZERS)
        kind = config.get("model_type")
        if has_tokenizer and kind in ("clip", *_SIGMOID):
            return TextTower(folder, "transformers", sigmoid=kind in _SIGMOID)
    model = _json(folder / "open_clip_config.json").get("model_cfg")
    if isinstance(model, dict) and "text_cfg" in model:
        return TextTower(folder, "open_clip", sigmoid="init_logit_bias" in model)
    return None


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _of_transformers(folder: Path) -> _Library:
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    was_on = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model = AutoModel.from_pretrained(folder, dtype=torch.float32, **_LOCAL)
    finally:
        if was_on:
            logging.enable_progress_bar()
    model.eval().requires_grad_(False)
    model.vision_model = None
    tokenizer = AutoTokenizer.from_pretrained(folder, **_LOCAL)
    context = model.config.text_config.max_position_embeddings
    is_sigmoid = model.config.model_type in _SIGMOID

    def encode(texts: list[str]) -> Tensor:
        if is_sigmoid:  # trained on padded texts without a mask
            tokens = tokenizer(texts, padding="max_length", max_length=context, return_tensors="pt")
            return model.get_text_features(tokens["input_ids"]).pooler_output
        tokens = tokenizer(texts, padding=True, return_tensors="pt")
        return model.get_text_features(tokens["input_ids"], tokens["attention_mask"]).pooler_output

    return _Library(
        count=lambda text: len(tokenizer(text)["input_ids"]),
        encode=encode,
        context=context,
        scale=float(model.logit_scale.exp()),
        bias=float(model.logit_bias) if is_sigmoid else 0.0,
    )


def _of_open_clip(folder: Path) -> _Library:
    import open_clip

    model = open_clip.create_model(f"local-dir:{folder}", device="cpu").eval().requires_grad_(False)
    model.visual = None
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    inner = getattr(tokenizer, "tokenizer", None)
    bias = getattr(model, "logit_bias", None)

    return _Library(
        count=lambda text: len(inner(text)["input_ids"]) if inner else len(tokenizer.encode(text)) + 2,
        encode=lambda texts: model.encode_text(tokenizer(texts)),
        context=tokenizer.context_length,
        scale=float(model.logit_scale.exp()),
        bias=0.0 if bias is None else float(bias),
    )


def _of_dino_txt(path: Path) -> _Library:
    import open_clip

    tensors = read_contents(path).tensors
    encoder, scale = encoder_of(tensors), tensors.get("logit_scale")
    tokenizer = open_clip.SimpleTokenizer(context_length=len(encoder.positional_embedding))
    if len(encoder.token_embedding.weight) != tokenizer.vocab_size:
        raise ValueError("another vocabulary than CLIP's")
    return _Library(
        count=lambda text: len(tokenizer.encode(text)) + 2,
        encode=lambda texts: encoder(tokenizer(texts)),
        context=tokenizer.context_length,
        scale=None if scale is None else float(scale.exp()),
        bias=0.0,
    )


def _of_bundled(folder: Path) -> _Library:
    stated = _json(folder / "config.json")["text"]
    tower = WordTower(WordTowerConfig(**stated | {"vocabulary": tuple(stated["vocabulary"])}))
    tower.load_state_dict(read_tensors(folder / BUNDLED)[0])
    tower.eval().requires_grad_(False)
    return _Library(
        count=lambda text: len(tower.vocabulary.tokens(text)) + 1,
        encode=lambda texts: tower(tower.tokens(texts)),
        context=tower.config.context,
        scale=float(tower.logit_scale.exp()),
        bias=float(tower.logit_bias),
    )


_LOADERS: dict[Library, Callable[[Path], _Library]] = {
    "transformers": _of_transformers,
    "open_clip": _of_open_clip,
    "bundled": _of_bundled,
    "dino.txt": _of_dino_txt,
}


def embed_text(
    model: LoadedModel, texts: Sequence[str], templates: Sequence[str] | None = None
) -> Float[np.ndarray, "texts joint"]:
    """Compute the unit vectors of texts in the joint space of a model.

    Args:
        model: a model with a text half, from the folder of a CLIP, SigLIP or dino.txt.
        texts: words or sentences.
        templates: sentences with {} in place of the text, "a photo of a {}". A text's vector is the mean of the unit
            vectors of its templates, at unit length (Radford et al. 2021, arXiv 2103.00020, section 3.1.4). None: the
            texts as they stand.

    Returns:
        float32 (texts, joint), each row of length 1.

    Raises:
        UnsupportedError: the model reads no texts, or the library that reads them is missing.
        SettingError: an empty or too long text, or a template without {}.
    """
    if model.text is None:
        raise UnsupportedError(_NO_TEXTS.format(model=model.title))
    texts = [texts] if isinstance(texts, str) else list(texts)
    for template in templates or ():
        if not isinstance(template, str) or "{}" not in template:
            raise SettingError(_NO_PLACE.format(template=repr(template)[:60]))
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise SettingError(EMPTY)
    if not templates:
        return model.text.embed(texts)
    each = model.text.embed([template.replace("{}", text) for text in texts for template in templates])
    means = each.reshape(len(texts), len(templates), -1).mean(1)
    return (means / np.linalg.norm(means, axis=-1, keepdims=True)).astype(np.float32)
