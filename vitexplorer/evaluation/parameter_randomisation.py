"""Does a map show anything that was learned? Cascading parameter randomisation, from the head down.

Adebayo et al. 2018 (arXiv 1810.03292, section 3.1): reset the classifier, then also the last block, and so on down to
the patch embedding. The score is the rank correlation (Spearman's, of signed values) between the map of the trained
network and the map of each randomised one, averaged over four evenly spread stages, from everything above the last
block to everything. 0 is good; 1 is a map that does not depend on the model, such as `random` and `oracle`.
The network itself is not changed: in a copy, layers are reset by their own `reset_parameters`, other parameters
(tokens, position embeddings, gains) by a seeded permutation of their values. All cases use the same copies.
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
"""Number of stages that are evaluated"""


def stages(model: LoadedModel) -> tuple[tuple[str, ...], ...]:
    """Return the parameters that each stage resets, in the order of the cascade: head, blocks downwards, embedding.

    Parameters between two blocks (Swin's merging) belong to the block before.
    """
    names = [name for name, _ in model.module.named_parameters()]
    sites = model.blocks(model.preprocessing.input_size)
    of_block = [[at for at, name in enumerate(names) if name.startswith(f"{site.name}.")] for site in sites]
    starts = [0, *(places[0] for places in of_block), of_block[-1][-1] + 1, len(names)]
    parts = [tuple(names[start:end]) for start, end in pairwise(starts)]
    return tuple(part for part in reversed(parts) if part)


def randomised(model: LoadedModel, names: frozenset[str], seed: int) -> LoadedModel:
    """Copy a model with the named parameters randomised."""
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
    """Return the randomised copies, from the head alone to everything."""
    parts = stages(model)
    counts = np.unique(np.rint(np.linspace(1, len(parts), STAGES)).astype(int))
    return tuple(randomised(model, frozenset(sum(parts[:count], ())), seed) for count in counts)


def parameter_randomisation(trial: Trial) -> float:
    """Compute the mean rank correlation of a map with the maps of the cascade's copies; NaN for a constant map.

    A copy with a constant map counts as 0.
    """
    values = trial.map.values.ravel()
    if np.ptp(values) == 0:
        return float("nan")
    copies = trial.once_for_all("cascade", lambda: cascade(trial.capture.model, SEED))
    correlations = []
    for at, changed in enumerate(copies):
        other: Capture = trial.once(
            ("randomised", at), lambda changed=changed: capture_input(changed, trial.capture.input)
        )
        correlations.append(spearman(values, trial.explain(other, trial.case.target).values.ravel()))
    return float(np.nan_to_num(correlations).mean())


PROTOCOL = Protocol(
    title=Text("Parameter randomisation", "参数随机化"),
    question=Text(
        "Does the map change when what the network learned is thrown away?", "丢弃网络学到的内容后，该图是否改变？"
    ),
    columns=(Column("randomisation", Text("random parameters", "参数随机化"), "low"),),
    measure=parameter_randomisation,
    data="scenes",
    paper=Paper("Adebayo et al. 2018", "https://arxiv.org/abs/1810.03292"),
    targets=40,
    targets_of_slow=3,
)
