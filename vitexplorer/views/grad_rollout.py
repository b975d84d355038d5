"""From which patches did the model gather evidence for a class? Rollout of attention weighted by its gradient.

E_l = mean over heads of relu(dL/dA_l * A_l), A_l after softmax, L the logit of the class, gradient and attention of
the same block; then as attention rollout (Abnar & Zuidema 2020, arXiv 2005.00928): the row of the product of
rownorm(0.5 E_l + 0.5 I) over all blocks. The weighting is the one of Chefer et al. 2021 (arXiv 2012.09838, equation
13, with attention in place of their relevance). The view is named after jacobgil/vit-explain, which pairs the gradients
of one block with the attention of another; this view does not.

A row of patches (a patch's similarity, the mean of models that pool their patches) leaves out what residual connections
alone keep on each patch, the product of its own shares 0.5 / row sum: it would outshine all others.
With `sign` "both" E keeps its negative entries and a row is divided by the sum of its magnitudes (our own choice). With
`backward` "libra" the gradients are LibraGrad's (`quantities.backward_rules`).
For Swin this is our own approximation, as in attention rollout.
Misleading: where the gradients are small, E is small beside the identity, and the row says little but "stay".
"""

from __future__ import annotations

import torch

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.format import percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.shares import SWIN_NOTE
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.backward_rules import BACKWARD_PASS
from vitexplorer.quantities.both_signs import SIGN, reading
from vitexplorer.quantities.gradients import weighed_blocks
from vitexplorer.quantities.rollout import push_stayed, push_through
from vitexplorer.quantities.targets import class_map, read_query, read_shares, row_text
from vitexplorer.views.record import View

STAYED = Text(
    "The share that stays on the patch through residual connections alone is left out: {share}.",
    "仅经残差连接留在该图块上的部分（{share}）未计入。",
)
ALL_STAYED = Text(
    "The share that stays on the patches through residual connections alone is left out: {share}.",
    "仅经残差连接留在各图块上的部分（共 {share}）未计入。",
)


def compute(capture: Capture, target: Target, sign: str, backward: str) -> MapResult:
    """Compute the row of the token that the classifier reads, on the patches, (rows, cols), not rescaled."""
    pieces_of = weighed_blocks(capture, target, sign, backward)
    query = read_query(capture, target)
    num_prefix = len(capture.prefix_tokens)
    start_shares = read_shares(capture, target)[None]
    row = push_through(capture, start_shares, pieces_of)[0]
    stayed = torch.zeros(())
    if query != "cls":
        stayed = push_through(capture, start_shares, pieces_of, push=push_stayed)[0]
    is_share = capture.site(0).windows is not None and sign == "positive"
    padding_mass = max(0.0, 1 - float(row.sum())) if is_share else 0.0
    row = row - stayed
    stays = ALL_STAYED if query == "mean" else STAYED
    return class_map(
        capture,
        target,
        values=row[num_prefix:],
        grid=capture.grid(0),
        unit=Text("share of the row's rollout", "占该行展开结果的份额"),
        formula=f"∏ rownorm(½ E + ½ I), E = meanₕ {'relu' if sign == 'positive' else ''}(∇A · A)",
        notes=present(
            row_text(capture, target),
            stays.format(share=percent(float(stayed.sum()))) if query != "cls" else None,
            SWIN_NOTE if capture.site(0).windows else None,
        ),
        query=query,
        prefix_names=capture.prefix_tokens,
        prefix_weights=row[:num_prefix].cpu().numpy(),
        padding_mass=padding_mass,
        identity_mass=float(stayed.sum()),
    )


VIEW = View(
    title=Text("Gradient rollout", "梯度加权的注意力展开"),
    question=Text(
        "From which patches did the model gather its evidence for this answer?",
        "支持这个答案的信息是从哪些图块汇集来的？",
    ),
    misleads=Text(
        "Values, MLPs and all evidence against the answer are left out.", "忽略了值向量、MLP 以及一切反对该答案的信息。"
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reading=reading,
    runs="once",
    goes_back=True,
    controls=(AnyTargetControl(), SIGN, BACKWARD_PASS, SharpenControl()),
    paper=Paper("Abnar & Zuidema 2020", "https://arxiv.org/abs/2005.00928"),
)
