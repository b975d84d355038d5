"""How many numbers does this model consist of, and where are they?

Counted from the module itself, part by part, or by the module's own names if its blocks are not known. The closed
formula is shown if it is exact for the module (ViT of Dosovitskiy et al. 2021, arXiv 2010.11929, and its relatives;
Swin, arXiv 2103.14030) and gives the module's own total. Buffers (position indices, running statistics) do not count.
Misleading as a measure of cost: B/32 has more parameters than B/16 and computes a quarter.
"""

from __future__ import annotations

import re

import numpy as np
from torch import nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.format import counted, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.part_names import part_text
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import CountResult, Term
from vitexplorer.models.outline import has_parameters
from vitexplorer.quantities.parameter_formulas import SwinShape, ViTShape, exact_terms, symbolic, total
from vitexplorer.views.record import View

NO_FORMULA = Text(
    "No closed formula is stated for this architecture; the numbers are counted from the module.",
    "该结构没有给出闭式公式；数字由模块实际计数得到。",
)
_PREFIX_TOKENS = ("cls_token", "dist_token", "reg_token")
_FIRST_PARTS = ("patch_embed", "pos_embed", "prefix_tokens")


def count_parts(module: nn.Module) -> dict[str, int]:
    """Count the parameters of each part in the order of the forward pass; block numbers run over the whole network."""
    counts = dict.fromkeys(_FIRST_PARTS, 0)
    blocks: dict[str, str] = {}
    for name, parameter in module.named_parameters():
        part = name.split(".")[0]
        if part in _PREFIX_TOKENS:
            part = "prefix_tokens"
        elif block := re.match(r"(.*\.|)blocks\.\d+\.", name):
            part = blocks.setdefault(block[0], f"block {len(blocks)}")
        elif merging := re.match(r"layers\.(\d+)\.downsample\.", name):
            part = f"downsample {merging[1]}"
        counts[part] = counts.get(part, 0) + parameter.numel()
    return {part: count for part, count in counts.items() if count}


def count_modules(module: nn.Module) -> dict[str, int]:
    """Count the parameters of each child of a module and of each entry of its lists, by their names in it."""
    counts: dict[str, int] = {}
    for name, parameter in module.named_parameters():
        part = re.match(r"[^.]+(\.\d+)?", name)[0]
        counts[part] = counts.get(part, 0) + parameter.numel()
    return counts


def shape_of(module: nn.Module) -> ViTShape | SwinShape | None:
    """Return the sizes that the closed formula needs, or None if there is none or its sum is not the module's count."""
    count = sum(parameter.numel() for parameter in module.parameters())
    for read in (vit_shape, swin_shape):
        try:
            shape = read(module)
        except (AttributeError, IndexError, TypeError):  # built of other parts
            continue
        if total(exact_terms(shape)) == count:
            return shape
    return None


def terms_of(module: nn.Module) -> tuple[Term, ...]:
    """Return the closed formula of a module; empty if there is none or its sum is not the module's own count."""
    shape = shape_of(module)
    return exact_terms(shape) if shape else ()


def vit_shape(module: nn.Module) -> ViTShape:
    """Read the shape of a plain ViT off its modules. Raises AttributeError for other architectures."""
    projection, block = module.patch_embed.proj, module.blocks[0]
    grid = module.patch_embed.grid_size
    patch_size = projection.kernel_size[0]
    prefix_tokens = [getattr(module, name, None) for name in _PREFIX_TOKENS]
    cls_token, dist_token, registers = (0 if token is None else token.shape[1] for token in prefix_tokens)
    positions = module.pos_embed
    return ViTShape(
        image_size=(grid[0] * patch_size, grid[1] * patch_size),
        patch_size=patch_size,
        channels=projection.in_channels,
        dim=projection.out_channels,
        depth=len(module.blocks),
        num_heads=block.attn.num_heads,
        hidden=block.mlp.fc1.out_features,
        classes=_outputs(module.head),
        class_token=cls_token > 0,
        distillation=dist_token > 0,
        registers=registers,
        positions=positions is not None,
        prefix_positions=positions is not None and positions.shape[1] > grid[0] * grid[1],
        patch_bias=projection.bias is not None,
        qkv_bias=block.attn.qkv.bias is not None,
        qk_norm=has_parameters(block.attn.q_norm),
        layer_scale=has_parameters(block.ls1),
        pre_norm=has_parameters(module.norm_pre),
        final_norm=has_parameters(module.norm) or has_parameters(module.fc_norm),
        attention_pool=module.attn_pool is not None,
    )


