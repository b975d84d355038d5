"""Faults that the bed of check-ups plants: in pictures as fed, in labels, in weights and in the data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

import vitexplorer as vx
from vitexplorer.core.settings import ASSETS
from vitexplorer.diagnosis.alternatives import attentions, position_table
from vitexplorer.diagnosis.loading import block_tensors
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise


@dataclass(frozen=True)
class Case:
    """Arguments of a check-up, and what a repair should reach."""

    model: LoadedModel
    pictures: tuple[np.ndarray, ...]
    labels: tuple[int, ...]
    fed: Tensor | None = None
    """Pictures as fed; None for the model's own way from `pictures`"""

    @property
    def data(self) -> Tensor | list[np.ndarray]:
        """Argument `data` of the check-up."""
        return list(self.pictures) if self.fed is None else self.fed


PHOTOGRAPHS = ("astronaut", "chelsea", "coffee")
Fault = Callable[[Case, np.random.Generator], Case | None]
"""Plants a fault; None where a model has no place for it"""


def fed_right(case: Case) -> Tensor:
    """Return the pictures as the model wants them; they have its input size."""
    own = case.model.preprocessing
    return torch.cat([normalise(picture, own.mean, own.std) for picture in case.pictures])


# ----------------------------------------------------------------------------------------------- pictures


def _turned(change: Callable[[Tensor], Tensor]) -> Fault:
    return lambda case, rng: replace(case, fed=change(fed_right(case)).contiguous())


def _scaled(mean: float, std: float) -> Fault:
    """Normalise pixels, 0-1, by another mean and standard deviation."""

    def plant(case: Case, rng: np.random.Generator) -> Case:
        return replace(case, fed=torch.cat([normalise(picture, (mean,) * 3, (std,) * 3) for picture in case.pictures]))

    return plant


def _channels_last(batch: Tensor) -> Tensor:
    return batch.permute(0, 2, 3, 1).reshape(batch.shape)


# ----------------------------------------------------------------------------------------------- labels


def _permuted(case: Case, rng: np.random.Generator) -> Case:
    order = rng.permutation(case.model.num_classes)
    return replace(case, labels=tuple(int(order[label]) for label in case.labels))


def _shifted(case: Case, rng: np.random.Generator) -> Case:
    by = int(rng.choice([-1, 1]))
    return replace(case, labels=tuple(label + by for label in case.labels))


def _sorted_as_text(case: Case, rng: np.random.Generator) -> Case:
    as_text = sorted(range(case.model.num_classes), key=str)
    return replace(case, labels=tuple(as_text.index(label) for label in case.labels))


# ----------------------------------------------------------------------------------------------- weights


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
        fresh = dict(vx.load_model(case.model.name, weights="random", seed=seed).module.named_parameters())

        def change(module: nn.Module) -> bool:
            for name, parameter in module.named_parameters():
                if name in chosen:
                    parameter.copy_(fresh[name])
            return True

        return _with(case, change)

    return plant


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


# ----------------------------------------------------------------------------------------------- data


def _copied(case: Case, rng: np.random.Generator) -> Case:
    again = rng.choice(len(case.pictures), max(3, len(case.pictures) // 10), replace=False)
    pictures = (*case.pictures, *(case.pictures[at] for at in again))
    return replace(case, pictures=pictures, labels=(*case.labels, *(case.labels[at] for at in again)))


def _imbalanced(case: Case, rng: np.random.Generator) -> Case:
    """Keep one picture of each class but the commonest, whose pictures are moved to have more of them."""
    common = max(set(case.labels), key=case.labels.count)
    first = {label: case.labels.index(label) for label in set(case.labels) - {common}}
    rows = [at for at, label in enumerate(case.labels) if label == common or first[label] == at]
    own = [case.pictures[at] for at in rows if case.labels[at] == common]
    more = [np.roll(picture, (41 * times, 67 * times), (0, 1)) for picture in own for times in (1, 2, 3)]
    pictures = (*(case.pictures[at] for at in rows), *more)
    return replace(case, pictures=pictures, labels=(*(case.labels[at] for at in rows), *[common] * len(more)))


def _photographed(case: Case, rng: np.random.Generator) -> Case | None:
    """Put parts of photographs in place of the drawn pictures, under the same labels."""
    if case.model.provenance.weights != "bundled":
        return None
    photographs = [np.asarray(Image.open(ASSETS / "examples" / f"{name}.png").convert("RGB")) for name in PHOTOGRAPHS]
    parts = []
    for at, picture in enumerate(case.pictures):
        photograph, side = photographs[at % len(photographs)], picture.shape[0]
        top, left = (int(rng.integers(0, length - side)) for length in photograph.shape[:2])
        parts.append(photograph[top : top + side, left : left + side])
    return replace(case, pictures=tuple(parts))


FAULTS: Mapping[str, tuple[Fault, ...]] = {
    "wrong_normalisation": (_scaled(0.0, 1.0), _scaled(0.9, 0.1)),
    "not_scaled": (_scaled(0.0, 1 / 255),),
    "scaled_twice": (_scaled(0.0, 255.0),),
    "axes_swapped": (_turned(_channels_last), _turned(lambda batch: batch.transpose(2, 3))),
    "rotated": (_turned(lambda batch: batch.rot90(1, (2, 3))), _turned(lambda batch: batch.rot90(3, (2, 3)))),
    "flipped": (_turned(lambda batch: batch.flip(2)),),
    "labels_permuted": (_permuted,),
    "labels_shifted": (_shifted,),
    "labels_sorted_as_text": (_sorted_as_text,),
    "weights_not_loaded": (_fresh((1.0, 1.0)),),
    "half_loaded": (_fresh((0.1, 0.3)), _fresh((0.4, 0.7))),
    "head_not_loaded": (_fresh_classifier,),
    "positions_missing": (_positions(lambda patches, rows, cols, rng: patches[:1].expand(len(patches), -1)),),
    "positions_transposed": (_positions(_transposed),),
    "positions_shuffled": (_positions(_shuffled),),
    "qkv_misordered": (_misordered,),
    "scale_missing": (_unscaled,),
    "dead_heads": (_dead_head,),
    "duplicates": (_copied,),
    "imbalanced": (_imbalanced,),
    "unlike_training_data": (_photographed,),
}
"""Ways to plant each cause, mild before gross"""
