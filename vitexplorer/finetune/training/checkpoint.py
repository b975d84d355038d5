"""Everything that a killed run needs to go on as if nothing had happened, in one file that is replaced as a whole.

safetensors, not pickle: a run folder that came from somebody else cannot run code. Tensors: what is trained, running
statistics, the optimiser's averages, the generators' states. In the file's header as JSON: how far the run is and what
it found so far.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from vitexplorer.finetune.job.safe_writes import replace_file
from vitexplorer.finetune.trained_parts import learned


@torch.no_grad()
def put_back(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Copy tensors of `learned` into the module. Raises KeyError where the module has no such tensor."""
    own = learned(module)
    for name, tensor in state.items():
        own[name].copy_(tensor)


def save_checkpoint(path: Path, module: nn.Module, optimiser: Optimizer, state: Mapping[str, Any]) -> None:
    """Replace the checkpoint; `state` is anything JSON holds. Raises DiskFullError and leaves the old one."""
    tensors = {f"model/{name}": tensor.detach() for name, tensor in learned(module).items()}
    for index, averages in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser/{index}/{name}": torch.as_tensor(value) for name, value in averages.items()}
    tensors["generator/cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["generator/cuda"] = torch.cuda.get_rng_state()
    tensors = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
    replace_file(path, lambda beside: save_file(tensors, beside, {"progress": json.dumps(state)}))


def load_checkpoint(path: Path, module: nn.Module, optimiser: Optimizer) -> dict[str, Any]:
    """Put everything back into module, optimiser and generators; returns `state`."""
    with safe_open(path, "pt") as file:
        state = json.loads(file.metadata()["progress"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    put_back(module, _below(tensors, "model/"))
    averages: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _below(tensors, "optimiser/").items():
        index, _, entry = name.partition("/")
        averages.setdefault(int(index), {})[entry] = tensor
    optimiser.load_state_dict({"state": averages, "param_groups": optimiser.state_dict()["param_groups"]})
    torch.set_rng_state(tensors["generator/cpu"])
    if "generator/cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["generator/cuda"])
    return state


def _below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
