"""Which patches hold the features that a class asks for? Grad-CAM on the tokens of one block.

Selvaraju et al. 2017 (arXiv 1610.02391) for tokens. Activations and gradients are taken at the output of the block's
first norm (`norm1`). A channel's weight is its gradient averaged over the patches; a patch gets
relu(sum over channels of weight * activation). The block's own output would not do: after the last attention the
patches no longer reach the class token, and a map made there is zero.

With `sign` "both" there is no relu; with `backward` "libra" gradients are LibraGrad's (`quantities.backward_rules`).
In Swin an earlier stage has a finer grid: choose one of its blocks.
Misleading: one weight per channel serves all patches, and the relu cuts off what counts against the answer.
A map can be exactly zero, also in the last block of models that put the norm after attention; an earlier block then
still gives a map.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, BlockControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import OUTPUT, MapResult
from vitexplorer.quantities.backward_rules import BACKWARD_PASS
from vitexplorer.quantities.both_signs import SIGN, apply_sign, reading
from vitexplorer.quantities.gradients import at_norm
from vitexplorer.quantities.targets import COSINE, LOGIT, class_map, unit_of
from vitexplorer.views.record import View

WEIGHED = {
    LOGIT: Text("logit, as the gradient weighs it", "按梯度加权的 logit"),
    OUTPUT: Text("output, as the gradient weighs it", "按梯度加权的输出值"),
    COSINE: Text("cosine, as the gradient weighs it", "按梯度加权的余弦"),
}


def grad_cam(
    activations: Float[Tensor, "patches dim"], gradients: Float[Tensor, "patches dim"], sign: str = "positive"
) -> Float[Tensor, " patches"]:
    """Compute relu(sum_c mean_patches(gradient_c) activation_c), or the sum itself."""
    return apply_sign(activations @ gradients.mean(0), sign)


def compute(capture: Capture, target: Target, block: int, sign: str, backward: str) -> MapResult:
    """Compute Grad-CAM at the first norm of a block, (rows, cols), after relu unless `sign` is "both", not rescaled."""
    norm_output = at_norm(capture, block, target, backward)
    grid, site = capture.grid(block), capture.site(block)
    if norm_output is None:
        raise UnsupportedError(
            Text("{module} has no norm to take Grad-CAM at.", "{module} 没有可供 Grad-CAM 使用的归一化层。").format(
                module=site.name
            )
        )
    activations, gradients = (part[0].flatten(0, -2)[grid.num_prefix_tokens :] for part in norm_output)
    return class_map(
        capture,
        target,
        values=grad_cam(activations, gradients, sign),
        grid=grid,
        unit=WEIGHED[unit_of(capture, target)],
        formula=f"{'relu' if sign == 'positive' else ''}(∑c mean(∇xc) xc), x = norm1",
    )


VIEW = View(
    title=Text("Grad-CAM", "Grad-CAM"),
    question=Text("Which patches contain the features of this answer?", "哪些图块含有这个答案所需的特征？"),
    misleads=Text(
        "Designed for convolutions: it uses one weight per channel for all patches and drops all evidence against "
        "the answer.",
        "原为卷积网络设计：每个通道对所有图块只用一个权重，并舍去一切反对该答案的部分。",
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reads=("stream",),
    reading=reading,
    runs="once",
    goes_back=True,
    controls=(AnyTargetControl(), BlockControl(), SIGN, BACKWARD_PASS, SharpenControl(block="block")),
    paper=Paper("Selvaraju et al. 2017", "https://arxiv.org/abs/1610.02391"),
)
