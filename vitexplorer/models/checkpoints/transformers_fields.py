"""The fields of transformers' configurations of vision models: what each is held against, or why it changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.declared import Declared, Held, Measure


def _has(pattern: str) -> Measure:
    return lambda held, said: held.has(pattern)


def _argument(*names: str) -> Measure:
    return lambda held, said: held.argument(*names)


def _listed(measure: Measure) -> Measure:
    """Of a list the numbers of the stages that there are: transformers reads no further."""

    def each(held: Held, said: Any) -> Any:
        value = measure(held, said)
        reaches = isinstance(value, tuple) and isinstance(said, list) and tuple(said[: len(value)]) == value
        return tuple(said) if reaches else value

    return each


def _depths(held: Held, said: Any) -> Any:
    """Swin has as many stages as the list has numbers; PVT v2 says them apart."""
    measure = _argument("depths")
    return _listed(measure)(held, said) if held.argument("embed_dims") else measure(held, said)


def _width(held: Held, said: Any) -> Any:
    """Swin calls the last stage's so."""
    depths, width = held.argument("depths"), held.argument("embed_dim")
    return width if depths is None or width is None else width * 2 ** (len(depths) - 1)


def _stages(held: Held, said: Any) -> Any:
    depths = held.argument("depths")
    return None if depths is None else len(depths)


def _hidden(held: Held, said: Any) -> int:
    return held.found.tensors["blocks.0.mlp.fc2.weight"].shape[1]


def _ratio(held: Held, said: Any) -> Any:
    """`said` where it gives an MLP of the neurons that there are; DINOv2 rounds those of a gated one."""
    block = "layers.0.blocks.0" if held.argument("depths") else "blocks.0"
    width, hidden = held.argument("embed_dim"), held.found.tensors[f"{block}.mlp.fc2.weight"].shape[1]
    if not isinstance(said, int | float):
        return hidden / width
    neurons = int(width * said)
    if _gated(held, None):
        neurons = (int(neurons * 2 / 3) + 7) // 8 * 8
    return said if neurons == hidden else hidden / width


def _ratios(held: Held, said: Any) -> Any:
    """The same for each stage of PVT v2."""
    widths = held.argument("embed_dims")
    hidden = [len(held.found.tensors[f"stages.{stage}.blocks.0.mlp.fc1.weight"]) for stage in range(len(widths))]
    numbers = isinstance(said, list) and len(said) >= len(widths) and all(isinstance(one, int | float) for one in said)
    if numbers and [int(width * one) for width, one in zip(widths, said, strict=False)] == hidden:
        return tuple(said[: len(widths)])
    return tuple(neurons / width for neurons, width in zip(hidden, widths, strict=True))


def _gated(held: Held, said: Any) -> bool:
    return held.argument("swiglu_mlp") or "mlp_layer" in held.found.arguments


def _registers(held: Held, said: Any) -> int:
    return held.argument("reg_tokens", "num_reg_tokens") or 0


def _reductions(held: Held, said: Any) -> Any:
    """None for linear attention, which pools to seven patches a side whatever they are."""
    return None if held.argument("linear") else held.argument("sr_ratios")


def _scaled(held: Held, said: Any) -> Any:
    """`said` where it begins with a scale or without one, as the file has one or none."""
    is_there = held.has(r"lambda_1$")
    return said if isinstance(said, int | float) and (said > 0) == is_there else (0.1 if is_there else 0)


def _mean_pooled(held: Held, said: Any) -> bool | None:
    if held.argument("num_classes") == 0 and not held.has(r"pooler\.layernorm\."):
        return None
    return held.argument("global_pool") == "avg"


def _outputs(held: Held, said: Any) -> Any:
    """Names of classes, one for each output of the classifier; what names none is no matter."""
    if not isinstance(said, Mapping):
        return None
    rows = {len(tensor) for name, tensor in held.tensors.items() if name.endswith("classifier.weight")}
    return None if not rows or len(said) in rows else max(rows)


def _projected(held: Held, said: Any) -> int | None:
    return held.argument("num_classes") if held.has(r"visual_projection\.weight$") else None


def _size(held: Held, said: Any) -> Any:
    return held.argument("img_size") or held.found.facts.image_size


