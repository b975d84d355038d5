"""Catalog of the models in the page's menu: bundled models first, then timm's, each with one honest sentence.

The models of timm are the rows of `catalog.tsv`. Any other timm name of a supported family loads as well. Nothing here
imports torch or timm, so that the page can open before they are loaded; the table therefore states sizes, and tests
compare them with timm. The papers of the table's families:

ViT, R+ViT   Dosovitskiy et al. 2021 (arXiv 2010.11929); AugReg weights: Steiner et al. 2021 (arXiv 2106.10270)
DeiT         Touvron et al. 2021 (arXiv 2012.12877); DeiT III: Touvron et al. 2022 (arXiv 2204.07118)
DINO         Caron et al. 2021 (arXiv 2104.14294)
DINOv2       Oquab et al. 2023 (arXiv 2304.07193); registers: Darcet et al. 2023 (arXiv 2309.16588)
DINOv3       Simeoni et al. 2025 (arXiv 2508.10104)
CLIP         Radford et al. 2021 (arXiv 2103.00020); OpenCLIP: Cherti et al. 2023 (arXiv 2212.07143)
SigLIP       Zhai et al. 2023 (arXiv 2303.15343); SigLIP 2: Tschannen et al. 2025 (arXiv 2502.14786)
MAE          He et al. 2022 (arXiv 2111.06377)
BEiT         Bao et al. 2021 (arXiv 2106.08254); BEiT v2: Peng et al. 2022 (arXiv 2208.06366)
EVA          Fang et al. 2022 (arXiv 2211.07636); EVA-02: Fang et al. 2023 (arXiv 2303.11331)
Swin         Liu et al. 2021 (arXiv 2103.14030); Swin V2: Liu et al. 2022 (arXiv 2111.09883)
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from vitexplorer.core.settings import ASSETS
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import SPACE, Text, same


@dataclass(frozen=True)
class CatalogEntry(Summarised):
    """One model of the menu."""

    name: str
    """Name for `load_model`: a timm name with its tag, or a folder of assets/models"""
    title: Text
    family: str
    """Heading in the menu, a proper name"""
    sentence: Text
    """Description of the model, and of what to look for; measured quality is on the model's card"""
    megabytes: float
    """Size of the weights, 10^6 bytes: four bytes for each parameter, or the bundled file's size"""
    bundled: bool = False
    purpose: Text = Text("", "")
    """Few words on what a bundled model is for"""
    for_photographs: str = ""
    """Similar model trained on photographs, for a bundled model, which knows drawn pictures only"""
    reads_texts: bool = False
    """True if it loads with a text half"""
    writes_captions: bool = False
    """True if it loads with a captioner"""

    def _summary(self) -> Summary:
        return Summary(
            f"{self.name}: {self.title.en}, {self.megabytes:.1f} MB{', bundled' if self.bundled else ''}",
            (("about", self.sentence), ("for photographs", self.for_photographs)),
            f'vx.load_model("{self.name}") loads it',
        )


@cache
def _entries() -> tuple[CatalogEntry, ...]:
    return (*_bundled(ASSETS / "models"), *_listed())


@cache
def catalog() -> tuple[CatalogEntry, ...]:
    """Return all transformers, bundled ones first; assets/models is read at the first call."""
    return tuple(entry for entry in _entries() if entry.family not in _CONVOLUTIONAL)


@cache
def convolutional() -> tuple[CatalogEntry, ...]:
    """Return the convolutional networks for fine-tuning, bundled ones first."""
    return tuple(entry for entry in _entries() if entry.family in _CONVOLUTIONAL)


def is_convolutional(name: str) -> bool:
    """Return True for the name of a convolutional network of the catalog."""
    return any(entry.name == name for entry in convolutional())


def find(name: str) -> CatalogEntry | None:
    """Return the entry of exactly this name, or None."""
    return next((entry for entry in _entries() if entry.name == name), None)


def title_of(name: str) -> Text:
    """Return the title of a model, or its name where the catalog does not list it."""
    entry = find(name)
    return entry.title if entry else same(name)


def knows(bundled: str) -> Literal["scene", "creature"]:
    """Return the kind of drawn pictures that a bundled model was trained on."""
    return "creature" if bundled.startswith("creatures") else "scene"


