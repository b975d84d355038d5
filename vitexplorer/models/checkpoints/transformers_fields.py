"""Fields of transformers' configurations of vision models: how each is checked, or why it has no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.declared import Declared, Measure, Stored, argument, has


def _listed(measure: Measure) -> Measure:
    """Accept a list with more numbers than stages: transformers ignores the rest."""

    def measure_list(stored: Stored, declared: Any) -> Any:
        value = measure(stored, declared)
        is_prefix = isinstance(value, tuple) and isinstance(declared, list) and tuple(declared[: len(value)]) == value
        return tuple(declared) if is_prefix else value

    return measure_list


def _depths(stored: Stored, declared: Any) -> Any:
    """Measure the depths: Swin has as many stages as the list has numbers, PVT v2 states their number separately."""
    measure = argument("depths")
    return _listed(measure)(stored, declared) if stored.argument("embed_dims") else measure(stored, declared)


def _width(stored: Stored, declared: Any) -> Any:
    """Measure `hidden_size`, which in Swin is the width of the last stage."""
    depths = stored.argument("depths")
    width = stored.argument("embed_dim")
    return width if depths is None or width is None else width * 2 ** (len(depths) - 1)


def _stages(stored: Stored, declared: Any) -> Any:
    depths = stored.argument("depths")
    return None if depths is None else len(depths)


def _hidden(stored: Stored, declared: Any) -> int:
    return stored.blueprint.tensors["blocks.0.mlp.fc2.weight"].shape[1]


def _ratio(stored: Stored, declared: Any) -> Any:
    """Return the declared ratio if it gives the MLP's number of neurons; DINOv2 rounds those of a gated MLP."""
    block = "layers.0.blocks.0" if stored.argument("depths") else "blocks.0"
    width = stored.argument("embed_dim")
    hidden = stored.blueprint.tensors[f"{block}.mlp.fc2.weight"].shape[1]
    if not isinstance(declared, int | float):
        return hidden / width
    neurons = int(width * declared)
    if _gated(stored, None):
        neurons = (int(neurons * 2 / 3) + 7) // 8 * 8
    return declared if neurons == hidden else hidden / width


def _ratios(stored: Stored, declared: Any) -> Any:
    """Return the declared ratios of PVT v2's stages if they give the MLPs' numbers of neurons."""
    widths = stored.argument("embed_dims")
    hidden = [len(stored.blueprint.tensors[f"stages.{stage}.blocks.0.mlp.fc1.weight"]) for stage in range(len(widths))]
    is_numbers = isinstance(declared, list) and all(isinstance(ratio, int | float) for ratio in declared)
    reaches_all = is_numbers and len(declared) >= len(widths)
    if reaches_all and [int(width * ratio) for width, ratio in zip(widths, declared, strict=False)] == hidden:
        return tuple(declared[: len(widths)])
    return tuple(neurons / width for neurons, width in zip(hidden, widths, strict=True))


def _gated(stored: Stored, declared: Any) -> bool:
    return stored.argument("swiglu_mlp") or "mlp_layer" in stored.blueprint.arguments


def _registers(stored: Stored, declared: Any) -> int:
    return stored.argument("reg_tokens", "num_reg_tokens") or 0


def _reductions(stored: Stored, declared: Any) -> Any:
    """Measure the reductions; None for linear attention, which always pools to seven patches a side."""
    return None if stored.argument("linear") else stored.argument("sr_ratios")


def _scaled(stored: Stored, declared: Any) -> Any:
    """Return the declared initial layer scale if the file has layer scale exactly when it is above 0."""
    has_scale = stored.has(r"lambda_1$")
    return declared if isinstance(declared, int | float) and (declared > 0) == has_scale else (0.1 if has_scale else 0)


def _mean_pooled(stored: Stored, declared: Any) -> bool | None:
    if stored.argument("num_classes") == 0 and not stored.has(r"pooler\.layernorm\."):
        return None
    return stored.argument("global_pool") == "avg"


def _outputs(stored: Stored, declared: Any) -> Any:
    """Measure the number of class names, one for each output; None if the value is no mapping of names."""
    if not isinstance(declared, Mapping):
        return None
    heads = [tensor for name, tensor in stored.tensors.items() if name.endswith("classifier.weight")]
    rows = {tensor.shape[0] for tensor in heads if tensor.ndim}
    return None if not rows or len(declared) in rows else max(rows)


def _projected(stored: Stored, declared: Any) -> int | None:
    return stored.argument("num_classes") if stored.has(r"visual_projection\.weight$") else None


