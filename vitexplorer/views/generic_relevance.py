"""Which patches support a class, by attention and its gradient together? Chefer's relevance, block after block.

Chefer et al. 2021 (arXiv 2103.15679, equations 5 and 6): R = I, then R <- R + E_l R over all blocks, where
E_l = mean over heads of relu(dL/dA_l * A_l) and A_l is the attention after softmax. The map is the row of the token
that the classifier reads: the class token's, or the mean over the patches' rows if the model pools its patches. Only
this row is computed, pushed down through the blocks. For patches the row is taken from R - I: the identity gives 1 to
the patch itself (similarity), or 1 / patches to each (mean), before any block, and would outshine all other numbers.
With `sign` "both" E is the mean of dL/dA * A without relu, so the row also holds evidence against the answer. With
`backward` "libra" the gradients are LibraGrad's (`quantities.backward_rules`).
Misleading: what counts against the answer is cut off, and values and MLPs count only through the gradient.
"""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import PatchAlike, Region, Target
from vitexplorer.core.capture_protocol import merges_tokens, refuse_if
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.backward_rules import BACKWARD_PASS
from vitexplorer.quantities.both_signs import SIGN, reading
from vitexplorer.quantities.gradients import weighed_blocks
from vitexplorer.quantities.rollout import push_added, push_through
from vitexplorer.quantities.targets import class_map, read_query, read_shares, row_text
from vitexplorer.views.record import View

OWN_PART = Text(
    "The 1 that the identity matrix gives the patch itself is left out.", "该图块从单位矩阵得到的 1 未计入。"
)
EVEN_PART = Text(
    "The 1/{patches} that the identity matrix gives every patch, 1 in total, is left out; the map adds up to {sum}.",
    "每个图块从单位矩阵得到相同的 1/{patches}（合计 1），未计入；此图合计 {sum}。",
)


def compute(capture: Capture, target: Target, sign: str, backward: str) -> MapResult:
    """Compute the row of R of the token that the classifier reads, on the patches, (rows, cols), not rescaled."""
    pieces_of = weighed_blocks(capture, target, sign, backward)
    query, grid = read_query(capture, target), capture.grid(0)
    start_shares = read_shares(capture, target)
    row = push_through(capture, start_shares[None], pieces_of, push=push_added)[0]
    if query != "cls":
        row = row - start_shares
    on_patches = row[grid.num_prefix_tokens :]
    even_part = EVEN_PART.format(patches=grid.num_patches, sum=measured(float(on_patches.sum())))
    return class_map(
        capture,
        target,
        values=on_patches,
        grid=grid,
        unit=Text("relevance", "相关性"),
        formula="R ← R + meanₕ relu(∇A · A) R" if sign == "positive" else "R ← R + meanₕ(∇A · A) R",
        notes=present(
            row_text(capture, target),
            even_part if query == "mean" else None,
            OWN_PART if isinstance(target, PatchAlike | Region) else None,
        ),
        query=query,
        identity_mass=0.0 if query == "cls" else 1.0,
    )


VIEW = View(
    title=Text("Generic relevance", "通用相关性"),
    question=Text("Which patches support this answer?", "哪些图块支持这个答案？"),
    misleads=Text(
        "Only evidence for the answer is kept. Values and MLPs count only through the gradient.",
        "只保留支持该答案的部分；值向量和 MLP 仅通过梯度起作用。",
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reading=reading,
    runs="once",
    goes_back=True,
    controls=(AnyTargetControl(), SIGN, BACKWARD_PASS, SharpenControl()),
    paper=Paper("Chefer et al. 2021", "https://arxiv.org/abs/2103.15679"),
    refuses=refuse_if(
        merges_tokens,
        Text(
            "Generic relevance follows one sequence of tokens through all blocks, and {model} merges its tokens "
            "between stages. Use Grad-CAM.",
            "通用相关性要求同一个标记序列贯穿所有块，而 {model} 在阶段之间会合并标记。请改用 Grad-CAM。",
        ),
    ),
)
