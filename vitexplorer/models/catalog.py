"""Catalog of the models in the page's menu: bundled models first, then timm's, each with one honest sentence.

Any other timm name of a supported family loads as well. Nothing here imports torch or timm, so that the page can open
before they are loaded; sizes are therefore written down, and tests compare them with timm.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from vitexplorer.core.settings import ASSETS
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import Text, same


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
    for_photographs: str = ""
    """Similar model trained on photographs, for a bundled model, which knows drawn pictures only"""

    def _summary(self) -> Summary:
        return Summary(
            f"{self.name}: {self.title.en}, {self.megabytes:.1f} MB{', bundled' if self.bundled else ''}",
            (("about", self.sentence), ("for photographs", self.for_photographs)),
            f'vx.load_model("{self.name}") loads it',
        )


@cache
def catalog() -> tuple[CatalogEntry, ...]:
    """Return all entries, bundled models first; assets/models is read at the first call."""
    return (*_bundled(ASSETS / "models"), *_CURATED)


@cache
def convolutional() -> tuple[CatalogEntry, ...]:
    """Return the convolutional networks for fine-tuning, bundled ones first."""
    return (*_bundled(ASSETS / "models", convolutional=True), *_CONVOLUTIONAL)


def is_convolutional(name: str) -> bool:
    """Return True for the name of a convolutional network of the catalog."""
    return any(entry.name == name for entry in convolutional())


def find(name: str) -> CatalogEntry | None:
    """Return the entry of exactly this name, or None."""
    return next((entry for entry in (*catalog(), *convolutional()) if entry.name == name), None)


def knows(bundled: str) -> Literal["scene", "creature"]:
    """Return the kind of drawn pictures that a bundled model was trained on."""
    return "creature" if bundled.startswith("creatures") else "scene"


# ---------------------------------------------------------------------------------------------- bundled

_SUPERVISED_S = "vit_small_patch16_224.augreg_in21k_ft_in1k"
_DINO_S = "vit_small_patch16_224.dino"


@dataclass(frozen=True)
class _Kind:
    """Texts of the bundled models of one architecture."""

    family: str
    sentence: Text
    for_photographs: str
    title: Text = Text("{family}, drawn scenes", "{family}（绘制场景）")


_KINDS = {
    "vit": _Kind(
        "ViT",
        Text(
            "Learned to name the object of a scene. Look at how its answer forms from block to block, and at what "
            "relevance says of it: attention alone hardly shows the object.",
            "学习说出场景中的物体。可观察回答如何逐块形成，以及相关性如何解释它：仅看注意力几乎找不到物体。",
        ),
        _SUPERVISED_S,
    ),
    "deit": _Kind(
        "DeiT",
        Text(
            "Learned to name the object, with a second token that a convolutional teacher taught. Compare what the "
            "class token and the distillation token look at.",
            "学习说出物体，另有一个由卷积教师教的标记。可比较类别标记与蒸馏标记各看哪里。",
        ),
        "deit_small_distilled_patch16_224.fb_in1k",
    ),
    "swin": _Kind(
        "Swin",
        Text(
            "Learned to name the object with attention in shifted windows. Look at how far one patch sees in each "
            "stage; there is no class token.",
            "在移位窗口内计算注意力，学习说出物体。可观察一个图块在各阶段能看多远；没有类别标记。",
        ),
        "swin_tiny_patch4_window7_224.ms_in22k_ft_in1k",
    ),
    "several_swin": _Kind(
        "Swin",
        Text(
            "Learned which of several objects are in a picture, each by itself. Look at one class after the other: its "
            "maps tell the objects apart.",
            "学习画面中有哪几个物体，逐类独立判断。可依次查看各个类别：它的图能把不同物体分开。",
        ),
        "swin_tiny_patch4_window7_224.ms_in22k_ft_in1k",
        Text("{family}, several objects", "{family}（多个物体）"),
    ),
    "several_vit": _Kind(
        "ViT",
        Text(
            "Learned which of several objects are in a picture, each by itself, and to look at them. Compare what its "
            "class token looks at with that of the ViT of single objects, and with its twin that has registers.",
            "学习画面中有哪几个物体，逐类独立判断，并学习看向它们。可与单物体 ViT 及带寄存器的同款比较类别标记看哪里。",
        ),
        _SUPERVISED_S,
        Text("{family}, several objects", "{family}（多个物体）"),
    ),
    "several_vit_reg4": _Kind(
        "ViT",
        Text(
            "The ViT of several objects with four registers: tokens without a place, for what belongs to the whole "
            "picture. Compare what its patches and its registers keep.",
            "带四个寄存器的多物体 ViT：寄存器是没有位置的标记，存放整幅画面的信息。可比较图块与寄存器各保留了什么。",
        ),
        _SUPERVISED_S,
        Text("{family} with registers, several objects", "带寄存器的 {family}（多个物体）"),
    ),
    "creatures_vit": _Kind(
        "ViT",
        Text(
            "Learned to name creatures that are put together from parts. Look at which part an explanation names, and "
            "at what the answer becomes when that part is hidden.",
            "学习说出由部件拼成的生物。可观察解释指出了哪个部件，以及遮住该部件后回答如何变化。",
        ),
        _SUPERVISED_S,
        Text("{family}, paper creatures", "{family}（剪纸生物）"),
    ),
    "dino": _Kind(
        "DINO",
        Text(
            "Learned without labels. Look at the heads of its class token in the last blocks: they find the object "
            "that nobody named.",
            "不用标签学习。可观察最后几块中类别标记的各个头：它们找到了从未有人命名的物体。",
        ),
        _DINO_S,
    ),
    "mae": _Kind(
        "MAE",
        Text(
            "Learned to draw hidden patches. Hide a part of the scene and look at what it draws in its place.",
            "学习补画被遮住的图块。可遮住场景的一部分，看它补画出什么。",
        ),
        _DINO_S,
    ),
    "resnet": _Kind(
        "ResNet",
        Text(
            "A convolutional network that learned to name the object and taught the DeiT: to be held against the "
            "transformers in fine-tuning.",
            "学习说出物体并教 DeiT 的卷积网络：微调时可与各 Transformer 对比。",
        ),
        "",
    ),
}
_DRAWN_ONLY = {
    "scene": Text("A small model that knows drawn scenes only.", "小模型，只认识绘制场景。"),
    "creature": Text("A small model that knows drawn paper creatures only.", "小模型，只认识绘制的剪纸生物。"),
}


def _bundled(folder: Path, *, convolutional: bool = False) -> tuple[CatalogEntry, ...]:
    """List the models in `folder` that have a configuration and weights; models of no known kind get plain texts.

    The bundled CNN, DeiT's teacher, has no tokens and is listed apart.
    """
    files = sorted(file for file in folder.glob("*/config.json") if (file.parent / "model.safetensors").is_file())
    configs = {file: json.loads(file.read_text(encoding="utf-8")) for file in files}
    return tuple(
        _bundled_entry(file, config)
        for file, config in configs.items()
        if config["architecture"].startswith("resnet") == convolutional
    )


def _bundled_entry(file: Path, config: Mapping[str, Any]) -> CatalogEntry:
    """Make an entry from timm's config.json, which may hold `title` and `sentence`, each {"en": ..., "zh": ...}."""
    name = file.parent.name
    kind = _kind_of(name)
    family = kind.family if kind else "ViT"
    title = (kind.title if kind else _Kind.title).format(family=family)
    sentences = (kind.sentence if kind else same(f"{config['architecture']}."), _DRAWN_ONLY[knows(name)])
    sentence = Text(" ".join(text.en for text in sentences), "".join(text.zh for text in sentences))
    return CatalogEntry(
        name=name,
        title=Text(**config["title"]) if "title" in config else title,
        family=family,
        sentence=Text(**config["sentence"]) if "sentence" in config else sentence,
        megabytes=sum(part.stat().st_size for part in file.parent.glob("*.safetensors")) / 1e6,
        bundled=True,
        for_photographs=kind.for_photographs if kind else _SUPERVISED_S,
    )