def _head_dim(held: Held, said: Any) -> int | None:
    width, heads = held.argument("embed_dim"), held.argument("num_heads")
    return width // heads if isinstance(width, int) and isinstance(heads, int) else None


TRANSFORMERS = Declared(
    held={
        "hidden_size": _width,
        "embed_dim": _argument("embed_dim"),
        "hidden_sizes": _listed(_argument("embed_dims")),
        "num_hidden_layers": lambda held, said: held.argument("depth") or _stages(held, said),
        "num_layers": _stages,
        "num_encoder_blocks": _stages,
        "depths": _depths,
        "num_attention_heads": _listed(_argument("num_heads")),
        "num_heads": _listed(_argument("num_heads")),
        "head_dim": _head_dim,
        "intermediate_size": _hidden,
        "mlp_ratio": _ratio,
        "mlp_ratios": _listed(_ratios),
        "use_swiglu_ffn": _gated,
        "use_gated_mlp": _gated,
        "patch_size": _argument("patch_size"),
        "sr_ratios": _listed(_reductions),
        "linear_attention": _argument("linear"),
        "image_size": _size,
        "window_size": _argument("window_size"),
        "num_register_tokens": _registers,
        "qkv_bias": _has(r"\.(query|q_proj)\.bias$"),
        "query_bias": _has(r"\.q_proj\.bias$"),
        "key_bias": _has(r"\.k_proj\.bias$"),
        "value_bias": _has(r"\.v_proj\.bias$"),
        "proj_bias": _has(r"\.o_proj\.bias$"),
        "mlp_bias": _has(r"\.(up|down)_proj\.bias$"),
        "use_absolute_position_embeddings": _argument("use_abs_pos_emb"),
        "use_absolute_embeddings": _has(r"embeddings\.position_embeddings$"),
        "use_relative_position_bias": _argument("use_rel_pos_bias"),
        "use_shared_relative_position_bias": _argument("use_shared_rel_pos_bias"),
        "layer_scale_init_value": _scaled,
        "use_mean_pooling": _mean_pooled,
        "projection_dim": _projected,
        "vision_use_head": _has(r"head\.probe$"),
        "id2label": _outputs,
    },
    only={"num_channels": 3, "patch_sizes": (7, 3, 3, 3), "strides": (4, 2, 2, 2)},
    read=("hidden_act", "layer_norm_eps", "rope_theta", "pretrained_window_sizes", "preprocessor", "vision_config"),
    without_effect={
        "weights begin so, before they are trained": "initializer_range initializer_factor layerscale_value",
        "parts drop out in training alone": "hidden_dropout_prob attention_probs_dropout_prob attention_dropout"
        " drop_path_rate pos_embed_shift pos_embed_jitter pos_embed_rescale",
        "read by what only pretraining has": "encoder_stride use_mask_token vocab_size mask_ratio norm_pix_loss"
        " decoder_num_attention_heads decoder_hidden_size decoder_num_hidden_layers decoder_intermediate_size",
        "read by a pooler that no classifier reads": "pooler_output_size pooler_act",
        "read by models that mark regions": "pool_scales use_auxiliary_head auxiliary_loss_weight auxiliary_channels"
        " auxiliary_num_convs auxiliary_concat_input semantic_loss_ignore_index add_fpn reshape_hidden_states"
        " apply_layernorm _out_features _out_indices out_features out_indices stage_names",
        "of the text beside the images": "text_config logit_scale_init_value",
        "the same numbers in pieces": "chunk_size_feed_forward",
        "never read": "path_norm",
        "what the file is called and how its library runs it": "architectures model_type transformers_version dtype"
        " torch_dtype _name_or_path _commit_hash _attn_implementation_autoset attn_implementation _attn_implementation"
        " return_dict output_hidden_states output_attentions label2id num_labels problem_type torchscript use_bfloat16"
        " tf_legacy_loss is_encoder_decoder is_decoder use_cache cross_attention_hidden_size add_cross_attention"
        " tie_encoder_decoder tie_word_embeddings finetuning_task task_specific_params tokenizer_class prefix",
        "of text that is written": "bos_token_id pad_token_id eos_token_id sep_token_id decoder_start_token_id"
        " max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k"
        " top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size"
        " bad_words_ids num_return_sequences output_scores return_dict_in_generate forced_bos_token_id"
        " forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens"
        " begin_suppress_tokens",
    },
)
