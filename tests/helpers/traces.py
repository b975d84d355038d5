"""State of a module and the process that a pass might leave changed, and an error in the middle of a pass."""

from __future__ import annotations

import timm
import torch
import torch.nn.functional as F
from torch.overrides import _get_current_function_mode_stack


def traces(module: torch.nn.Module) -> dict[str, object]:
    """Collect everything about a module and the process that a capture might leave changed."""
    found: dict[str, object] = {
        "global": (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.get_default_dtype(),
            torch.get_rng_state().tolist(),
            timm.layers.use_fused_attn(),
            F.scaled_dot_product_attention,
            len(_get_current_function_mode_stack()),
        )
    }
    for name, part in module.named_modules():
        for key, value in vars(part).items():
            found[f"{name}.{key}"] = dict(value) if isinstance(value, dict) else value
    for name, tensor in module.state_dict(keep_vars=True).items():
        found[f"tensor {name}"] = (id(tensor), tensor._version, tensor.requires_grad, tensor.grad)
    return found


def fail_midway(*_, **__):
    raise RuntimeError("in the middle")
