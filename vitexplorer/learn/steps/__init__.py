"""Steps of the path in order, one file each."""

from vitexplorer.learn.step import Step
from vitexplorer.learn.steps import (
    class_token,
    cut,
    decoder,
    embed,
    heads,
    petl,
    position,
    query_key,
    residual,
    stack,
    swin,
    without_labels,
    words,
)

STEPS: tuple[Step, ...] = tuple(
    module.STEP
    for module in (
        cut,
        embed,
        position,
        query_key,
        heads,
        class_token,
        residual,
        stack,
        swin,
        without_labels,
        words,
        decoder,
        petl,
    )
)
