"""transformers' image towers of BLIP (arXiv 2201.12086) and BLIP-2 (arXiv 2301.12597), alone or in a whole model.

The output is the class token after the last norm; BLIP's pooler output is that token, normed once more.
"""

from __future__ import annotations

from vitexplorer.models.checkpoints.default_preprocessing import OPENAI
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import renamed, without

_OTHERS = (
    r"^(text_model|text_encoder|text_decoder|language_model|qformer|visual_projection|text_projection|itm_head"
    r"|itc_vision_proj|itc_text_proj|vision_proj|text_proj|vision_projection|language_projection|embeddings)\."
    r"|^(logit_scale|query_tokens)$"
)
_RULES = (
    (r"^vision_model\.", ""),
    (r"^embeddings\.class_embedding$", "cls_token"),
    (r"^embeddings\.position_embedding$", "pos_embed"),
    (r"^embeddings\.patch_embedding\.", "patch_embed.proj."),
    (r"^encoder\.layers\.", "blocks."),
    (r"\.self_attn\.qkv\.", ".attn.qkv."),
    (r"\.self_attn\.projection\.", ".attn.proj."),
    (r"\.layer_norm([12])\.", r".norm\1."),
    (r"^post_layernorm\.", "norm."),
)


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, without the text models."""
    is_whole_model = any(name.startswith("vision_model.") for name in tensors)
    vision, left_out = without(tensors, _OTHERS if is_whole_model else r"^$")
    facts = facts_of(config, norm_eps=1e-5, default=OPENAI)
    return renamed(vision, _RULES), facts.but(left_out=left_out, prefix_placed=True, class_names=())


READER = Reader(
    library="transformers",
    signs=(r"embeddings\.patch_embedding\.weight$", r"encoder\.layers\.0\.self_attn\.qkv\.weight$"),
    rename=rename,
)
