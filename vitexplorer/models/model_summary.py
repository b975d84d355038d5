"""Summary of a model for terminals and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vitexplorer.core.format import counted
from vitexplorer.core.result_summary import model_line
from vitexplorer.core.summaries import Summary, described
from vitexplorer.core.text import UnsupportedError
from vitexplorer.core.types import BlockSite

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel


def model_summary(model: LoadedModel) -> Summary:
    """Summarise name and weights, size, input, blocks and classes."""
    size = model.preprocessing.input_size
    height, width = size
    count = sum(parameter.numel() for parameter in model.module.parameters())
    plural = "" if model.has_one_output else "s"
    outputs = f"{counted(model.num_classes)} output{plural}" if model.num_classes else "none, it gives features"
    try:
        blocks = blocks_text(model.blocks(size), model.prefix_tokens)
        use = 'vx.capture(model, "picture.jpg") runs it once'
    except UnsupportedError as error:  # a convolutional network
        blocks, use = error.text, "vx.attach(model, method, num_classes) prepares it for fine-tuning"
    return Summary(
        f"model {model_line(model.provenance)}",
        (
            ("family", f"{model.family.title.en}, {counted(count)} parameters"),
            ("input", f"{height} × {width} px"),
            ("blocks", blocks),
            ("classifier", ": ".join(filter(None, (outputs, described(model.class_names))))),
            ("notes", model.notes),
        ),
        f"{use}; model.module is the torch module",
    )


def blocks_text(sites: tuple[BlockSite, ...], prefix_tokens: tuple[str, ...]) -> str:
    """Describe the number of blocks, the patch grids of the first and the last block, and the prefix tokens."""
    grids = dict.fromkeys(described(site.grid) for site in sites[:1] + sites[-1:])
    return f"{len(sites)}, {' to '.join(grids)}; prefix tokens: {', '.join(prefix_tokens) or 'none'}"