# ---------------------------------------------------------------------------------------------- bundled

_CONVOLUTIONAL = ("ResNet", "EfficientNet")
"""Families that are for fine-tuning only: they have no tokens"""
_SUPERVISED_S = "vit_small_patch16_224.augreg_in21k_ft_in1k"
_DINO_S = "vit_small_patch16_224.dino"


@dataclass(frozen=True)
class _Kind:
    """Texts of the bundled models of one architecture."""

    family: str
    sentence: Text
    for_photographs: str
    title: Text = Text("{family} (drawn scenes)", "{family}（合成场景）")
    purpose: Text = Text("names the object", "说出物体是什么")


_KINDS = {
    "vit": _Kind(
        "ViT",
        Text(
            "Trained to name the object of a scene. See how its answer forms from block to block, and what relevance "
            "shows: attention alone hardly shows the object.",
            "训练目标是识别场景中的物体。可观察答案如何逐块形成，以及相关性显示什么：仅看注意力几乎看不出物体。",
        ),
        _SUPERVISED_S,
    ),
    "deit": _Kind(
        "DeiT",
        Text(
            "Trained to name the object, with a second token taught by a convolutional network. Compare where the "
            "class token and the distillation token look.",
            "训练目标是识别物体，另有一个标记以卷积网络为教师。可比较类别标记与蒸馏标记各看哪里。",
        ),
        "deit_small_distilled_patch16_224.fb_in1k",
    ),
    "swin": _Kind(
        "Swin",
        Text(
            "Trained to name the object, with attention in shifted windows. See how far a patch looks in each stage; "
            "there is no class token.",
            "在移位窗口内计算注意力，训练目标是识别物体。可观察一个图块在各阶段能看多远；没有类别标记。",
        ),
        "swin_tiny_patch4_window7_224.ms_in22k_ft_in1k",
    ),
    "several_swin": _Kind(
        "Swin",
        Text(
            "Trained to tell which of several objects are in a picture, with independent outputs. Look at one class "
            "after the other: the maps separate the objects.",
            "训练目标是判断画面中有哪几种物体，各类别独立输出。可逐个查看各类别：各自的图能把不同物体分开。",
        ),
        "swin_tiny_patch4_window7_224.ms_in22k_ft_in1k",
        Text("{family}, several objects", "{family}（多个物体）"),
        Text("finds several objects", "找出多种物体"),
    ),
    "several_vit": _Kind(
        "ViT",
        Text(
            "Trained to tell which of several objects are in a picture, and to attend to them. Compare where its "
            "class token looks with the ViT for single objects, and with the version with registers.",
            "训练目标是判断画面中有哪几种物体，并关注这些物体。可与单物体 ViT 及带寄存器的版本比较类别标记看哪里。",
        ),
        _SUPERVISED_S,
        Text("{family}, several objects", "{family}（多个物体）"),
        Text("finds several objects", "找出多种物体"),
    ),
    "several_vit_reg4": _Kind(
        "ViT",
        Text(
            "The ViT for several objects with four registers: tokens without a place, for information about the "
            "whole picture. Compare what its patches and its registers contain.",
            "带四个寄存器的多物体 ViT：寄存器是没有位置的标记，存放整幅画面的信息。可比较图块与寄存器各含有什么。",
        ),
        _SUPERVISED_S,
        Text("{family} with registers, several objects", "带寄存器的 {family}（多个物体）"),
        Text("finds several objects", "找出多种物体"),
    ),
    "creatures_vit": _Kind(
        "ViT",
        Text(
            "Trained to name creatures that are made of parts. See which part an explanation marks, and how the "
            "answer changes when that part is hidden.",
            "训练目标是识别由部件拼成的生物。可观察解释标出了哪个部件，以及遮住该部件后答案如何变化。",
        ),
        _SUPERVISED_S,
        Text("{family} (paper creatures)", "{family}（剪纸生物）"),
        Text("names the creature", "说出生物是什么"),
    ),
    "dino": _Kind(
        "DINO",
        Text(
            "Trained without labels. Look at the class token's heads in the last blocks: they find the object "
            "although no label named it.",
            "不用标签训练。可观察最后几个块中类别标记的各个头：虽然没有标签指明物体，它们仍能找到物体。",
        ),
        _DINO_S,
        purpose=Text("finds objects by itself", "自行找出物体"),
    ),
    "mae": _Kind(
        "MAE",
        Text(
            "Trained to draw hidden patches. Hide a part of the scene and see what it draws there.",
            "训练目标是补画被遮住的图块。可遮住场景的一部分，看它补画出什么。",
        ),
        _DINO_S,
        purpose=Text("draws hidden patches", "补画遮住的图块"),
    ),
    "clip": _Kind(
        "CLIP",
        Text(
            "Trained to tell which sentence belongs to which picture. Write a text in the room Words and see which "
            "patches it means, by thirteen methods.",
            "训练目标是判断哪句话与哪幅图像相符。可在“图文”中写一段文字，用十三种方法查看它指哪些图块。",
        ),
        "vit_base_patch16_clip_quickgelu_224.openai",
        purpose=Text("reads sentences", "能读句子"),
    ),
    "siglip": _Kind(
        "SigLIP",
        Text(
            "Trained to tell of each sentence by itself whether it is true of a picture, with a pooling head in place "
            "of a class token. Compare in the room Words how it and the CLIP find a text.",
            "训练目标是逐句判断是否与图像相符，用池化头代替类别标记。可在“图文”中比较它与 CLIP 如何找到一段文字。",
        ),
        "vit_base_patch16_siglip_224.webli",
        purpose=Text("judges sentences", "判断句子真假"),
    ),
    "captioner": _Kind(
        "ViT",
        Text(
            "Writes a caption of the picture, word by word. Point at a word in the room Words and see which patches it "
            "comes from, by three readings.",
            "逐词写出图像描述。可在“图文”中指向一个词，用三种读法查看它来自哪些图块。",
        ),
        "vit_base_patch16_clip_quickgelu_224.openai",
        Text("{family} with captions", "会写描述的 {family}"),
        Text("writes captions", "写图像描述"),
    ),
    "resnet": _Kind(
        "ResNet",
        Text(
            "A convolutional network trained to name the object, the teacher of the DeiT: compare it with the "
            "transformers in fine-tuning.",
            "训练目标是识别物体的卷积网络，也是 DeiT 的教师：微调时可与各 Transformer 对比。",
        ),
        "",
    ),
}
_DRAWN_ONLY = {
    "scene": Text("A small model that knows drawn scenes only.", "小模型，只认识合成场景。"),
    "creature": Text("A small model that knows drawn paper creatures only.", "小模型，只认识合成的剪纸生物。"),
}


