"""Card of a capture: the model's input image, its answer, and a line of code to continue."""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import COMMA, Text, same
from vitexplorer.figures.caption import CHANGED, IMAGE, MODEL, NOTE, WEIGHTS, class_name, size_text
from vitexplorer.figures.page import RANDOM
from vitexplorer.notebook.card import Card
from vitexplorer.quantities.read_out import top_classes

ANSWERS = 3
"""Number of classes on the card, most likely first"""

TITLE = Text("Record of one forward pass", "前向传播记录")
ANSWER = Text("Answer", "答案")
PATCHES = Text("Patches", "图块")
GRID = Text("{rows} rows × {cols} columns of {side} px", "{rows} 行 × {cols} 列，边长 {side} 像素")
ALT = Text("The image as the model saw it", "模型看到的图像")


def capture_card(capture: Capture) -> Card:
    """Make the card of a capture: image, model, answer and patches."""
    provenance, grid = capture.provenance, capture.grid(0)
    likeliest = top_classes(capture.logits, capture.model.class_texts, ANSWERS) if capture.logits is not None else ()
    answers = [
        same("{name} {value}").format(name=class_name(answer), value=answer.display_value) for answer in likeliest
    ]
    rows = [
        (MODEL, same(provenance.model)),
        (WEIGHTS, provenance.weights_text),
        *((CHANGED, change) for change in provenance.changes),
        (IMAGE, size_text(provenance.input_size)),
        (PATCHES, GRID.format(rows=grid.rows, cols=grid.cols, side=grid.patch_size)),
        *([(ANSWER, COMMA.join(answers))] if answers else []),
        *((NOTE, note) for note in (*capture.model.notes, *capture.input.notes)),
    ]
    view = "attention_rollout" if capture.model.family.shows_stream else "attention_map"
    return Card(
        TITLE,
        tuple(rows),
        warning=RANDOM if provenance.is_random else None,
        picture=capture.input.pixels,
        alt=ALT,
        python=f'vx.compute("{view}", capture)  # vx.views()\nvx.widget(capture)',
    )
