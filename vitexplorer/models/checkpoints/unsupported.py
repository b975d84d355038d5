"""Architectures that are recognised but not supported; each is refused by its name, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.core.text import Text, same


@dataclass(frozen=True)
class Unsupported:
    """An architecture for which timm has no equivalent module, or this program no reader."""

    name: Text
    signs: tuple[str, ...]
    """Patterns of the file's tensor names, all of which must match"""
    why: Text


UNSUPPORTED = (
    Unsupported(
        same("YOLOS (transformers)"),
        (r"embeddings\.detection_tokens$",),
        Text(
            "its detection tokens stand behind the patches and have position tables of their own, which no module of"
            " timm has; use the ViT or DeiT that it was trained from",
            "其检测标记位于图块之后并有自己的位置编码，timm 没有这样的模块；请改用它训练时所基于的 ViT 或 DeiT",
        ),
    ),
    Unsupported(
        same("Hiera (transformers)"),
        (r"encoder\.stages\.0\.layers\.0\.attn\.qkv\.weight$", r"embeddings\.patch_embeddings\.projection\.weight$"),
        Text(
            "its files of transformers cannot be translated; timm has it too: name it, such as hiera_tiny_224",
            "尚不能转换 transformers 的这种文件；timm 也有该模型：请指明名称，例如 hiera_tiny_224",
        ),
    ),
    Unsupported(
        same("AIMv2 (transformers)"),
        (r"encoder\.layers\.0\.rms_norm1\.weight$",),
        Text(
            "its files of transformers cannot be translated; timm has it too: name it, such as aimv2_large_patch14_224",
            "尚不能转换 transformers 的这种文件；timm 也有该模型：请指明名称，例如 aimv2_large_patch14_224",
        ),
    ),
    Unsupported(
        Text(
            "a CoCa or another open_clip model with attentional pooling", "CoCa 或其他使用注意力池化的 open_clip 模型"
        ),
        (r"^(visual\.)?attn_pool\.query$", r"^(visual\.)?conv1\.weight$"),
        Text(
            "its image tower ends in queries that attend to the tokens (attn_pool), which no module of timm does alike;"
            " use a CLIP without attentional_pool",
            "其图像编码器最后用若干查询对标记做注意力（attn_pool），timm 没有相同的模块；"
            "请改用没有 attentional_pool 的 CLIP",
        ),
    ),
    Unsupported(
        Text("a Swin with absolute position embeddings", "使用绝对位置编码的 Swin"),
        (
            r"^(.+\.)?embeddings\.position_embeddings$|^absolute_pos_embed$",
            r"layers\.0\.blocks\.0\.attention\.(self\.query|q_proj)\.weight$|^layers\.0\.blocks\.0\.attn\.qkv\.weight$",
        ),
        Text(
            "a table of positions is added to its patches, for which timm's Swin has no place; use one without"
            " use_absolute_embeddings",
            "它会给图块加上绝对位置编码，而 timm 的 Swin 没有这一项；请改用没有 use_absolute_embeddings 的 Swin",
        ),
    ),
)
