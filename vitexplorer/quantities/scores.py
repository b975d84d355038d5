"""The score of a target: the one number that is differentiated. Only this file turns a target into a score.

A class: its logit. One class rather than another: the difference of their logits. `Alike`: cos(z, r), z the pooled
feature that the classifier reads and r the reference (DINO's and CLIP's similarity of images; relevance maps of such a
similarity: Chefer et al. 2021, arXiv 2103.15679, section 4). `PatchAlike`: cos(z_i, r), z_i = norm(x_i) the patch's
token after the last block, read through the final norm as the pooled one is (cosines of a ViT's tokens as dense
descriptors: Amir et al. 2021, arXiv 2112.05814), r this image's pooled feature or another patch's token. r is a
constant, so only one side is explained and the map belongs to one token. `Region`: the same for the mean of the z_i of
several patches, as masked average pooling reads a region (Zhang et al. 2018, arXiv 1810.09091); r is the image's pooled
feature. A region of one patch is that patch. `LikeText`: cos(f, t), f the image's feature in the joint space of images
and texts, t a text's vector (Radford et al. 2021, arXiv 2103.00020).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import AttentionTap, Capture
from vitexplorer.controls.explained import Alike, LikeText, PatchAlike, RatherThan, Region, Similarity, Target
from vitexplorer.quantities.texts.joint_space import patch_part, project


def scores(
    capture: Capture, target: Target, output: Float[Tensor, "batch ..."], last: Tensor | None
) -> Float[Tensor, " batch"]:
    """Compute the score of each image.

    Args:
        capture: capture of the explained image, which fixes the reference of a similarity.
        target: target to score.
        output: output of the network.
        last: residual stream after the last block, in the module's layout; not read for classes.
    """
    if isinstance(target, Similarity):
        tokens = last.flatten(1, -2)
        family, module = capture.model.family, capture.model.module
        if isinstance(target, LikeText) and capture.model.projects:
            features = output
        elif isinstance(target, Alike | LikeText):
            features = family.embedding(module, tokens)
        else:
            features = family.final_norm(module, tokens)[:, tokens_of(capture, target)].mean(1)
        return F.cosine_similarity(features, reference(capture, target)[None], dim=-1)
    return of_logits(output, target)


def of_logits(logits: Float[Tensor, "*shape classes"], target: int | RatherThan) -> Float[Tensor, "*shape"]:
    """Return the logit of a class, or its difference from another class's."""
    if isinstance(target, RatherThan):
        return logits[..., target.index] - logits[..., target.other]
    return logits[..., target]


def run_scores(
    capture: Capture, target: Target, images: Float[Tensor, "batch channels height width"]
) -> Float[Tensor, " batch"]:
    """Run the network on images and compute their scores."""
    if not isinstance(target, Similarity):
        return of_logits(capture.run(images), target)
    tap = AttentionTap(capture.model.block_of_parameter, sites=capture.sites)
    with tap:
        output = capture.run(images)
    return scores(capture, target, output, tap.made[capture.depth - 1])


def score_of_block(capture: Capture, target: Target, tokens: Float[Tensor, "tokens dim"]) -> Float[Tensor, ""]:
    """Compute the score of a block's output tokens, read as if it were the last: their mean, or that of the patches."""
    family, module = capture.model.family, capture.model.module
    if isinstance(target, int | RatherThan):
        return of_logits(family.read_each(module, tokens.mean(0)[None, None])[0, 0], target)
    if not isinstance(target, Alike | LikeText):
        feature = family.final_norm(module, tokens[None, tokens_of(capture, target)])[0].mean(0)
        return F.cosine_similarity(feature, reference(capture, target), dim=0)
    mean = tokens.mean(0)[None]
    feature = project(capture, mean) if isinstance(target, LikeText) else family.final_norm(module, mean[None])[0]
    return F.cosine_similarity(feature[0], patch_part(capture, reference(capture, target)), dim=0)


@torch.no_grad()
def score_of(capture: Capture, target: Target) -> Float[Tensor, ""]:
    """Compute the score of the image itself."""
    return scores(capture, target, capture.output, capture.made[capture.depth - 1])[0]


def tokens_of(capture: Capture, target: PatchAlike | Region) -> list[int]:
    """Return the sequence indices of the explained patches of the last block's grid."""
    patches = target.patches if isinstance(target, Region) else (target.patch,)
    return [capture.token(patch, capture.depth - 1) for patch in patches]


@torch.no_grad()
def reference(capture: Capture, target: Similarity) -> Float[Tensor, " dim"]:
    """Return the reference of a similarity: given numbers, this image's pooled feature, or the other patch's token.

    Of a dino.txt's feature patches are compared with the half that belongs to them.
    """
    device = capture.input.tensor.device
    if isinstance(target, Alike):
        return torch.from_numpy(target.embedding).to(device)
    if isinstance(target, LikeText):
        return torch.from_numpy(target.described.vector).to(device)
    if isinstance(target, Region) or target.other is None:
        return patch_part(capture, capture.embedding)
    return capture.patch_embedding(target.other)
