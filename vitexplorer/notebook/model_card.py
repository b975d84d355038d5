"""Card of a model: size, input, origin of its weights, and the trained part of a tuned model."""

from __future__ import annotations

from vitexplorer.core.format import counted, fine_percent
from vitexplorer.core.text import COMMA, Text, same
from vitexplorer.core.types import prefix_text
from vitexplorer.figures.caption import MODEL, NOTE, WEIGHTS, size_text
from vitexplorer.figures.page import RANDOM
from vitexplorer.finetune.attaching import TunedModel, count_parameters
from vitexplorer.models.loading import LoadedModel
from vitexplorer.notebook.card import Card

TITLES = {False: Text("Model", "模型"), True: Text("Tuned model", "微调模型")}
PARAMETERS = Text("Parameters", "参数量")
TRAINED = Text("Trained", "训练的参数")
METHOD = Text("Method", "方法")
INPUT = Text("Input", "输入")
BLOCKS = Text("Blocks", "块")
TOKENS = Text("Prefix tokens", "前缀标记")
CLASSES = Text("Classes", "类别")
NO_CLASSES = Text("none: it has no classifier", "无：没有分类头")


def model_card(model: LoadedModel) -> Card:
    """Make the card of a model: name, weights, parameters, input, blocks and classes."""
    size = model.preprocessing.input_size
    total = sum(parameter.numel() for parameter in model.module.parameters())
    tokens = [prefix_text(name) for name in model.prefix_tokens]
    tuned = []
    if isinstance(model, TunedModel):
        counts = count_parameters(model)
        tuned = [(METHOD, same(model.method)), (TRAINED, trained_text(counts.trainable, counts.total, counts.head))]
    rows = [
        (MODEL, same(model.name)),
        (WEIGHTS, model.provenance.weights_text),
        (PARAMETERS, same(counted(total))),
        *tuned,
        (INPUT, size_text(size)),
        (BLOCKS, same(str(len(model.blocks(size))))),
        *([(TOKENS, COMMA.join(tokens))] if tokens else []),
        (CLASSES, same(counted(model.num_classes)) if model.num_classes else NO_CLASSES),
        *((NOTE, note) for note in model.notes),
    ]
    return Card(
        TITLES[isinstance(model, TunedModel)],
        tuple(rows),
        warning=RANDOM if model.provenance.is_random else None,
        python='capture = vx.capture(model, "picture.jpg")',
    )


def trained_text(trainable: int, total: int, head: int) -> Text:
    """Format the number of trained parameters, their share of all, and the head's number."""
    return Text("{count} ({share}), {head} of them the head", "{count}（{share}），其中分类头占 {head}").format(
        count=counted(trainable), share=fine_percent(trainable / total), head=counted(head)
    )
