"""Training objective: the loss, and the meaning of the network's outputs.

classes   cross-entropy of softmax(outputs), with class weights and label smoothing
mse       squared error of the standardised number: outputs (z) stand for mean + std z
bce       cross-entropy of sigmoid(output) with the number scaled to 0-1 by its bounds; predictions stay within them
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.text import SettingError, Text
from vitexplorer.finetune.job.plan import Plan
from vitexplorer.storage.dataset import Task


@dataclass(frozen=True)
class Objective:
    """Loss, meaning of the outputs, and class weights."""

    task: Task
    loss: str
    """Loss: cross_entropy, mse or bce"""
    classes: int
    """Number of outputs of the network; 1 for a regression"""
    low: float = 0.0
    """Offset: a predicted number is low + scale * (output, or its sigmoid)"""
    scale: float = 1.0
    class_weights: tuple[float, ...] = ()
    label_smoothing: float = 0.0

    def losses(self, outputs: Float[Tensor, "batch classes"], targets: Tensor) -> Float[Tensor, " batch"]:
        """Compute the unweighted loss of each image, always in float32."""
        outputs = outputs.float()
        if self.task == "classification":
            return F.cross_entropy(outputs, targets, reduction="none", label_smoothing=self.label_smoothing)
        standardised = (targets.float() - self.low) / self.scale
        if self.loss == "bce":
            return F.binary_cross_entropy_with_logits(outputs[:, 0], standardised.clamp(0, 1), reduction="none")
        return F.mse_loss(outputs[:, 0], standardised, reduction="none")

    def weights(self, targets: np.ndarray) -> np.ndarray:
        """Return the weight of each image in the loss, (images,)."""
        return np.asarray(self.class_weights)[targets] if self.class_weights else np.ones(len(targets))

    def weighted_loss(
        self, network: nn.Module, precision: str, inputs: Tensor, targets: Tensor, weights: Tensor
    ) -> Tensor:
        """Run the network in precision "no" or "bf16" and sum weight times loss over the images."""
        halved = precision == "bf16"
        with torch.autocast(inputs.device.type, torch.bfloat16) if halved else nullcontext():
            outputs = network(inputs)
        return (self.losses(outputs, targets) * weights).sum()

    def outputs_of(self, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """Convert a regression of the targets to the network's outputs; for bce by the sigmoid's tangent at 0."""
        if self.task == "classification":
            return weight, bias
        steep, middle = (4.0, 0.5) if self.loss == "bce" else (1.0, 0.0)
        return steep * weight / self.scale, steep * ((bias - self.low) / self.scale - middle)

    def readable(self, outputs: Float[Tensor, "batch classes"]) -> Tensor:
        """Convert outputs to probabilities (batch, classes) or predicted numbers (batch,), float64."""
        outputs = outputs.double()
        if self.task == "classification":
            return outputs.softmax(-1)
        return self.low + self.scale * (outputs[:, 0].sigmoid() if self.loss == "bce" else outputs[:, 0])


def objective_for(task: Task, classes: int, targets: np.ndarray, plan: Plan) -> Objective:
    """Make the objective of a plan for the training targets, (images,).

    Raises SettingError for a loss that does not fit the task.
    """
    if (plan.loss == "cross_entropy" and task == "regression") or (
        plan.loss in ("mse", "bce") and task == "classification"
    ):
        raise SettingError(
            Text(
                "The loss {loss} does not fit: classes are learned with cross_entropy, numbers with mse or bce.",
                "损失 {loss} 不适用：类别使用 cross_entropy，数值使用 mse 或 bce。",
            ).format(loss=plan.loss)
        )
    if task == "classification":
        counts = np.bincount(targets, minlength=classes)
        balanced = plan.class_weights == "balanced"
        weights = tuple(len(targets) / (classes * np.maximum(counts, 1))) if balanced else ()
        return Objective(task, "cross_entropy", classes, class_weights=weights, label_smoothing=plan.label_smoothing)
    if plan.loss == "bce":
        low, high = float(targets.min()), float(targets.max())
        return Objective(task, "bce", 1, low, (high - low) or 1.0)
    return Objective(task, "mse", 1, float(targets.mean()), float(targets.std()) or 1.0)
