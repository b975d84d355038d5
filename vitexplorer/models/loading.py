"""Loading of models: a timm module in eval mode with its family, provenance and preprocessing.

The module is timm's own and never changes afterwards, so one copy serves every thread.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
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
from vitexplorer.models.catalog import title_of
from vitexplorer.models.checkpoints import SUFFIXES, WeightsError, check_classes, count_classes, read_state_dict
from vitexplorer.models.checkpoints.contents import tensors_in
from vitexplorer.models.checkpoints.zipped import ZIP
from vitexplorer.models.convolutional import family_of_backbone
from vitexplorer.models.families import family_of
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.hub import download_pretrained
from vitexplorer.models.input_size import at_size, by
from vitexplorer.models.mae import MaeDecoder, decoder_from, without_decoder
from vitexplorer.models.measured import measured
from vitexplorer.models.model_summary import model_summary
from vitexplorer.models.seeding import seeded
from vitexplorer.models.texts.captioner import Captioner, captioner_at
from vitexplorer.models.texts.text_tower import TextTower, text_tower_at
from vitexplorer.models.translated import check_run, translated
from vitexplorer.models.weights import apply_state_dict, load_weights
from vitexplorer.tracing.follow import OUTSIDE

MANY = 2048
"""Number of patches up to which the memory of one image is not checked: ViT-B at 720 pixels has about as many"""

_NO_PATH = Text(
    "There is no file or folder {path} here, and no model of that name. Name a weight file, its folder, or a model"
    " of timm's; a model in a repository of Hugging Face must be downloaded first.",
    "此处没有文件或文件夹 {path}，也没有同名模型。请指明权重文件、其所在文件夹或 timm 的模型名称；"
    "Hugging Face 仓库中的模型须先下载。",
)
_NO_BLOCKS = Text(
    "{source} is {model}. None of its attention can be located in images of {size} pixels.",
    "{source} 是 {model}。在 {size} 像素的图像上，它的注意力全都无法定位。",
)
_PATH_AND_WEIGHTS = Text(
    "{path} is a path, which brings its own weights; leave out weights={weights}, or name the model that they are of.",
    "{path} 是路径，自带权重；请去掉 weights={weights}，或指明权重所属模型的名称。",
)
_NOT_BUNDLED = Text(
    '{name} is not a bundled model. Use weights="pretrained" or weights="random".',
    '{name} 不是内置模型。请用 weights="pretrained" 或 weights="random"。',
)
_IS_BUNDLED = Text(
    '{name} is a bundled model: its trained weights are weights="bundled".',
    '{name} 是内置模型：要使用其训练好的权重，请写 weights="bundled"。',
)


@dataclass(frozen=True)
class Preprocessing:
    """Preprocessing of a model's images, as timm resolves it."""

    input_size: tuple[int, int]
    """Height, width in pixels"""
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    interpolation: str
    crop_pct: float
    crop_mode: str