def _size(stored: Stored, declared: Any) -> Any:
    return stored.argument("img_size") or stored.blueprint.facts.image_size


def _head_dim(stored: Stored, declared: Any) -> int | None:
    width, heads = stored.argument("embed_dim"), stored.argument("num_heads")
    return width // heads if isinstance(width, int) and isinstance(heads, int) else None


TRANSFORMERS = Declared(
    measures={
        "hidden_size": _width,
        "embed_dim": argument("embed_dim"),
        "hidden_sizes": _listed(argument("embed_dims")),
        "num_hidden_layers": lambda stored, declared: stored.argument("depth") or _stages(stored, declared),
        "num_layers": _stages,
        "num_encoder_blocks": _stages,
        "depths": _depths,
        "num_attention_heads": _listed(argument("num_heads")),
        "num_heads": _listed(argument("num_heads")),
        "head_dim": _head_dim,
        "intermediate_size": _hidden,
        "mlp_ratio": _ratio,
        "mlp_ratios": _listed(_ratios),
        "use_swiglu_ffn": _gated,
        "use_gated_mlp": _gated,
        "patch_size": argument("patch_size"),
        "sr_ratios": _listed(_reductions),
        "linear_attention": argument("linear"),
        "image_size": _size,
        "window_size": argument("window_size"),
        "num_register_tokens": _registers,
        "qkv_bias": has(r"\.(query|q_proj)\.bias$"),
        "query_bias": has(r"\.q_proj\.bias$"),
        "key_bias": has(r"\.k_proj\.bias$"),
        "value_bias": has(r"\.v_proj\.bias$"),
        "proj_bias": has(r"\.o_proj\.bias$"),
        "mlp_bias": has(r"\.(up|down)_proj\.bias$"),
        "use_absolute_position_embeddings": argument("use_abs_pos_emb"),
        "use_absolute_embeddings": has(r"embeddings\.position_embeddings$"),
        "use_relative_position_bias": argument("use_rel_pos_bias"),
        "use_shared_relative_position_bias": argument("use_shared_rel_pos_bias"),
        "layer_scale_init_value": _scaled,
        "use_mean_pooling": _mean_pooled,
        "projection_dim": _projected,
        "vision_use_head": has(r"head\.probe$"),
        "id2label": _outputs,
    },
    only={"num_channels": 3, "patch_sizes": (7, 3, 3, 3), "strides": (4, 2, 2, 2)},
    read=("hidden_act", "layer_norm_eps", "rope_theta", "pretrained_window_sizes", "preprocessor", "vision_config"),
    without_effect={
        "initial values of weights": "initializer_range initializer_factor layerscale_value",
        "dropout, in training only": "hidden_dropout_prob attention_probs_dropout_prob attention_dropout"
        " drop_path_rate pos_embed_shift pos_embed_jitter pos_embed_rescale",
        "parts for pretraining": "encoder_stride use_mask_token vocab_size mask_ratio norm_pix_loss"
        " decoder_num_attention_heads decoder_hidden_size decoder_num_hidden_layers decoder_intermediate_size",
        "a pooler without a classifier": "pooler_output_size pooler_act",
        "segmentation and feature extraction": "pool_scales use_auxiliary_head auxiliary_loss_weight auxiliary_channels"
        " auxiliary_num_convs auxiliary_concat_input semantic_loss_ignore_index add_fpn reshape_hidden_states"
        " apply_layernorm _out_features _out_indices out_features out_indices stage_names",
        "the text model": "text_config logit_scale_init_value",
        "computation in chunks, with the same results": "chunk_size_feed_forward",
        "never read": "path_norm",
        "names, and the way the library runs the model": "architectures model_type transformers_version dtype"
        " torch_dtype _name_or_path _commit_hash _attn_implementation_autoset attn_implementation _attn_implementation"
        " return_dict output_hidden_states output_attentions label2id num_labels problem_type torchscript use_bfloat16"
        " tf_legacy_loss is_encoder_decoder is_decoder use_cache cross_attention_hidden_size add_cross_attention"
        " tie_encoder_decoder tie_word_embeddings finetuning_task task_specific_params tokenizer_class prefix",
        "text generation": "bos_token_id pad_token_id eos_token_id sep_token_id decoder_start_token_id"
        " max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k"
        " top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size"
        " bad_words_ids num_return_sequences output_scores return_dict_in_generate forced_bos_token_id"
        " forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens"
        " begin_suppress_tokens",
    },
)
