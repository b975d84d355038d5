"""Attention temperature: q . k is divided by it before the softmax, which makes every head more or less decided.

softmax(q k^T / (T sqrt(d)) + bias), in every block. Low T sharpens attention to one key, high T makes it uniform. The
division by sqrt(d) is itself such a temperature (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1); T = 1 / sqrt(d)
cancels it. Relative positions and masks are added afterwards and stay as they are.
"""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.interventions.changed_pass import Effect, Intervention, attention_cannot_change


def effect(capture: Capture, temperature: float) -> Effect:
    """Return the division of q . k by the temperature."""
    return Effect(temperature=temperature)


def says(capture: Capture, temperature: float) -> Text:
    """Describe the temperature."""
    return Text("attention temperature {value:g}", "注意力温度 {value:g}").format(value=temperature)


INTERVENTION = Intervention(
    title=Text("Temperature", "温度"),
    question=Text("What if every head were more, or less, focused?", "如果每个头都更集中，或更分散，会怎样？"),
    misleads=Text(
        "All blocks change at once: an effect says nothing about a single head.",
        "所有块同时改变：结果不能说明某一个头的作用。",
    ),
    acts=4,
    effect=effect,
    says=says,
    controls=(Number("temperature", Text("Temperature T", "温度 T"), low=0.05, high=20, start=2, step=0.05),),
    paper=Paper("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762"),
    refuses=attention_cannot_change,
)