def _kind_of(name: str) -> _Kind | None:
    """Return the kind with the longest key that is a prefix of the name."""
    own = name.removeprefix("scenes_")
    keys = [key for key in _KINDS if own == key or own.startswith(f"{key}_")]
    return _KINDS[max(keys, key=len)] if keys else None


# ---------------------------------------------------------------------------------------------- timm


def _timm(name: str, title: str, family: str, parameters: int, en: str, zh: str) -> CatalogEntry:
    return CatalogEntry(name, same(title), family, Text(en, zh), parameters * 4 / 1e6)


_CURATED = (
    # ViT, Dosovitskiy et al. 2021 (arXiv 2010.11929); AugReg weights: Steiner et al. 2021 (arXiv 2106.10270)
    _timm(
        "vit_tiny_patch16_224.augreg_in21k_ft_in1k",
        "ViT-Ti/16",
        "ViT",
        5_717_416,
        "Pretrained on ImageNet-21k, fine-tuned on ImageNet-1k; three heads per block, quick on any laptop.",
        "在 ImageNet-21k 上预训练、ImageNet-1k 上微调；每块 3 个头，任何笔记本电脑都跑得快。",
    ),
    _timm(
        "vit_small_patch16_224.augreg_in21k_ft_in1k",
        "ViT-S/16",
        "ViT",
        22_050_664,
        "Pretrained on ImageNet-21k, fine-tuned on ImageNet-1k; six heads, a good first model for photographs.",
        "在 ImageNet-21k 上预训练、ImageNet-1k 上微调；6 个头，分析照片时的首选入门模型。",
    ),
    _timm(
        "vit_base_patch16_224.augreg_in21k_ft_in1k",
        "ViT-B/16",
        "ViT",
        86_567_656,
        "The ViT of most lectures: 12 blocks of 12 heads, 196 patches; ImageNet-21k, then ImageNet-1k.",
        "课堂上最常见的 ViT:12 个块、每块 12 个头、196 个图块；先 ImageNet-21k，后 ImageNet-1k。",
    ),
    _timm(
        "vit_large_patch16_224.augreg_in21k_ft_in1k",
        "ViT-L/16",
        "ViT",
        304_326_632,
        "24 blocks of 16 heads, ImageNet-21k, then ImageNet-1k: shows how rollout and distances behave in depth.",
        "24 个块、每块 16 个头，先 ImageNet-21k 后 ImageNet-1k；适合观察 rollout 与注意力距离随深度的变化。",
    ),
    _timm(
        "vit_small_patch32_224.augreg_in21k_ft_in1k",
        "ViT-S/32",
        "ViT",
        22_878_952,
        "Only 49 large patches: fast, coarse maps; compare with S/16 to see what the patch size does.",
        "只有 49 个大图块：速度快、图较粗；与 S/16 对比可看出图块大小的影响。",
    ),
    _timm(
        "vit_base_patch32_224.augreg_in21k_ft_in1k",
        "ViT-B/32",
        "ViT",
        88_224_232,
        "49 patches: more parameters than B/16 in the patch embedding, yet about a quarter of the computation.",
        "49 个图块：图块嵌入的参数比 B/16 更多，计算量却约为其四分之一。",
    ),
    _timm(
        "vit_base_patch8_224.augreg2_in21k_ft_in1k",
        "ViT-B/8",
        "ViT",
        86_576_872,
        "784 small patches: the finest maps of a supervised ViT-B, with 16 times the attention of B/16.",
        "784 个小图块：有监督 ViT-B 中最细的图，注意力矩阵是 B/16 的 16 倍。",
    ),
    _timm(
        "vit_base_patch16_384.augreg_in21k_ft_in1k",
        "ViT-B/16 at 384",
        "ViT",
        86_859_496,
        "B/16 fine-tuned at 384 pixels: 576 patches with position embeddings resampled from 196.",
        "在 384 像素下微调的 B/16:576 个图块，位置编码由 196 个重采样而来。",
    ),
    _timm(
        "vit_base_patch16_384.orig_in21k_ft_in1k",
        "ViT-B/16 of the first paper",
        "ViT",
        86_859_496,
        "Weights of the first ViT paper, ImageNet-21k, then ImageNet-1k at 384 pixels: for its position embeddings.",
        "ViT 原论文的权重，先 ImageNet-21k，后在 384 像素下用 ImageNet-1k 微调；适合重现论文中的位置编码图。",
    ),
    _timm(
        "vit_base_patch16_224.augreg_in1k",
        "ViT-B/16, ImageNet-1k only",
        "ViT",
        86_567_656,
        "The same network trained on ImageNet-1k alone: compare with the ImageNet-21k one to see what data does.",
        "同一网络，仅用 ImageNet-1k 训练；与 ImageNet-21k 版本对比，可看出数据量的作用。",
    ),
    _timm(
        "vit_base_patch16_224.sam_in1k",
        "ViT-B/16 with SAM",
        "ViT",
        86_567_656,
        "ImageNet-1k with sharpness-aware minimisation (arXiv 2106.01548), whose authors report attention on objects.",
        "在 ImageNet-1k 上用锐度感知最小化（arXiv 2106.01548）训练，作者称其注意力更集中于物体。",
    ),
    # Hybrids of the same papers: patches of a CNN's feature map
    _timm(
        "vit_tiny_r_s16_p8_224.augreg_in21k_ft_in1k",
        "R+ViT-Ti/16",
        "R+ViT",
        6_337_704,
        "A ResNet stem before a tiny ViT, ImageNet-21k, then 1k: the smallest hybrid.",
        "小型 ViT 之前接 ResNet 主干，先 ImageNet-21k 后 1k：最小的混合模型。",
    ),
    _timm(
        "vit_small_r26_s32_224.augreg_in21k_ft_in1k",
        "R26+ViT-S/32",
        "R+ViT",
        36_431_912,
        "A small ResNet cuts the image into 49 cells before the transformer; ImageNet-21k, then 1k.",
        "先由小型 ResNet 把图像变成 49 个单元，再送入 Transformer；先 ImageNet-21k 后 1k。",
    ),
    _timm(
        "vit_base_r50_s16_384.orig_in21k_ft_in1k",
        "R50+ViT-B/16",
        "R+ViT",
        98_950_952,
        "The hybrid of the first paper: tokens are cells of a ResNet-50, so each already sees more than its square.",
        "原论文中的混合模型：标记来自 ResNet-50 的特征图，每个标记看到的范围已大于自己的方格。",
    ),
    _timm(
        "vit_large_r50_s32_224.augreg_in21k_ft_in1k",
        "R50+ViT-L/32",
        "R+ViT",
        328_994_856,
        "A ResNet-50 and 24 transformer blocks on 49 tokens; ImageNet-21k, then 1k.",
        "ResNet-50 加 24 个 Transformer 块，只有 49 个标记；先 ImageNet-21k 后 1k。",
    ),
    # DeiT, Touvron et al. 2021 (arXiv 2012.12877); DeiT III, Touvron et al. 2022 (arXiv 2204.07118)
    _timm(
        "deit_tiny_patch16_224.fb_in1k",
        "DeiT-Ti/16",
        "DeiT",
        5_717_416,
        "ImageNet-1k alone with strong augmentation: a ViT does not need a huge data set.",
        "仅用 ImageNet-1k 加强数据增强训练：ViT 并不一定需要海量数据。",
    ),
    _timm(
        "deit_small_patch16_224.fb_in1k",
        "DeiT-S/16",
        "DeiT",
        22_050_664,
        "ImageNet-1k alone with strong augmentation; the usual supervised partner of DINO ViT-S/16.",
        "仅用 ImageNet-1k 加强数据增强训练；常作为 DINO ViT-S/16 的有监督对照。",
    ),
    _timm(
        "deit_base_patch16_224.fb_in1k",
        "DeiT-B/16",
        "DeiT",
        86_567_656,
        "ImageNet-1k alone; the model that most relevance methods, Chefer's among them, are shown on.",
        "仅用 ImageNet-1k 训练；许多相关性方法（如 Chefer 等人的）都以它为例。",
    ),
    _timm(
        "deit_tiny_distilled_patch16_224.fb_in1k",
        "DeiT-Ti/16 distilled",
        "DeiT",
        5_910_800,
        "A second token learns from a CNN teacher: compare what the class and the distillation token look at.",
        "多一个向 CNN 教师学习的蒸馏标记：可比较类别标记与蒸馏标记各看哪里。",
    ),
    _timm(
        "deit_small_distilled_patch16_224.fb_in1k",
        "DeiT-S/16 distilled",
        "DeiT",
        22_436_432,
        "ImageNet-1k and a CNN teacher; two tokens and two heads whose predictions are averaged.",
        "用 ImageNet-1k 和 CNN 教师训练；两个标记、两个分类头，预测取平均。",
    ),
    _timm(
        "deit_base_distilled_patch16_224.fb_in1k",
        "DeiT-B/16 distilled",
        "DeiT",
        87_338_192,
        "The distilled DeiT of the paper at base size: class and distillation token side by side.",
        "论文中的 base 规模蒸馏 DeiT：类别标记与蒸馏标记并列比较。",
    ),
    _timm(
        "deit3_small_patch16_224.fb_in22k_ft_in1k",
        "DeiT III-S/16",
        "DeiT",
        22_059_496,
        "ImageNet-21k, then 1k with a simpler recipe and LayerScale; the class token has no position.",
        "先 ImageNet-21k 后 1k，训练方法更简单，带 LayerScale；类别标记没有位置编码。",
    ),
    _timm(
        "deit3_base_patch16_224.fb_in22k_ft_in1k",
        "DeiT III-B/16",
        "DeiT",
        86_585_320,
        "A strong supervised ViT-B (ImageNet-21k, then 1k); the registers paper found outlier tokens in this family.",
        "强有监督 ViT-B（先 ImageNet-21k 后 1k）；寄存器论文在该系列中发现了异常标记。",
    ),
    _timm(
        "deit3_large_patch16_224.fb_in22k_ft_in1k",
        "DeiT III-L/16",
        "DeiT",
        304_374_760,
        "The same recipe with 24 blocks: look at token norms for outliers.",
        "同一训练方法，24 个块：可在标记范数图中寻找异常标记。",
    ),
    # DINO, Caron et al. 2021 (arXiv 2104.14294)
    _timm(
        "vit_small_patch16_224.dino",
        "DINO ViT-S/16",
        "DINO",
        21_665_664,
        "Trained on ImageNet-1k without labels: heads of the last block outline objects. No classifier.",
        "在 ImageNet-1k 上不用标签训练：最后一块的注意力头会勾勒出物体。没有分类头。",
    ),
    _timm(
        "vit_small_patch8_224.dino",
        "DINO ViT-S/8",
        "DINO",
        21_670_272,
        "The same with 784 small patches: the sharpest object outlines of the DINO paper. No classifier.",
        "同样的训练，784 个小图块：DINO 论文中最清晰的物体轮廓。没有分类头。",
    ),
    _timm(
        "vit_base_patch16_224.dino",
        "DINO ViT-B/16",
        "DINO",
        85_798_656,
        "Self-distillation without labels at base size: compare head by head with the supervised ViT-B/16.",
        "base 规模的无标签自蒸馏：可与有监督的 ViT-B/16 逐头比较。",
    ),
    _timm(
        "vit_base_patch8_224.dino",
        "DINO ViT-B/8",
        "DINO",
        85_807_872,
        "Self-distillation without labels, 784 patches: fine maps, slow on a laptop.",
        "无标签自蒸馏，784 个图块：图很细，在笔记本电脑上较慢。",
    ),
    # DINOv2, Oquab et al. 2023 (arXiv 2304.07193); registers: Darcet et al. 2023 (arXiv 2309.16588)
    _timm(
        "vit_small_patch14_dinov2.lvd142m",
        "DINOv2 ViT-S/14",
        "DINOv2",
        22_056_192,
        "142 million curated images without labels, 37 x 37 patches: good patch features for PCA and similarity.",
        "在 1.42 亿张精选无标签图像上训练，37 x 37 个图块：图块特征适合做 PCA 与相似度。",
    ),
    _timm(
        "vit_small_patch14_reg4_dinov2.lvd142m",
        "DINOv2 ViT-S/14 with registers",
        "DINOv2",
        22_057_344,
        "The same with four register tokens: see what attention goes to the registers instead of patches.",
        "同样的训练，另加 4 个寄存器标记：可看到多少注意力流向寄存器而非图块。",
    ),
    _timm(
        "vit_base_patch14_dinov2.lvd142m",
        "DINOv2 ViT-B/14",
        "DINOv2",
        86_579_712,
        "142 million images without labels; compare its token norms with the version with registers.",
        "1.42 亿张无标签图像；可将其标记范数与带寄存器的版本对比。",
    ),
    _timm(
        "vit_base_patch14_reg4_dinov2.lvd142m",
        "DINOv2 ViT-B/14 with registers",
        "DINOv2",
        86_582_016,
        "Four registers take over what outlier patch tokens stored: smoother attention maps.",
        "4 个寄存器接管了异常图块标记所存的信息：注意力图更平滑。",
    ),
    _timm(
        "vit_large_patch14_dinov2.lvd142m",
        "DINOv2 ViT-L/14",
        "DINOv2",
        304_367_616,
        "Large enough for outlier tokens: a few background patches of huge norm (the registers paper's finding).",
        "规模大到会出现异常标记：少数背景图块的范数极大（寄存器论文的发现）。",
    ),
    _timm(
        "vit_large_patch14_reg4_dinov2.lvd142m",
        "DINOv2 ViT-L/14 with registers",
        "DINOv2",
        304_370_688,
        "The cure beside the disease: with registers the outlier tokens are gone.",
        "与无寄存器版本对照：加入寄存器后异常标记消失。",
    ),
    # DINOv3, Simeoni et al. 2025 (arXiv 2508.10104)
    _timm(
        "vit_small_patch16_dinov3.lvd1689m",
        "DINOv3 ViT-S/16",
        "DINOv3",
        21_586_944,
        "1.7 billion images without labels, rotary positions and four registers; under Meta's DINOv3 licence.",
        "17 亿张无标签图像，旋转位置编码加 4 个寄存器；遵循 Meta 的 DINOv3 许可。",
    ),
    _timm(
        "vit_base_patch16_dinov3.lvd1689m",
        "DINOv3 ViT-B/16",
        "DINOv3",
        85_641_216,
        "Clean dense features for patch similarity and PCA at any size; under Meta's DINOv3 licence.",
        "致密特征干净，适合任意尺寸的图块相似度与 PCA；遵循 Meta 的 DINOv3 许可。",
    ),
    _timm(
        "vit_large_patch16_dinov3.lvd1689m",
        "DINOv3 ViT-L/16",
        "DINOv3",
        303_079_424,
        "The large one, distilled from a 7-billion-parameter teacher; under Meta's DINOv3 licence.",
        "大模型，由 70 亿参数的教师蒸馏而来；遵循 Meta 的 DINOv3 许可。",
    ),
    # CLIP, Radford et al. 2021 (arXiv 2103.00020); OpenCLIP, Cherti et al. 2023 (arXiv 2212.07143)
    _timm(
        "vit_base_patch16_clip_quickgelu_224.openai",
        "CLIP ViT-B/16",
        "CLIP",
        86_193_152,
        "400 million images with their captions; its 512 outputs are a space shared with text, not classes.",
        "4 亿张带说明文字的图像；512 个输出是与文本共享的空间，不是类别。",
    ),
    _timm(
        "vit_base_patch32_clip_quickgelu_224.openai",
        "CLIP ViT-B/32",
        "CLIP",
        87_849_728,
        "The small CLIP with 49 patches; outputs are a space shared with text, not classes.",
        "较小的 CLIP,49 个图块；输出是与文本共享的空间，不是类别。",
    ),
    _timm(
        "vit_large_patch14_clip_quickgelu_224.openai",
        "CLIP ViT-L/14",
        "CLIP",
        303_966_976,
        "The image side of many vision-language models; look for outlier tokens in its late blocks.",
        "许多视觉语言模型的图像编码器；可在其后部的块中寻找异常标记。",
    ),
    _timm(
        "vit_base_patch16_clip_224.laion2b",
        "OpenCLIP ViT-B/16",
        "CLIP",
        86_193_152,
        "CLIP trained anew on the public LAION-2B: same network, other data.",
        "在公开的 LAION-2B 上重新训练的 CLIP：网络相同，数据不同。",
    ),
    _timm(
        "vit_base_patch16_clip_224.openai_ft_in1k",
        "CLIP ViT-B/16 fine-tuned",
        "CLIP",
        86_568_424,
        "CLIP fine-tuned on ImageNet-1k: has classes, so class-specific relevance works.",
        "在 ImageNet-1k 上微调的 CLIP：有类别，可做类别相关性分析。",
    ),
    # SigLIP, Zhai et al. 2023 (arXiv 2303.15343); SigLIP 2, Tschannen et al. 2025 (arXiv 2502.14786)
    _timm(
        "vit_base_patch16_siglip_224.webli",
        "SigLIP ViT-B/16",
        "SigLIP",
        92_884_224,
        "Image and text pairs with a sigmoid loss; no class token: patches are pooled by an attention head.",
        "用 sigmoid 损失在图文对上训练；没有类别标记，由注意力池化汇总图块。",
    ),
    _timm(
        "vit_base_patch16_siglip_256.v2_webli",
        "SigLIP 2 ViT-B/16 at 256",
        "SigLIP",
        92_930_304,
        "SigLIP with captioning and self-supervised losses added for better patch features; no class token.",
        "在 SigLIP 上加入描述生成与自监督损失，图块特征更好；没有类别标记。",
    ),
    _timm(
        "vit_so400m_patch14_siglip_224.webli",
        "SigLIP So400m/14",
        "SigLIP",
        427_680_704,
        "The shape-optimised size used in vision-language models: 27 blocks; 1.7 GB, not for a small laptop.",
        "视觉语言模型常用的形状优化规模：27 个块；1.7 GB，不适合小型笔记本电脑。",
    ),
    # MAE, He et al. 2022 (arXiv 2111.06377)
    _timm(
        "vit_base_patch16_224.mae",
        "MAE ViT-B/16 encoder",
        "MAE",
        85_798_656,
        "Learned ImageNet-1k by drawing 75 % hidden patches; no classifier, no decoder. Non-commercial licence.",
        "在 ImageNet-1k 上通过补全 75% 被遮图块学习；没有分类头和解码器。非商业许可。",
    ),
    _timm(
        "vit_large_patch16_224.mae",
        "MAE ViT-L/16 encoder",
        "MAE",
        303_301_632,
        "The large MAE encoder: its attention is made for reconstruction, unlike DINO's. Non-commercial licence.",
        "大型 MAE 编码器：其注意力为重建服务，与 DINO 不同。非商业许可。",
    ),
    # BEiT, Bao et al. 2021 (arXiv 2106.08254); BEiT v2, Peng et al. 2022 (arXiv 2208.06366)
    _timm(
        "beit_base_patch16_224.in22k_ft_in22k_in1k",
        "BEiT-B/16",
        "BEiT",
        86_530_984,
        "Guessed discrete codes of hidden patches, then ImageNet-21k and 1k; a relative position bias in each block.",
        "先预测被遮图块的离散编码，再用 ImageNet-21k 和 1k 微调；每个块都有相对位置偏置。",
    ),
    _timm(
        "beit_large_patch16_224.in22k_ft_in22k_in1k",
        "BEiT-L/16",
        "BEiT",
        304_430_568,
        "The same with 24 blocks: relative position bias through the depth of a large network.",
        "同样的训练，24 个块：可观察大网络各深度的相对位置偏置。",
    ),
    _timm(
        "beitv2_base_patch16_224.in1k_ft_in22k_in1k",
        "BEiT v2-B/16",
        "BEiT",
        86_530_984,
        "Codes come from a tokenizer taught by CLIP, which makes them semantic: compare with BEiT.",
        "编码来自由 CLIP 指导的分词器，更具语义：可与 BEiT 对比。",
    ),
    # EVA, Fang et al. 2022 (arXiv 2211.07636); EVA-02, Fang et al. 2023 (arXiv 2303.11331)
    _timm(
        "eva_large_patch14_196.in22k_ft_in22k_in1k",
        "EVA-L/14 at 196",
        "EVA",
        304_142_312,
        "Reconstructed CLIP features of hidden patches on ImageNet-21k, then classified; no class token in the head.",
        "在 ImageNet-21k 上重建被遮图块的 CLIP 特征，再做分类；分类时取图块平均而非类别标记。",
    ),
    _timm(
        "eva02_tiny_patch14_224.mim_in22k",
        "EVA-02-Ti/14",
        "EVA",
        5_502_144,
        "Rotary positions and a gated MLP at the smallest size; masked pretraining only, no classifier.",
        "最小规模的旋转位置编码与门控 MLP；仅做遮挡预训练，没有分类头。",
    ),
    _timm(
        "eva02_small_patch14_336.mim_in22k_ft_in1k",
        "EVA-02-S/14 at 336",
        "EVA",
        22_129_000,
        "Rotary positions, 24 x 24 patches, fine-tuned on ImageNet-1k: strong for its size.",
        "旋转位置编码，24 x 24 个图块，在 ImageNet-1k 上微调：以其规模而言很强。",
    ),
    _timm(
        "eva02_base_patch14_448.mim_in22k_ft_in22k_in1k",
        "EVA-02-B/14 at 448",
        "EVA",
        87_117_544,
        "1,024 patches and rotary positions, ImageNet-21k, then 1k: among the most accurate models of base size.",
        "1024 个图块与旋转位置编码，先 ImageNet-21k 后 1k:base 规模中最准确的模型之一。",
    ),
    # Swin, Liu et al. 2021 (arXiv 2103.14030); Swin V2, Liu et al. 2022 (arXiv 2111.09883)
    _timm(
        "swin_tiny_patch4_window7_224.ms_in1k",
        "Swin-T",
        "Swin",
        28_288_354,
        "Attention in shifted 7 x 7 windows, four stages, no class token; the Swin-T of the paper, ImageNet-1k.",
        "在移位的 7 x 7 窗口内计算注意力，四个阶段，没有类别标记；论文中的 Swin-T,ImageNet-1k。",
    ),
    _timm(
        "swin_tiny_patch4_window7_224.ms_in22k_ft_in1k",
        "Swin-T, ImageNet-21k",
        "Swin",
        28_288_354,
        "The same network with ImageNet-21k before: a better classifier for photographs.",
        "同一网络先在 ImageNet-21k 上预训练：对照片分类更好。",
    ),
    _timm(
        "swin_small_patch4_window7_224.ms_in22k_ft_in1k",
        "Swin-S",
        "Swin",
        49_606_258,
        "18 blocks in the third stage instead of 6: depth where the grid is 14 x 14.",
        "第三阶段有 18 个块而非 6 个：深度集中在 14 x 14 的网格上。",
    ),
    _timm(
        "swin_base_patch4_window7_224.ms_in22k_ft_in1k",
        "Swin-B",
        "Swin",
        87_768_224,
        "As large as ViT-B: compare windowed and global attention at the same size.",
        "与 ViT-B 规模相当：可在同等规模下比较窗口注意力与全局注意力。",
    ),
    _timm(
        "swinv2_tiny_window8_256.ms_in1k",
        "Swin V2-T",
        "Swin V2",
        28_347_154,
        "Cosine attention and a position bias from a small MLP, so that windows may grow; ImageNet-1k.",
        "余弦注意力，位置偏置由小型 MLP 给出，窗口可放大；ImageNet-1k。",
    ),
    _timm(
        "swinv2_small_window16_256.ms_in1k",
        "Swin V2-S",
        "Swin V2",
        49_728_418,
        "Windows of 16 x 16 on a 64 x 64 grid: from the third stage on a window is the whole image; ImageNet-1k.",
        "64 x 64 网格上的 16 x 16 窗口：从第三阶段起，一个窗口就是整幅图像；ImageNet-1k。",
    ),
    _timm(
        "swinv2_base_window16_256.ms_in1k",
        "Swin V2-B",
        "Swin V2",
        87_918_816,
        "The base size of the same, trained on ImageNet-1k: its position bias is smooth because an MLP draws it.",
        "同系列的 base 规模，ImageNet-1k；位置偏置由 MLP 生成，因此很平滑。",
    ),
)

_CONVOLUTIONAL = (
    _timm(
        "resnet18.a1_in1k",
        "ResNet-18",
        "ResNet",
        11_689_512,
        "A small residual network, ImageNet-1k: the usual partner of a ViT-S in comparisons on few images.",
        "小型残差网络，在 ImageNet-1k 上训练；图像较少时常与 ViT-S 对比。",
    ),
    _timm(
        "resnet50.a1_in1k",
        "ResNet-50",
        "ResNet",
        25_557_032,
        "The residual network of most papers, ImageNet-1k; about as large as a ViT-S.",
        "论文中最常用的残差网络，在 ImageNet-1k 上训练；规模与 ViT-S 相近。",
    ),
    _timm(
        "efficientnet_b0.ra_in1k",
        "EfficientNet-B0",
        "EfficientNet",
        5_288_548,
        "A network of depthwise convolutions, ImageNet-1k; about as large as a ViT-Ti.",
        "使用深度可分离卷积的网络，在 ImageNet-1k 上训练；规模与 ViT-Ti 相近。",
    ),
)
