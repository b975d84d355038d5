"""dino.txt (arXiv 2412.16334) as released for DINOv2 and DINOv3: backbone, vision head and text encoder.

Names are those of the whole released model, in one file or put together from several (`dino_txt_files`). DINOv2's head
has its blocks under another name. The text encoder is left out here; `texts.dino_txt_encoder` reads it.
"""

from __future__ import annotations

from functools import partial

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.dino_txt_files import BACKBONE, HEAD
from vitexplorer.models.checkpoints.misfit import MisfitError, rows_of, shape_of
from vitexplorer.models.checkpoints.readers import dino_v2, dino_v3
from vitexplorer.models.checkpoints.records import Config, Extension, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import count, renamed
from vitexplorer.models.dino_txt import FAMILY, add_vision_head

_HEAD_RULES = (
    (r"^(block_list|blocks)\.", "vision_head.blocks."),
    (r"^ln_final\.", "vision_head.norm."),
    (r"^linear_projection\.", "vision_head.proj."),
    (r"\.mlp\.w1\.", ".mlp.fc1_g."),
    (r"\.mlp\.w2\.", ".mlp.fc1_x."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)
_NO_BACKBONE = Text(
    "its backbone is missing; put the file of the backbone beside it, such as {example}, and open the folder",
    "缺少骨干网络；请把骨干网络的文件（例如 {example}）放在旁边，再打开该文件夹",
)
_NO_HEAD = Text(
    "its vision head is missing; put the file of the head beside it, such as {example}, and open the folder",
    "缺少视觉头；请把视觉头的文件（例如 {example}）放在旁边，再打开该文件夹",
)
_WIDTHS = Text(
    "the head reads tokens of {head} numbers, and those of the backbone have {backbone}",
    "视觉头读取 {head} 维的标记，而骨干网络的标记为 {backbone} 维",
)
EXAMPLES = ("dinov2_vitl14_reg4_pretrain.pth", "dinov2_vitl14_reg4_dinotxt_tet1280d20h24l_vision_head.pth")


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename backbone and head to the names of `models.dino_txt`.

    Raises:
        MisfitError: backbone or head is missing, or they have different widths.
    """
    backbone, head = _below(tensors, BACKBONE), renamed(_below(tensors, HEAD), _HEAD_RULES)
    if not backbone:
        raise MisfitError(_NO_BACKBONE.format(example=EXAMPLES[0]))
    if not head:
        raise MisfitError(_NO_HEAD.format(example=EXAMPLES[1]))
    result, facts = (dino_v3 if "storage_tokens" in backbone else dino_v2).READER.rename(backbone, config)
    width, read = shape_of(result, "patch_embed.proj.weight", 4)[0], shape_of(head, "vision_head.norm.weight", 1)[0]
    if read != width:
        raise MisfitError(_WIDTHS.format(head=read, backbone=width))
    add = partial(
        add_vision_head,
        depth=count(head, r"vision_head\.blocks\.(\d+)\."),
        hidden=shape_of(head, "vision_head.blocks.0.mlp.fc2.weight", 2)[1],
        projection=rows_of(head, "vision_head.proj.weight") if "vision_head.proj.weight" in head else None,
    )
    left_out = tuple(name for name in tensors if not name.startswith((BACKBONE, HEAD)))
    return result | head, facts.but(
        projects=True,
        extension=Extension("dino_txt", add, FAMILY),
        left_out=(*left_out, *(f"{BACKBONE}{name}" for name in facts.left_out)),
    )


def _below(tensors: Tensors, beginning: str) -> Tensors:
    """Return the tensors of one part; DINOv2's backbone stands in a wrapper, `model`."""
    return {
        name.removeprefix(beginning).removeprefix("model."): tensor
        for name, tensor in tensors.items()
        if name.startswith(beginning)
    }


READER = Reader(library="dino.txt", signs=(r"^visual_model\.(backbone|head)\.|^text_model\.backbone\.",), rename=rename)
