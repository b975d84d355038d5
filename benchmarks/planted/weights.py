"""Faults in the weights, and in how they are read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn
from torch.nn import functional

import vitexplorer as vx
from benchmarks.planted.case import Case, Fault
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.diagnosis.alternatives import attentions, position_table
from vitexplorer.diagnosis.loading import block_tensors
from vitexplorer.models.seeding import seeded


def _with(case: Case, change: Callable[[nn.Module], bool]) -> Case | None:
    """Change a copy of the module; None where `change` finds nothing."""
    module = copy.deepcopy(case.model.module)
    with torch.no_grad():
        return replace(case, model=replace(case.model, module=module)) if change(module) else None


def _fresh(share: tuple[float, float]) -> Fault:
    """Give a share of the blocks' tensors the values of a fresh initialisation."""

    def plant(case: Case, rng: np.random.Generator) -> Case | None:
        names = [*block_tensors(case.model)]
        chosen = rng.choice(names, round(rng.uniform(*share) * len(names)), replace=False).tolist()
        seed = int(rng.integers(1000))
        fresh = dict(_initialised(case, seed).named_parameters())

        def change(module: nn.Module) -> bool:
            for name, parameter in module.named_parameters():
                if name in chosen:
                    parameter.copy_(fresh[name])
            return True

        return _with(case, change)

    return plant


def _initialised(case: Case, seed: int) -> nn.Module:
    """Return the module with new weights, as the model's library draws them, or each layer of a wrapped one."""
    try:
        return vx.load_model(case.model.name, weights="random", seed=seed).module
    except UnknownNameError:
        module = copy.deepcopy(case.model.module)
        with seeded(seed):
            for part in module.modules():
                if hasattr(part, "reset_parameters"):
                    part.reset_parameters()
        return module


def _fresh_classifier(case: Case, rng: np.random.Generator) -> Case | None:
    def change(module: nn.Module) -> bool:
        head = [part for part in module.modules() if isinstance(part, nn.Linear)][-1]
        draw = torch.Generator().manual_seed(int(rng.integers(1000)))
        head.weight.normal_(0, 0.02, generator=draw)
        head.bias.zero_()
        return head.out_features == case.model.num_classes

    return _with(case, change)


def _positions(change: Callable[[Tensor, int, int, np.random.Generator], Tensor]) -> Fault:
    """Change the rows of the patches in the table of positions, (patches, dim)."""

    def plant(case: Case, rng: np.random.Generator) -> Case | None:
        table = position_table(case.model)
        if table is None:
            return None
        name, values, (rows, cols) = table
        count = rows * cols
        patches = change(values[0, -count:], rows, cols, rng)

        def put(module: nn.Module) -> bool:
            dict(module.named_parameters())[name][0, -count:] = patches
            return True

        return _with(case, put)

    return plant


def _transposed(patches: Tensor, rows: int, cols: int, rng: np.random.Generator) -> Tensor:
    return patches[torch.arange(rows * cols).reshape(rows, cols).T.flatten()]


def _shuffled(patches: Tensor, rows: int, cols: int, rng: np.random.Generator) -> Tensor:
    return patches[torch.from_numpy(rng.permutation(rows * cols))]


