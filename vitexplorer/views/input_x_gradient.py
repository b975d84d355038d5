"""How much does each patch's colour count, to first order? The input times the gradient, summed over each patch.

Shrikumar et al. 2016 (arXiv 1605.01713): x * dL/dx, x the normalised input, summed over the channels and pixels of a
patch. This is minus the first-order change of the logit when the patch turns into the mean colour: that colour is zero
after normalisation, a baseline that nobody chose. With `backward` "libra" the gradient is LibraGrad's; it adds up to
the logit together with the contributions of biases and non-patch tokens (`quantities.backward_rules`).
Misleading: networks saturate, and the slope at the image says nothing of the way from the baseline to it.
"""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.backward_rules import BACKWARD_PASS
from vitexplorer.quantities.gradients import gradients
from vitexplorer.quantities.perturbation import baseline_text, patch_sums
from vitexplorer.quantities.targets import class_map, for_and_against
from vitexplorer.views.record import View


def compute(capture: Capture, target: Target, backward: str) -> MapResult:
    """Compute x * dL/dx summed over each patch, (rows, cols), signed, not rescaled."""
    grid = capture.grid(0)
    product = capture.input.tensor * gradients(capture, target, backward).input
    return class_map(
        capture,
        target,
        values=patch_sums(product[0].sum(0), grid),
        grid=grid,
        formula=Text("∑ x · ∂L/∂x over the patch", "在图块上求和 ∑ x · ∂L/∂x"),
        notes=(
            Text("The baseline is implied: {baseline}.", "隐含的基线：{baseline}。").format(
                baseline=baseline_text(capture, "mean")
            ),
        ),
    )


VIEW = View(
    title=Text("Input × gradient", "输入 × 梯度"),
    question=Text(
        "How much does the colour of each patch contribute, to first order?", "按一阶近似，每个图块的颜色贡献多少？"
    ),
    misleads=Text(
        "It is only the slope at this image: where the model is sure, slopes are small and noisy.",
        "它只是这幅图像处的斜率：模型很确定时，斜率很小，而且噪声很大。",
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reads=("stream",),
    reading=for_and_against,
    runs="once",
    goes_back=True,
    controls=(AnyTargetControl(), BACKWARD_PASS, SharpenControl()),
    paper=Paper("Shrikumar et al. 2016", "https://arxiv.org/abs/1605.01713"),
)