def _bundled(folder: Path) -> tuple[CatalogEntry, ...]:
    """List the models in `folder` that have a configuration and weights."""
    files = sorted(file for file in folder.glob("*/config.json") if (file.parent / "model.safetensors").is_file())
    return tuple(_bundled_entry(file.parent, json.loads(file.read_text(encoding="utf-8"))) for file in files)


def _bundled_entry(folder: Path, config: Mapping[str, Any]) -> CatalogEntry:
    kind = _kind_of(folder.name)
    return CatalogEntry(
        name=folder.name,
        title=kind.title.format(family=kind.family),
        family=kind.family,
        sentence=SPACE.join([kind.sentence, _DRAWN_ONLY[knows(folder.name)]]),
        purpose=kind.purpose,
        megabytes=sum(part.stat().st_size for part in folder.glob("*.safetensors")) / 1e6,
        bundled=True,
        for_photographs=kind.for_photographs,
        reads_texts="text" in config,
        writes_captions="captioner" in config,
    )


def _kind_of(name: str) -> _Kind:
    """Return the kind with the longest key that is a prefix of the name."""
    own = name.removeprefix("scenes_")
    return _KINDS[max((key for key in _KINDS if own == key or own.startswith(f"{key}_")), key=len)]


# ---------------------------------------------------------------------------------------------- timm


def _listed() -> tuple[CatalogEntry, ...]:
    """Read the table of timm's models; of each it has the number of parameters and a sentence in two languages."""
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8", newline="") as file:
        return tuple(_listed_entry(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _listed_entry(name: str, title: str, title_zh: str, family: str, parameters: str, en: str, zh: str) -> CatalogEntry:
    return CatalogEntry(name, Text(title, title_zh), family, Text(en, zh), int(parameters) * 4 / 1e6)