def _partly_shuffled(patches: Tensor, rows: int, cols: int, rng: np.random.Generator) -> Tensor:
    """Shuffle half of the places among themselves."""
    chosen = np.sort(rng.choice(rows * cols, rows * cols // 2, replace=False))
    changed = patches.clone()
    changed[chosen] = patches[rng.permutation(chosen)]
    return changed


def _as_sequence(patches: Tensor, rows: int, cols: int, rng: np.random.Generator) -> Tensor:
    """Resample a grid of other sides as if it were a sequence: what a table looks like after such a conversion."""
    side = int(rng.choice([7, 14, 16]))
    grid = functional.interpolate(patches.T.reshape(1, -1, rows, cols), (side, side), mode="bicubic", antialias=True)
    sequence = functional.interpolate(grid.flatten(2), rows * cols, mode="linear", align_corners=False)
    return sequence[0].T


def _moved(case: Case, rng: np.random.Generator) -> Case | None:
    """Move the table of positions by a place, so that the class token's lies among those of the patches."""

    def change(module: nn.Module) -> bool:
        name, values, (rows, cols) = table
        dict(module.named_parameters())[name].copy_(values.roll(1, 1))
        return values.shape[1] > rows * cols

    table = position_table(case.model)
    return None if table is None else _with(case, change)


def _without_class_token(case: Case, rng: np.random.Generator) -> Case | None:
    """Take the class token out of a copy, so that the classifier reads the first patch."""
    module = copy.deepcopy(case.model.module)
    if not isinstance(module, VisionTransformer) or module.num_prefix_tokens != 1:
        return None
    module.cls_token, module.num_prefix_tokens = None, 0
    module.pos_embed = nn.Parameter(module.pos_embed[:, 1:].detach())
    own = case.model.preprocessing
    wrapped = vx.wrap(module, mean=own.mean, std=own.std, labels=list(case.model.class_names))
    return replace(case, model=wrapped)


def _double_heads(case: Case, rng: np.random.Generator) -> Case | None:
    """Read the queries, keys and values as those of twice as many heads."""

    def change(module: nn.Module) -> bool:
        parts = [part.module for part in attentions(module) if hasattr(part.module, "head_dim")]
        for part in parts:
            part.num_heads, part.head_dim = 2 * part.num_heads, part.head_dim // 2
            part.scale = part.head_dim**-0.5
        return bool(parts) and not hasattr(parts[0], "relative_position_bias_table")

    return _with(case, change)


def _blind(case: Case, rng: np.random.Generator) -> Case | None:
    """Silence the patch embedding: every picture becomes its bias."""

    def change(module: nn.Module) -> bool:
        first = next((part for part in module.modules() if isinstance(part, nn.Conv2d)), None)
        if first is not None:
            first.weight.zero_()
        return first is not None

    return _with(case, change)


def _misordered(case: Case, rng: np.random.Generator) -> Case | None:
    def change(module: nn.Module) -> bool:
        parts = [part for part in attentions(module) if part.is_joined]
        parameters = dict(module.named_parameters())
        for part in parts:
            for name in part.names:
                parameters[name].copy_(torch.cat([*parameters[name].chunk(3)][::-1]))
        return bool(parts)

    return _with(case, change)


def _unscaled(case: Case, rng: np.random.Generator) -> Case | None:
    """Multiply the queries by what the scores should be divided by: fused attention takes no other scale."""

    def change(module: nn.Module) -> bool:
        parts = [part for part in attentions(module) if part.is_joined]
        parameters = dict(module.named_parameters())
        for part in parts:
            for name in part.names:
                queries = parameters[name].chunk(3)[0]
                queries.mul_((len(queries) / part.heads) ** 0.5)
        return bool(parts)

    return _with(case, change)


def _dead_head(case: Case, rng: np.random.Generator) -> Case | None:
    def change(module: nn.Module) -> bool:
        parts = [part for part in attentions(module) if isinstance(getattr(part.module, "proj", None), nn.Linear)]
        part = parts[int(rng.integers(len(parts)))]
        wide = part.module.proj.in_features // part.heads
        head = int(rng.integers(part.heads))
        part.module.proj.weight[:, head * wide : (head + 1) * wide] = 0
        return True

    return _with(case, change)


WEIGHTS: Mapping[str, tuple[Fault, ...]] = {
    "weights_not_loaded": (_fresh((1.0, 1.0)),),
    "half_loaded": (_fresh((0.1, 0.3)), _fresh((0.4, 0.7))),
    "head_not_loaded": (_fresh_classifier,),
    "positions_missing": (_positions(lambda patches, rows, cols, rng: patches[:1].expand(len(patches), -1)),),
    "positions_transposed": (_positions(_transposed),),
    "positions_shuffled": (_positions(_partly_shuffled), _positions(_shuffled)),
    "positions_badly_resampled": (_positions(_as_sequence),),
    "prefix_token_missing": (_without_class_token,),
    "prefix_tokens_among_patches": (_moved,),
    "heads_miscounted": (_double_heads,),
    "qkv_misordered": (_misordered,),
    "scale_missing": (_unscaled,),
    "dead_heads": (_dead_head,),
    "collapsed": (_blind,),
}
"""Ways to plant each cause, mild before gross"""