def swin_shape(module: nn.Module) -> SwinShape:
    """Read the shape of a Swin transformer off its modules. Raises AttributeError for other architectures."""
    projection = module.patch_embed.proj
    stages = [stage.blocks for stage in module.layers]
    first = stages[0][0]
    return SwinShape(
        patch_size=projection.kernel_size[0],
        channels=projection.in_channels,
        dim=projection.out_channels,
        depths=tuple(len(blocks) for blocks in stages),
        num_heads=tuple(blocks[0].attn.num_heads for blocks in stages),
        windows=tuple(tuple(blocks[0].attn.window_size) for blocks in stages),
        mlp_ratio=first.mlp.fc1.out_features / first.mlp.fc1.in_features,
        classes=_outputs(module.head.fc),
        qkv_bias=first.attn.qkv.bias is not None or getattr(first.attn, "q_bias", None) is not None,
        patch_norm=has_parameters(module.patch_embed.norm),
        version=2 if hasattr(first.attn, "logit_scale") else 1,
    )


def _outputs(head: nn.Module) -> int:
    return head.out_features if isinstance(head, nn.Linear) else 0


def compute(capture: Capture) -> CountResult:
    """Count the parameters of each part, int64 (parts,), with sum `total`; `terms` is the closed formula."""
    module = capture.model.module
    parts = (count_parts if capture.model.family.shows_stream else count_modules)(module)
    terms = terms_of(module)
    values = np.array(list(parts.values()), dtype=np.int64)
    return CountResult(
        values=values,
        axes=("parts",),
        unit=Text("parameters", "个参数"),
        formula=symbolic(terms) or Text("Σ elements of every parameter", "Σ 每个参数张量的元素数"),
        notes=present(Text("Buffers are not counted.", "缓冲区（buffer）不计入。"), None if terms else NO_FORMULA),
        parts=tuple(parts),
        terms=terms,
        total=int(values.sum()),
    )


def reading(result: CountResult) -> Text:
    """State the total and the parts that hold most of it."""
    counts = dict(zip(result.parts, result.values.tolist(), strict=True))
    total = max(result.total, 1)
    blocks = [part for part in counts if part.startswith("block ")]
    others = {part: count for part, count in counts.items() if part not in blocks}
    largest = max(others, key=others.get, default="")
    fields = {
        "total": counted(result.total),
        "part": part_text(largest),
        "share": percent(others.get(largest, 0) / total),
        "blocks": Text("the {count:block}", " {count} 个块").format(count=len(blocks))
        if len(blocks) > 1
        else Text("the only block", "唯一的块"),
        "inside": percent(sum(counts[block] for block in blocks) / total),
    }
    if not blocks:
        return Text(
            "{share} of {total} parameters are in the largest part, {part}.",
            "{total} 个参数中，最大的部分占 {share}：{part}。",
        ).format(**fields)
    if not others:
        return Text("All {total} parameters lie in {blocks}.", "{total} 个参数全部在{blocks}里。").format(**fields)
    return Text(
        "{inside} of the {total} parameters are in {blocks}; the largest part outside, {part}, has {share}.",
        "{total} 个参数中有 {inside} 在{blocks}里；块外最大的部分占 {share}：{part}。",
    ).format(**fields)


VIEW = View(
    title=Text("Parameters", "参数量"),
    question=Text("How many parameters does the model have, and where are they?", "模型有多少参数，分布在哪里？"),
    misleads=Text(
        "More parameters do not mean more computation: ViT-B/32 has more than ViT-B/16 and needs a quarter of the "
        "multiplications.",
        "参数多不等于计算多：ViT-B/32 的参数比 ViT-B/16 多，计算量却只有四分之一。",
    ),
    room="size",
    compute=compute,
    reads=(),
    reading=reading,
    any_family=True,
    paper=Paper("Dosovitskiy et al. 2021, table 1", "https://arxiv.org/abs/2010.11929"),
)
