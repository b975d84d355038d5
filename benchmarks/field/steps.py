"""Training steps of each method: ours, Hugging Face's peft if it has the method, and a plain loop.

A step is forward, backward and AdamW on the same batch with the same number of trained parameters (the table reports
`trained` for each way). No dropout, no stochastic depth, no clipping.

The plain loop is the code that a person would write: frozen parameters, a subclass or hook if needed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import vitexplorer as vx
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode
from vitexplorer.models.loading import LoadedModel

CLASSES, RANK, BOTTLENECK, PROMPTS = 10, 8, 64, 10
OURS, PEFT, LOOP = "ours", "peft", "a plain loop"


@dataclass(frozen=True)
class Training:
    """Network with a method attached, and its optimiser."""

    network: nn.Module
    optimiser: torch.optim.Optimizer
    images: Tensor

    @property
    def trained(self) -> int:
        """Number of trained parameters."""
        return sum(parameter.numel() for parameter in self.network.parameters() if parameter.requires_grad)

    def step(self) -> None:
        """Run forward, backward and AdamW."""
        labels = torch.arange(len(self.images), device=self.images.device) % CLASSES
        F.cross_entropy(self.network(self.images), labels).backward()
        self.optimiser.step()
        self.optimiser.zero_grad()


Maker = Callable[[LoadedModel, Tensor], Training]


def training(way: str, method: str, name: str, batch: int, device: str) -> Training:
    """Prepare one way with random weights and noise."""
    model = vx.load_model(name, weights="random", device=device)
    draw = torch.Generator().manual_seed(0)
    images = torch.randn(batch, 3, *model.preprocessing.input_size, generator=draw).to(device)
    return WAYS[method][way](model, images)


def _ready(network: nn.Module, images: Tensor) -> Training:
    network.to(images.device)
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return Training(network, torch.optim.AdamW(trained), images)


def _frozen(model: LoadedModel) -> nn.Module:
    """Copy the network with a new head, the only trainable part."""
    network = copy.deepcopy(model.module)
    network.reset_classifier(CLASSES)
    network.requires_grad_(False)
    network.head.requires_grad_(True)
    return network.train()


# ------------------------------------------------------------------------------------------------ ours


def ours(method: str, **settings: object) -> Maker:
    """Return a maker that prepares a method as our training loop does."""

    def make(model: LoadedModel, images: Tensor) -> Training:
        tuned = attach(model, method, CLASSES, **settings)
        train_mode(tuned, 0.0)
        return Training(tuned.module, torch.optim.AdamW(parameter_groups(tuned)), images)

    return make


# ------------------------------------------------------------------------------------------------ peft


def lora_by_peft(model: LoadedModel, images: Tensor) -> Training:
    """Attach peft's LoRA to the fused projection; keys are changed too, with one A for all three."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=RANK, lora_alpha=RANK, target_modules=["qkv"], modules_to_save=["head"])
    return _ready(get_peft_model(_frozen(model), config), images)


def norms_by_peft(model: LoadedModel, images: Tensor) -> Training:
    """Attach peft's tuning of layer norms."""
    from peft import LNTuningConfig, get_peft_model

    network = _frozen(model)
    norms = [name for name, part in network.named_modules() if isinstance(part, nn.LayerNorm)]
    return _ready(
        get_peft_model(
            network, LNTuningConfig(target_modules="|".join(map(re.escape, norms)), modules_to_save=["head"])
        ),
        images,
    )


# ------------------------------------------------------------------------------------------------ plain loops


class LowRankQueriesAndValues(nn.Module):
    """Fused projection with a low-rank change of its queries and values."""

    def __init__(self, qkv: nn.Linear):
        super().__init__()
        self.qkv, width = qkv, qkv.in_features
        self.down = nn.ModuleList(nn.Linear(width, RANK, bias=False) for _ in range(2))
        self.up = nn.ModuleList(nn.Linear(RANK, width, bias=False) for _ in range(2))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return queries, keys and values, (batch, tokens, 3 dim)."""
        query, key, value = self.qkv(tokens).chunk(3, dim=-1)
        query = query + self.up[0](self.down[0](tokens))
        value = value + self.up[1](self.down[1](tokens))
        return torch.cat([query, key, value], dim=-1)


def lora_by_loop(model: LoadedModel, images: Tensor) -> Training:
    network = _frozen(model)
    for block in network.blocks:
        block.attn.qkv = LowRankQueriesAndValues(block.attn.qkv)
    return _ready(network, images)


def linear_by_loop(model: LoadedModel, images: Tensor) -> Training:
    return _ready(_frozen(model), images)


def partial_by_loop(model: LoadedModel, images: Tensor) -> Training:
    network = _frozen(model)
    network.blocks[-1].requires_grad_(True)
    network.norm.requires_grad_(True)
    return _ready(network, images)


def norms_by_loop(model: LoadedModel, images: Tensor) -> Training:
    network = _frozen(model)
    for part in network.modules():
        if isinstance(part, nn.LayerNorm):
            part.requires_grad_(True)
    return _ready(network, images)


class WithAdapter(nn.Module):
    """MLP with an adapter: h + W_up GELU(W_down h) of its output h."""

    def __init__(self, mlp: nn.Module, width: int):
        super().__init__()
        self.mlp = mlp
        self.adapter = nn.Sequential(nn.Linear(width, BOTTLENECK), nn.GELU(), nn.Linear(BOTTLENECK, width))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens, (batch, tokens, dim)."""
        output = self.mlp(tokens)
        return output + self.adapter(output)


def adapter_by_loop(model: LoadedModel, images: Tensor) -> Training:
    network = _frozen(model)
    for block in network.blocks:
        block.mlp = WithAdapter(block.mlp, network.embed_dim)
    return _ready(network, images)


class DeepPrompts(nn.Module):
    """Network that inserts prompts before each block and removes them after it."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network
        self.prompts = nn.Parameter(0.02 * torch.randn(len(network.blocks), PROMPTS, network.embed_dim))

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        network, prefix = self.network, self.network.num_prefix_tokens
        tokens = network.norm_pre(network.patch_drop(network._pos_embed(network.patch_embed(images))))
        for block, prompts in zip(network.blocks, self.prompts, strict=True):
            own = prompts.expand(len(tokens), -1, -1)
            tokens = block(torch.cat([tokens[:, :prefix], own, tokens[:, prefix:]], dim=1))
            tokens = torch.cat([tokens[:, :prefix], tokens[:, prefix + PROMPTS :]], dim=1)
        return network.forward_head(network.norm(tokens))


def prompts_by_loop(model: LoadedModel, images: Tensor) -> Training:
    return _ready(DeepPrompts(_frozen(model)), images)


def full_by_loop(model: LoadedModel, images: Tensor) -> Training:
    return _ready(_frozen(model).requires_grad_(True), images)


WAYS: dict[str, dict[str, Maker]] = {
    "linear": {OURS: ours("linear"), LOOP: linear_by_loop},
    "partial_k": {OURS: ours("partial_k", k=1), LOOP: partial_by_loop},
    "norm": {OURS: ours("norm"), PEFT: norms_by_peft, LOOP: norms_by_loop},
    "lora": {OURS: ours("lora", r=RANK, alpha=RANK), PEFT: lora_by_peft, LOOP: lora_by_loop},
    "adapter": {OURS: ours("adapter", bottleneck=BOTTLENECK), LOOP: adapter_by_loop},
    "vpt_deep": {OURS: ours("vpt_deep", prompts=PROMPTS), LOOP: prompts_by_loop},
    "full": {OURS: ours("full"), LOOP: full_by_loop},
}
"""Method -> way -> its maker; ours first"""
