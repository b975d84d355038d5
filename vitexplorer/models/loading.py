"""`load_model`: a timm module in eval mode with what must be known of it to show it: family, weights, preprocessing.

The module is timm's own and nobody changes it afterwards, so that one copy serves every thread.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import timm
import torch
from timm.data import ImageNetInfo, infer_imagenet_subset, resolve_model_data_config
from torch import nn

from vitexplorer.core.notebook_display import NotebookDisplay
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import Progress, SettingError, Text
from vitexplorer.core.types import BlockSite, Provenance, Size, Weights
from vitexplorer.models.about import About, merged, origin
from vitexplorer.models.capture_memory import check_memory
from vitexplorer.models.checkpoints import SUFFIXES, WeightsError, check_classes
from vitexplorer.models.checkpoints.contents import tensors_in
from vitexplorer.models.checkpoints.zipped import ZIP
from vitexplorer.models.convolutional import family_of_backbone
from vitexplorer.models.families import family_of
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.input_size import at_size, by
from vitexplorer.models.mae import MaeDecoder, decoder_from, without_decoder
from vitexplorer.models.measured import measured
from vitexplorer.models.model_summary import model_summary
from vitexplorer.models.seeding import seeded
from vitexplorer.models.translated import check_run, translated
from vitexplorer.models.weights import (
    apply_state_dict,
    count_classes,
    download_pretrained,
    load_weights,
    read_state_dict,
)

MANY = 2048
"""patches up to which nobody asks how much memory one image takes: ViT-B at 720 pixels has as many"""

_NO_PATH = Text(
    "There is no file or folder {path} here, and no model is called so. Name a weight file, a folder of one, or a model"
    " of timm's; what lies in a repository of Hugging Face must be downloaded first.",
    "此处没有文件或文件夹 {path}，也没有同名模型。请指明权重文件、其所在文件夹或 timm 的模型名称；"
    "Hugging Face 仓库中的模型须先下载。",
)
_NO_BLOCKS = Text(
    "{source} is {model}, none of whose attention can be placed in images of {size} pixels.",
    "{source} 是 {model}，在 {size} 像素的图像上，它的注意力都无法定位。",
)
_PATH_AND_WEIGHTS = Text(
    "{path} is a path, which brings its own weights; leave out weights={weights}, or name the model that they are of.",
    "{path} 是路径，自带权重；请去掉 weights={weights}，或指明权重所属模型的名称。",
)


@dataclass(frozen=True)
class Preprocessing:
    """How this model wants its images, as timm resolves it."""

    input_size: tuple[int, int]
    """height, width in pixels"""
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    interpolation: str
    crop_pct: float
    crop_mode: str


@dataclass(frozen=True)
class LoadedModel(Summarised, NotebookDisplay):
    """A timm module and what the explorer knows of it."""

    name: str
    module: nn.Module
    family: ModelFamily
    provenance: Provenance
    preprocessing: Preprocessing
    class_names: tuple[str, ...] = ()
    """one name per output of the classifier; empty where nobody knows them"""
    class_names_zh: tuple[str, ...] = ()
    """the same in Chinese; empty for ImageNet, whose names timm has in English alone"""
    notes: tuple[Text, ...] = ()
    """what was changed or left out to fit the weights into the module"""
    decoder: MaeDecoder | None = None
    """what a masked autoencoder draws hidden patches with, where the weights hold one"""
    unsized: LoadedModel | None = None
    """the model at its own input size, where this is it at another"""

    def __getstate__(self) -> dict[str, Any]:
        """What a copy takes along: not `block_of_parameter`, whose ids are those of these parameters."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def class_texts(self) -> tuple[Text, ...]:
        """The classes' names in both languages as far as they are known."""
        chinese = self.class_names_zh or self.class_names
        return tuple(Text(en, zh) for en, zh in zip(self.class_names, chinese, strict=True))

    @cached_property
    def block_of_parameter(self) -> dict[int, int]:
        """id of each parameter -> number of its block, -1 outside: a used parameter tells where the pass is."""
        names = [f"{site.name}." for site in self.blocks(self.preprocessing.input_size)]
        return {
            id(parameter): next((i for i, block in enumerate(names) if name.startswith(block)), -1)
            for name, parameter in self.module.named_parameters()
        }

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.module.parameters()).device

    @property
    def prefix_tokens(self) -> tuple[str, ...]:
        """Names of the tokens before the patches."""
        return self.family.prefix_tokens(self.module)

    @property
    def num_classes(self) -> int:
        """Outputs of the classifier, 0 where there is none."""
        return self.module.num_classes

    @property
    def has_one_output(self) -> bool:
        """Whether it answers with one number, a regression or a single score, rather than with classes."""
        return self.num_classes == 1

    @property
    def embeds_pixels(self) -> bool:
        """Whether a token is made of its own patch of pixels alone; hybrids cut features of convolutions."""
        proj = getattr(getattr(self.module, "patch_embed", None), "proj", None)
        return (
            isinstance(proj, nn.Conv2d)
            and proj.in_channels == len(self.preprocessing.mean)
            and proj.stride == proj.kernel_size
        )

    def blocks(self, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Every block's place and grid for an input of (height, width) pixels."""
        return self.family.blocks(self.module, input_size)

    def _summary(self) -> Summary:
        return model_summary(self)


def usual_device() -> str:
    """Where models are loaded when nobody says."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def load_model(
    name: str | os.PathLike | None = None,
    weights: str | os.PathLike = "auto",
    *,
    size: int | Size | str | None = None,
    seed: int = 0,
    device: str | torch.device | None = None,
    progress: Progress | None = None,
) -> LoadedModel:
    """Load a timm architecture, a bundled model, or whatever model a file holds.

    Args:
        name: a timm name with or without tag (`vit_base_patch16_224.augreg_in21k`), or a bundled model's name. A path,
            or None, for what that file or folder, or `weights`, holds, told from the names and shapes of its tensors:
            models of timm, transformers, torchvision, open_clip and the papers' own repositories, see
            `models.checkpoints`. A string that is both is the name.
        weights: "auto" (bundled where there are, otherwise pretrained), "pretrained", "bundled", "random", or the
            path of a `.safetensors` or `.pth` file, of a folder or a zip of one, all read without running any code;
            `~` is the home folder. A merged checkpoint of a tuned model brings the names of its classes and what it
            was made from.
        size: another input size in pixels, of a square or (height, width), see `at_size`; None for the model's own.
        seed: for "random": the module equals `torch.manual_seed(seed); timm.create_model(name)`.
        device: where to run; a GPU where there is one when None.
        progress: told how many bytes are downloaded, or unpacked from a zip.

    Raises:
        UnknownNameError: no such model; the message names the nearest.
        UnsupportedError: no family is stated for the architecture, or it takes one input size only.
        SettingError: a size that it does not take (the message names the nearest), or that takes too much memory; or
            a path as name beside other weights.
        WeightsError, DownloadError: the weights are not there, do not fit, or cannot be fetched.
    """
    path, weights = path_named(name), os.fspath(weights)
    if path is not None:
        if weights != "auto":
            raise SettingError(_PATH_AND_WEIGHTS.format(path=path, weights=repr(weights)))
        model = _load_any(str(path), device, progress)
    elif name is None:
        model = _load_any(weights, device, progress)
    else:
        model = _load(str(name), weights, family_of, seed, device, progress)
    return model if size is None else at_size(model, size)


def path_named(name: str | os.PathLike | None) -> Path | None:
    """The file or folder that stands where a model's name may; None for a name.

    Only for what the owner of this machine says: a visitor of the page must never name one. Raises WeightsError for
    what can be nothing but a path, and leads nowhere.
    """
    if name is None or (isinstance(name, str) and _is_known(name)):
        return None
    path = _expanded(name)
    try:
        if path.exists():
            return path
    except (OSError, ValueError):  # too long for any file, or with a character that none has
        return None
    if not isinstance(name, str) or set(name) & set("/\\~") or name.lower().endswith((*SUFFIXES, ZIP)):
        raise WeightsError(_NO_PATH.format(path=path))
    return None


def _expanded(path: str | os.PathLike) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # the home folder of nobody
        return Path(path)


def load_backbone(
    name: str,
    weights: str | os.PathLike = "auto",
    *,
    seed: int = 0,
    device: str | torch.device | None = None,
    progress: Progress | None = None,
) -> LoadedModel:
    """`load_model` for fine-tuning, which takes ResNets and EfficientNets too: they can be tuned, but not shown.

    Takes names alone, never a path.
    """
    return _load(name, os.fspath(weights), family_of_backbone, seed, device, progress)


def _load(
    name: str,
    weights: str,
    find_family: Callable[[nn.Module, str], ModelFamily],
    seed: int,
    device: str | torch.device | None,
    progress: Progress | None,
) -> LoadedModel:
    check_known(name)
    bundled = ASSETS / "models" / name
    is_bundled = name in _shipped()
    if weights == "auto":
        weights = "bundled" if is_bundled else "pretrained"
    if weights == "bundled" and not is_bundled:
        raise SettingError(
            Text(
                '{name} is not a bundled model. Use weights="pretrained" or weights="random".',
                '{name} 不是内置模型。请用 weights="pretrained" 或 weights="random"。',
            ).format(name=name)
        )
    if weights == "pretrained" and is_bundled:
        raise SettingError(
            Text(
                '{name} is a bundled model: its trained weights are weights="bundled".',
                '{name} 是内置模型：它训练好的权重是 weights="bundled"。',
            ).format(name=name)
        )

    architecture = f"local-dir:{bundled}" if is_bundled else name
    notes: tuple[Text, ...] = ()
    decoder = tuned = None
    if weights == "random":
        module, kind, source = _build(architecture, seed), "random", f"seed {seed}"
    elif weights == "bundled":
        module, kind, source = _build(architecture, 0), "bundled", f"assets/models/{name}"
        notes = load_weights(module, bundled / "model.safetensors")
        if (bundled / "decoder.safetensors").is_file():
            decoder = decoder_from(read_state_dict(bundled / "decoder.safetensors"), module)
        notes += measured(json.loads((bundled / "config.json").read_text(encoding="utf-8")).get("figures", {}))
    elif weights == "pretrained":
        path = download_pretrained(name, progress=progress)
        module, kind, source = _build(architecture, 0), "pretrained", timm.get_pretrained_cfg(name).hf_hub_id or "timm"
        notes = load_weights(module, path)
    else:
        weights = str(_expanded(weights))
        kind, source = "file", Path(weights).name
        state_dict = tensors_in(weights)
        tuned = merged(weights)
        classes = tuned.num_classes if tuned else count_classes(state_dict)
        check_classes(classes, state_dict, weights)
        module = _build(architecture, 0, num_classes=classes)
        decoder = decoder_from(state_dict, module)
        notes = apply_state_dict(module, without_decoder(state_dict) if decoder else state_dict, source)
    loaded = describe(name, module, find_family(module, name), kind, source, device, notes, decoder)
    return loaded if tuned is None else _named(loaded, tuned, source)


def _load_any(weights: str, device: str | torch.device | None, progress: Progress | None) -> LoadedModel:
    """The model of a file that nobody names; it is run once, if that takes no more than any image may."""
    if weights in ("auto", "pretrained", "bundled", "random"):
        raise SettingError(Text("Name a model, or a file as weights.", "请指明模型名称，或把权重设为某个文件。"))
    weights = str(_expanded(weights))
    if os.path.isfile(weights) and (own := merged(weights)) is not None:
        return _load(own.base.model, weights, family_of, 0, device, None)
    found = translated(weights, lambda entry, **arguments: _build(entry, 0, **arguments), progress)
    family = family_of(found.module, found.name)
    file = Path(weights).name
    loaded = describe(found.name, found.module, family, "file", file, device, found.notes, found.decoder)
    if not loaded.blocks(loaded.preprocessing.input_size):
        size = by(loaded.preprocessing.input_size)
        raise WeightsError(_NO_BLOCKS.format(source=file, model=loaded.name, size=size))
    if _most_patches(loaded) > MANY:
        check_memory(loaded)
    check_run(found.module, file)
    knows_labels = found.facts.class_names or found.facts.library == "torchvision"
    return loaded if knows_labels else replace(loaded, class_names=())


def _most_patches(model: LoadedModel) -> int:
    return max(site.grid.num_patches for site in model.blocks(model.preprocessing.input_size))


def _named(loaded: LoadedModel, tuned: About, file: str) -> LoadedModel:
    """A merged checkpoint under the names and the origin that its file tells of."""
    names = tuned.class_names if len(tuned.class_names) == loaded.num_classes else ()
    provenance = replace(origin(tuned, file), model=loaded.name)
    return replace(loaded, class_names=names, class_names_zh=(), provenance=provenance)


def _shipped() -> list[str]:
    return [config.parent.name for config in (ASSETS / "models").glob("*/config.json")]


def check_known(name: str) -> None:
    """Raises UnknownNameError for what is neither a bundled model nor one of timm's."""
    if not _is_known(name):
        raise unknown_name("model", name, [*timm.list_models(), *timm.list_models(pretrained=True), *_shipped()])


def _is_known(name: str) -> bool:
    return name in _shipped() or _is_timm_name(name)


def _is_timm_name(name: str) -> bool:
    architecture, _, tag = name.partition(".")
    return timm.is_model(architecture) and (not tag or timm.is_model_pretrained(name))


def _build(architecture: str, seed: int, **options: Any) -> nn.Module:
    """The module with random parameters, able to resample its position embeddings where the architecture can."""
    try:
        module = _seeded(architecture, seed, dynamic_img_size=True, **options)
    except TypeError:  # BEiT and others: fixed size
        return _seeded(architecture, seed, **options)
    if not _is_cut_evenly(module):  # timm then refuses the model's own size unless that is the only one
        return _seeded(architecture, seed, **options)
    return module


def _is_cut_evenly(module: nn.Module) -> bool:
    """Whether whole patches fill the input; SigLIP so400m cuts 384 pixels into 27 patches of 14 and leaves 6."""
    embed = getattr(module, "patch_embed", None)
    if not hasattr(embed, "img_size"):
        return True
    return all(side % patch == 0 for side, patch in zip(embed.img_size, embed.patch_size, strict=True))


def _seeded(architecture: str, seed: int, **options: Any) -> nn.Module:
    with seeded(seed):
        return timm.create_model(architecture, **options)


def describe(
    name: str,
    module: nn.Module,
    family: ModelFamily,
    kind: Weights,
    source: str,
    device: str | torch.device | None,
    notes: tuple[Text, ...],
    decoder: MaeDecoder | None = None,
) -> LoadedModel:
    """A module of timm's that is in memory, put into eval mode on a device, with what is known of it."""
    config = resolve_model_data_config(module)
    input_size = tuple(getattr(getattr(module, "patch_embed", None), "img_size", None) or config["input_size"][1:])
    preprocessing = Preprocessing(
        input_size=input_size,
        mean=tuple(config["mean"]),  # a bundled model's comes from JSON, as a list
        std=tuple(config["std"]),
        interpolation=config["interpolation"],
        crop_pct=config["crop_pct"],
        crop_mode=config["crop_mode"],
    )
    device = device or usual_device()
    return LoadedModel(
        name=name,
        module=module.eval().to(device),
        family=family,
        provenance=Provenance(name, kind, source),
        preprocessing=preprocessing,
        class_names=_class_names(module) if kind != "random" else (),
        class_names_zh=_chinese_names(name) if kind == "bundled" else (),
        notes=notes,
        decoder=None if decoder is None else decoder.to(device),
    )


def _chinese_names(name: str) -> tuple[str, ...]:
    """The labels of a bundled model in Chinese; timm takes the English ones alone out of its configuration."""
    config = json.loads((ASSETS / "models" / name / "config.json").read_text(encoding="utf-8"))
    return tuple(config.get("label_names_zh", ()))


def _class_names(module: nn.Module) -> tuple[str, ...]:
    """The labels that come with the weights: the configuration's own, or ImageNet's as timm ships them.

    None where a file brought another classifier than the one that the configuration speaks of.
    """
    labels = tuple(module.pretrained_cfg.get("label_names") or ())
    if labels:
        return labels if len(labels) == module.num_classes else ()
    subset = infer_imagenet_subset(module) if module.num_classes else None
    if not subset:
        return ()
    info = ImageNetInfo(subset)
    return tuple(info.index_to_description(i) for i in range(info.num_classes()))
