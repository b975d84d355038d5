"""Does a map show anything that was learned? Parameters are drawn anew from the head down, and it has to change.

Adebayo et al. 2018 (arXiv 1810.03292, section 3.1), the cascading randomisation of the sanity checks: the classifier is
reset, then the last block too, and so on down to the embedding of patches. The rank correlation (Spearman's, of signed
values) between the map of the trained network and that of each randomised one, averaged over the stages that are tried:
0 is good, 1 is a map that does not need the model (`random` and `oracle` are such). Tried are four stages, evenly
spread: everything above the last block, ..., everything.
The network is never touched: a copy is reset, layers by their own `reset_parameters`, what has none (tokens, position
embeddings, gains) by a seeded reordering of its numbers. All cases see the same copies.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch

from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.protocol import Column, Protocol
from vitexplorer.evaluation.ranks import spearman
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.seeding import seeded

SEED = 0
STAGES = 4
"""how many of a network's stages are tried"""


def stages(model: LoadedModel) -> tuple[tuple[str, ...], ...]:
    """Names of the parameters that each stage resets, in the order of the cascade: head, blocks downwards, embedding.

    What lies after a block and before the next (Swin's merging) goes with the block.
    """
    names = [name for name, _ in model.module.named_parameters()]
    sites = model.blocks(model.preprocessing.input_size)
    of_block = [[at for at, name in enumerate(names) if name.startswith(f"{site.name}.")] for site in sites]
    starts = [0, *(places[0] for places in of_block), of_block[-1][-1] + 1, len(names)]
    parts = [tuple(names[start:end]) for start, end in pairwise(starts)]
    return tuple(part for part in reversed(parts) if part)


def randomised(model: LoadedModel, names: frozenset[str], seed: int) -> LoadedModel:
    """A copy of a model in which the named parameters are drawn anew."""
    module = copy.deepcopy(model.module)
    with seeded(seed), torch.no_grad():
        for prefix, layer in module.named_modules():
            own = {".".join(filter(None, (prefix, name))): p for name, p in layer.named_parameters(recurse=False)}
            chosen = [parameter for name, parameter in own.items() if name in names]
            is_whole = len(chosen) == len(own) and not any(layer.children())
            if is_whole and hasattr(layer, "reset_parameters"):
                layer.reset_parameters()
            else:
                for parameter in chosen:
                    parameter.copy_(parameter.flatten()[torch.randperm(parameter.numel())].reshape(parameter.shape))
    return replace(model, module=module)


def cascade(model: LoadedModel, seed: int) -> tuple[LoadedModel, ...]:
    """The randomised copies, from the head alone to everything."""
    found = stages(model)
    tried = np.unique(np.rint(np.linspace(1, len(found), STAGES)).astype(int))
    return tuple(randomised(model, frozenset(sum(found[:count], ())), seed) for count in tried)


def parameter_randomisation(trial: Trial, copies: tuple[LoadedModel, ...]) -> float:
    """Mean rank correlation of a map with those of the copies; NaN for a map that is everywhere the same.

    A copy whose map is everywhere the same keeps nothing of the order: 0.
    """
    values = trial.map.values.ravel()
    if np.ptp(values) == 0:
        return float("nan")
    found = []
    for at, changed in enumerate(copies):
        other: Capture = trial.once(
            ("randomised", at), lambda changed=changed: capture_input(changed, trial.capture.input)
        )
        found.append(spearman(values, trial.explain(other, trial.case.target).values.ravel()))
    return float(np.nan_to_num(found).mean())


PROTOCOL = Protocol(
    title=Text("Parameter randomisation", "参数随机化"),
    question=Text(
        "Does the map change when what the network learned is thrown away?", "丢弃网络学到的内容后，该图是否改变？"
    ),
    columns=(Column("randomisation", Text("random parameters", "参数随机化"), "low"),),
    measure=lambda trial: np.array(
        [parameter_randomisation(trial, trial.once_for_all("cascade", lambda: cascade(trial.capture.model, SEED)))]
    ),
    data="scenes",
    paper=Paper("Adebayo et al. 2018", "https://arxiv.org/abs/1810.03292"),
    suits=lambda case: True,
    targets=40,
    targets_of_slow=3,
)