@dataclass(frozen=True)
class LoadedModel(Summarised, NotebookDisplay):
    """A timm module with its family, provenance, preprocessing and labels."""

    name: str
    module: nn.Module
    family: ModelFamily
    provenance: Provenance
    preprocessing: Preprocessing
    class_names: tuple[str, ...] = ()
    """One name per output of the classifier; empty if unknown"""
    class_names_zh: tuple[str, ...] = ()
    """Class names in Chinese; empty for ImageNet, which timm has in English only"""
    notes: tuple[Text, ...] = ()
    """Changes and omissions that made the weights fit the module"""
    decoder: MaeDecoder | None = None
    """Decoder of a masked autoencoder, if the weights hold one"""
    projects: bool = False
    """True where the output is a CLIP's projection to the joint space of images and texts"""
    text: TextTower | None = None
    """Text half, if the model has one"""
    captioner: Captioner | None = None
    """Writer of captions, if the model has one"""
    unsized: LoadedModel | None = None
    """The model at its own input size, if this is another size"""

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone; a copy has to compute `block_of_parameter` from its own parameters."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def title(self) -> Text:
        """Title in sentences; `name` is its name in code."""
        return title_of(self.name)

    @cached_property
    def class_texts(self) -> tuple[Text, ...]:
        """Class names in both languages, as far as they are known."""
        chinese = self.class_names_zh or self.class_names
        return tuple(Text(en, zh) for en, zh in zip(self.class_names, chinese, strict=True))

    @cached_property
    def block_of_parameter(self) -> dict[int, int]:
        """Block of each parameter by `id`, -1 outside the blocks; shows which block a forward pass has reached."""
        return block_of_parameter(self.module, [site.name for site in self.blocks(self.preprocessing.input_size)])

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return next(self.module.parameters()).device

    @property
    def prefix_tokens(self) -> tuple[str, ...]:
        """Names of the tokens before the patches."""
        return self.family.prefix_tokens(self.module)

    @property
    def num_classes(self) -> int:
        """Number of outputs of the classifier, 0 without one; a projection to the joint space is none."""
        return 0 if self.projects else self.module.num_classes

    @property
    def has_one_output(self) -> bool:
        """True if the output is one number, a regression or a single score, rather than classes."""
        return self.num_classes == 1

    @property
    def embeds_pixels(self) -> bool:
        """True if each token is computed from its own patch of pixels alone; False for convolutional stems."""
        proj = getattr(getattr(self.module, "patch_embed", None), "proj", None)
        return (
            isinstance(proj, nn.Conv2d)
            and proj.in_channels == len(self.preprocessing.mean)
            and proj.stride == proj.kernel_size
        )

    def blocks(self, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Return every block's name and patch grid for an input of (height, width) pixels."""
        return self.family.blocks(self.module, input_size)

    def _summary(self) -> Summary:
        return model_summary(self)


def block_of_parameter(module: nn.Module, blocks: Sequence[str]) -> dict[int, int]:
    """Return the index in `blocks` of the part that holds each parameter, by `id`; -1 for all others."""
    prefixes = [f"{block}." for block in blocks]
    return {
        id(parameter): next((i for i, prefix in enumerate(prefixes) if name.startswith(prefix)), OUTSIDE)
        for name, parameter in module.named_parameters()
    }


def usual_device() -> str:
    """Return the default device: the GPU if there is one."""
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
    """Load a timm architecture, a bundled model, or the model that a file holds.

    Args:
        name: a timm name with or without tag (`vit_base_patch16_224.augreg_in21k`), or a bundled model's name. With
            the path of a file or folder as name, or with None and a path as `weights`, the architecture is recognised
            by the names and shapes of the tensors: models of timm, transformers, torchvision, open_clip and the
            papers' own repositories, see `models.checkpoints`. A string that is both a name and a path is a name.
        weights: "auto" (bundled if available, otherwise pretrained), "pretrained", "bundled", "random", or the path of
            a `.safetensors` or `.pth` file, of a folder or a zip of one. Reading runs no code; `~` is the home folder.
            A merged checkpoint of a tuned model also restores its class names and its origin.
        size: another input size in pixels, of a square or (height, width), see `at_size`; None for the model's own.
        seed: for "random": the module equals `torch.manual_seed(seed); timm.create_model(name)`.
        device: device to run on; None for the GPU if there is one, otherwise the CPU.
        progress: called with the bytes that are downloaded, or unpacked from a zip.

    Raises:
        UnknownNameError: no such model; the message names the nearest.
        UnsupportedError: the architecture belongs to no family, or takes one input size only.
        SettingError: the model does not take this size (the message names the nearest), it needs too much memory, or
            `name` is a path and `weights` is given too.
        WeightsError: the weights are missing or do not fit.
        DownloadError: the weights cannot be downloaded.
    """
    path = path_named(name)
    weights = os.fspath(weights)
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
    """Return the existing file or folder that `name` denotes; None for a model's name.

    Use it only for input of the machine's owner: a visitor of the page must never name a path.

    Raises:
        WeightsError: `name` can only be a path, and nothing is there.
    """
    if name is None or (isinstance(name, str) and _is_known(name)):
        return None
    path = _expanded(name)
    try:
        if path.exists():
            return path
    except (OSError, ValueError):  # too long for a path, or with a forbidden character
        return None
    if not isinstance(name, str) or set(name) & set("/\\~") or name.lower().endswith((*SUFFIXES, ZIP)):
        raise WeightsError(_NO_PATH.format(path=path))
    return None


def _expanded(path: str | os.PathLike) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # `~user` of an unknown user
        return Path(path)


def load_backbone(
    name: str,
    weights: str | os.PathLike = "auto",
    *,
    seed: int = 0,
    device: str | torch.device | None = None,
    progress: Progress | None = None,
) -> LoadedModel:
    """Load a model for fine-tuning; takes the names of `load_model`, of ResNets and EfficientNets too, but no paths."""
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
        raise SettingError(_NOT_BUNDLED.format(name=name))
    if weights == "pretrained" and is_bundled:
        raise SettingError(_IS_BUNDLED.format(name=name))

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
    if weights == "bundled" and (text := text_tower_at(bundled)):
        loaded = replace(loaded, projects=module.num_classes > 0, text=text)
    if weights == "bundled" and (captioner := captioner_at(bundled)):
        loaded = replace(loaded, captioner=captioner.to(loaded.device))
    return loaded if tuned is None else _with_description(loaded, tuned, source)


def _load_any(weights: str, device: str | torch.device | None, progress: Progress | None) -> LoadedModel:
    """Load a file without a model name; the model is run once, within the memory limit of any image."""
    if weights in ("auto", "pretrained", "bundled", "random"):
        raise SettingError(Text("Name a model, or a file as weights.", "请指明模型名称，或把权重设为某个文件。"))
    weights = str(_expanded(weights))
    if os.path.isfile(weights) and (description := merged(weights)) is not None:
        return _load(description.base.model, weights, family_of, 0, device, None)
    translation = translated(weights, lambda entry, **arguments: _build(entry, 0, **arguments), progress)
    facts, family, file = translation.facts, translation.family, Path(weights).name
    loaded = describe(
        translation.name, translation.module, family, "file", file, device, translation.notes, translation.decoder
    )
    loaded = replace(loaded, projects=facts.projects, text=text_tower_at(Path(weights), facts.left_out))
    size = loaded.preprocessing.input_size
    blocks = loaded.blocks(size)
    if not blocks:
        raise WeightsError(_NO_BLOCKS.format(source=file, model=loaded.name, size=by(size)))
    if max(site.grid.num_patches for site in blocks) > MANY:
        check_memory(loaded)
    check_run(translation.module, file)
    knows_labels = facts.class_names or facts.library == "torchvision"
    return loaded if knows_labels else replace(loaded, class_names=())


def _with_description(loaded: LoadedModel, tuned: About, file: str) -> LoadedModel:
    """Set the class names and the provenance of a merged checkpoint from its description."""
    names = tuned.class_names if len(tuned.class_names) == loaded.num_classes else ()
    provenance = replace(origin(tuned, file), model=loaded.name)
    return replace(loaded, class_names=names, class_names_zh=(), provenance=provenance)


def _shipped() -> list[str]:
    return [config.parent.name for config in (ASSETS / "models").glob("*/config.json")]


def check_known(name: str) -> None:
    """Check that a bundled model or a timm model has this name.

    Raises:
        UnknownNameError: none has.
    """
    if not _is_known(name):
        raise unknown_name("model", name, [*timm.list_models(), *timm.list_models(pretrained=True), *_shipped()])


def _is_known(name: str) -> bool:
    if name in _shipped():
        return True
    architecture, _, tag = name.partition(".")
    return timm.is_model(architecture) and (not tag or timm.is_model_pretrained(name))


def _build(architecture: str, seed: int, **options: Any) -> nn.Module:
    """Build the module with random parameters, with dynamic image size if the architecture supports it."""
    try:
        module = _seeded(architecture, seed, dynamic_img_size=True, **options)
    except TypeError:  # BEiT and others: fixed size
        return _seeded(architecture, seed, **options)
    if not _is_cut_evenly(module):  # with dynamic image size, timm would refuse the model's own size
        return _seeded(architecture, seed, **options)
    return module


def _is_cut_evenly(module: nn.Module) -> bool:
    """Return True if whole patches fill the input; SigLIP so400m cuts 384 pixels into 27 patches of 14, 6 remain."""
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
    """Put a timm module into eval mode on a device, and add its preprocessing, provenance and class names."""
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
    """Return the Chinese labels of a bundled model; timm reads only the English ones from its configuration."""
    config = json.loads((ASSETS / "models" / name / "config.json").read_text(encoding="utf-8"))
    return tuple(config.get("label_names_zh", ()))


def _class_names(module: nn.Module) -> tuple[str, ...]:
    """Return the labels of the configuration, or timm's ImageNet labels; () if the classifier has another size."""
    labels = tuple(module.pretrained_cfg.get("label_names") or ())
    if labels:
        return labels if len(labels) == module.num_classes else ()
    subset = infer_imagenet_subset(module) if module.num_classes else None
    if not subset:
        return ()
    info = ImageNetInfo(subset)
    return tuple(info.index_to_description(i) for i in range(info.num_classes()))
